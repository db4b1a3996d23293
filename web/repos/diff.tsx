import { useId, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { DiffView } from '#modules/repos';
import { Button } from '../ui/button.tsx';
import { count } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Notice } from '../ui/layout.tsx';
import { Badge, type Tone } from '../ui/status.tsx';
import { patchesOf, type FilePatch, type PatchLine } from './patch.ts';
import { repoTo, type RepoId } from './places.ts';

export type FileChange = DiffView['files'][number];

/** Longer ones are opened by who wants to see them. */
const OPEN_LINES = 400;
/** Beyond so many lines on a page, all begin closed. */
const OPEN_IN_ALL = 3000;

interface DiffProps {
  id: RepoId;
  diff: Pick<DiffView, 'files' | 'patch' | 'truncated'>;
  /** The commit that files are shown at. */
  at: string;
}

/** What differs, file by file. */
export const Diff = ({ id, diff: { files, patch, truncated }, at }: DiffProps) => {
  const patches = useMemo(() => patchesOf(files, patch), [files, patch]);
  const lines = patches.reduce((sum, each) => sum + (each?.lines ?? 0), 0);
  const [all, setAll] = useState<{ open: boolean; turn: number }>();
  const added = files.reduce((sum, file) => sum + (file.additions ?? 0), 0);
  const removed = files.reduce((sum, file) => sum + (file.deletions ?? 0), 0);
  const isOpen = (own: FilePatch | undefined): boolean =>
    all?.open ?? (own !== undefined && own.lines <= OPEN_LINES && lines <= OPEN_IN_ALL);
  return (
    <section className="stack" aria-label="Changes">
      <div className="row wrap">
        <h2 className="grow">
          {count(files.length, 'file')} changed <Amounts additions={added} deletions={removed} />
        </h2>
        {files.length > 1 && (
          <>
            <Button slim look="quiet" onClick={() => setAll({ open: true, turn: (all?.turn ?? 0) + 1 })}>
              Expand all
            </Button>
            <Button slim look="quiet" onClick={() => setAll({ open: false, turn: (all?.turn ?? 0) + 1 })}>
              Collapse all
            </Button>
          </>
        )}
      </div>
      {truncated && (
        <Notice tone="warn">
          This is a large change: not all of it is shown here. Clone the repository to see the rest.
        </Notice>
      )}
      {files.map((file, index) => (
        <FileDiff
          key={`${all?.turn ?? 0} ${file.path}`}
          id={id}
          file={file}
          patch={patches[index]}
          open={isOpen(patches[index])}
          at={at}
        />
      ))}
      {files.length === 0 && <p className="quiet">Nothing differs.</p>}
    </section>
  );
};

const TONES: Record<string, Tone> = {
  added: 'ok',
  modified: 'idle',
  deleted: 'bad',
  renamed: 'busy',
  type_changed: 'warn',
};

interface FileDiffProps {
  id: RepoId;
  file: FileChange;
  patch: FilePatch | undefined;
  open: boolean;
  at: string;
}

const FileDiff = ({ id, file, patch, open: begun, at }: FileDiffProps) => {
  const [open, setOpen] = useState(begun);
  const body = useId();
  return (
    <article className="card diff-file" aria-label={file.path}>
      <div className="diff-head">
        <button
          type="button"
          className="diff-toggle"
          aria-expanded={open}
          aria-controls={body}
          onClick={() => setOpen(!open)}
        >
          <Icon name={open ? 'down' : 'right'} />
          <span className="mono path">
            {file.from !== undefined && (
              <>
                <span className="quiet">{file.from}</span> <span aria-label="renamed to">→</span>{' '}
              </>
            )}
            {file.path}
          </span>
        </button>
        <Amounts additions={file.additions} deletions={file.deletions} />
        <Badge tone={TONES[file.change] ?? 'idle'}>{file.change.replace('_', ' ')}</Badge>
        {file.change !== 'deleted' && (
          <Link className="small nowrap" href={repoTo(id, 'file', file.path, { ref: at })}>
            View<span className="sr-only"> {file.path}</span>
          </Link>
        )}
      </div>
      <div id={body} hidden={!open}>
        {open && <Body file={file} patch={patch} />}
      </div>
    </article>
  );
};

const Body = ({ file, patch }: { file: FileChange; patch: FilePatch | undefined }) => {
  if (patch === undefined) return <p className="diff-note">Not shown: the change is too large for one reply.</p>;
  if (patch.binary || file.additions === null)
    return <p className="diff-note">A binary file: its bytes are not compared.</p>;
  if (patch.hunks.length === 0)
    return (
      <p className="diff-note">
        {file.change === 'renamed' ? 'Renamed without changes.' : 'Empty, or only its mode has changed.'}
      </p>
    );
  return (
    <div className="diff-scroll" role="region" aria-label={`Changes of ${file.path}`} tabIndex={0}>
      <table className="diff">
        <thead className="sr-only">
          <tr>
            <th scope="col">Line before</th>
            <th scope="col">Line after</th>
            <th scope="col">Content</th>
          </tr>
        </thead>
        {patch.hunks.map((hunk) => (
          <tbody key={hunk.head}>
            <tr className="hunk">
              <td colSpan={2} />
              <td>{hunk.head}</td>
            </tr>
            {hunk.lines.map((line, index) => (
              // Lines have no other name than their place.
              // oxlint-disable-next-line react/no-array-index-key
              <Line key={index} line={line} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
};

const SIGNS = { same: ' ', added: '+', removed: '−', note: '' };
const SAID = { same: '', added: 'added: ', removed: 'removed: ', note: '' };

const Line = ({ line: { kind, text, before, after } }: { line: PatchLine }) => (
  <tr className={kind}>
    <td className="number">{before}</td>
    <td className="number">{after}</td>
    <td className="text">
      <span className="sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <span className="sr-only">{SAID[kind]}</span>
      {text}
    </td>
  </tr>
);

/** Lines added and removed. */
export const Amounts = ({ additions, deletions }: Pick<FileChange, 'additions' | 'deletions'>) => {
  if (additions === null || deletions === null) return <span className="small faint">binary</span>;
  return (
    <span className="amounts mono">
      <span className="plus">
        +{additions}
        <span className="sr-only"> lines</span>
      </span>{' '}
      <span className="minus">
        −{deletions}
        <span className="sr-only"> lines</span>
      </span>
    </span>
  );
};
