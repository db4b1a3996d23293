import { BerthError } from '#kernel/errors';
import type { JobEnd } from '../port.ts';

/** What ended a job: nothing when it did its work. `what` reads as in "could not <what>". */
export const jobFailure = (what: string, end: JobEnd, memoryMb: number): BerthError | undefined => {
  if (end.exitCode === 0) return undefined;
  if (end.oomKilled) {
    return new BerthError('INTERNAL_ERROR', `could not ${what}: ${memoryMb} MB of memory were not enough for it`, {
      hint: 'it takes memory by the number of tables and large objects, not of rows: drop those that are not needed',
      logTail: end.stderr,
    });
  }
  const cause = reason(end.stderr) ?? `it ended with exit code ${end.exitCode}`;
  const known = KNOWN.find(({ pattern }) => pattern.test(end.stderr));
  return new BerthError(known?.kind ?? 'INTERNAL_ERROR', `could not ${what}: ${cause}`, {
    hint: known?.hint ?? 'look at the log below, mend what it names, and send it again',
    retryable: known?.retryable ?? false,
    logTail: end.stderr,
    ...(known?.httpStatus === undefined ? {} : { httpStatus: known.httpStatus }),
  });
};

/** The first complaint of a libpq program and its detail, without the program's name in front of them. */
const reason = (stderr: string): string | undefined => {
  const error = /^pg_(?:dump|restore): (?:error: )?(?!warning:|hint:|detail:)(.+)$/m.exec(stderr);
  if (error?.[1] === undefined) return undefined;
  const detail = /^pg_(?:dump|restore): detail: (.+)$/m.exec(stderr.slice(error.index));
  return [error[1], ...(detail?.[1] === undefined ? [] : [detail[1]])].join(' ').slice(0, 500);
};

interface Known {
  pattern: RegExp;
  kind?: 'CONFLICT' | 'INVALID_INPUT';
  hint: string;
  retryable: boolean;
  httpStatus?: number;
}

/** Messages of PostgreSQL 15 to 18 (src/bin/pg_dump, src/backend), which jobs get in English. */
const KNOWN: Known[] = [
  {
    pattern: /No space left on device/,
    hint: 'free disk space on the server (see: berth doctor), then send it again',
    retryable: true,
    httpStatus: 507,
  },
  {
    pattern: /canceling statement due to lock timeout/,
    kind: 'CONFLICT',
    hint: 'a change of the schema is waiting or under way: send it again when it is through',
    retryable: true,
  },
  {
    pattern:
      /did not find magic string|could not read from input file|unexpected section code|corrupt|could not find block ID|could not decompress|could not uncompress|unrecognized data block type|entry ID \d+ out of range|found unexpected block ID/,
    kind: 'INVALID_INPUT',
    hint: 'the backup is damaged or is none of Postgres: take another one',
    retryable: false,
  },
  {
    pattern:
      /server closed the connection unexpectedly|connection to server .* failed|terminating connection|SSL SYSCALL error|the database system is/,
    hint: 'the database was restarted or did not answer: send it again in some seconds',
    retryable: true,
  },
];
