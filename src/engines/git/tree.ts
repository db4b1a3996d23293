import { invalidInput } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import { kindOf, parseEntry, requireFolder, type RawEntry } from './entries.ts';
import { requirePath } from './names.ts';
import type { Git, ObjectId, RepoId, TreeEntry } from './port.ts';
import { resolve } from './resolve.ts';
import { readFields } from './stream.ts';

type Query = Parameters<Git['tree']>[1];

/** Entries of a folder, or all files below it, in git's order. Sizes are looked up for the page only. */
export const listTree = async (deps: GitDeps, repo: RepoId, query: Query): Promise<TreeEntry[]> => {
  const path = query.path === undefined ? undefined : requirePath(query.path);
  const commit = await resolve(deps, repo, query.ref);
  const folder = await requireFolder(deps, repo, { commit, path });
  const page = await entriesOf(deps, repo, {
    ...query,
    folder,
    below: Buffer.from(path === undefined ? '' : `${path}/`),
  });
  const files = page.filter(({ mode }) => kindOf(mode) === 'file').map(({ id }) => id);
  const sizes = await sizesOf(deps, repo, [...new Set(files)]);
  return page.map((entry) => entryView(entry, sizes));
};

const entriesOf = async (
  deps: GitDeps,
  repo: RepoId,
  { recursive, limit, after, folder, below }: Query & { folder: ObjectId; below: Buffer },
): Promise<RawEntry[]> => {
  const page: RawEntry[] = [];
  const last = after === undefined ? undefined : rawPathOf(after);
  let reached = last === undefined;
  const args = ['ls-tree', '-z', ...(recursive ? ['-r'] : []), folder];
  await readFields(deps, { args, repo }, (field) => {
    const entry = parseEntry(field);
    entry.path = Buffer.concat([below, entry.path]);
    if (reached) page.push(entry);
    else reached = last?.equals(entry.path) === true;
    return page.length < limit;
  });
  if (reached) return page;
  throw invalidInput('the entry to go on after is not in this tree', 'begin again without a cursor');
};

const rawPathOf = ({ path, raw_path: raw }: Pick<TreeEntry, 'path' | 'raw_path'>): Buffer =>
  raw === undefined ? Buffer.from(path) : Buffer.from(raw, 'base64');

export const sizesOf = async (
  { git }: GitDeps,
  repo: RepoId,
  ids: readonly ObjectId[],
): Promise<Map<ObjectId, number>> => {
  if (ids.length === 0) return new Map();
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)'];
  const text = await git.text({ args, repo, input: `${ids.join('\n')}\n` });
  const sizes = new Map<ObjectId, number>();
  for (const line of text.split('\n')) {
    const [id, size] = line.split(' ');
    if (id !== undefined && size !== undefined && /^\d+$/.test(size)) sizes.set(id, Number(size));
  }
  return sizes;
};

const entryView = ({ mode, id, path }: RawEntry, sizes: ReadonlyMap<ObjectId, number>): TreeEntry => {
  const text = path.toString('utf8');
  const exact = Buffer.from(text).equals(path);
  const kind = kindOf(mode);
  return {
    path: text,
    ...(exact ? {} : { raw_path: path.toString('base64') }),
    kind,
    mode,
    id,
    size: kind === 'file' ? (sizes.get(id) ?? null) : null,
  };
};
