import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { RefView } from '#modules/repos';
import { queries } from '../data/client.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { SearchInput } from '../ui/field.tsx';
import { Icon } from '../ui/icons.tsx';
import { SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import type { RepoId } from './places.ts';
import { refsRead } from './reads.ts';

interface RefPickerProps {
  id: RepoId;
  /** What is shown now. */
  current: string;
  /** Before the name: `base`. */
  label?: string;
  /** The same place at another ref. */
  hrefOf: (ref: string) => string;
}

/** A commit by its whole id is written short. */
export const shortRef = (ref: string): string => (/^[0-9a-f]{40}$/.test(ref) ? ref.slice(0, 12) : ref);

/** Chooses a branch, a tag or any commit. */
export const RefPicker = ({ id, current, label = 'at', hrefOf }: RefPickerProps) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="btn ref-picker" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <Icon name="repo" />
        <span className="quiet">{label}</span>
        <span className="mono cut">{shortRef(current)}</span>
        <Icon name="updown" />
      </button>
      {open && <Picker id={id} current={current} hrefOf={hrefOf} onClose={() => setOpen(false)} />}
    </>
  );
};

const Picker = ({ id, current, hrefOf, onClose }: Omit<RefPickerProps, 'label'> & { onClose: () => void }) => {
  const [typed, setTyped] = useState('');
  const [, navigate] = useLocation();
  const { data, error, isPending } = useQuery(refsRead(id));
  const wanted = typed.trim();
  const branches = fitting(data?.branches, wanted);
  const tags = fitting(data?.tags, wanted);
  const best = bestOf([...branches, ...tags], wanted);
  const go = (ref: string): void => {
    onClose();
    navigate(hrefOf(ref));
  };
  // Who is quicker than the list still means the name that they began.
  const enter = async (): Promise<void> => {
    const refs = await queries.ensureQueryData(refsRead(id)).catch(() => undefined);
    const all = [...fitting(refs?.branches, wanted), ...fitting(refs?.tags, wanted)];
    go(bestOf(all, wanted)?.name ?? wanted);
  };
  return (
    <Dialog
      title="Branch, tag or commit"
      onClose={onClose}
      onSubmit={() => {
        if (wanted !== '') void enter();
      }}
      footer={
        wanted !== '' && best?.name !== wanted ? (
          <Button onClick={() => go(wanted)}>
            Go to <code className="cut">{wanted}</code>
          </Button>
        ) : undefined
      }
    >
      <SearchInput
        label="Name, or the id of a commit"
        autoFocus
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {isPending && <SkeletonLines lines={3} />}
      {error !== null && <ErrorLine error={error} />}
      <Refs title="Branches" refs={branches} current={current} hrefOf={hrefOf} onClose={onClose} />
      <Refs title="Tags" refs={tags} current={current} hrefOf={hrefOf} onClose={onClose} />
      {data !== undefined && branches.length + tags.length === 0 && (
        <p className="quiet" role="status">
          No branch or tag is called that. The id of a commit can be given too.
        </p>
      )}
      {data?.more === true && <p className="small quiet">There are more than are listed: type the whole name.</p>}
    </Dialog>
  );
};

const fitting = (refs: readonly RefView[] = [], wanted: string): RefView[] =>
  refs.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()));

/** The very name before one that only has it in it. */
const bestOf = (refs: readonly RefView[], wanted: string): RefView | undefined =>
  refs.find(({ name }) => name === wanted) ?? refs[0];

interface RefsProps {
  title: string;
  refs: readonly RefView[];
  current: string;
  hrefOf: (ref: string) => string;
  onClose: () => void;
}

const Refs = ({ title, refs, current, hrefOf, onClose }: RefsProps) => {
  if (refs.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="faint">{title}</h3>
      <ul className="ref-list">
        {refs.map(({ ref, name, default: isDefault, committed_at }) => (
          <li key={ref}>
            <Link href={hrefOf(name)} aria-current={name === current ? 'true' : undefined} onClick={onClose}>
              <span className="mono cut grow">{name}</span>
              {isDefault && <Badge>default</Badge>}
              {committed_at !== null && (
                <span className="small faint">
                  <Ago at={committed_at} />
                </span>
              )}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
};
