import { closeSync, constants, fstatSync, openSync, readSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { invalidInput } from '#kernel/errors';
import type { SourceTree } from './source-tree.ts';

const MAX_ENTRIES = 50_000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** Folders that never belong to the source: the upload rules drop them too. */
const EXCLUDED = new Set(['.git', 'node_modules', '.service', '__pycache__', '.venv']);

/** Lists a folder on disk without following links; files are read when asked for, and only once. */
export const readSourceTree = (root: string): SourceTree => sourceTreeOf(root, list(root));

/** The same of a folder whose files are listed already. */
export const sourceTreeOf = (root: string, paths: readonly string[]): SourceTree => {
  const files = [...paths].sort();
  const known = new Set(files);
  const texts = new Map<string, string | undefined>();
  return {
    files,
    read(path) {
      if (!known.has(path)) return undefined;
      if (!texts.has(path)) texts.set(path, readText(join(root, path)));
      return texts.get(path);
    },
    isExecutable: (path) => known.has(path) && (statSync(join(root, path)).mode & 0o111) !== 0,
  };
};

const list = (root: string): string[] => {
  const files: string[] = [];
  // Paths relative to the root, with a slash at their end.
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of readdirSync(`${root}/${folder}`, { withFileTypes: true })) {
      if (entry.isDirectory() && !EXCLUDED.has(entry.name)) folders.push(`${folder}${entry.name}/`);
      if (entry.isFile()) files.push(`${folder}${entry.name}`);
      if (files.length + folders.length > MAX_ENTRIES) throw tooManyEntries();
    }
  }
  return files;
};

const tooManyEntries = (): Error =>
  invalidInput(
    `the source has more than ${MAX_ENTRIES} files`,
    'exclude what the app does not need with a .serviceignore file, then deploy again',
  );

const readText = (path: string): string | undefined => {
  // O_NOFOLLOW: the file may have been swapped for a link since it was listed.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(descriptor);
    if (size > MAX_FILE_BYTES) return undefined;
    const buffer = Buffer.alloc(size);
    const length = readSync(descriptor, buffer, 0, size, 0);
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
};
