import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type BerthError, conflict } from '#kernel/errors';
import type { StoredObject } from './place.ts';

/** Makes the folders above a file; a link among them is refused. */
export const makeFolders = async (dir: string, path: string): Promise<void> => {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  let folder = dir;
  for (const part of path.split('/').slice(0, -1)) {
    folder = join(folder, part);
    await mkdir(folder, { mode: 0o700 }).catch((thrown: unknown) => {
      if (codeOf(thrown) !== 'EEXIST') throw thrown;
    });
  }
  await realFolders(dir, path);
};

/** Whether the folders above a file are there. One that is a link or a file is refused. */
export const realFolders = async (dir: string, path: string): Promise<boolean> => {
  let at = '';
  for (const part of path.split('/').slice(0, -1)) {
    at = join(at, part);
    const stat = await orMissing(lstat(join(dir, at)), at);
    if (stat === undefined) return false;
    if (!stat.isDirectory()) throw conflict(`${at} in the backup folder is not a folder`, 'look at it, and remove it');
  }
  return true;
};

/** All files below a folder, links and pipes included. */
export const walk = async (dir: string, folder: string): Promise<StoredObject[]> => {
  if (!(await realFolders(dir, `${folder}/.`))) return [];
  const found: StoredObject[] = [];
  const entries = await orMissing(readdir(join(dir, folder), { withFileTypes: true }), folder);
  for (const entry of entries ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await walk(dir, path)));
    else {
      const stat = await orMissing(lstat(join(dir, path)), path);
      if (stat !== undefined) found.push({ path, bytes: stat.size, modified: stat.mtimeMs });
    }
  }
  return found;
};

/** A rename is only sure to outlast a power cut once its folder is synced. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Undefined for what is not there; links are refused. */
export const orMissing = async <T>(outcome: Promise<T>, path: string): Promise<T | undefined> => {
  try {
    return await outcome;
  } catch (thrown) {
    const code = codeOf(thrown);
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'ENXIO') throw notAFile(path);
    throw thrown;
  }
};

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined);

export const notAFile = (path: string): BerthError =>
  conflict(`${path} in the backup folder is a link or no file`, 'look at it, and remove it');
