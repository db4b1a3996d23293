import { describe, expect, test } from 'bun:test';
import type { Phase } from '#modules/operations';
import { concerns, phaseLengths } from '../../web/deploys/before.ts';
import { cutReason, LogModel, type LogEntry } from '../../web/deploys/log-model.ts';
import { besideText } from '../../web/deploys/timeline.tsx';

const entry = (seq: number, line: string, source = 'build'): LogEntry => ({
  seq,
  ts: '2026-01-01T00:00:00.000Z',
  source,
  line,
});

test('lines are folded by phases and steps, and steps know how they ended', () => {
  const log = new LogModel();
  log.phase(1, 'building', 'Build');
  log.add([
    entry(2, 'planning'),
    entry(3, '[1/2] FROM node'),
    entry(4, '[1/2] CACHED'),
    entry(5, '[2/2] RUN npm test'),
    entry(6, 'one failed'),
    entry(7, '[2/2] failed with exit code 1'),
  ]);
  log.phase(8, 'failed', 'Failed');
  expect(log.steps.map(({ title, outcome, from, to }) => [title, outcome, to - from])).toEqual([
    ['Build', 'done', 1],
    ['[1/2] FROM node', 'cached', 0],
    ['[2/2] RUN npm test', 'failed', 1],
    ['Failed', 'failed', 0],
  ]);
  expect(log.rows()).toHaveLength(6);
  log.foldAll(true);
  expect(log.rows()).toHaveLength(4);
  const row = log.rowOf(1);
  expect(log.rows()[row]).toEqual({ line: 1 });
});

test('what comes again after a reconnect is left out', () => {
  const log = new LogModel();
  log.add([entry(1, 'a'), entry(2, 'b')]);
  log.add([entry(1, 'a'), entry(2, 'b'), entry(3, 'c')]);
  log.phase(2, 'building', 'Build');
  expect(log.lines.map(({ line }) => line)).toEqual(['a', 'b', 'c']);
  expect(log.steps).toEqual([]);
});

test('search looks through colours, minds capitals only when some are typed, and goes on as lines come', () => {
  const log = new LogModel();
  log.add([entry(1, 'plain'), entry(2, '\u001B[31mERR\u001B[0mor: no'), entry(3, 'error')]);
  expect(log.search('error')).toEqual([1, 2]);
  expect(log.search('ERR')).toEqual([1]);
  expect(log.search('')).toEqual([]);
  expect(log.search('error')).toEqual([1, 2]);
  log.add([entry(4, 'no Error'), entry(5, 'fine')]);
  expect(log.search('error')).toEqual([1, 2, 3]);
});

test('only numbered heads begin a step: what tools write in brackets is a line', () => {
  const log = new LogModel();
  log.add([
    entry(1, '[build 2/3] RUN mvn package'),
    entry(2, '[INFO] Scanning for projects...'),
    entry(3, '[notice] A new release of pip is available'),
    entry(4, '[build 2/3] done in 3.2s'),
    entry(5, 'exporting to image'),
    entry(6, 'exporting to image: done in 0.4s'),
  ]);
  expect(log.steps.map(({ title, said }) => [title, said])).toEqual([
    ['[build 2/3] RUN mvn package', 'done in 3.2s'],
    ['exporting to image', 'done in 0.4s'],
  ]);
  expect(log.lines).toHaveLength(2);
});

test('what failed is found: the end of its step, else the end of the log', () => {
  const log = new LogModel();
  log.phase(1, 'building', 'Build');
  log.add([
    entry(2, '[1/2] RUN a'),
    entry(3, 'out'),
    entry(4, 'no such file'),
    entry(5, '[1/2] failed with exit code 1'),
  ]);
  log.add([entry(6, 'stopped', 'berth')]);
  expect(log.failedAt()).toBe(2);
  const rolledBack = new LogModel();
  rolledBack.phase(1, 'rolling_out', 'Rollout');
  rolledBack.add([entry(2, 'replica 1: started', 'rollout')]);
  expect(rolledBack.failedAt()).toBeUndefined();
  rolledBack.phase(3, 'rolled_back', 'Rolled back');
  expect(rolledBack.failedAt()).toBe(0);
});

test('100,000 lines are taken in, laid out and searched in a moment', () => {
  const log = new LogModel();
  const begun = performance.now();
  for (let at = 0; at < 100; at += 1)
    log.add(
      Array.from({ length: 1000 }, (_none, index) => entry(at * 1000 + index + 1, `line ${index} of batch ${at}`)),
    );
  expect(log.rows()).toHaveLength(100_000);
  expect(log.search('line 7 of')).toHaveLength(100);
  expect(performance.now() - begun).toBeLessThan(2000);
});

describe('beside the deploy before', () => {
  const mark = (seq: number, phase: Phase, second: number) => ({
    seq,
    phase,
    ts: new Date(second * 1000).toISOString(),
    message: '',
  });

  test('phases have their lengths, and one that came twice counts together', () => {
    const marks = [mark(1, 'queued', 0), mark(2, 'building', 1), mark(3, 'rolling_out', 5), mark(4, 'building', 6)];
    expect([...phaseLengths(marks, 10_000)]).toEqual([
      ['queued', 1000],
      ['building', 8000],
      ['rolling_out', 1000],
    ]);
    expect(phaseLengths([], 0).size).toBe(0);
  });

  test('small differences say nothing', () => {
    expect(besideText(5000, undefined)).toBe('');
    expect(besideText(20, 60)).toBe('');
    expect(besideText(5000, 5100)).toBe('as before');
    expect(besideText(5000, 9000)).toBe('9.0 s before');
  });

  test('changes of variables concern every service, those of a service itself only', () => {
    expect(concerns({ kind: 'env.changed', data: { added: ['A'] } }, 'web')).toBe(true);
    expect(concerns({ kind: 'service.scaled', data: { service: 'web' } }, 'web')).toBe(true);
    expect(concerns({ kind: 'service.scaled', data: { service: 'api' } }, 'web')).toBe(false);
    expect(concerns({ kind: 'deploy.queued', data: { service: 'web' } }, 'web')).toBe(false);
  });
});

test('lines that were dropped are known by what stands in their place, with the reason', () => {
  const log = new LogModel();
  log.add([
    entry(1, '[2/2] RUN npm test'),
    entry(2, 'a'),
    entry(3, '[output clipped, log limit 200KiB/s reached]'),
    entry(4, 'it says [output clipped, log limit 1MiB reached] in a sentence'),
    entry(5, '\u001B[31m[output clipped, log limit 2MiB reached]\u001B[0m'),
    entry(6, 'more than 100000 lines: the rest is not kept'),
  ]);
  expect(log.cuts).toEqual([1, 3, 4]);
  expect(log.cuts.map((line) => cutReason(log.lines[line]?.line ?? ''))).toEqual([
    'the builder takes 200 KiB/s of what a step says',
    'the builder takes 2 MiB of what a step says',
    'of an operation, 100,000 lines are kept',
  ]);
  expect(cutReason('a')).toBeUndefined();
});

test('a build that says it was cut again and again is looked at no more', () => {
  const log = new LogModel();
  log.add(Array.from({ length: 500 }, (_none, at) => entry(at + 1, '[output clipped, log limit 2MiB reached]')));
  expect(log.cuts).toHaveLength(100);
});
