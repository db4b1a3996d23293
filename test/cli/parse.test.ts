import { expect, test } from 'bun:test';
import { defineCommand } from '#cli/command';
import { CliFailure } from '#cli/failure';
import { parseInput, splitWord } from '#cli/parse';
import { nearest } from '#cli/suggest';

const command = defineCommand({
  name: 'try',
  summary: 'for tests',
  examples: [],
  scope: 'service',
  args: { first: { summary: 'the first' }, rest: { summary: 'the rest', variadic: true, optional: true } },
  flags: {
    detach: { type: 'boolean', short: 'd', summary: '' },
    follow: { type: 'boolean', on: true, summary: '' },
    tail: { type: 'number', value: 'N', integer: true, min: 0, summary: '' },
    can: { type: 'strings', value: 'C', choices: ['read', 'deploy'], summary: '' },
    file: { type: 'string', value: 'FILE', summary: '' },
  },
  run: async () => undefined,
});

const parse = (...argv: string[]) => parseInput(command, 'berth try', argv);

const failureOf = (act: () => unknown): CliFailure => {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof CliFailure) return thrown;
    throw thrown;
  }
  throw new Error('it did not fail');
};

test('flags and arguments come typed, in any order', () => {
  const { flags, args } = parse(
    'a',
    '-d',
    '--tail=5',
    'b',
    '--can',
    'read',
    '--can',
    'deploy',
    '--no-follow',
    '-p',
    'shop',
    'c',
  );
  expect(args as unknown).toEqual({ first: 'a', rest: ['b', 'c'] });
  expect(flags).toMatchObject({ detach: true, follow: false, tail: 5, can: ['read', 'deploy'], project: 'shop' });
});

test('what is not given has its default', () => {
  const { flags, args } = parse('a');
  expect(args as unknown).toEqual({ first: 'a', rest: [] });
  expect(flags).toMatchObject({ detach: false, follow: true, can: [] });
  expect(flags['tail']).toBeUndefined();
  expect(flags['json']).toBeUndefined();
});

test('after -- everything is an argument', () => {
  expect(parse('a', '--', '--tail', '-d').args as unknown).toEqual({ first: 'a', rest: ['--tail', '-d'] });
});

test('a value that begins with a dash needs the form with =', () => {
  expect(failureOf(() => parse('a', '--file', '--json')).body.message).toBe('--file needs a value');
  expect(parse('a', '--file=--json').flags['file']).toBe('--json');
  expect(parse('a', '--file', '-').flags['file']).toBe('-');
});

test.each([
  [['a', '--tial', '5'], 'unknown flag --tial', 'did you mean "--tail"?'],
  [['a', '--tail', '1.5'], '--tail must be a whole number, at least 0; it is "1.5"', 'write --tail N'],
  [['a', '--tail='], '--tail must be a whole number, at least 0; it is ""', 'write --tail N'],
  [['a', '--can', 'raed'], '--can does not know "raed"', 'did you mean "read"?'],
  [['a', '--can', 'fly'], '--can does not know "fly"', 'valid: read, deploy'],
  [['a', '--file'], '--file needs a value', 'write --file FILE, or --file=FILE'],
  [['a', '--detach=yes'], '--detach takes no value', 'use --detach, or --no-detach'],
  [['a', '--no-tail'], 'unknown flag --no-tail', 'did you mean "--tail"?'],
  [[], 'berth try needs first: the first', 'see: berth try --help'],
])('%j is a usage error: %s', (argv, message, hint) => {
  const failure = failureOf(() => parse(...argv));
  expect(failure.body).toEqual({ code: 'USAGE', message, hint, retryable: false });
  expect(failure.exitCode).toBe(2);
});

test('an argument too many is refused when there is no list for it', () => {
  const single = { ...command, args: { first: { summary: 'the first' } } };
  expect(failureOf(() => parseInput(single, 'berth try', ['a', 'b'])).body.message).toBe('unexpected argument "b"');
});

test('help asks for nothing else', () => {
  expect(parse('--help').flags['help']).toBe(true);
});

test('the command is found behind common flags with values', () => {
  expect(splitWord(['--json', '-p', 'shop', 'status', '--limit', '3'])).toEqual({
    word: 'status',
    rest: ['--json', '-p', 'shop', '--limit', '3'],
  });
  expect(splitWord(['--json'])).toEqual({ word: undefined, rest: ['--json'] });
});

test.each([
  ['stauts', 'status'],
  ['stat', 'status'],
  ['deplyo', 'deploy'],
  ['xyzzy', undefined],
  ['s', undefined],
])('%s is taken for %s', (word, meant) => {
  expect(nearest(word, ['status', 'deploy', 'services'])).toBe(meant);
});
