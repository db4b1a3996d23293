import { expect, test } from 'bun:test';
import type { Usage } from '#modules/usage';
import { chartsOf, inWords } from '../../web/usage/series.ts';

const point = (ts: string, more: Partial<Usage['points'][number]> = {}): Usage['points'][number] => ({
  ts,
  requests_per_second: 2,
  error_rate: null,
  p50_ms: 12,
  p95_ms: 1500,
  cpu: 0.5,
  memory_bytes: 50 * 1024 * 1024,
  replicas: 1,
  restarts: 0,
  ...more,
});

const usage: Usage = {
  project: 'shop',
  service: 'web',
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-01T00:01:00Z',
  step_seconds: 15,
  points: [point('2026-01-01T00:00:15Z'), point('2026-01-01T00:00:45Z', { requests_per_second: 4 })],
  replicas: [],
};

test('intervals without a measurement are gaps', () => {
  const [requests] = chartsOf(usage);
  expect(requests?.times).toHaveLength(5);
  expect(requests?.series[0]?.values).toEqual([null, 2, null, 4, null]);
});

test('replicas have lines of their own while they are known; else all of them have one', () => {
  const lines = (of: Usage): string[] =>
    chartsOf(of)
      .find(({ title }) => title.startsWith('CPU'))
      ?.series.map(({ name }) => name) ?? [];
  expect(lines(usage)).toEqual(['all replicas']);
  const measured = (ts: string) => [{ ts, cpu: 0.1, memory_bytes: 1, restarts: 0 }];
  const now = measured('2026-01-01T00:00:45Z');
  const before = measured('2026-01-01T00:00:15Z');
  const two = [
    { name: 'berth-shop-web-2-01m8abcdef', points: now },
    { name: 'berth-shop-web-1-01m8abcdef', points: now },
  ];
  const gone = [
    { name: 'berth-shop-web-1-01m8aaaaaa', points: before },
    { name: 'berth-shop-web-2-01m8aaaaaa', points: before },
  ];
  expect(lines({ ...usage, replicas: two })).toEqual(['replica 1', 'replica 2']);
  expect(lines({ ...usage, replicas: gone })).toEqual(['all replicas']);
  const both = { ...usage, replicas: [...gone, ...two] };
  expect(lines(both)).toEqual(['replica 1', 'replica 2', 'earlier replicas']);
  expect(chartsOf(both)[3]?.series[2]?.values).toEqual([null, 0.2, null, null, null]);
  const shared = [...two, { name: 'berth-shop-web-1-01m8nextup', points: now }];
  expect(lines({ ...usage, replicas: shared })).toEqual(['replica 1 (abcdef)', 'replica 1 (nextup)', 'replica 2']);
});

test('a chart is told in words', () => {
  const [requests, response, errors] = chartsOf(usage);
  const words = [requests, response, errors].map((chart) =>
    chart === undefined ? '' : inWords(chart, 'the last hour'),
  );
  expect(words[0]).toBe('In the last hour. requests: now 4.0/s, 3.0/s on average, at most 4.0/s.');
  expect(words[1]).toContain('p95: now 1.5 s');
  expect(words[2]).toBe('In the last hour. answered 5xx: nothing measured.');
});
