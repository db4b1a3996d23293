import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { messageOf } from '#kernel/errors';
import { createIgnore, IGNORE_FILE, type Ignore } from '#kernel/source-rules';
import { fileFault, localError } from '../failure.ts';

/** One thing that goes into the upload. `path` is relative, with `/`. */
export type SourceEntry =
  | { type: 'file'; path: string; mode: number; size: number }
  | { type: 'directory'; path: string; mode: number }
  | { type: 'symlink'; path: string; target: string };

export interface SourceTree {
  root: string;
  /** Sorted by path: the same tree always gives the same archive. */
  entries: SourceEntry[];
  /** Bytes of all files. */
  bytes: number;
  files: number;
  /** Sockets, pipes and devices, which no archive should carry. */
  skipped: string[];
}

/** Lists what a deploy of `root` uploads, by the ignore rules. Links are listed, never followed. */
export const walkSource = async (root: string): Promise<SourceTree> => {
  const ignore = createIgnore(await ignoreText(root));
  const tree: SourceTree = { root, entries: [], bytes: 0, files: 0, skipped: [] };
  await walk(tree, '', ignore);
  return tree;
};

const ignoreText = async (root: string): Promise<string> => {
  try {
    return await readFile(join(root, IGNORE_FILE), 'utf8');
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'ENOENT') return '';
    if (code === 'ENOTDIR') throw localError(`${root} is no directory`, 'give the directory that holds the source');
    throw unreadable(IGNORE_FILE, thrown);
  }
};

const walk = async (tree: SourceTree, folder: string, ignore: Ignore): Promise<void> => {
  for (const name of await namesIn(tree.root, folder)) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (ignore(path)) continue;
    const stats = await lstat(join(tree.root, path));
    const mode = stats.mode & 0o777;
    if (stats.isDirectory()) {
      tree.entries.push({ type: 'directory', path, mode });
      await walk(tree, path, ignore);
    } else if (stats.isFile()) {
      tree.entries.push({ type: 'file', path, mode, size: stats.size });
      tree.bytes += stats.size;
      tree.files += 1;
    } else if (stats.isSymbolicLink()) {
      tree.entries.push({ type: 'symlink', path, target: await targetOf(tree.root, path) });
    } else {
      tree.skipped.push(path);
    }
  }
};

const namesIn = async (root: string, folder: string): Promise<string[]> => {
  try {
    const names = await readdir(join(root, folder));
    return names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  } catch (thrown) {
    if (folder === '' && codeOf(thrown) === 'ENOENT')
      throw localError(`there is no directory ${root}`, 'give the directory that holds the source');
    if (folder === '' && codeOf(thrown) === 'ENOTDIR')
      throw localError(`${root} is no directory`, 'give the directory that holds the source');
    if (folder === '') throw fileFault(`cannot read ${root}`, thrown);
    throw unreadable(folder, thrown);
  }
};

/** The link's text. One that leaves the source is refused here, as the server would after the upload. */
const targetOf = async (root: string, path: string): Promise<string> => {
  const target = await readlink(join(root, path));
  const lands = posix.normalize(posix.join(posix.dirname(path), target));
  if (!target.startsWith('/') && lands !== '..' && !lands.startsWith('../')) return target;
  throw localError(
    `the link ${path} leaves the source: it points to ${target}`,
    `replace it with the file itself, or exclude it: add a line "${path}" to ${IGNORE_FILE}`,
  );
};

const unreadable = (path: string, thrown: unknown): Error =>
  localError(
    `cannot read ${path}: ${messageOf(thrown)}`,
    `make it readable, or exclude it: add a line "${path}" to ${IGNORE_FILE}`,
    thrown,
  );

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined);

/** The heaviest directories of the first two levels, for people who have to find what to exclude. */
export const largestFolders = (tree: SourceTree, howMany: number): { path: string; bytes: number }[] => {
  const sums = new Map<string, number>();
  for (const entry of tree.entries) {
    if (entry.type !== 'file') continue;
    const parts = entry.path.split('/');
    const folder = parts.length === 1 ? entry.path : `${parts.slice(0, Math.min(2, parts.length - 1)).join('/')}/`;
    sums.set(folder, (sums.get(folder) ?? 0) + entry.size);
  }
  return [...sums]
    .map(([path, bytes]) => ({ path, bytes }))
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, howMany);
};
