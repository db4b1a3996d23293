import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileFault, localError } from '../failure.ts';

/** Replaces a file as a whole: it has the old content or the new one, whatever happens in between. */
export const writeAtomically = async (
  file: string,
  content: string,
  mode: number,
  folderMode: number,
): Promise<void> => {
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: folderMode });
    await writeFresh(fresh, content, mode);
    await rename(fresh, file);
  } catch (thrown) {
    await rm(fresh, { force: true }).catch(() => undefined);
    throw fileFault(`cannot write ${file}`, thrown);
  }
};

const writeFresh = async (file: string, content: string, mode: number): Promise<void> => {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  // The umask may have taken bits away.
  await chmod(file, mode);
};

const LOCK_STEP_MS = 25;
const LOCK_WAIT_MS = 5000;
/** A change takes milliseconds: an older lock is left by a process that died. */
const LOCK_STALE_MS = 10_000;

/** Runs `work` while no other process changes `file` by this same function. */
export const whileLocked = async <T>(file: string, folderMode: number, work: () => Promise<T>): Promise<T> => {
  const lock = `${file}.lock`;
  const deadline = Date.now() + LOCK_WAIT_MS;
  while (!(await takeLock(lock, folderMode))) {
    const age = await ageOf(lock);
    if (age !== undefined && age > LOCK_STALE_MS) await rm(lock, { force: true });
    else if (Date.now() > deadline)
      throw localError(`${file} is being changed by another process`, `try again; if none runs, remove ${lock}`);
    else await Bun.sleep(LOCK_STEP_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
};

const takeLock = async (lock: string, folderMode: number): Promise<boolean> => {
  try {
    await mkdir(dirname(lock), { recursive: true, mode: folderMode });
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return false;
    throw fileFault(`cannot write ${lock}`, thrown);
  }
};

const ageOf = async (file: string): Promise<number | undefined> => {
  try {
    return Date.now() - (await stat(file)).mtimeMs;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
};

/** Reads a JSON object; undefined when there is no such file. */
export const readJson = async (file: string): Promise<Record<string, unknown> | undefined> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR'))
      return undefined;
    throw fileFault(`cannot read ${file}`, thrown);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the same message as JSON of another shape.
  }
  throw localError(`${file} is damaged: it holds no JSON object`, 'correct the file, or remove it and set it up again');
};
