/** Time as a dependency, so that tests own it. */
export interface Clock {
  /** Wall-clock milliseconds since the Unix epoch: for what people read and for expiry. */
  now(): number;
  /** Milliseconds that never jump: for durations and deadlines. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts (it never rejects). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** RFC 3339 text in UTC with milliseconds, the only form in which the API shows a time. */
export const isoTime = (ms: number): string => new Date(ms).toISOString();
