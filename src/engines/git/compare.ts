import type { GitDeps } from './deps.ts';
import { diffOfTrees } from './diff.ts';
import { readLog } from './history.ts';
import type { Git, ObjectId, RepoId } from './port.ts';
import { resolve } from './resolve.ts';

type Range = Parameters<Git['compare']>[1];
type Comparison = Awaited<ReturnType<Git['compare']>>;

/** Like `git diff base...head`; without a common commit, like `git diff base head`. */
export const compareRefs = async (deps: GitDeps, repo: RepoId, range: Range): Promise<Comparison> => {
  const [base, head] = await Promise.all([resolve(deps, repo, range.base), resolve(deps, repo, range.head)]);
  const [mergeBase, counts, commits] = await Promise.all([
    mergeBaseOf(deps, repo, [base, head]),
    countBetween(deps, repo, [base, head]),
    readLog(deps, repo, { args: [`--max-count=${range.limit}`, head, `^${base}`, '--'] }),
  ]);
  const diff = await diffOfTrees(deps, repo, {
    from: mergeBase ?? base,
    to: head,
    maxBytes: range.maxBytes,
    paths: [],
  });
  return { mergeBase, ...counts, commits, diff };
};

/** Null for histories without a common commit. */
const mergeBaseOf = async (
  { git }: GitDeps,
  repo: RepoId,
  [base, head]: readonly [ObjectId, ObjectId],
): Promise<ObjectId | null> => {
  const text = await git.text({ args: ['merge-base', base, head], repo, accept: [0, 1] });
  return text.trim() || null;
};

const countBetween = async (
  { git }: GitDeps,
  repo: RepoId,
  [base, head]: readonly [ObjectId, ObjectId],
): Promise<{ ahead: number; behind: number }> => {
  const args = ['rev-list', '--left-right', '--count', `${base}...${head}`, '--'];
  const [behind, ahead] = (await git.text({ args, repo })).trim().split('\t').map(Number);
  return { ahead: ahead ?? 0, behind: behind ?? 0 };
};
