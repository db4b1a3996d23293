import { isoTime } from '#kernel/clock';
import type { ReplicaPoint, Usage, UsagePoint } from './model.ts';
import { countOf, merge, NOTHING, quantile, type Sample } from './sample.ts';
import type { StoredSample } from './store.ts';

/** `at` in milliseconds since the epoch. */
export const pointOf = (sample: Sample, at: number): UsagePoint => {
  const count = countOf(sample.buckets);
  return {
    ts: isoTime(at),
    requests_per_second: rounded(perSecond(count, sample)),
    error_rate: count === 0 ? null : rounded(sample.errors / count),
    p50_ms: milliseconds(quantile(sample.buckets, 0.5)),
    p95_ms: milliseconds(quantile(sample.buckets, 0.95)),
    cpu: sample.cpuSeconds === null ? null : rounded(perSecond(sample.cpuSeconds, sample)),
    memory_bytes: sample.memoryBytes,
    replicas: sample.replicas,
    restarts: sample.restarts,
  };
};

export const replicaPointOf = (sample: Sample, at: number): ReplicaPoint => ({
  ts: isoTime(at),
  cpu: rounded(perSecond(sample.cpuSeconds ?? 0, sample)),
  memory_bytes: sample.memoryBytes ?? 0,
  restarts: sample.restarts,
});

/** Stored samples as intervals of `step` seconds. */
export const seriesOf = (stored: readonly StoredSample[], step: number): Pick<Usage, 'points' | 'replicas'> => {
  const byReplica = new Map<string, Map<number, Sample>>();
  for (const sample of stored) {
    const series = byReplica.get(sample.replica) ?? new Map<number, Sample>();
    const ts = sample.ts - (sample.ts % step);
    series.set(ts, merge(series.get(ts) ?? NOTHING, sample));
    byReplica.set(sample.replica, series);
  }
  const points = [...(byReplica.get('') ?? [])].map(([ts, sample]) => pointOf(sample, ts * 1000));
  byReplica.delete('');
  const replicas = [...byReplica].map(([name, series]) => ({
    name,
    points: [...series].map(([ts, sample]) => replicaPointOf(sample, ts * 1000)),
  }));
  return { points, replicas };
};

const perSecond = (amount: number, { covered }: Sample): number => (covered === 0 ? 0 : (amount * 1000) / covered);

/** Four digits after the point say all that such a measurement knows. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

const milliseconds = (seconds: number | null): number | null => (seconds === null ? null : rounded(seconds * 1000));
