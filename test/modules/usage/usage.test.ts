import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTraffic } from '#engines/proxy/traffic';
import { LATENCY_BOUNDS, type TrafficSeries } from '#engines/proxy/port';
import { createCounter, createTrafficCounter } from '#src/modules/usage/counters.ts';
import { createRecorder } from '#src/modules/usage/recorder.ts';
import { NOTHING, quantile, type Sample } from '#src/modules/usage/sample.ts';
import { openUsageStore, type SeriesKey } from '#src/modules/usage/store.ts';
import { seriesOf } from '#src/modules/usage/view.ts';
import { tempDir } from '../support/rig.ts';

const buckets = (...first: number[]): number[] => [...first, ...Array.from({ length: 13 - first.length }, () => 0)];

const series = (counts: number[], more: Partial<TrafficSeries> = {}): TrafficSeries => ({
  project: 'shop',
  service: 'web',
  key: '200 GET http',
  status: 200,
  buckets: counts,
  ...more,
});

const METRICS = `# HELP traefik_service_request_duration_seconds How long it took
# TYPE traefik_service_request_duration_seconds histogram
traefik_service_request_duration_seconds_bucket{code="200",method="GET",protocol="http",service="shop.web@file",le="0.002"} 3
traefik_service_request_duration_seconds_bucket{code="200",method="GET",protocol="http",service="shop.web@file",le="0.005"} 5
traefik_service_request_duration_seconds_bucket{code="200",method="GET",protocol="http",service="shop.web@file",le="10"} 5
traefik_service_request_duration_seconds_bucket{code="200",method="GET",protocol="http",service="shop.web@file",le="+Inf"} 6
traefik_service_request_duration_seconds_sum{code="200",method="GET",protocol="http",service="shop.web@file"} 60.004
traefik_service_request_duration_seconds_bucket{code="502",method="GET",protocol="http",service="shop.web@file",le="+Inf"} 1
traefik_service_request_duration_seconds_bucket{code="200",method="GET",protocol="http",service="_control-plane@file",le="+Inf"} 9
traefik_service_request_duration_seconds_bucket{code="200",method="GET",protocol="http",service="prometheus@internal",le="+Inf"} 9
traefik_service_request_duration_seconds_bucket{code="200",method="X",protocol="http",service="evil\\"}.web@file",le="+Inf"} 9
x traefik_service_request_duration_seconds_bucket{code="200",service="shop.web@file",le="+Inf"} 9
`;

describe('what the proxy counts', () => {
  test('is read out of its metrics, apart by bucket, and only for routes of berth', () => {
    const [ok, failed, ...others] = parseTraffic(METRICS);
    expect(others).toEqual([]);
    expect(ok).toMatchObject({ project: 'shop', service: 'web', status: 200 });
    expect(ok?.buckets.slice(0, 2)).toEqual([3, 2]);
    expect(ok?.buckets.at(-1)).toBe(1);
    expect(failed).toMatchObject({ status: 502 });
    expect(parseTraffic('')).toEqual([]);
    expect(parseTraffic('<html>not metrics</html>')).toEqual([]);
  });

  test('counts what is new since the reading before, and errors by their status', () => {
    const counter = createTrafficCounter();
    expect(counter.added([series(buckets(100))]).size).toBe(0);
    const failed = { key: '503 GET http', status: 503 };
    const added = counter.added([series(buckets(103, 2)), series(buckets(0, 4), failed)]);
    expect(added.get('shop/web')).toEqual({ buckets: buckets(3, 6), errors: 4 });
    expect(counter.added([series(buckets(103, 2)), series(buckets(0, 4), failed)]).size).toBe(0);
  });

  test('survives a proxy that begins anew, and series that vanish and come back', () => {
    const counter = createTrafficCounter();
    counter.added([series(buckets(100))]);
    expect(counter.added([series(buckets(7))]).get('shop/web')?.buckets).toEqual(buckets(7));
    expect(counter.added([]).size).toBe(0);
    expect(counter.added([series(buckets(2))]).get('shop/web')?.buckets).toEqual(buckets(2));
    const cpu = createCounter();
    expect([...cpu.added(new Map([['c1', 5]]))]).toEqual([]);
    expect([...cpu.added(new Map([['c1', 7.5]]))]).toEqual([['c1', 2.5]]);
    expect([...cpu.added(new Map([['c1', 1]]))]).toEqual([['c1', 1]]);
  });
});

