import type { Usage } from '#modules/usage';
import { bytes, percent } from '../ui/format.ts';

interface Series {
  name: string;
  /** Beside `Chart.times`; null where nothing was measured. */
  values: (number | null)[];
}

/** One chart: what is drawn, and how its numbers are written. */
export interface ChartData {
  title: string;
  /** In seconds. */
  times: number[];
  series: Series[];
  write: (value: number) => string;
  /** Counted by powers of two, as `write` does: so are the steps of the axis. */
  inBytes?: boolean;
}

export const perSecond = (value: number): string =>
  `${value >= 10 || value === 0 ? Math.round(value) : value.toFixed(1)}/s`;
export const millis = (value: number): string =>
  value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;

/** The times of a range, evenly, with those without a measurement: a gap must look like one. */
export const timesOf = ({ from, to, step_seconds: step }: Pick<Usage, 'from' | 'to' | 'step_seconds'>): number[] => {
  const first = Math.floor(Date.parse(from) / 1000 / step) * step;
  const last = Date.parse(to) / 1000;
  return Array.from(
    { length: Math.max(0, Math.floor((last - first) / step) + 1) },
    (_none, index) => first + index * step,
  );
};

/** Puts points to the times that they belong to. */
export const placed = <P extends { ts: string }>(
  times: readonly number[],
  points: readonly P[],
  value: (point: P) => number | null,
): (number | null)[] => {
  const [first = 0, second = first + 1] = times;
  const step = second - first;
  const values: (number | null)[] = times.map(() => null);
  for (const point of points) {
    const index = Math.floor((Date.parse(point.ts) / 1000 - first) / step);
    if (index >= 0 && index < values.length) values[index] = value(point);
  }
  return values;
};

export const chartsOf = (usage: Usage): ChartData[] => {
  const times = timesOf(usage);
  const of = (name: string, value: (point: Usage['points'][number]) => number | null): Series => ({
    name,
    values: placed(times, usage.points, value),
  });
  const each = (value: (point: Usage['replicas'][number]['points'][number]) => number): Series[] =>
    usage.replicas
      .map(({ name, points }) => ({ name, values: placed(times, points, value) }))
      .filter(({ values }) => values.some((one) => one !== null));
  return [
    { title: 'Requests', times, write: perSecond, series: [of('requests', (point) => point.requests_per_second)] },
    {
      title: 'Response time',
      times,
      write: millis,
      series: [of('p50', (point) => point.p50_ms), of('p95', (point) => point.p95_ms)],
    },
    { title: 'Errors', times, write: percent, series: [of('answered 5xx', (point) => point.error_rate)] },
    {
      title: 'CPU, of one core',
      times,
      write: percent,
      series: orTotal(
        each((point) => point.cpu),
        of('all replicas', (point) => point.cpu),
      ),
    },
    {
      title: 'Memory',
      times,
      write: bytes,
      inBytes: true,
      series: orTotal(
        each((point) => point.memory_bytes),
        of('all replicas', (point) => point.memory_bytes),
      ),
    },
  ];
};

const MOST_REPLICAS = 8;

/** What was measured before these many intervals is not now any more. */
const RECENT = 3;

export const latestOf = (values: readonly (number | null)[]): number | null =>
  values.slice(-RECENT).findLast((value) => value !== null) ?? null;

/**
 * A line for each replica that runs while they can be told apart, and one for those before them. Older intervals have the
 * total only.
 */
const orTotal = (replicas: Series[], total: Series): Series[] => {
  const running = replicas.filter(({ values }) => latestOf(values) !== null);
  if (running.length === 0 || running.length > MOST_REPLICAS) return [total];
  const gone = replicas.filter((replica) => !running.includes(replica));
  return [...named(running), ...(gone.length === 0 ? [] : [{ name: 'earlier replicas', values: sumOf(gone) }])];
};

/** `berth-shop-web-2-01m8r0abcd` → `replica 2`, with the end of its id where two have the slot during a deploy. */
const named = (replicas: Series[]): Series[] => {
  const slotOf = (name: string): string => /-(\d+)-[0-9a-z]+$/.exec(name)?.[1] ?? name;
  return replicas
    .map(({ name, values }) => {
      const slot = slotOf(name);
      const shared = replicas.filter((other) => slotOf(other.name) === slot).length > 1;
      return { name: shared ? `replica ${slot} (${name.slice(-6)})` : `replica ${slot}`, values };
    })
    .sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
};

const sumOf = (series: readonly Series[]): (number | null)[] =>
  (series[0]?.values ?? []).map((_value, index) =>
    series.reduce<number | null>((sum, { values }) => {
      const value = values[index] ?? null;
      return value === null ? sum : (sum ?? 0) + value;
    }, null),
  );

/** A chart in a sentence: the newest value, the mean and the highest of each line. */
export const inWords = ({ series, write }: ChartData, range: string): string => {
  const parts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${name}: nothing measured`;
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const most = known.reduce((high, value) => Math.max(high, value), 0);
    return `${name}: now ${write(known.at(-1) ?? 0)}, ${write(mean)} on average, at most ${write(most)}`;
  });
  return `In ${range}. ${parts.join('. ')}.`;
};
