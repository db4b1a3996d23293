import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Checkbox, Field, Input, TextArea } from '../ui/field.tsx';
import { changesAnything, Preview } from './preview.tsx';
import { useChange } from './use-change.ts';

interface SetVariableProps {
  project: string;
  known: readonly string[];
  /** The one to replace; a new one when omitted. */
  name: string | undefined;
  onClose: () => void;
}

export const SetVariable = ({ project, known, name: fixed, onClose }: SetVariableProps) => {
  const [name, setName] = useState(fixed ?? '');
  const [value, setValue] = useState('');
  const [shown, setShown] = useState(false);
  const change = useChange(project, known, onClose);
  const title = fixed === undefined ? 'Add a variable' : `Replace ${fixed}`;
  if (change.plan !== undefined)
    return (
      <Dialog
        title={title}
        onClose={onClose}
        onSubmit={() => void change.apply()}
        footer={
          <>
            <Button look="quiet" onClick={change.back}>
              Back
            </Button>
            <Button type="submit" look="primary" busy={change.busy} disabled={!changesAnything(change.plan)} autoFocus>
              Apply
            </Button>
          </>
        }
      >
        <Preview plan={change.plan} />
        {!changesAnything(change.plan) && <p className="quiet">It has this value already.</p>}
        {change.error !== undefined && <ErrorLine error={change.error} />}
      </Dialog>
    );
  const Value = shown ? TextArea : Input;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void change.preview(() => ({ [name.trim()]: value }))}
      footer={
        <>
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" busy={change.busy} disabled={name.trim() === ''}>
            Preview
          </Button>
        </>
      }
    >
      {fixed === undefined && (
        <Field
          label="Name"
          hint={
            known.includes(name.trim())
              ? 'It is set already: this replaces its value.'
              : 'Letters, digits and underscores, such as DATABASE_POOL.'
          }
        >
          {(wired) => (
            <Input
              {...wired}
              mono
              autoFocus
              autoCapitalize="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Value" hint="Sealed on the server; it is never shown again.">
        {(wired) => (
          <Value
            {...wired}
            {...(!shown && { type: 'password' })}
            mono
            autoComplete="off"
            data-1p-ignore
            autoFocus={fixed !== undefined}
            value={value}
            onChange={(event: { target: { value: string } }) => setValue(event.target.value)}
          />
        )}
      </Field>
      <Checkbox checked={shown} onChange={(event) => setShown(event.target.checked)}>
        Show what I type, in several lines
      </Checkbox>
      {change.error !== undefined && <ErrorLine error={change.error} />}
    </Dialog>
  );
};
