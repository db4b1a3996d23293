import { describe, expect, test } from 'bun:test';
import { withRows } from '../../scripts/bench/kit/document.ts';
import { printable } from '../../scripts/bench/kit/print.ts';
import { isMet, type Row } from '../../scripts/bench/kit/row.ts';
import { Scope } from '../../scripts/bench/kit/scope.ts';
import { percentile, summarise } from '../../scripts/bench/kit/stats.ts';

const MACHINE = { line: '2 cores, Docker 20.10.24', date: '2026-11-21' };

const row = (over: Partial<Row> = {}): Row => ({
  what: 'redeploy',
  unit: 'ms',
  berth: { median: 1100, p95: 1300, count: 10 },
  baseline: { median: 1000, p95: 1050, count: 10 },
  target: { kind: 'ratio', atMost: 1.25 },
  ...over,
});

const DOCUMENT = [
  '# Benchmarks',
  'Before.',
  '<!-- figures: written by `bun run bench --write` -->',
  '<!-- end of figures -->',
  'After.',
  '',
].join('\n');

describe('statistics', () => {
  test('the median of an even count is the mean of the middle two', () => {
    expect(summarise([4, 1, 3, 2])).toEqual({ median: 2.5, p95: 4, count: 4 });
  });

  test('a percentile is a value that was measured, by the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(values, 0.95)).toBe(95);
    expect(percentile(values, 0.99)).toBe(99);
    expect(percentile([7], 0.5)).toBe(7);
  });

  test('of rates the low ones are the bad ones', () => {
    expect(summarise([10, 20, 30], 'low').p95).toBe(10);
  });

  test('nothing measured is an error, not a zero', () => {
    expect(() => summarise([])).toThrow('nothing was measured');
  });
});

describe('a target', () => {
  test('at most so many times the baseline is judged by the medians', () => {
    expect(isMet(row())).toBe(true);
    expect(isMet(row({ berth: { median: 1251, p95: 1251, count: 10 } }))).toBe(false);
  });

  test('at least so many times the baseline is missed below it', () => {
    const target = { kind: 'ratio', atLeast: 0.6 } as const;
    expect(isMet(row({ target, berth: { median: 600, p95: 500, count: 10 } }))).toBe(true);
    expect(isMet(row({ target, berth: { median: 599, p95: 599, count: 10 } }))).toBe(false);
  });

  test('of a value is held by the worst 5 % too', () => {
    const target = { kind: 'value', atMost: 2000 } as const;
    expect(isMet(row({ target, berth: { median: 900, p95: 2001, count: 10 } }))).toBe(false);
    expect(isMet(row({ target, berth: { median: 900, p95: 2000, count: 10 } }))).toBe(true);
  });

  test('of so much more than the baseline is judged by the medians', () => {
    const target = { kind: 'excess', atMost: 5 } as const;
    expect(isMet(row({ target, berth: { median: 1005, p95: 2000, count: 10 } }))).toBe(true);
    expect(isMet(row({ target, berth: { median: 1005.1, p95: 1006, count: 10 } }))).toBe(false);
    expect(printable([row({ target })])).toContain('≤ 5 ms more  MISSED');
  });

  test('by a ratio or an excess needs a baseline', () => {
    const { baseline: _, ...alone } = row();
    expect(() => isMet(alone)).toThrow('no baseline');
    expect(() => isMet({ ...alone, target: { kind: 'excess', atMost: 5 } })).toThrow('no baseline');
  });
});

describe('the document', () => {
  test('gets its table, and keeps what is around it', () => {
    const text = withRows(DOCUMENT, [row({ notes: ['a note'] })], MACHINE);
    expect(text).toStartWith('# Benchmarks\nBefore.\n');
    expect(text).toEndWith('<!-- end of figures -->\nAfter.\n');
    expect(text).toContain('| redeploy | 1000 / 1050 ms | 1100 / 1300 ms | 1.10 × | ≤ 1.25 × | ok |');
    expect(text).toContain('- **redeploy**: a note; 10 runs; 2026-11-21; 2 cores, Docker 20.10.24.');
  });

  test('keeps the rows that were not measured again, and replaces those that were', () => {
    const first = withRows(DOCUMENT, [row(), row({ what: 'restart' })], MACHINE);
    const missed = row({ berth: { median: 2000, p95: 2100, count: 12 } });
    const second = withRows(first, [missed], { ...MACHINE, date: '2026-11-22' });
    expect(second.match(/^\| redeploy \|.*MISSED \|$/gm)).toHaveLength(1);
    expect(second.match(/^\| redeploy \|/gm)).toHaveLength(1);
    expect(second.match(/^\| restart \|.*ok \|$/gm)).toHaveLength(1);
    expect(second.match(/2026-11-21/g)).toHaveLength(1);
    expect(withRows(second, [missed], { ...MACHINE, date: '2026-11-22' })).toBe(second);
  });

  test('without the place for its table is an error', () => {
    expect(() => withRows('# Benchmarks', [row()], MACHINE)).toThrow('lacks the lines');
  });
});

test('a value without a baseline is printed with its target', () => {
  const { baseline: _, ...alone } = row({ unit: '', target: { kind: 'value', atMost: 0 } });
  const text = printable([{ ...alone, berth: { median: 0, p95: 0, count: 20 }, notes: ['9000 answered'] }]);
  expect(text.split('\n')[1]).toMatch(/^redeploy +– +0 +– +≤ 0 +ok$/);
  expect(text).toEndWith('\n    9000 answered');
});

test('cleaning up goes backwards, does all of it although a part fails, and happens once', async () => {
  const scope = new Scope();
  const undone: string[] = [];
  scope.defer(() => undone.push('first'));
  scope.defer(() => Promise.reject(new Error('broken')));
  scope.defer(async () => {
    await Promise.resolve();
    undone.push('last');
  });
  const failures = await Promise.allSettled([scope.close(), scope.close()]);
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(undone).toEqual(['last', 'first']);
});
