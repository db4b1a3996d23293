import type { ErrorBody } from '#kernel/errors';
import type { DryRun } from '#kernel/schema';

/** Exit codes of every command: stable, and documented in docs/cli.md. */
export const EXIT = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** Codes of faults that arise in the client; everything else is the API's own `ErrorCode`. */
export type ClientCode = 'USAGE' | 'UNREACHABLE' | 'INTERRUPTED' | 'LOCAL_ERROR';

/** An error as the CLI shows it: the API's object, or one of the same shape for a fault in the client. */
export interface FailureBody extends Omit<ErrorBody, 'code'> {
  code: ErrorBody['code'] | ClientCode;
}

/** The one error that commands throw. `exitCode` follows from its code. */
export class CliFailure extends Error {
  readonly body: FailureBody;
  /** HTTP status, for failures that the API answered. */
  readonly status: number | undefined;

  constructor(body: FailureBody, options: { status?: number; cause?: unknown } = {}) {
    super(body.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'CliFailure';
    this.body = body;
    this.status = options.status;
  }

  get exitCode(): number {
    if (this.body.code === 'USAGE') return EXIT.usage;
    return this.body.code === 'INTERRUPTED' ? EXIT.interrupted : EXIT.failure;
  }
}

export const usageError = (message: string, hint: string): CliFailure =>
  new CliFailure({ code: 'USAGE', message, hint, retryable: false });

export const localError = (message: string, hint: string, cause?: unknown): CliFailure =>
  new CliFailure({ code: 'LOCAL_ERROR', message, hint, retryable: false }, { cause });

/** What to do about a fault of this machine, by the code of the system call (errno(3)); undefined for others. */
export const systemHint = (thrown: unknown): string | undefined => {
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code === 'EACCES' || code === 'EPERM') return 'check the permissions, or run it as a user that has them';
  if (code === 'EROFS') return 'that is mounted read-only: choose another place';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'free disk space, then run it again';
  if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG'].includes(code)) return 'check the path';
  if (code === 'EMFILE' || code === 'ENFILE') return 'too many files are open: raise the limit (ulimit -n)';
  if (code === 'EEXIST') return 'remove it, or choose another name';
  return undefined;
};

/** A file of this machine that could not be read or written. */
export const fileFault = (what: string, thrown: unknown): CliFailure =>
  localError(
    `${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
    systemHint(thrown) ?? 'check who owns the file and its mode',
    thrown,
  );

export const interrupted = (message: string, hint: string): CliFailure =>
  new CliFailure({ code: 'INTERRUPTED', message, hint, retryable: false });

/** Ends a command whose change was only planned. */
export class Planned extends Error {
  readonly reply: DryRun;

  constructor(reply: DryRun) {
    super(reply.plan.summary);
    this.reply = reply;
  }
}
