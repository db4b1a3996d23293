import { expect, test } from 'bun:test';
import type { Usage } from '#modules/usage';
import { inWords, measuresOf, replicaGlance } from '../../web/usage/glance.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const at = (minute: number): string => new Date(START + minute * 60_000).toISOString();

const point = (minute: number, more: Partial<Usage['points'][number]> = {}): Usage['points'][number] => ({
  ts: at(minute),
  requests_per_second: 2,
  error_rate: 0,
  p50_ms: 12,
  p95_ms: 1500,
  cpu: 0.5,
  memory_bytes: 50 * 1024 * 1024,
  replicas: 1,
  restarts: 0,
  ...more,
});

const usage = (points: Usage['points'], replicas: Usage['replicas'] = []): Usage => ({
  project: 'shop',
  service: 'web',
  from: at(0),
  to: at(60),
  step_seconds: 60,
  points,
  replicas,
});

test('a service at a glance is its newest numbers; too many errors are an alarm', () => {
  const found = measuresOf(usage([point(58), point(59, { error_rate: 0.2, requests_per_second: 4 })]));
  expect(found.map(({ name, now, beside, alarming }) => [name, now, beside, alarming])).toEqual([
    ['Requests', '4.0/s', undefined, false],
    ['Response time', '1.5 s', 'p95 · p50 12 ms', false],
    ['Errors', '20 %', undefined, true],
    ['CPU', '50 %', undefined, false],
    ['Memory', '50.0 MB', undefined, false],
  ]);
});

test('what was measured long ago is not now, and nothing at all is no number', () => {
  expect(measuresOf(usage([point(3)]))[0]?.now).toBe('–');
  expect(measuresOf(usage([]))[1]?.now).toBe('–');
  expect(inWords('CPU', [null], String)).toBe('CPU in the last hour: nothing measured');
});

test('the line of a young service begins where it does, and has a dozen places at least', () => {
  expect(measuresOf(usage([point(10), point(60)]))[0]?.values).toHaveLength(51);
  expect(measuresOf(usage([point(60)]))[0]?.values).toHaveLength(12);
});

test('a replica has lines of its own beside those of the service; one that is not measured has none', () => {
  const points = [{ ts: at(59), cpu: 0.1, memory_bytes: 7, restarts: 1 }];
  const glance = replicaGlance(usage([point(10)], [{ name: 'r1', points }]), 'r1');
  expect(glance?.restarts).toHaveLength(51);
  expect(glance?.restarts.at(-2)).toBe(1);
  expect(replicaGlance(usage([]), 'r2')).toBeUndefined();
});
