import { expect, test } from 'bun:test';
import { wrap } from '#cli/help';
import { age, bytes, duration, parseDuration } from '#cli/output/format';
import { progressLine } from '#cli/output/progress';
import { createStyle, inert } from '#cli/output/style';
import { table, type Column } from '#cli/output/table';

interface Row {
  name: string;
  url: string | null;
  size: number;
}

const COLUMNS: Column<Row>[] = [
  { title: 'NAME', value: (row) => row.name },
  { title: 'URL', value: (row) => row.url, flexible: true },
  { title: 'SIZE', value: (row) => row.size, align: 'right' },
];

test('columns line up, empty cells show a dash, numbers stand right', () => {
  const rows = [
    { name: 'web', url: 'http://web--shop.localhost', size: 5 },
    { name: 'api-of-shop', url: null, size: 12345 },
  ];
  expect(table(COLUMNS, rows, 120)).toBe(
    [
      'NAME         URL                          SIZE',
      'web          http://web--shop.localhost      5',
      'api-of-shop  -                           12345',
      '',
    ].join('\n'),
  );
});

test('a narrow terminal cuts the flexible column only, and no line is wider', () => {
  const text = table(
    COLUMNS,
    [{ name: 'web', url: 'http://web--shop.apps.example.com/with/a/long/path', size: 5 }],
    40,
  );
  expect(text).toContain('…');
  expect(text).toContain('web');
  for (const line of text.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(40);
});

test('wide characters count as two cells', () => {
  const text = table(COLUMNS, [{ name: '日本', url: '日本語'.repeat(20), size: 1 }], 30);
  for (const line of text.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(30);
});

test('a cell cannot break out of its line or steer the terminal', () => {
  const text = table(COLUMNS, [{ name: 'a\nb', url: '\u001B[2J\u001B]0;title\u0007x', size: 1 }], 80);
  expect(text.split('\n')).toHaveLength(3);
  expect(text).not.toContain('\u001B');
  expect(text).toContain('a b');
});

test('log lines keep colours where they are shown, and nothing else', () => {
  const hostile =
    'a\u001B[31mred\u001B[0m\u001B[2J\u001B[1;1H\u001B]8;;http://x\u001B\\link\u001B]8;;\u001B\\\u0007\u009B31m\u001BPq\u001B\\b';
  expect(inert(hostile, true)).toBe('a\u001B[31mred\u001B[0mlink31mb\u001B[0m');
  expect(inert(hostile, false)).toBe('aredlink31mb');
});

test('an unfinished escape is dropped', () => {
  expect(inert('x\u001B', false)).toBe('x');
  expect(inert('x\u001B]0;never closed', false)).toBe('x');
});

test('a progress line rewritten in place shows its last state', () => {
  expect(inert('10 %\r50 %\r100 %\r', false)).toBe('100 %');
});

test('colours need a terminal, and NO_COLOR turns them off', () => {
  const terminal = { write: () => undefined, isTTY: true, columns: 80 };
  expect(createStyle(terminal, {}).red('x')).toBe('\u001B[31mx\u001B[39m');
  expect(createStyle(terminal, { NO_COLOR: '1' }).red('x')).toBe('x');
  expect(createStyle(terminal, { TERM: 'dumb' }).red('x')).toBe('x');
  expect(createStyle({ ...terminal, isTTY: false }, {}).red('x')).toBe('x');
});

test('the progress bar fits the terminal', () => {
  expect(progressLine({ label: 'uploading', done: 512, total: 1024, columns: 200 })).toBe(
    'uploading  ████████████░░░░░░░░░░░░  50 %  512 B of 1 kB',
  );
  expect(progressLine({ label: 'uploading', done: 0, total: 0, columns: 20 })).toHaveLength(19);
});

test('sizes, ages and durations read well', () => {
  expect([0, 1023, 1536, 5 * 1024 ** 3, 200 * 1024 ** 2].map(bytes)).toEqual([
    '0 B',
    '1023 B',
    '1.5 kB',
    '5 GB',
    '200 MB',
  ]);
  expect([4, 4200, 65_000, 3_600_000, 90_000_000, 200_000_000].map(duration)).toEqual([
    '4ms',
    '4.2s',
    '65s',
    '60m',
    '25h',
    '2d',
  ]);
  expect(age('2026-11-21T10:00:00Z', Date.parse('2026-11-21T10:05:00Z'))).toBe('5m');
  expect(age(null, 0)).toBe('-');
});

test('durations are read with their unit only', () => {
  expect(['10m', '1.5h', '30d', '250ms', '10', 'm', '-5m'].map(parseDuration)).toEqual([
    600_000,
    5_400_000,
    2_592_000_000,
    250,
    undefined,
    undefined,
    undefined,
  ]);
});

test('paragraphs break between words', () => {
  expect(wrap('one two three four', 9)).toBe('one two\nthree\nfour');
  expect(wrap('averyveryverylongword x', 5)).toBe('averyveryverylongword\nx');
});
