import { LATENCY_BOUNDS } from '#engines/proxy/port';

/** What happened in a stretch of time. Samples add up. */
export interface Sample {
  /** Milliseconds that it covers. */
  covered: number;
  /** Requests by latency, as in `LATENCY_BOUNDS`; null without any. */
  buckets: number[] | null;
  errors: number;
  /** CPU time in seconds; null when nothing ran. */
  cpuSeconds: number | null;
  memoryBytes: number | null;
  replicas: number;
  restarts: number;
}

export const NOTHING: Sample = {
  covered: 0,
  buckets: null,
  errors: 0,
  cpuSeconds: null,
  memoryBytes: null,
  replicas: 0,
  restarts: 0,
};

/** Two stretches as one: what is counted adds up, of what is measured the most stays. */
export const merge = (a: Sample, b: Sample): Sample => ({
  covered: a.covered + b.covered,
  buckets: addBuckets(a.buckets, b.buckets),
  errors: a.errors + b.errors,
  cpuSeconds: either(a.cpuSeconds, b.cpuSeconds, (x, y) => x + y),
  memoryBytes: either(a.memoryBytes, b.memoryBytes, Math.max),
  replicas: Math.max(a.replicas, b.replicas),
  restarts: a.restarts + b.restarts,
});

const either = (a: number | null, b: number | null, both: (a: number, b: number) => number): number | null => {
  if (a === null) return b;
  return b === null ? a : both(a, b);
};

export const addBuckets = (a: readonly number[] | null, b: readonly number[] | null): number[] | null => {
  if (a === null) return b === null ? null : [...b];
  return b === null ? [...a] : a.map((count, index) => count + (b[index] ?? 0));
};

export const countOf = (buckets: readonly number[] | null): number =>
  (buckets ?? []).reduce((sum, count) => sum + count, 0);

/**
 * The latency in seconds within which that share of requests was answered, as Prometheus' `histogram_quantile` estimates it:
 * evenly spread within a bucket, and the highest bound for what is above. Null without requests.
 */
export const quantile = (buckets: readonly number[] | null, share: number): number | null => {
  const total = countOf(buckets);
  if (buckets === null || total === 0) return null;
  const wanted = total * share;
  let below = 0;
  for (const [index, bound] of LATENCY_BOUNDS.entries()) {
    const count = buckets[index] ?? 0;
    if (below + count >= wanted && count > 0) {
      const from = LATENCY_BOUNDS[index - 1] ?? 0;
      return from + ((bound - from) * (wanted - below)) / count;
    }
    below += count;
  }
  return LATENCY_BOUNDS.at(-1) ?? null;
};
