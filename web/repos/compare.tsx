import { useQuery } from '@tanstack/react-query';
import type { Repo } from '#modules/repos';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { count } from '../ui/format.ts';
import { Empty, Notice, SkeletonLines } from '../ui/layout.tsx';
import { CommitDays } from './commits.tsx';
import { Diff } from './diff.tsx';
import { inWords } from './not-here.tsx';
import { repoTo, type RepoId } from './places.ts';
import { compareRead } from './reads.ts';
import { RefPicker, shortRef } from './ref-picker.tsx';

interface CompareProps {
  id: RepoId;
  repo: Repo;
  base: string | undefined;
  head: string | undefined;
}

/** What a ref has that another one lacks. */
export const Compare = ({ id, repo, base = repo.default_branch, head }: CompareProps) => {
  const shown = head ?? repo.default_branch;
  const here = (part: { base?: string; head?: string }): string =>
    repoTo(id, 'compare', '', { base, head: shown, ...part });
  return (
    <div className="stack">
      <div className="row wrap">
        <RefPicker id={id} label="base" current={base} hrefOf={(ref) => here({ base: ref })} />
        <span aria-hidden="true">←</span>
        <RefPicker id={id} label="compared" current={shown} hrefOf={(ref) => here({ head: ref })} />
        {base !== shown && (
          <LinkButton slim look="quiet" to={repoTo(id, 'compare', '', { base: shown, head: base })}>
            Swap
          </LinkButton>
        )}
      </div>
      {base === shown ? (
        <Empty icon="repo" title="Choose two refs">
          A branch, a tag or any commit on either side: what the right one has and the left one lacks is shown here.
        </Empty>
      ) : (
        <Compared id={id} base={base} head={shown} />
      )}
    </div>
  );
};

const Compared = ({ id, base, head }: { id: RepoId; base: string; head: string }) => {
  const { data, error, refetch } = useQuery(compareRead(id, base, head));
  if (data === undefined && error !== null) return <ErrorCard error={inWords(error)} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonLines lines={6} />;
  const { ahead, behind, commits, merge_base } = data;
  return (
    <div className="stack wide">
      <p>
        <code>{shortRef(head)}</code> has {count(ahead, 'commit')} that <code>{shortRef(base)}</code> lacks
        {behind > 0 && <>, and lacks {count(behind, 'commit')} of it</>}.
      </p>
      {merge_base === null && (
        <Notice tone="warn">The two have no commit in common: what is shown is all that differs.</Notice>
      )}
      {ahead > commits.length && <Notice>The newest {commits.length} commits are listed.</Notice>}
      {ahead === 0 && behind === 0 ? (
        <Empty icon="check" title="They are the same" />
      ) : (
        <>
          <CommitDays id={id} commits={commits} />
          <Diff id={id} diff={data} at={data.head} />
        </>
      )}
    </div>
  );
};
