import { ChangeReader, CHANGE_OPTIONS } from './changes.ts';
import type { GitDeps } from './deps.ts';
import { requirePath } from './names.ts';
import type { Diff, FileChange, Git, ObjectId, RepoId } from './port.ts';
import { resolve } from './resolve.ts';
import { readFields, readOut } from './stream.ts';

const MAX_FILES = 3000;
/** Of SHA-1; git knows it without having it. Repositories with SHA-256 ask git for theirs. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const EMPTY_TREE_256 = '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';

export const diffOfCommit = async (
  deps: GitDeps,
  repo: RepoId,
  { id, maxBytes, path }: { id: string } & Parameters<Git['diff']>[2],
): Promise<Diff> => {
  const paths = path === undefined ? [] : [requirePath(path)];
  const commit = await resolve(deps, repo, id);
  const line = await deps.git.text({ args: ['rev-list', '--parents', '--max-count=1', commit], repo });
  const parent = line.trim().split(' ')[1] ?? emptyTree(commit);
  return diffOfTrees(deps, repo, { from: parent, to: commit, maxBytes, paths });
};

export const emptyTree = (like: ObjectId): ObjectId => (like.length === 64 ? EMPTY_TREE_256 : EMPTY_TREE);

export const diffOfTrees = async (
  deps: GitDeps,
  repo: RepoId,
  { from, to, maxBytes, paths }: { from: ObjectId; to: ObjectId; maxBytes: number; paths: readonly string[] },
): Promise<Diff> => {
  const range = [from, to, '--', ...paths];
  const [changes, text] = await Promise.all([changesOf(deps, repo, range), patchOf(deps, repo, { range, maxBytes })]);
  return { files: changes.files, patch: text.patch, truncated: changes.truncated || text.truncated };
};

const changesOf = async (
  deps: GitDeps,
  repo: RepoId,
  range: readonly string[],
): Promise<{ files: FileChange[]; truncated: boolean }> => {
  const reader = new ChangeReader(MAX_FILES);
  await readFields(deps, { args: ['diff-tree', ...CHANGE_OPTIONS, ...range], repo }, (field) => {
    reader.take(field);
    return true;
  });
  return reader;
};

const PATCH_OPTIONS = [
  '-r',
  '--patch',
  '--find-renames',
  '--full-index',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/** Not with `-z`: a path with a newline must stay one line, quoted. */
const patchOf = async (
  deps: GitDeps,
  repo: RepoId,
  { range, maxBytes }: { range: readonly string[]; maxBytes: number },
): Promise<{ patch: string; truncated: boolean }> => {
  const kept: Buffer[] = [];
  let size = 0;
  await readOut(deps, { args: ['diff-tree', ...PATCH_OPTIONS, ...range], repo }, (chunk) => {
    kept.push(Buffer.from(chunk.subarray(0, maxBytes + 1 - size)));
    size += chunk.length;
    return size <= maxBytes;
  });
  const bytes = Buffer.concat(kept);
  if (bytes.length <= maxBytes) return { patch: bytes.toString('utf8'), truncated: false };
  // Whole lines only, but for a single one that is longer than the cap.
  const end = bytes.lastIndexOf('\n', maxBytes - 1) + 1;
  return { patch: bytes.toString('utf8', 0, end), truncated: true };
};
