import { parseArgs, type ParseArgsConfig } from 'node:util';
import {
  COMMON_FLAGS,
  flagsOf,
  scopeFlags,
  type Command,
  type Entry,
  type FlagSpec,
  type FlagSpecs,
  type Input,
} from './command.ts';
import { usageError } from './failure.ts';
import { didYouMean } from './suggest.ts';

/** Finds the first word that is no flag and no flag's value: the command's name. */
export const splitWord = (argv: readonly string[]): { word: string | undefined; rest: string[] } => {
  const known = { ...COMMON_FLAGS, ...scopeFlags('service') };
  const { tokens } = parseArgs({
    args: [...argv],
    options: optionsOf(known),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const first = tokens.find((token) => token.kind === 'positional' || token.kind === 'option-terminator');
  if (first?.kind !== 'positional') return { word: undefined, rest: [...argv] };
  return { word: first.value, rest: [...argv.slice(0, first.index), ...argv.slice(first.index + 1)] };
};

/** Picks a command of a list by its name, with a suggestion for a typo. */
export const pickEntry = <E extends Entry>(word: string, entries: readonly E[], path: string): E => {
  const found = entries.find((entry) => entry.name === word);
  if (found !== undefined) return found;
  const names = entries.map((entry) => entry.name);
  throw usageError(`unknown command "${path} ${word}"`, didYouMean(word, names, `see: ${path} --help`));
};

/** Turns the arguments after the command's name into typed flags and arguments. */
export const parseInput = (command: Command, path: string, argv: readonly string[]): Input => {
  const specs = flagsOf(command);
  const { tokens } = parseArgs({
    args: [...argv],
    options: optionsOf(specs),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags = defaults(specs);
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind === 'option') readFlag({ path, specs, flags }, token);
  }
  // The declarations, of which the types of `run` are made, are what these were read by.
  return { flags, args: flags['help'] === true ? {} : readArgs(command, path, words) } as Input;
};

const optionsOf = (specs: FlagSpecs): NonNullable<ParseArgsConfig['options']> => {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, spec] of Object.entries(specs)) {
    const short = spec.short === undefined ? {} : { short: spec.short };
    options[name] = { type: spec.type === 'boolean' ? 'boolean' : 'string', multiple: true, ...short };
    if (spec.type === 'boolean') options[`no-${name}`] = { type: 'boolean', multiple: true };
  }
  return options;
};

type Value = string | number | boolean | string[] | undefined;

const defaults = (specs: FlagSpecs): Record<string, Value> =>
  Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, defaultOf(spec)]));

const defaultOf = (spec: FlagSpec): Value => {
  if (spec.type === 'strings') return [];
  if (spec.type !== 'boolean' || spec.on === 'auto') return undefined;
  return spec.on ?? false;
};

interface FlagToken {
  name: string;
  rawName: string;
  value: string | undefined;
  inlineValue: boolean | undefined;
}

interface Reading {
  path: string;
  specs: FlagSpecs;
  flags: Record<string, Value>;
}

const readFlag = ({ path, specs, flags }: Reading, token: FlagToken): void => {
  const negated = token.name.startsWith('no-') && specs[token.name] === undefined;
  const name = negated ? token.name.slice(3) : token.name;
  const spec = specs[name];
  if (spec === undefined || (negated && spec.type !== 'boolean')) {
    const known = Object.keys(specs).map((flag) => `--${flag}`);
    throw usageError(`unknown flag ${token.rawName}`, didYouMean(token.rawName, known, `see: ${path} --help`));
  }
  if (spec.type === 'boolean') {
    if (token.inlineValue === true)
      throw usageError(`${token.rawName} takes no value`, `use ${token.rawName}, or --no-${name}`);
    flags[name] = !negated;
    return;
  }
  const value = requireValue(token, spec.value);
  if (spec.type === 'number') flags[name] = readNumber(token.rawName, spec, value);
  else if (spec.type === 'strings')
    flags[name] = [...((flags[name] as string[] | undefined) ?? []), requireChoice(token.rawName, spec, value)];
  else flags[name] = requireChoice(token.rawName, spec, value);
};

const requireValue = (token: FlagToken, placeholder: string): string => {
  const missing =
    token.value === undefined || (token.inlineValue !== true && token.value.length > 1 && token.value.startsWith('-'));
  if (missing)
    throw usageError(
      `${token.rawName} needs a value`,
      `write ${token.rawName} ${placeholder}, or ${token.rawName}=${placeholder}`,
    );
  return token.value ?? '';
};

const readNumber = (shown: string, spec: Extract<FlagSpec, { type: 'number' }>, text: string): number => {
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const wrong =
    !Number.isFinite(number) ||
    (spec.integer === true && !Number.isInteger(number)) ||
    number < (spec.min ?? -Infinity);
  if (!wrong) return number;
  const kind = spec.integer === true ? 'a whole number' : 'a number';
  throw usageError(
    `${shown} must be ${kind}${spec.min === undefined ? '' : `, at least ${spec.min}`}; it is "${text}"`,
    `write ${shown} ${spec.value}`,
  );
};

const requireChoice = (shown: string, spec: { choices?: readonly string[] }, value: string): string => {
  if (spec.choices === undefined || spec.choices.includes(value)) return value;
  throw usageError(
    `${shown} does not know "${value}"`,
    didYouMean(value, spec.choices, `valid: ${spec.choices.join(', ')}`),
  );
};

const readArgs = (
  command: Command,
  path: string,
  words: readonly string[],
): Record<string, string | string[] | undefined> => {
  const args: Record<string, string | string[] | undefined> = {};
  let next = 0;
  for (const [name, spec] of Object.entries(command.args)) {
    if (spec.variadic === true) {
      args[name] = words.slice(next);
      next = words.length;
    } else {
      args[name] = words[next];
      next += 1;
    }
    const value = args[name];
    const empty = value === undefined || value.length === 0;
    if (empty && spec.optional !== true)
      throw usageError(`${path} needs ${name}: ${spec.summary}`, `see: ${path} --help`);
    if (typeof value === 'string') requireChoice(name, spec, value);
  }
  const extra = words[next];
  if (extra !== undefined && next < words.length)
    throw usageError(`unexpected argument "${extra}"`, `see: ${path} --help`);
  return args;
};
