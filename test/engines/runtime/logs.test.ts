import { describe, expect, test } from 'bun:test';
import { createRepetitionFilter } from '#engines/runtime/log-reader';
import { decodeLogs, MAX_LINE_BYTES, sinceAfter } from '#engines/runtime/logs';

const TS = '2026-11-21T09:12:09.123456789Z';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const frame = (kind: number, payload: Uint8Array): Uint8Array => {
  const header = new Uint8Array(8);
  header[0] = kind;
  new DataView(header.buffer).setUint32(4, payload.length);
  return Buffer.concat([header, payload]);
};
const entry = (kind: number, text: string): Uint8Array => frame(kind, bytes(`${TS} ${text}`));

/** The bytes as they would come in pieces of `size`. */
async function* inPieces(data: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}
const decode = (data: Uint8Array, size = data.length): Promise<{ stream: string; line: string; ts: string }[]> =>
  Array.fromAsync(decodeLogs(inPieces(data, size)));
const lines = async (data: Uint8Array, size?: number): Promise<string[]> =>
  (await decode(data, size)).map(({ line }) => line);

describe('the log stream', () => {
  const mixed = Buffer.concat([entry(1, 'grüße 🚢\n'), entry(2, 'oops\n'), entry(1, '\n'), entry(1, 'a b  c\r\n')]);
  const expected = [
    { ts: TS, stream: 'stdout', line: 'grüße 🚢' },
    { ts: TS, stream: 'stderr', line: 'oops' },
    { ts: TS, stream: 'stdout', line: '' },
    { ts: TS, stream: 'stdout', line: 'a b  c' },
  ];
  test('is decoded the same however its chunks are cut', async () => {
    for (let size = 1; size <= mixed.length; size += 1) expect(await decode(mixed, size)).toEqual(expected as never);
  });
  test('joins the pieces into which Docker splits a long line, on both streams at once', async () => {
    const data = Buffer.concat([entry(1, 'one '), entry(2, 'ONE '), entry(1, 'two\n'), entry(2, 'TWO\n')]);
    expect(await lines(data)).toEqual(['one two', 'ONE TWO']);
  });
  test('keeps a last line without a newline', async () => {
    expect(await lines(Buffer.concat([entry(1, 'first\n'), entry(1, 'last')]))).toEqual(['first', 'last']);
  });
  test('cuts a line at 16 KiB, and goes on with the next', async () => {
    const long = 'x'.repeat(MAX_LINE_BYTES);
    const data = Buffer.concat([entry(1, long), entry(1, long), entry(1, 'end\n'), entry(1, 'next\n')]);
    expect(await lines(data, 1000)).toEqual([long, 'next']);
  });
  test('never cuts a character in half', async () => {
    const [line = ''] = await lines(entry(1, `${'x'.repeat(MAX_LINE_BYTES - 1)}ü\n`));
    expect(line).toBe('x'.repeat(MAX_LINE_BYTES - 1));
  });
  test('shows invalid bytes as replacement characters', async () => {
    const payload = Buffer.concat([bytes(`${TS} a`), new Uint8Array([0xff]), bytes('b\n')]);
    expect(await lines(frame(1, payload))).toEqual(['a\u{fffd}b']);
  });
  test('that is not multiplexed is an error, not garbage', async () => {
    const failed = await lines(bytes('plain text from a terminal\n')).catch((error: Error) => error.message);
    expect(failed).toContain('not multiplexed');
  });
  test('of 100,000 lines is decoded in time that grows with their number only', async () => {
    const data = Buffer.concat(
      Array.from({ length: 100_000 }, () => entry(1, 'a line of ordinary length, more or less\n')),
    );
    const begin = performance.now();
    expect(await lines(data, 64 * 1024)).toHaveLength(100_000);
    expect(performance.now() - begin).toBeLessThan(5000);
  });
});

describe('since', () => {
  test.each([
    ['2026-11-21T09:12:09.123456789Z', '1795252329.123456790'],
    ['2026-11-21T09:12:09Z', '1795252329.000000001'],
    ['2026-11-21T10:12:09.5+01:00', '1795252329.500000001'],
    ['2026-11-21T09:12:09.999999999Z', '1795252330.000000000'],
  ])('%s is asked for as %s, one nanosecond later', (given, asked) => {
    expect(sinceAfter(given)).toBe(asked);
  });
  test('must be a time', () => {
    expect(() => sinceAfter('yesterday')).toThrow();
  });
});

describe('repeated lines', () => {
  const at = (ts: number, line = 'x'): { ts: string; stream: 'stdout'; line: string } => ({
    ts: String(ts),
    stream: 'stdout',
    line,
  });
  test('are told from new ones, also from equal ones at another time', () => {
    const isRepeated = createRepetitionFilter();
    expect([at(1), at(2), at(3), at(2), at(3), at(4)].map(isRepeated)).toEqual([
      false,
      false,
      false,
      true,
      true,
      false,
    ]);
  });
  test('are not confused with a clock that jumps back, nor with two lines at one moment', () => {
    const isRepeated = createRepetitionFilter();
    expect([at(5), at(6), at(1), at(2), at(2, 'y')].some(isRepeated)).toBe(false);
  });
  test('are remembered for a while only', () => {
    const isRepeated = createRepetitionFilter();
    for (let ts = 0; ts < 10_000; ts += 1) expect(isRepeated(at(ts))).toBe(false);
    expect(isRepeated(at(9_600))).toBe(true);
    expect(isRepeated(at(1))).toBe(false);
  });
});
