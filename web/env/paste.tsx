import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox, Field, Input, TextArea } from '../ui/field.tsx';
import { count } from '../ui/format.ts';
import { changesOf, type EnvPlan } from './changes.ts';
import { changesAnything, Preview } from './preview.tsx';
import { useChange } from './use-change.ts';

interface PasteEnvProps {
  project: string;
  known: readonly string[];
  onClose: () => void;
}

/** A whole `.env`: read in the browser, compared by the server, then applied. */
export const PasteEnv = ({ project, known, onClose }: PasteEnvProps) => {
  const [text, setText] = useState('');
  const [whole, setWhole] = useState(false);
  const [unreadable, setUnreadable] = useState<unknown>();
  const change = useChange(project, known, onClose);
  if (change.plan !== undefined)
    return <Apply project={project} change={{ ...change, plan: change.plan }} onClose={onClose} />;
  const load = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    try {
      setText(await file.text());
      setUnreadable(undefined);
    } catch (thrown) {
      setUnreadable(thrown);
    }
  };
  return (
    <Dialog
      title="Paste a .env"
      wide
      onClose={onClose}
      onSubmit={() => void change.preview(() => changesOf(text, whole ? known : []))}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={change.busy} disabled={text.trim() === ''}>
            Preview
          </Button>
        </>
      }
    >
      <Field
        label="Content of the file"
        hint="NAME=value in each line; comments, export and quoted values over several lines are fine."
      >
        {(wired) => (
          <TextArea
            {...wired}
            mono
            autoFocus
            rows={12}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Field label="Or choose the file">
        {(wired) => <Input {...wired} type="file" onChange={(event) => void load(event.target.files?.[0])} />}
      </Field>
      {known.length > 0 && (
        <Checkbox checked={whole} onChange={(event) => setWhole(event.target.checked)}>
          Unset what is not in it ({count(known.length, 'variable is', 'variables are')} set now)
        </Checkbox>
      )}
      {unreadable !== undefined && <ErrorLine error={unreadable} />}
      {change.error !== undefined && <ErrorLine error={change.error} />}
    </Dialog>
  );
};

interface ApplyProps {
  project: string;
  change: Omit<ReturnType<typeof useChange>, 'plan'> & { plan: EnvPlan };
  onClose: () => void;
}

const Apply = ({ project, change, onClose }: ApplyProps) => {
  const { plan, busy, error, apply, back } = change;
  const [typed, setTyped] = useState('');
  const unset = plan.names.filter(({ fate }) => fate === 'unset').length;
  const any = changesAnything(plan);
  return (
    <Dialog
      title="What changes"
      wide
      onClose={onClose}
      onSubmit={() => void apply()}
      footer={
        <>
          <Button look="quiet" onClick={back}>
            Back
          </Button>
          <Button
            type="submit"
            look={unset > 0 ? 'danger' : 'primary'}
            filled={unset > 0}
            busy={busy}
            disabled={!any || (unset > 0 && typed !== project)}
          >
            Apply
          </Button>
        </>
      }
    >
      <Preview plan={plan} />
      {!any && <p className="quiet">All of it is set already: there is nothing to do.</p>}
      {unset > 0 && (
        <Field
          label={
            <>
              Type “{project}” to unset {count(unset, 'variable')}
            </>
          }
          hint="Values that are unset are gone for good."
        >
          {(wired) => (
            <Input {...wired} mono autoFocus value={typed} onChange={(event) => setTyped(event.target.value)} />
          )}
        </Field>
      )}
      {error !== undefined && <ErrorLine error={error} />}
    </Dialog>
  );
};
