import { BerthError } from '#kernel/errors';
import type { Clock } from '#kernel/clock';

export interface DeadlineOptions {
  clock: Clock;
  /** Milliseconds after which the call fails. */
  ms: number;
  /** What is being done, as in "Docker did not <what> within 30 s". */
  what: string;
  /** Lets the caller give up sooner. */
  signal?: AbortSignal | undefined;
}

/**
 * Runs `run` and fails with a retryable INTERNAL_ERROR when it takes longer than `ms`. The signal that `run` gets aborts
 * at that moment; its late outcome is ignored.
 */
export const withDeadline = async <T>(
  options: DeadlineOptions,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { clock, ms, what, signal: outer } = options;
  const work = new AbortController();
  const timer = new AbortController();
  const giveUp = Promise.withResolvers<never>();
  const onOuterAbort = (): void => {
    work.abort();
    giveUp.reject(cancelled(what, outer?.reason));
  };
  if (outer?.aborted) throw cancelled(what, outer.reason);
  outer?.addEventListener('abort', onOuterAbort, { once: true });
  const watch = async (): Promise<void> => {
    await clock.sleep(ms, timer.signal);
    if (timer.signal.aborted) return;
    work.abort();
    giveUp.reject(late(what, ms));
  };
  const watching = watch();
  try {
    return await Promise.race([run(work.signal), giveUp.promise]);
  } finally {
    timer.abort();
    outer?.removeEventListener('abort', onOuterAbort);
    await watching;
  }
};

const late = (what: string, ms: number): BerthError =>
  new BerthError('INTERNAL_ERROR', `Docker did not ${what} within ${Math.ceil(ms / 1000)} s`, {
    hint: 'Docker hangs or is overloaded, see: berth doctor',
    retryable: true,
  });

const cancelled = (what: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `gave up waiting for Docker to ${what}: the request was cancelled`, {
    hint: 'send the request again',
    retryable: true,
    cause,
  });
