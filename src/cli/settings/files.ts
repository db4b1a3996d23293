import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '#kernel/errors';
import { localError } from '../failure.ts';

/** Replaces a file as a whole: it has the old content or the new one, whatever happens in between. */
export const writeAtomically = async (
  file: string,
  content: string,
  mode: number,
  folderMode: number,
): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: folderMode });
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  const handle = await open(fresh, 'wx', mode);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } catch (thrown) {
    await rm(fresh, { force: true });
    throw thrown;
  } finally {
    await handle.close();
  }
  // The umask may have taken bits away.
  await chmod(fresh, mode);
  await rename(fresh, file);
};

/** Reads a JSON object; undefined when there is no such file. */
export const readJson = async (file: string): Promise<Record<string, unknown> | undefined> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR'))
      return undefined;
    throw localError(`cannot read ${file}: ${messageOf(thrown)}`, 'check who owns the file and its mode', thrown);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the same message as JSON of another shape.
  }
  throw localError(`${file} is damaged: it holds no JSON object`, 'correct the file, or remove it and set it up again');
};
