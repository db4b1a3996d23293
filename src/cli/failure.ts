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
