import { describe, expect, test } from 'bun:test';
import { appendFileSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { encodeLine, matcher } from '#src/modules/logs/model.ts';
import { openSegments, type Position, type Segments } from '#src/modules/logs/segments.ts';
import { tempDir } from '../support/rig.ts';

const CAP = 1024 * 1024;
const stamp = (seq: number): string =>
  new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString().replace('Z', '000000Z');
const lineOf = (seq: number, text = `line ${seq}`): string =>
  encodeLine({
    ts: stamp(seq),
    replica: seq % 2 === 0 ? 'even' : 'odd',
    release: 'rel_1',
    stream: 'stdout',
    line: text,
  });

const append = (segments: Segments, seqs: number[], text?: string): void => {
  const bytes = Buffer.from(`${seqs.map((seq) => lineOf(seq, text)).join('\n')}\n`);
  const cursors = new Map(seqs.map((seq) => [seq % 2 === 0 ? 'even' : 'odd', stamp(seq)]));
  segments.append({ seq: seqs[0] ?? 0, count: seqs.length, bytes }, cursors);
};
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const readAll = (segments: Segments, start: Position): { seq: number; text: string }[] => {
  const found: { seq: number; text: string }[] = [];
  for (let at = start; ;) {
    const page = segments.read(at);
    found.push(...page.lines.map((text, i) => ({ seq: page.first + i, text })));
    if (page.lines.length === 0 && page.next.segment === at.segment) return found;
    at = page.next;
  }
};

describe('segments', () => {
  test('give back what was appended, by number', () => {
    const segments = openSegments(join(tempDir(), 'web'), CAP);
    append(segments, range(1, 10));
    append(segments, range(11, 20));
    expect(segments.nextSeq()).toBe(21);
    expect(readAll(segments, segments.locate(1))).toEqual(range(1, 20).map((seq) => ({ seq, text: lineOf(seq) })));
    expect(readAll(segments, segments.locate(15)).map(({ seq }) => seq)).toEqual(range(15, 20));
    expect(readAll(segments, segments.locate(21))).toEqual([]);
    expect(readAll(segments, segments.locate(99))).toEqual([]);
  });

  test('an empty log has nothing to read, and makes no folder', () => {
    const dir = join(tempDir(), 'web');
    const segments = openSegments(dir, CAP);
    expect(readAll(segments, segments.locate(1))).toEqual([]);
    expect(readAll(segments, segments.tailStart(10, undefined, undefined))).toEqual([]);
    expect(segments.cursorOf('odd')).toBeUndefined();
    expect(() => statSync(dir)).toThrow();
  });

  test('keep within the cap by dropping the oldest, and the numbers stay', () => {
    const dir = join(tempDir(), 'web');
    const segments = openSegments(dir, CAP);
    for (let seq = 1; seq <= 3000; seq += 10) append(segments, range(seq, seq + 9), 'x'.repeat(1000));
    const stored = readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
    expect(stored).toBeLessThanOrEqual(CAP);
    expect(stored).toBeGreaterThan(CAP * 0.7);
    expect(segments.bytes()).toBe(stored);
    const seqs = readAll(segments, segments.locate(1)).map(({ seq }) => seq);
    expect(seqs[0]).toBeGreaterThan(1000);
    expect(seqs).toEqual(range(seqs[0] ?? 0, 3000));
    expect(readAll(segments, segments.locate(2500))[0]).toEqual({ seq: 2500, text: lineOf(2500, 'x'.repeat(1000)) });
  });

  test('the last lines are found across files, filtered or not', () => {
    const segments = openSegments(join(tempDir(), 'web'), CAP);
    for (let seq = 1; seq <= 2000; seq += 10) append(segments, range(seq, seq + 9), 'y'.repeat(400));
    const tail = (count: number, replica?: string) =>
      readAll(segments, segments.tailStart(count, matcher({ replica }), undefined)).map(({ seq }) => seq);
    for (const count of [1, 7, 300, 1500]) expect(tail(count)).toEqual(range(2001 - count, 2000));
    expect(tail(0)).toEqual([]);
    expect(tail(99_999)).toEqual(range(1, 2000));
    expect(tail(3, 'odd')[0]).toBe(1995);
    expect(tail(3, 'nobody')).toEqual([]);
  });

  test('since leaves out files that are older', () => {
    const dir = join(tempDir(), 'web');
    const segments = openSegments(dir, CAP);
    for (let seq = 1; seq <= 2000; seq += 10) append(segments, range(seq, seq + 9), 'y'.repeat(400));
    const names = readdirSync(dir).sort();
    for (const name of names.slice(0, -1)) utimesSync(join(dir, name), 1000, 1000);
    const found = readAll(segments, segments.tailStart(Number.POSITIVE_INFINITY, undefined, Date.now() - 60_000));
    expect(found[0]?.seq).toBe(Number(names.at(-1)?.slice(0, 12)));
    expect(found.at(-1)?.seq).toBe(2000);
  });

  test('go on after a restart, without a line that a crash cut short', () => {
    const dir = join(tempDir(), 'web');
    append(openSegments(dir, CAP), range(1, 9));
    const [name = ''] = readdirSync(dir);
    appendFileSync(join(dir, name), '{"ts":"2026-01-01T00');
    const segments = openSegments(dir, CAP);
    expect(segments.nextSeq()).toBe(10);
    append(segments, range(10, 12));
    expect(readAll(segments, segments.locate(1))).toEqual(range(1, 12).map((seq) => ({ seq, text: lineOf(seq) })));
  });

  test('a file that a crash left without a whole line is no loss', () => {
    const dir = join(tempDir(), 'web');
    append(openSegments(dir, CAP), range(1, 9));
    appendFileSync(join(dir, '000000000010.jsonl'), '{"curs');
    const segments = openSegments(dir, CAP);
    expect(segments.nextSeq()).toBe(10);
    expect(segments.cursorOf('odd')).toBe(stamp(9));
  });

  test('know how far each replica was stored, also when its last line is in an older file', () => {
    const dir = join(tempDir(), 'web');
    const segments = openSegments(dir, CAP);
    append(segments, [1]);
    const cursors = new Map([['odd', stamp(1)]]);
    for (let seq = 2; seq <= 600; seq += 1) {
      segments.append({ seq, count: 1, bytes: Buffer.from(`${lineOf(1000, 'z'.repeat(2000))}\n`) }, cursors);
    }
    expect(readdirSync(dir).length).toBeGreaterThan(3);
    const reopened = openSegments(dir, CAP);
    expect(reopened.cursorOf('odd')).toBe(stamp(1));
    expect(reopened.cursorOf('even')).toBe(stamp(1000));
    expect(reopened.cursorOf('nobody')).toBeUndefined();
  });

  test('a line that looks like another replica’s does not move its cursor', () => {
    const segments = openSegments(join(tempDir(), 'web'), CAP);
    append(segments, [1]);
    append(segments, [2], '{"ts":"2099-01-01T00:00:00.000000000Z","replica":"odd","x":1}');
    expect(segments.cursorOf('odd')).toBe(stamp(1));
    expect(
      readAll(segments, segments.tailStart(5, matcher({ replica: 'odd' }), undefined)).filter(({ text }) =>
        matcher({ replica: 'odd' })?.(text),
      ),
    ).toHaveLength(1);
  });
});
