import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import { createSweep } from '#kernel/sweep';
import { GitFailure, type GitCommand, type GitProcess, type RunGit } from './run.ts';

/** Milliseconds that a read may take. */
const READ_MS = 30_000;

export interface Reading {
  git: RunGit;
  clock: Clock;
}

export interface ReadCommand extends GitCommand {
  /** For its stdin. */
  input?: string;
  /** Exit codes that are answers and no failures; `[0]` by default. */
  accept?: readonly number[];
}

/**
 * Reads what git prints, chunk by chunk, until it ends or `take` returns false; git is then stopped. Resolves with its exit
 * code, or with 0 when it was stopped. Throws GitFailure, and TIMEOUT after 30 s.
 */
export const readOut = async (
  { git, clock }: Reading,
  command: ReadCommand,
  take: (chunk: Buffer) => boolean,
): Promise<number> => {
  const deadlineMs = command.deadlineMs ?? READ_MS;
  const until = clock.monotonic() + deadlineMs;
  const running = git.start({ ...command, deadlineMs });
  const fed = feed(running, command.input);
  const stopped = await drain(running, take);
  await fed;
  if (stopped) return 0;
  const end = await running.ended;
  if ((command.accept ?? [0]).includes(end.code)) return end.code;
  command.signal?.throwIfAborted();
  if (clock.monotonic() >= until) {
    throw new BerthError('TIMEOUT', `reading the repository took more than ${Math.round(deadlineMs / 1000)} s`, {
      hint: 'ask for less at once, or clone the repository',
      retryable: true,
    });
  }
  throw new GitFailure(command.args[0] ?? '', end);
};

const feed = async (running: GitProcess, input: string | undefined): Promise<void> => {
  if (input !== undefined) await running.write(Buffer.from(input));
  await running.end();
};

/** Whether `take` had enough. */
const drain = async (running: GitProcess, take: (chunk: Buffer) => boolean): Promise<boolean> => {
  const sweep = createSweep();
  try {
    for await (const chunk of running.stdout) {
      sweep.pass(chunk.byteLength);
      if (take(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) continue;
      running.kill();
      return true;
    }
    return false;
  } catch (thrown) {
    running.kill();
    throw thrown;
  }
};

const NUL = 0;
/** Bytes kept of one field: longer messages and paths are cut, so that none of them takes all memory. */
const MAX_FIELD = 64 * 1024;

/** Cuts a stream at each NUL and hands on what is between, until `take` returns false. */
export const splitFields = (take: (field: Buffer) => boolean, separator = NUL): ((chunk: Buffer) => boolean) => {
  let begun: Buffer = Buffer.alloc(0);
  return (chunk) => {
    let at = 0;
    for (;;) {
      const end = chunk.indexOf(separator, at);
      const piece = chunk.subarray(at, end === -1 ? chunk.length : end);
      const field = begun.length === 0 ? piece : Buffer.concat([begun, piece.subarray(0, MAX_FIELD - begun.length)]);
      if (end === -1) {
        // A copy: the chunk's memory is not kept for a rest of it.
        begun = Buffer.from(field.subarray(0, MAX_FIELD));
        return true;
      }
      begun = Buffer.alloc(0);
      if (!take(field.subarray(0, MAX_FIELD))) return false;
      at = end + 1;
    }
  };
};

/** Reads fields that end with NUL, until `take` returns false. */
export const readFields = (reading: Reading, command: ReadCommand, take: (field: Buffer) => boolean): Promise<number> =>
  readOut(reading, command, splitFields(take));

const LINE_FEED = 10;

/** Reads lines, until `take` returns false. */
export const readLines = (reading: Reading, command: ReadCommand, take: (line: Buffer) => boolean): Promise<number> =>
  readOut(reading, command, splitFields(take, LINE_FEED));
