import type { Clock } from '#kernel/clock';

/** A reading of something that may hang: kept for a while, asked for once at a time, and never waited for long. */
export interface Probe<T> {
  /** The newest reading; undefined when there is none in time. */
  read(): Promise<T | undefined>;
}

export interface ProbeOptions<T> {
  ask: () => Promise<T>;
  clock: Clock;
  /** A reading is good for so long. */
  freshMs: number;
  /** Readers wait for a new one at most so long. */
  patienceMs: number;
}

export const createProbe = <T>({ ask, clock, freshMs, patienceMs }: ProbeOptions<T>): Probe<T> => {
  let last: { at: number; value: T | undefined } | undefined;
  let underWay: Promise<void> | undefined;

  const refresh = async (): Promise<void> => {
    const value = await ask().catch(() => undefined);
    last = { at: clock.monotonic(), value };
    underWay = undefined;
  };

  return {
    read: async () => {
      if (last !== undefined && clock.monotonic() - last.at < freshMs) return last.value;
      underWay ??= refresh();
      const patience = new AbortController();
      const inTime = await Promise.race([
        underWay.then(() => true),
        clock.sleep(patienceMs, patience.signal).then(() => false),
      ]);
      patience.abort();
      return inTime ? last?.value : undefined;
    },
  };
};
