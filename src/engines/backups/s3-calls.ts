import type { Clock } from '#kernel/clock';
import { s3Failure, s3Late, type Bucket } from './s3-failures.ts';

const ATTEMPTS = 3;
const PAUSE_MS = 250;

export interface CallOptions {
  /** As in "cannot <what> in bucket …". */
  what: string;
  signal?: AbortSignal | undefined;
}

export type Calls = <T>(options: CallOptions, run: () => Promise<T>) => Promise<T>;

/** Runs small calls to the bucket: each with a deadline, and again when that may help. They can all be repeated safely. */
export const createCalls = (bucket: Bucket, clock: Clock, deadlineMs: number): Calls => {
  const once = async <T>({ what, signal }: CallOptions, run: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    const ended = new AbortController();
    const late = async (): Promise<never> => {
      await clock.sleep(deadlineMs, signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]));
      signal?.throwIfAborted();
      throw s3Late(bucket, what, deadlineMs);
    };
    const watch = late();
    watch.catch(() => undefined);
    try {
      return await Promise.race([run(), watch]);
    } finally {
      ended.abort();
    }
  };

  return async (options, run) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once(options, run);
      } catch (thrown) {
        if (options.signal?.aborted) throw thrown;
        const failure = s3Failure(bucket, options.what, thrown);
        if (!failure.retryable || failure.httpStatus === 507 || attempt === ATTEMPTS) throw failure;
        await clock.sleep(PAUSE_MS * 2 ** attempt, options.signal);
      }
    }
  };
};
