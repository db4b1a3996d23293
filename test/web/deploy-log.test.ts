import { expect, test } from 'bun:test';
import { LogModel, type LogEntry } from '../../web/deploys/log-model.ts';

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

test('search ignores case and escape sequences', () => {
  const log = new LogModel();
  log.add([entry(1, 'plain'), entry(2, '\u001B[31mERR\u001B[0mor: no'), entry(3, 'error')]);
  expect(log.search('Error')).toEqual([1, 2]);
  expect(log.search('')).toEqual([]);
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
