import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { Link } from 'wouter';
import type { CommitView } from '#modules/repos';
import { LinkButton } from '../ui/button.tsx';
import { Copyable } from '../ui/code.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { exactly } from '../ui/format.ts';
import { Card, Facts, SkeletonLines } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';
import { subjectOf } from './commit-line.tsx';
import { Diff } from './diff.tsx';
import { inWords } from './not-here.tsx';
import { repoTo, type RepoId } from './places.ts';
import { commitRead, diffRead } from './reads.ts';

/** One commit: who, when, why, and what it changed. */
export const CommitPage = ({ id, commit: name }: { id: RepoId; commit: string }) => {
  const { data: commit, error, refetch } = useQuery(commitRead(id, name));
  const diff = useQuery(diffRead(id, name));
  if (commit === undefined && error !== null)
    return (
      <ErrorCard
        error={inWords(error)}
        onRetry={() => void refetch()}
        actions={<LinkButton to={repoTo(id, 'commits')}>All commits</LinkButton>}
      />
    );
  if (commit === undefined) return <SkeletonLines lines={6} />;
  return (
    <div className="stack wide">
      <Card>
        <div className="stack">
          <div className="row wrap">
            <h2 className="commit-subject grow">{subjectOf(commit)}</h2>
            <LinkButton slim to={repoTo(id, 'tree', '', { ref: commit.id })}>
              Files at this commit
            </LinkButton>
          </div>
          {commit.body !== '' && <pre className="plain-text">{commit.body}</pre>}
          <About id={id} commit={commit} />
        </div>
      </Card>
      {diff.error !== null && diff.data === undefined && (
        <ErrorCard error={diff.error} onRetry={() => void diff.refetch()} />
      )}
      {diff.isPending && <SkeletonLines lines={6} />}
      {diff.data !== undefined && <Diff id={id} diff={diff.data} at={commit.id} />}
    </div>
  );
};

const About = ({ id, commit }: { id: RepoId; commit: CommitView }) => {
  const { author, committer } = commit;
  const person = ({ name, email, at }: CommitView['author']) => (
    <>
      {name} <span className="quiet">&lt;{email}&gt;</span>, <Ago at={at} />{' '}
      <span className="small faint">({exactly(Date.parse(at))})</span>
    </>
  );
  return (
    <Facts
      facts={[
        ['Commit', <Copyable key="id" text={commit.id} />],
        [
          commit.parents.length === 1 ? 'Parent' : 'Parents',
          commit.parents.length === 0
            ? 'none: the first commit'
            : commit.parents.map((parent, index) => (
                <Fragment key={parent}>
                  {index > 0 && ', '}
                  <Link href={repoTo(id, 'commit', parent)}>
                    <code>{parent.slice(0, 12)}</code>
                  </Link>
                </Fragment>
              )),
        ],
        ['Author', person(author)],
        ...(committer.email === author.email && committer.at === author.at
          ? []
          : [['Committer', person(committer)] as const]),
      ]}
    />
  );
};
