import { describe, expect, test } from 'bun:test';
import { fixedLayout, guessedLayout } from '../../web/logs/layout.ts';
import { asText, createLines, searcher, type NumberedLine } from '../../web/logs/lines.ts';
import { cutPieces } from '../../web/logs/log-row.tsx';
import { indexOfSeq } from '../../web/logs/log-list.tsx';
import { earlierOf } from '../../web/logs/use-earlier.ts';
import { matchAt, placeIn } from '../../web/logs/use-shown.ts';
import { parseAnsi, stripAnsi } from '../../web/ui/ansi.ts';

const line = (seq: number, text = `line ${seq}`): NumberedLine => ({
  seq,
  ts: '2026-01-01T00:00:00.000000000Z',
  replica: seq % 2 === 0 ? 'even' : 'odd',
  release: 'rel_1',
  stream: 'stdout',
  line: text,
});

describe('looks of terminals', () => {
  test('colours, grounds and weights become names; an end of one leaves the others', () => {
    expect(parseAnsi('\u001b[1;31mred\u001b[22m thin \u001b[0mplain \u001b[44mon blue')).toEqual([
      { text: 'red', look: 'ansi-red ansi-bold' },
      { text: ' thin ', look: 'ansi-red' },
      { text: 'plain ', look: '' },
      { text: 'on blue', look: 'ansi-on-blue' },
    ]);
  });

  test('colours of 256 and of 24 bits become the nearest by hue; greys stay the colour of text', () => {
    expect(parseAnsi('\u001b[38;5;208morange')).toEqual([{ text: 'orange', look: 'ansi-red' }]);
    expect(parseAnsi('\u001b[38;2;40;60;240mblue')).toEqual([{ text: 'blue', look: 'ansi-blue' }]);
    expect(parseAnsi('\u001b[38;5;244mgrey')).toEqual([{ text: 'grey', look: '' }]);
    expect(parseAnsi('\u001b[38;5mcut off')).toEqual([{ text: 'cut off', look: 'ansi-black' }]);
  });

  test('what moves the caret, names windows or turns the direction of writing is taken out or shown as such', () => {
    expect(stripAnsi('\u001b[2K\u001b[1Gdone\u001b]0;title\u0007!')).toBe('done!');
    expect(stripAnsi('10 %\r50 %\r100 %\r')).toBe('100 %');
    expect(stripAnsi('user\u202etxt.exe \u0008')).toBe('user\ufffdtxt.exe \ufffd');
    expect(stripAnsi('a\ttab')).toBe('a\ttab');
  });

  test('markup stays text', () => {
    expect(parseAnsi('<b>\u001b[32m<script>')).toEqual([
      { text: '<b>', look: '' },
      { text: '<script>', look: 'ansi-green' },
    ]);
  });
});

describe('lines that are kept', () => {
  test('repetitions are left out, also those that a filter hides', () => {
    const lines = createLines(({ replica }) => replica === 'odd');
    expect(lines.append([1, 2, 3, 4].map((seq) => line(seq)))).toBe(2);
    expect(lines.append([3, 4, 5].map((seq) => line(seq)))).toBe(1);
    expect(lines.all.map(({ seq }) => seq)).toEqual([1, 3, 5]);
    expect(lines.lastSeq()).toBe(5);
  });

  test('the oldest go, and it is counted how many', () => {
    const lines = createLines(() => true, 3);
    lines.append([1, 2, 3, 4, 5].map((seq) => line(seq)));
    expect(lines.all.map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(lines.dropped).toBe(2);
  });

  test('a line in a file has no colours', () => {
    expect(asText(line(2, '\u001b[32mok\u001b[0m'))).toBe('2026-01-01T00:00:00.000000000Z even stdout ok');
  });

  test('a line is found by its number, or the one behind it', () => {
    const all = [2, 4, 9].map((seq) => line(seq));
    const at = (seq: number) => indexOfSeq(3, (index) => all[index], seq);
    expect([1, 4, 5, 10].map(at)).toEqual([0, 1, 2, 3]);
  });
});

describe('search', () => {
  test('capitals count only when some were typed', () => {
    expect(searcher('get')?.('a GET')).toBe(2);
    expect(searcher('GET')?.('a get')).toBe(-1);
    expect(searcher('')).toBeUndefined();
  });

  test('marks reach over changes of colour', () => {
    const pieces = cutPieces(parseAnsi('say he\u001b[31mllo hello'), 'hello');
    expect(pieces.map(({ text, look, hit }) => [text, look, hit])).toEqual([
      ['say ', '', false],
      ['he', '', true],
      ['llo', 'ansi-red', true],
      [' ', 'ansi-red', false],
      ['hello', 'ansi-red', true],
    ]);
  });
});

describe('where rows stand', () => {
  test('rows of one height', () => {
    const layout = fixedLayout(20);
    layout.grow(100_000);
    expect([layout.top(3), layout.total(), layout.at(65), layout.at(9e9)]).toEqual([60, 2_000_000, 3, 99_999]);
  });

  test('rows of guessed heights are corrected, and grow', () => {
    const layout = guessedLayout((index) => (index === 1 ? 40 : 20));
    layout.grow(3);
    expect([layout.top(2), layout.total(), layout.at(59), layout.at(60)]).toEqual([60, 80, 1, 2]);
    expect(layout.correct(0, 20)).toBe(false);
    expect(layout.correct(0, 60)).toBe(true);
    expect([layout.top(2), layout.total()]).toEqual([100, 120]);
    layout.grow(5000);
    expect(layout.total()).toBe(120 + 4997 * 20);
  });
});

describe('matches before the page', () => {
  const page = (...seqs: number[]) => ({ lines: seqs.map((seq) => line(seq, `Error ${seq}`)), next_cursor: null });

  test('come oldest first, without what the page has, and by capitals when some are typed', () => {
    const pages = [page(9, 8, 7), page(4, 3)];
    expect(earlierOf(pages, 'error', { seq: 8 }).map(({ seq }) => seq)).toEqual([3, 4, 7]);
    expect(earlierOf(pages, 'Error', undefined)).toHaveLength(5);
    expect(earlierOf(pages, 'ERROR', undefined)).toEqual([]);
  });

  test('are walked through with those in the page, round and round', () => {
    const lines = createLines();
    lines.append([line(10), line(11), line(12)]);
    const matches = { lines, found: [0, 2], earlier: { lines: [line(3), line(5)] } };
    const walk = [0, 1, 2, 3, 4, -1].map((place) => matchAt(matches, place));
    expect(walk.map((match) => match.line?.seq)).toEqual([3, 5, 10, 12, 3, 12]);
    expect(walk.map(({ index }) => index)).toEqual([undefined, undefined, 0, 2, undefined, 2]);
    expect([3, 5, 10, 12, 11].map((seq) => placeIn(matches, seq))).toEqual([0, 1, 2, 3, -1]);
    expect(matchAt({ lines, found: [], earlier: { lines: [] } }, 0).line).toBeUndefined();
  });
});
