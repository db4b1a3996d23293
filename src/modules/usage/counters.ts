import type { TrafficSeries } from '#engines/proxy/port';
import { addBuckets } from './sample.ts';

export interface Traffic {
  buckets: number[];
  errors: number;
}

/** Turns counters that only grow, and now and then begin anew, into what was added since the reading before. */
export interface TrafficCounter {
  /** By `project/service`; the first reading tells nothing, because nobody knows since when it counts. */
  added(series: readonly TrafficSeries[]): Map<string, Traffic>;
}

export const createTrafficCounter = (): TrafficCounter => {
  let before: Map<string, readonly number[]> | undefined;
  return {
    added: (series) => {
      const now = new Map<string, readonly number[]>();
      const found = new Map<string, Traffic>();
      for (const { project, service, key, status, buckets } of series) {
        const name = `${project}/${service}`;
        now.set(`${name} ${key}`, buckets);
        if (before === undefined) continue;
        const more = increase(before.get(`${name} ${key}`), buckets);
        const count = more.reduce((sum, each) => sum + each, 0);
        if (count === 0) continue;
        const known = found.get(name);
        found.set(name, {
          buckets: addBuckets(known?.buckets ?? null, more) ?? more,
          errors: (known?.errors ?? 0) + (status >= 500 ? count : 0),
        });
      }
      before = now;
      return found;
    },
  };
};

/** A counter that is lower than before began anew: all that it shows is new. */
const increase = (before: readonly number[] | undefined, now: readonly number[]): number[] => {
  if (before === undefined || now.some((count, index) => count < (before[index] ?? 0))) return [...now];
  return now.map((count, index) => count - (before[index] ?? 0));
};

/** The same for one number. Undefined for the first reading. */
export const createCounter = () => {
  let before = new Map<string, number>();
  return {
    /** What was added by key; keys that are not read any more are forgotten. */
    added: (readings: ReadonlyMap<string, number>): Map<string, number> => {
      const found = new Map<string, number>();
      for (const [key, value] of readings) {
        const last = before.get(key);
        if (last !== undefined) found.set(key, value >= last ? value - last : value);
      }
      before = new Map(readings);
      return found;
    },
  };
};
