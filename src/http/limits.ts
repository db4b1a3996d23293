import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';

/** Counts what may happen a number of times a minute, per key, in bounded memory. */
export interface MinuteLimit {
  /** Milliseconds until the key may go on; 0 when it may now. */
  waitMs(key: string): number;
  count(key: string): void;
}

const MINUTE_MS = 60_000;
const MAX_KEYS = 10_000;

/** Fixed windows of a minute. Past the bound of keys the oldest are forgotten. */
export const createMinuteLimit = (perMinute: number, clock: Clock): MinuteLimit => {
  const windows = new Map<string, { since: number; count: number }>();
  const current = (key: string): { since: number; count: number } | undefined => {
    const window = windows.get(key);
    if (window === undefined || clock.monotonic() - window.since < MINUTE_MS) return window;
    windows.delete(key);
    return undefined;
  };
  return {
    waitMs: (key) => {
      const window = current(key);
      if (window === undefined || window.count < perMinute) return 0;
      return window.since + MINUTE_MS - clock.monotonic();
    },
    count: (key) => {
      const window = current(key);
      if (window !== undefined) {
        window.count += 1;
        return;
      }
      if (windows.size >= MAX_KEYS) forgetOldest(windows);
      windows.set(key, { since: clock.monotonic(), count: 1 });
    },
  };
};

const forgetOldest = (windows: Map<string, unknown>): void => {
  for (const key of windows.keys()) {
    windows.delete(key);
    return;
  }
};

/** A token bucket that holds a minute's worth of requests, and fills evenly. */
export interface Bucket {
  left: number;
  at: number;
}

export interface RequestLimit {
  /** Takes one request out of the bucket, or throws QUOTA_EXCEEDED. */
  take(bucket: Bucket): void;
  fresh(): Bucket;
}

export const createRequestLimit = (perMinute: number, clock: Clock): RequestLimit => ({
  fresh: () => ({ left: perMinute, at: clock.monotonic() }),
  take: (bucket) => {
    if (perMinute === 0) return;
    const now = clock.monotonic();
    bucket.left = Math.min(perMinute, bucket.left + ((now - bucket.at) * perMinute) / MINUTE_MS);
    bucket.at = now;
    if (bucket.left < 1) {
      const waitMs = ((1 - bucket.left) * MINUTE_MS) / perMinute;
      throw tooMany(`this token sent more than ${perMinute} requests in a minute`, waitMs);
    }
    bucket.left -= 1;
  },
});

export const tooMany = (message: string, waitMs: number): BerthError => {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new BerthError('QUOTA_EXCEEDED', message, {
    hint: `wait ${seconds} s, then retry`,
    retryable: true,
    retryAfterSeconds: seconds,
  });
};
