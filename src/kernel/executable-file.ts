import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, chmod, chown, constants, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** SHA-256 of a file in hex, read in pieces. */
export const sha256OfFile = async (file: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(piece as Uint8Array);
  return hash.digest('hex');
};

/** Whether this process is the compiled executable, and not Bun with the sources. */
export const isCompiled = (): boolean => /^(?:\/\$bunfs\/|[A-Z]:[/\\]~BUN)/.test(Bun.main);

/** The file that this process was started from, behind all links; undefined from source. */
export const ownExecutable = async (): Promise<string | undefined> =>
  isCompiled() ? await realpath(process.execPath) : undefined;

/** Whether this process may put another file in the place of `target`. */
export const mayReplace = async (target: string): Promise<boolean> => {
  try {
    await access(dirname(await realpath(target)), constants.W_OK);
    return true;
  } catch {
    // Whatever keeps us from looking keeps us from writing too.
    return false;
  }
};

/**
 * Puts a new file in the place of the executable `target`, in one step: whoever starts it meanwhile gets the old one or the
 * new one, and what runs of it goes on. Links are followed, mode and owner kept. `make` writes the new file, inside a folder
 * of its own on the same disk where it may leave more; when it throws, nothing has changed.
 */
export const replaceExecutable = async (
  target: string,
  make: (file: string, folder: string) => Promise<void>,
): Promise<string> => {
  const place = await realpath(target);
  const before = await stat(place);
  const folder = join(dirname(place), `.${basename(place)}-${randomBytes(6).toString('hex')}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    const file = join(folder, basename(place));
    await make(file, folder);
    await chmod(file, before.mode & 0o7777);
    if (process.getuid?.() === 0) await chown(file, before.uid, before.gid);
    await syncToDisk(file);
    await rename(file, place);
    await syncToDisk(dirname(place));
    return place;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const syncToDisk = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
