import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { FileView } from '#modules/repos';
import { asApiError, call } from '../api.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Field, Input } from '../ui/field.tsx';
import { Icon } from '../ui/icons.tsx';
import { SkeletonLines } from '../ui/layout.tsx';
import { repoTo, type RepoId } from './places.ts';
import { repoApi } from './reads.ts';

interface ConflictProps {
  id: RepoId;
  branch: string;
  /** Where the branch was when the edit began. */
  head: string;
  file: FileView | undefined;
  /** What the API said. */
  error: unknown;
  busy: boolean;
  /** Commits what was written on another commit, or on a branch of its own. */
  onCommit: (onto: { head: string; branch: string }) => void;
  /** Begins again from what the branch has now. */
  onTake: (theirs: FileView) => void;
}

interface Now {
  head: string;
  /** Null when the branch has no such file any more. */
  file: FileView | null;
}

/** Somebody else has committed since: what they did, and the ways on. Nothing is lost. */
export const Conflict = (props: ConflictProps) => {
  const { id, branch, head, file, error, busy, onCommit, onTake } = props;
  const now = useQuery({
    queryKey: ['conflict', id.project, id.repo, branch, head, error],
    queryFn: () => readNow(props),
    gcTime: 0,
  });
  const [own, setOwn] = useState(`${branch}-edit`);
  if (now.isPending) return <SkeletonLines lines={3} />;
  // Not moved: the conflict is about something else, which the API has explained.
  if (now.data === undefined || now.data.head === head) return <ErrorLine error={now.error ?? error} />;
  const { head: newest, file: theirs } = now.data;
  const untouched = file !== undefined && theirs !== null && theirs.id === file.id;
  return (
    <section className="notice warn conflict" role="alert" aria-label="Conflict">
      <Icon name="warn" />
      <div className="stack grow">
        <div>
          <strong>
            Somebody has committed to <code>{branch}</code> since you began.
          </strong>
          <p>
            {untouched && 'This file was not changed by that: your commit can go on top of it.'}
            {!untouched &&
              theirs !== null &&
              file !== undefined &&
              'This file was changed too. Look at what changed before you decide.'}
            {!untouched && theirs !== null && file === undefined && 'There is a file at this path now.'}
            {theirs === null && file !== undefined && 'This file was deleted or moved by that.'}
            {theirs === null && file === undefined && 'Nothing is at this path there: your commit can go on top of it.'}
          </p>
        </div>
        <div className="row wrap">
          <LinkButton to={repoTo(id, 'compare', '', { base: head, head: newest })}>See what changed</LinkButton>
          <Button
            busy={busy}
            look={untouched || (theirs === null && file === undefined) ? 'primary' : 'danger'}
            onClick={() => onCommit({ head: newest, branch })}
          >
            {untouched || (theirs === null && file === undefined) ? 'Commit on top' : 'Commit mine over it'}
          </Button>
          {!untouched && theirs !== null && (
            <Button look="danger" onClick={() => onTake(theirs)}>
              Drop mine, take theirs
            </Button>
          )}
        </div>
        <div className="row wrap conflict-branch">
          <Field label="Or keep both: commit mine to a new branch">
            {(wired) => <Input {...wired} mono value={own} onChange={(event) => setOwn(event.target.value)} />}
          </Field>
          <Button
            busy={busy}
            disabled={own.trim() === '' || own.trim() === branch}
            onClick={() => onCommit({ head, branch: own.trim() })}
          >
            Commit to it
          </Button>
        </div>
      </div>
    </section>
  );
};

const readNow = async ({ id, branch, file }: ConflictProps): Promise<Now> => {
  const { commits } = await call<{ commits: { id: string }[] }>('GET', repoApi(id, 'commits'), {
    query: { ref: `refs/heads/${branch}`, limit: 1 },
  });
  const head = commits[0]?.id ?? '';
  if (file === undefined) return { head, file: null };
  try {
    return { head, file: await call<FileView>('GET', repoApi(id, 'file'), { query: { ref: head, path: file.path } }) };
  } catch (thrown) {
    if (asApiError(thrown).status === 404) return { head, file: null };
    throw thrown;
  }
};
