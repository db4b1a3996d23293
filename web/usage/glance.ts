import type { Usage } from '#modules/usage';
import { bytes, percent } from '../ui/format.ts';
import { latestOf, millis, perSecond, placed, timesOf } from './series.ts';

/** One measure of a service for a glance: its newest value, and how it went. */
export interface Measure {
  name: string;
  /** `–` when nothing was measured of late. */
  now: string;
  /** Beside the value, smaller. */
  beside?: string;
  values: (number | null)[];
  /** The same in words. */
  words: string;
  /** Worth a look. */
  alarming: boolean;
}

type Point = Usage['points'][number];

/** From here on the share of failed requests is shown as a fault. */
const MANY_ERRORS = 0.01;

export const measuresOf = (usage: Usage): Measure[] => {
  const times = shownTimes(usage);
  const of = (name: string, value: (point: Point) => number | null, write: (value: number) => string): Measure => {
    const values = placed(times, usage.points, value);
    const latest = latestOf(values);
    return { name, now: written(latest, write), values, words: inWords(name, values, write), alarming: false };
  };
  const p50 = latestOf(placed(times, usage.points, (point) => point.p50_ms));
  const errors = of('Errors', (point) => point.error_rate, percent);
  return [
    of('Requests', (point) => point.requests_per_second, perSecond),
    {
      ...of('Response time', (point) => point.p95_ms, millis),
      ...(p50 !== null && { beside: `p95 · p50 ${millis(p50)}` }),
    },
    { ...errors, alarming: (latestOf(errors.values) ?? 0) >= MANY_ERRORS },
    of('CPU', (point) => point.cpu, percent),
    of('Memory', (point) => point.memory_bytes, bytes),
  ];
};

/** How one replica went. */
export interface ReplicaGlance {
  cpu: (number | null)[];
  memory: (number | null)[];
  /** Restarts in each interval. */
  restarts: (number | null)[];
}

export const replicaGlance = (usage: Usage, name: string): ReplicaGlance | undefined => {
  const replica = usage.replicas.find((each) => each.name === name);
  if (replica === undefined) return undefined;
  const times = shownTimes(usage);
  return {
    cpu: placed(times, replica.points, (point) => point.cpu),
    memory: placed(times, replica.points, (point) => point.memory_bytes),
    restarts: placed(times, replica.points, (point) => point.restarts),
  };
};

/** A young service has no hour behind it: its lines begin where it does, but are never of a few points only. */
const FEWEST = 12;

const shownTimes = (usage: Usage): number[] => {
  const times = timesOf(usage);
  const first = Date.parse(usage.points[0]?.ts ?? usage.to) / 1000;
  const begin = times.findIndex((time) => time + usage.step_seconds > first);
  return times.slice(Math.max(0, Math.min(begin === -1 ? times.length : begin, times.length - FEWEST)));
};

const written = (value: number | null, write: (value: number) => string): string =>
  value === null ? '–' : write(value);

/** A line without axes says this to those who can't see it. */
export const inWords = (name: string, values: readonly (number | null)[], write: (value: number) => string): string => {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${name} in the last hour: nothing measured`;
  const most = known.reduce((high, value) => Math.max(high, value), 0);
  return `${name} in the last hour: ${write(known.at(-1) ?? 0)} of late, at most ${write(most)}`;
};
