import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import { aborted } from './failures.ts';

/** How much later than the server the console gives up: only when the server does not keep to its own limit. */
const GRACE_MS = 1500;

/** One moment at which everything that a request started is given up: its time is over, or its caller has gone. */
export interface Limit {
  /** Its reason is the BerthError to answer with. */
  signal: AbortSignal;
  /** To be called at the end, whatever happened. */
  end(): void;
}

export const createLimit = (clock: Clock, request: { timeoutMs: number; signal?: AbortSignal | undefined }): Limit => {
  const over = new AbortController();
  const ended = new AbortController();
  const onAbort = (): void => over.abort(aborted('run the statement', request.signal?.reason));
  if (request.signal?.aborted) onAbort();
  request.signal?.addEventListener('abort', onAbort, { once: true });
  void after(clock, request.timeoutMs + GRACE_MS, ended.signal, () => over.abort(tookTooLong(request.timeoutMs)));
  return {
    signal: over.signal,
    end: () => {
      request.signal?.removeEventListener('abort', onAbort);
      ended.abort();
    },
  };
};

export const tookTooLong = (timeoutMs: number, cause?: unknown): BerthError =>
  new BerthError('TIMEOUT', `the statement did not end within ${timeoutMs / 1000} s: it was cancelled`, {
    hint: 'make it touch less (an index, a narrower WHERE, a LIMIT), or allow it more time',
    cause,
  });

/** Does `work` after a while, unless `ended` comes first. */
export const after = async (clock: Clock, ms: number, ended: AbortSignal, work: () => void): Promise<void> => {
  await clock.sleep(ms, ended);
  if (!ended.aborted) work();
};
