import { describe, expect, test } from 'bun:test';
import { colouredText, plainText, withoutColours } from '#kernel/terminal';

const ESC = '\u001B';

/** Sequences that act on a terminal: each has been used to attack whoever looks at a log. */
const HOSTILE = [
  `${ESC}[2J`,
  `${ESC}[2K${ESC}[1A`,
  `${ESC}[?1049h`,
  `${ESC}[6n`,
  `${ESC}[20t`,
  `${ESC}c`,
  `${ESC}(0`,
  `${ESC}#8`,
  `${ESC}]0;title\u0007`,
  `${ESC}]52;c;cm0gLXJmIC8=\u0007`,
  `${ESC}]8;;http://evil.example${ESC}\\`,
  `${ESC}P$q"p${ESC}\\`,
  `${ESC}_Gi=1${ESC}\\`,
  `${ESC}]0;never ends`,
  `${ESC}[`,
  ESC,
  '\u009B2J',
  '\u009D0;title\u009C',
  '\u0090q\u009C',
  '\u0007\u0008\u000B\u000C\u000E\u007F\u0085',
];

describe('text for terminals', () => {
  test.each(HOSTILE)('%j does nothing, in colours or without', (sequence) => {
    for (const made of [plainText(`a${sequence}`), colouredText(`a${sequence}`)]) expect(made).toBe('a');
    expect(colouredText(`${ESC}[31ma${sequence}`)).toBe(`${ESC}[31ma${ESC}[0m`);
  });

  test('colours stay where they are wanted, and end with the line', () => {
    const line = `${ESC}[1;31mred${ESC}[0m ${ESC}[38;5;208morange${ESC}[39m ${ESC}[48;2;1;2;3mground`;
    expect(colouredText(line)).toBe(`${line}${ESC}[0m`);
    expect(plainText(line)).toBe('red orange ground');
    expect(withoutColours(colouredText(line))).toBe('red orange ground');
    expect(colouredText('\u009B32mone byte\u009Bm')).toBe(`${ESC}[32mone byte${ESC}[0m`);
  });

  test('nothing is hidden, blinks, or is coded in another way', () => {
    expect(colouredText(`${ESC}[8mhidden${ESC}[5mblinks`)).toBe('hiddenblinks');
    expect(colouredText(`${ESC}[38;5;8mgrey`)).toBe(`${ESC}[38;5;8mgrey${ESC}[0m`);
    expect(colouredText(`${ESC}[31;8mred`)).toBe(`${ESC}[31mred${ESC}[0m`);
    expect(colouredText(`${ESC}[38;9;1mx${ESC}[48;5mx${ESC}[>4;2mx${ESC}[4:3mx${ESC}[${'1;'.repeat(40)}mx`)).toBe(
      'xxxxx',
    );
  });

  test('a line of looks alone is empty, and one with too many is plain', () => {
    expect(colouredText(`${ESC}[31m  ${ESC}[0m`)).toBe('  ');
    expect(colouredText(`${ESC}[31mx`.repeat(1000))).toBe('x'.repeat(1000));
  });

  test('ordinary lines and tabs are left alone', () => {
    for (const line of ['', 'a\tb', '日本 € <b>', 'trailing  ']) {
      expect(colouredText(line)).toBe(line);
      expect(plainText(line)).toBe(line);
    }
  });
});
