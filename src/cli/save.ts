import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '#kernel/errors';
import type { Context } from './context.ts';
import { CliFailure, interrupted, localError } from './failure.ts';

/** Writes a reply's body to a file that is not there yet, whole or not at all. Returns its bytes. */
export const saveBody = async (context: Context, response: Response, file: string): Promise<number> => {
  if (response.body === null) throw localError('the server sent nothing', 'try again');
  if (existsSync(file)) throw localError(`${file} exists already`, 'remove it, or give another name');
  const part = `${file}.${randomBytes(4).toString('hex')}.part`;
  try {
    const output = createWriteStream(part, { mode: 0o600, flags: 'wx' });
    await pipeline(Readable.fromWeb(response.body as never), output, { signal: context.io.signal });
    await rename(part, file);
  } catch (thrown) {
    await rm(part, { force: true });
    if (context.io.signal.aborted) throw interrupted('the download was stopped', 'nothing was written');
    throw thrown instanceof CliFailure ? thrown : notWritten(file, thrown);
  }
  return Bun.file(file).size;
};

const notWritten = (file: string, thrown: unknown): CliFailure => {
  const full = thrown instanceof Error && 'code' in thrown && ['ENOSPC', 'EDQUOT'].includes(String(thrown.code));
  return localError(
    `cannot write ${file}: ${messageOf(thrown)}`,
    full ? 'free disk space, then run it again' : 'check the folder and the connection, then run it again',
    thrown,
  );
};