describe('latencies', () => {
  test('are estimated within their bucket, as Prometheus does', () => {
    expect(quantile(null, 0.5)).toBeNull();
    expect(quantile(buckets(0), 0.5)).toBeNull();
    expect(quantile(buckets(100), 0.5)).toBeCloseTo(0.001, 6);
    expect(quantile(buckets(50, 50), 0.5)).toBeCloseTo(0.002, 6);
    expect(quantile(buckets(90, 0, 10), 0.95)).toBeCloseTo(0.0075, 6);
    expect(
      quantile(
        Array.from({ length: 13 }, (_, index) => (index === 12 ? 5 : 0)),
        0.5,
      ),
    ).toBe(10);
    expect(LATENCY_BOUNDS).toHaveLength(12);
  });
});

const KEY: SeriesKey = { project: 'shop', service: 'web', replica: '' };
const sample = (more: Partial<Sample> = {}): Sample => ({
  ...NOTHING,
  covered: 15_000,
  cpuSeconds: 1.5,
  memoryBytes: 1000,
  replicas: 1,
  ...more,
});

describe('measurements', () => {
  test('are kept fine for an hour, coarser for a day, coarse for a week, and then no longer', () => {
    const store = openUsageStore(':memory:');
    const recorder = createRecorder(store);
    const start = Date.UTC(2026, 0, 1);
    const DAY = 86_400_000;
    const replica = { ...KEY, replica: 'web-1' };
    for (let at = start; at < start + 9 * DAY; at += at < start + 8 * DAY ? 600_000 : 15_000)
      recorder.record(
        [
          { key: KEY, sample: sample() },
          { key: replica, sample: sample() },
        ],
        at,
      );
    const all = (step: number) =>
      store.range({ project: 'shop', service: 'web', step, from: 0, to: 2 ** 40 }).filter((row) => row.replica === '');
    const end = (start + 9 * DAY) / 1000;
    // The newest, and what came since it was last tidied.
    expect(all(15).length).toBeLessThanOrEqual(280);
    expect(all(15)[0]?.ts ?? 0).toBeGreaterThanOrEqual(end - 3600 - 615);
    expect(all(60).length).toBeLessThanOrEqual(1450);
    expect(all(600).length).toBeLessThanOrEqual(1010);
    expect(all(600).length).toBeGreaterThan(1000);
    const coarse = store.range({ project: 'shop', service: 'web', step: 600, from: 0, to: 2 ** 40 });
    expect(coarse.filter((row) => row.replica !== '')).toEqual([]);
    expect(all(600).at(-1)).toMatchObject({ covered: 600_000, cpuSeconds: 60, memoryBytes: 1000, replicas: 1 });
    store.close();
  });

  test('go on growing after a restart', () => {
    const path = join(tempDir(), 'usage.db');
    const at = Date.UTC(2026, 0, 1);
    for (const memoryBytes of [1000, 3000, 2000]) {
      const store = openUsageStore(path);
      createRecorder(store).record([{ key: KEY, sample: sample({ memoryBytes, buckets: buckets(1, 2) }) }], at);
      store.close();
    }
    const store = openUsageStore(path);
    expect(store.get(KEY, 600, at / 1000)).toEqual({
      ...NOTHING,
      covered: 45_000,
      cpuSeconds: 4.5,
      memoryBytes: 3000,
      replicas: 1,
      buckets: buckets(3, 6),
    });
    store.close();
  });

  test('in a file that is damaged, or of another version, are begun anew', () => {
    const path = join(tempDir(), 'usage.db');
    writeFileSync(path, 'this is no database, and long enough to look like one '.repeat(50));
    const store = openUsageStore(path);
    expect(store.range({ project: 'shop', service: 'web', step: 15, from: 0, to: 1 })).toEqual([]);
    store.close();
  });

  test('are merged into the intervals that are asked for', () => {
    const stored = Array.from({ length: 8 }, (_, index) => ({
      ...sample({ buckets: buckets(30), errors: index === 7 ? 30 : 0, restarts: 1 }),
      replica: '',
      ts: 600 + index * 15,
    }));
    const { points, replicas } = seriesOf([...stored, { ...sample(), replica: 'web-1', ts: 600 }], 60);
    expect(points).toEqual([
      {
        ts: '1970-01-01T00:10:00.000Z',
        requests_per_second: 2,
        error_rate: 0,
        p50_ms: 1,
        p95_ms: 1.9,
        cpu: 0.1,
        memory_bytes: 1000,
        replicas: 1,
        restarts: 4,
      },
      expect.objectContaining({ ts: '1970-01-01T00:11:00.000Z', error_rate: 0.25 }),
    ]);
    expect(replicas).toEqual([
      { name: 'web-1', points: [{ ts: '1970-01-01T00:10:00.000Z', cpu: 0.1, memory_bytes: 1000, restarts: 0 }] },
    ]);
  });
});
