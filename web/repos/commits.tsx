import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { CommitView } from '#modules/repos';
import { Button, LinkButton } from '../ui/button.tsx';
import { date } from '../ui/format.ts';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';
import { subjectOf } from './commit-line.tsx';
import { isGone, NotHere } from './not-here.tsx';
import { PathLine } from './path-line.tsx';
import { repoTo, type PartProps, type RepoId } from './places.ts';
import { commitsRead } from './reads.ts';
import { RefPicker } from './ref-picker.tsx';

/** The history of a ref, or of one path in it. */
export const Commits = ({ id, repo, at, path }: PartProps) => {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    commitsRead(id, { ref: at, path }),
  );
  const commits = isGone(error) ? undefined : data?.pages.flatMap((page) => page.commits);
  return (
    <div className="stack">
      <div className="row wrap">
        <RefPicker
          id={id}
          current={at ?? repo.default_branch}
          hrefOf={(ref) => repoTo(id, 'commits', '', { ref, path })}
        />
        {path !== '' && (
          <>
            <PathLine id={id} at={at} path={path} />
            <LinkButton slim to={repoTo(id, 'commits', '', { ref: at })}>
              All commits
            </LinkButton>
          </>
        )}
      </div>
      {commits === undefined && error !== null && (
        <NotHere {...{ id, at, path, error }} section="commits" onRetry={() => void refetch()} />
      )}
      {commits === undefined && error === null && <SkeletonLines lines={6} />}
      {commits?.length === 0 && (
        <Empty icon="repo" title="No commits">
          Nothing in this history changed that path.
        </Empty>
      )}
      {commits !== undefined && commits.length > 0 && <CommitDays id={id} commits={commits} />}
      {hasNextPage && (
        <div className="more-row">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show older commits
          </Button>
        </div>
      )}
    </div>
  );
};

/** Commits under the days that they were made on. */
export const CommitDays = ({ id, commits }: { id: RepoId; commits: readonly CommitView[] }) => {
  const days = new Map<string, CommitView[]>();
  for (const commit of commits) {
    const day = date(Date.parse(commit.committer.at));
    days.set(day, [...(days.get(day) ?? []), commit]);
  }
  return [...days].map(([day, own]) => (
    <Card key={day} title={day} flush>
      <ul className="commits">
        {own.map((commit) => (
          <li key={commit.id}>
            <div className="grow">
              <Link href={repoTo(id, 'commit', commit.id)} className="subject">
                {subjectOf(commit)}
              </Link>
              <div className="small quiet">
                {commit.author.name}, <Ago at={commit.committer.at} />
                {commit.parents.length > 1 && ', a merge'}
              </div>
            </div>
            <code className="small">{commit.id.slice(0, 12)}</code>
            <LinkButton slim look="quiet" to={repoTo(id, 'tree', '', { ref: commit.id })}>
              Files<span className="sr-only"> at {commit.id.slice(0, 12)}</span>
            </LinkButton>
          </li>
        ))}
      </ul>
    </Card>
  ));
};
