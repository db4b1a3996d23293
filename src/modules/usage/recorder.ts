import { merge, type Sample } from './sample.ts';
import { TIERS, type SeriesKey, type UsageStore } from './store.ts';

/** Writes samples into every tier at once: an interval grows with each sample that falls into it. */
export interface Recorder {
  /** `now` in milliseconds since the epoch. */
  record(samples: readonly { key: SeriesKey; sample: Sample }[], now: number): void;
}

const PRUNE_EVERY_MS = 10 * 60_000;

export const createRecorder = (store: UsageStore): Recorder => {
  /** The intervals that are still growing. */
  let growing = new Map<string, Sample>();
  let pruned = -Infinity;
  return {
    record: (samples, now) => {
      const seconds = Math.floor(now / 1000);
      const next = new Map<string, Sample>();
      const rows = samples.flatMap(({ key, sample }) =>
        TIERS.filter((tier) => tier.replicas || key.replica === '').map(({ step }) => {
          const ts = seconds - (seconds % step);
          const id = `${key.project}/${key.service}/${key.replica}/${step}/${ts}`;
          const before = growing.get(id) ?? store.get(key, step, ts);
          const grown = before === undefined ? sample : merge(before, sample);
          next.set(id, grown);
          return { key, step, ts, sample: grown };
        }),
      );
      store.put(rows);
      growing = next;
      if (now - pruned < PRUNE_EVERY_MS) return;
      pruned = now;
      store.prune(seconds);
    },
  };
};
