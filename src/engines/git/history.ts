import { invalidInput } from '#kernel/errors';
import { CHANGE_OPTIONS } from './changes.ts';
import { COMMIT_OPTIONS, CommitReader } from './commit-reader.ts';
import type { GitDeps } from './deps.ts';
import { requireId, requirePath } from './names.ts';
import type { Commit, Git, ObjectId, RepoId } from './port.ts';
import { resolve } from './resolve.ts';
import { readFields, readLines } from './stream.ts';

type Query = Parameters<Git['commits']>[1];

/** Files of one commit in a list, and of a commit on its own. */
const MAX_FILES_LISTED = 300;
const MAX_FILES = 3000;

/** With a path: commits that changed it, without following renames, which git can do for one file and no merges only. */
export const listCommits = async (deps: GitDeps, repo: RepoId, query: Query): Promise<Commit[]> => {
  const path = query.path === undefined ? [] : [requirePath(query.path)];
  const start = await resolve(deps, repo, query.ref);
  const maxFiles = query.files === true ? MAX_FILES_LISTED : undefined;
  // Asked for both, git lists other commits of a path than without their files.
  if (query.after === undefined && (query.path === undefined || maxFiles === undefined))
    return readLog(deps, repo, { args: [`--max-count=${query.limit}`, start, '--', ...path], maxFiles });
  const after = query.after === undefined ? undefined : requireId(query.after, 'the commit to go on after');
  const ids = await idsAfter(deps, repo, { args: [start, '--', ...path], after, limit: query.limit });
  if (ids.length === 0) return [];
  return readLog(deps, repo, { args: ['--no-walk=unsorted', '--stdin'], input: `${ids.join('\n')}\n`, maxFiles });
};

export const readCommit = async (deps: GitDeps, repo: RepoId, id: string): Promise<Commit> => {
  const start = await resolve(deps, repo, id);
  const [commit] = await readLog(deps, repo, { args: ['--max-count=1', start, '--'], maxFiles: MAX_FILES });
  if (commit === undefined) throw new Error(`git log said nothing about ${start}`);
  return commit;
};

/** `args`: revisions and paths for git-log(1). */
export const readLog = async (
  deps: GitDeps,
  repo: RepoId,
  { args, input, maxFiles }: { args: readonly string[]; input?: string; maxFiles?: number | undefined },
): Promise<Commit[]> => {
  const reader = new CommitReader(maxFiles);
  const changes = maxFiles === undefined ? [] : [...CHANGE_OPTIONS, '--diff-merges=first-parent'];
  const command = {
    args: ['log', ...COMMIT_OPTIONS, ...changes, ...args],
    repo,
    ...(input === undefined ? {} : { input }),
  };
  await readFields(deps, command, (field) => {
    reader.take(field);
    return true;
  });
  return reader.commits();
};

/** The commits that follow `after` (or all) in git's order: walked again, which costs microseconds a commit. */
const idsAfter = async (
  deps: GitDeps,
  repo: RepoId,
  { args, after, limit }: { args: readonly string[]; after: ObjectId | undefined; limit: number },
): Promise<ObjectId[]> => {
  const ids: ObjectId[] = [];
  let reached = after === undefined;
  await readLines(deps, { args: ['rev-list', ...args], repo }, (line) => {
    const id = line.toString('latin1');
    if (reached) ids.push(id);
    else reached = id === after;
    return ids.length < limit;
  });
  if (reached) return ids;
  throw invalidInput(
    'the commit to go on after is not in this history',
    'the branch may have been rewritten: begin again without a cursor',
  );
};
