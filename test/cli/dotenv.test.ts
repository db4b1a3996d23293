import { expect, test } from 'bun:test';
import { parseDotenv } from '#cli/dotenv';

test('reads bare, quoted, multi-line and commented values', () => {
  const text = [
    '\uFEFF# a comment',
    'PLAIN=value with spaces   # and a comment',
    'export EXPORTED=yes',
    'HASH=a#b',
    'URL=postgres://u:p@h/db?x=1#frag',
    'EMPTY=',
    'ONLY_COMMENT= # nothing',
    "SINGLE='as is \\n $HOME # no comment'",
    'DOUBLE="line one\\nline two \\"quoted\\" \\$5 \\d"',
    'KEY="-----BEGIN-----',
    'abc=',
    '-----END-----"  # behind',
    'TICK=`it\'s "both"`',
    '  SPACED   =   around   ',
    'NOT_EXPANDED=$HOME/${USER}',
    '',
  ].join('\n');
  expect(parseDotenv(text)).toEqual({
    PLAIN: 'value with spaces',
    EXPORTED: 'yes',
    HASH: 'a#b',
    URL: 'postgres://u:p@h/db?x=1#frag',
    EMPTY: '',
    ONLY_COMMENT: '',
    SINGLE: 'as is \\n $HOME # no comment',
    DOUBLE: 'line one\nline two "quoted" $5 \\d',
    KEY: '-----BEGIN-----\nabc=\n-----END-----',
    TICK: 'it\'s "both"',
    SPACED: 'around',
    NOT_EXPANDED: '$HOME/${USER}',
  });
});

test('line ends of Windows and a missing last one are fine, and the last assignment wins', () => {
  expect(parseDotenv('A=1\r\nB="x\r\ny"\r\nA=2')).toEqual({ A: '2', B: 'x\ny' });
});

test.each([
  ['A=1\nnonsense\n', 'line 2 of the file is no NAME=value'],
  ['A=1\n2B=3\n', 'line 2 of the file is no NAME=value'],
  ['A="open\nB=2\n', 'line 1 of the file has a " that is never closed'],
  ["A='x' y\n", 'line 1 of the file has text after its closing quote'],
])('%j is refused, without showing a value', (text, message) => {
  expect(() => parseDotenv(text)).toThrow(message);
});

test('a name such as __proto__ is a value like any other', () => {
  expect(Object.entries(parseDotenv('__proto__=x\nA=1\n'))).toEqual([
    ['__proto__', 'x'],
    ['A', '1'],
  ]);
});
