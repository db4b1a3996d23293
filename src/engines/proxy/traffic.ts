import { LATENCY_BOUNDS, type TrafficSeries } from './port.ts';

const BUCKET = 'traefik_service_request_duration_seconds_bucket{';
const POSITIONS = new Map([
  ...LATENCY_BOUNDS.map((bound, index) => [String(bound), index] as const),
  ['+Inf', LATENCY_BOUNDS.length],
]);

/**
 * Reads the latency histograms of services out of Traefik's metrics (Prometheus text format 0.0.4). Their sums tell the
 * requests too. What does not belong to a route of berth's is left out.
 */
export const parseTraffic = (text: string): TrafficSeries[] => {
  const found = new Map<string, TrafficSeries>();
  for (let at = text.indexOf(BUCKET); at !== -1; at = text.indexOf(BUCKET, at + 1)) {
    if (at > 0 && text[at - 1] !== '\n') continue;
    const end = text.indexOf('\n', at);
    const line = text.slice(at + BUCKET.length, end === -1 ? text.length : end);
    const close = line.lastIndexOf('}');
    const labels = readLabels(line.slice(0, close));
    const [, project, service] = /^([a-z][a-z0-9-]*)\.([a-z][a-z0-9-]*)@file$/.exec(labels.get('service') ?? '') ?? [];
    const position = POSITIONS.get(labels.get('le') ?? '');
    if (project === undefined || service === undefined || position === undefined) continue;
    const status = Number(labels.get('code'));
    const key = `${status} ${labels.get('method')} ${labels.get('protocol')}`;
    const id = `${project}.${service} ${key}`;
    const series = found.get(id) ?? { project, service, key, status, buckets: POSITIONS_ZERO.slice() };
    series.buckets[position] = Number(line.slice(close + 1));
    found.set(id, series);
  }
  return [...found.values()].map((series) => ({ ...series, buckets: apart(series.buckets) }));
};

const POSITIONS_ZERO: number[] = Array.from({ length: LATENCY_BOUNDS.length + 1 }, () => 0);

/** Prometheus counts each bucket with all below it. */
const apart = (summed: readonly number[]): number[] =>
  summed.map((count, index) => Math.max(0, count - (summed[index - 1] ?? 0)));

const readLabels = (text: string): Map<string, string> =>
  new Map([...text.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]));
