import { type BerthError, invalidInput, notFound } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import type { ObjectId, RepoId, TreeEntry } from './port.ts';
import { readFields } from './stream.ts';

/** An entry as git prints it: `<mode> <type> <id>[ <size>]\t<path>`. */
export interface RawEntry {
  mode: string;
  id: ObjectId;
  path: Buffer;
}

const TAB = 9;

export const parseEntry = (field: Buffer): RawEntry => {
  const tab = field.indexOf(TAB);
  const [mode = '', , id = ''] = field.toString('latin1', 0, tab).split(' ');
  // A copy: fields are views of a chunk that is read over.
  return { mode, id, path: Buffer.from(field.subarray(tab + 1)) };
};

export const kindOf = (mode: string): TreeEntry['kind'] => {
  switch (mode) {
    case '040000':
      return 'directory';
    case '120000':
      return 'symlink';
    case '160000':
      return 'submodule';
    default:
      return 'file';
  }
};

/** What a commit has at a path; links on the way are not followed. */
export const findEntry = async (
  deps: GitDeps,
  repo: RepoId,
  { commit, path }: { commit: ObjectId; path: string },
): Promise<RawEntry | undefined> => {
  let found: RawEntry | undefined;
  await readFields(deps, { args: ['ls-tree', '-z', commit, '--', path], repo }, (field) => {
    found = parseEntry(field);
    return false;
  });
  return found;
};

export const noPath = (path: string): BerthError =>
  notFound(
    `there is no ${JSON.stringify(path.slice(0, 200))} in this commit`,
    'list the folder it should be in, and mind the branch',
  );

/** The tree of a commit, or that of a folder of it, as git takes it where a tree is wanted. */
export const requireFolder = async (
  deps: GitDeps,
  repo: RepoId,
  { commit, path }: { commit: ObjectId; path: string | undefined },
): Promise<ObjectId> => {
  if (path === undefined) return commit;
  const entry = await findEntry(deps, repo, { commit, path });
  if (entry === undefined) throw noPath(path);
  const kind = kindOf(entry.mode);
  if (kind === 'directory') return entry.id;
  throw invalidInput(
    `${JSON.stringify(path.slice(0, 200))} is a ${kind}, not a folder`,
    kind === 'submodule' ? 'what is in it is in another repository' : 'read it as a file',
  );
};
