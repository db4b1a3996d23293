import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { sha256OfFile } from '#kernel/executable-file';
import { syncFolder } from './journal.ts';

/** Puts a copy beside the place of an executable, on its disk, so that a rename puts it there. */
export const stageExecutable = (from: string, staged: string): void => {
  rmSync(staged, { force: true });
  copyFileSync(from, staged);
  chmodSync(staged, 0o755);
  sync(staged);
};

/** The staged one takes the place, the one that was there is kept. At no moment is the place empty. */
export const exchangeExecutable = (staged: string, place: string, previous: string): void => {
  keep(place, previous);
  renameSync(staged, place);
  syncFolder(dirname(place));
};

/** The way back; the previous one stays where it is too. Does nothing when it is there already. */
export const putBack = async (place: string, previous: string, sha256: string): Promise<void> => {
  if (existsSync(place) && (await sha256OfFile(place)) === sha256) return;
  const staged = `${place}.back`;
  rmSync(staged, { force: true });
  linkSync(previous, staged);
  renameSync(staged, place);
  syncFolder(dirname(place));
};

const keep = (place: string, previous: string): void => {
  const staged = `${previous}.part`;
  rmSync(staged, { force: true });
  linkSync(place, staged);
  // A rename onto another link of the same file does nothing, and leaves both names.
  renameSync(staged, previous);
  rmSync(staged, { force: true });
};

const sync = (file: string): void => {
  const handle = openSync(file, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};
