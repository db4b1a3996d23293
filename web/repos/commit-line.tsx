import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { CommitView } from '#modules/repos';
import { Ago } from '../ui/time.tsx';
import { repoTo, type RepoId } from './places.ts';
import { commitsRead } from './reads.ts';

/** A commit without a subject has to be called something. */
export const subjectOf = ({ subject }: Pick<CommitView, 'subject'>): string =>
  subject === '' ? '(no message)' : subject;

interface LastCommitProps {
  id: RepoId;
  at: string | undefined;
  path: string;
}

/** The commit that last changed a file or a folder. */
export const LastCommit = ({ id, at, path }: LastCommitProps) => {
  const { data } = useInfiniteQuery(commitsRead(id, { ref: at, path, limit: 1 }));
  const commit = data?.pages[0]?.commits[0];
  return (
    <div className="last-commit">
      {commit === undefined ? (
        <span className="quiet small">…</span>
      ) : (
        <>
          <span className="cut grow">
            <strong>{commit.author.name}</strong>{' '}
            <Link href={repoTo(id, 'commit', commit.id)} className="quiet">
              {subjectOf(commit)}
            </Link>
          </span>
          <span className="small faint">
            <Ago at={commit.committer.at} />
          </span>
          <Link className="small nowrap" href={repoTo(id, 'commits', '', { ref: at, path })}>
            History
          </Link>
        </>
      )}
    </div>
  );
};
