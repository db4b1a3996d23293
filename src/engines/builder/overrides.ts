import { invalidInput } from '#kernel/errors';
import { nearest } from './providers/support/nearest.ts';
import { type Fields, isFields, placeOf, readToml } from './providers/support/fields.ts';
import type { Dir } from './source-tree.ts';

/** What the user says about the build; each beats what would be detected. */
export interface Overrides {
  provider?: string;
  root?: string;
  version?: string;
  install?: string[];
  build?: string[];
  /** A string is a command line, a list is an argv. */
  start?: string | string[];
  release?: string | string[];
  output?: string;
  spa?: boolean;
  apt?: string[];
  build_apt?: string[];
  run_apt?: string[];
}

type Key = keyof Overrides;

interface KeySpec {
  kind: 'text' | 'commands' | 'argv' | 'packages' | 'switch';
  doc: string;
}

/** The valid keys of `[build]`, and of the `BERTH_<KEY>` variables; docs/builder.md is generated from it. */
export const OVERRIDE_KEYS: Record<Key, KeySpec> = {
  start: { kind: 'argv', doc: 'what the container runs: a command line, or a list of words that no shell reads' },
  build: { kind: 'commands', doc: 'the build command, or a list of them; empty for none' },
  version: { kind: 'text', doc: 'version of the language: a line such as `22`, a range, or an exact version' },
  install: { kind: 'commands', doc: 'how dependencies are installed; empty for none' },
  apt: { kind: 'packages', doc: 'Debian packages for the build and at run time' },
  build_apt: { kind: 'packages', doc: 'Debian packages for the build only' },
  run_apt: { kind: 'packages', doc: 'Debian packages at run time only' },
  provider: { kind: 'text', doc: 'skips detection: one of the providers below, or `dockerfile`' },
  root: { kind: 'text', doc: 'folder of the app inside the source (monorepos)' },
  output: { kind: 'text', doc: 'folder that the build leaves a static site in: it is then served as files' },
  spa: { kind: 'switch', doc: 'whether unknown paths without an extension get index.html' },
  release: { kind: 'argv', doc: 'runs once per deploy before the new release takes traffic (migrations)' },
};

const isKey = (key: string): key is Key => Object.hasOwn(OVERRIDE_KEYS, key);

/** Reads berth.toml's `[build]`, then the service's own `[services.<name>.build]`, then the project's variables. */
export const readOverrides = (repo: Dir, projectEnv: Record<string, string>, serviceName: string): Overrides => {
  const overrides: Overrides = {};
  const file = readToml(repo, 'berth.toml');
  if (file) {
    refuseMisspelling(repo, file);
    addTable(overrides, repo, file['build'], 'build');
    const services = file['services'];
    const service = isFields(services) && Object.hasOwn(services, serviceName) ? services[serviceName] : undefined;
    if (isFields(service)) addTable(overrides, repo, service['build'], `services.${serviceName}.build`);
  }
  for (const key of Object.keys(OVERRIDE_KEYS).filter(isKey)) {
    const name = `BERTH_${key.toUpperCase()}`;
    const value = Object.hasOwn(projectEnv, name) ? projectEnv[name] : undefined;
    if (value !== undefined) assign(overrides, key, fromVariable(key, value), name);
  }
  return overrides;
};

/** A misspelt `[build]` would otherwise be ignored without a word. */
const refuseMisspelling = (repo: Dir, file: Fields): void => {
  const odd = Object.keys(file).find((key) => key !== 'build' && nearest(key, ['build'], 2) !== undefined);
  if (odd === undefined) return;
  throw invalidInput(
    `${placeOf(repo, 'berth.toml', new RegExp(`^\\s*\\[?\\s*"?${odd.replace(/\W/g, '.')}`))}: no table is called [${odd}]`,
    'did you mean [build]?',
  );
};

const addTable = (overrides: Overrides, repo: Dir, table: unknown, name: string): void => {
  if (table === undefined) return;
  if (!isFields(table))
    throw invalidInput(`berth.toml: ${name} must be a table`, `write [${name}] on a line of its own`);
  for (const [key, value] of Object.entries(table)) {
    const place = placeOf(repo, 'berth.toml', new RegExp(`^\\s*"?${key.replace(/\W/g, '.')}"?\\s*=`));
    if (!isKey(key)) throw unknownKey(key, name, place);
    assign(overrides, key, value, `${key} in ${place}`);
  }
};

const unknownKey = (key: string, table: string, place: string): Error => {
  const valid = Object.keys(OVERRIDE_KEYS);
  const close = nearest(key, valid, 2);
  return invalidInput(
    `${place}: [${table}] has no key ${JSON.stringify(key)}`,
    `${close === undefined ? '' : `did you mean ${close}? `}valid keys: ${valid.join(', ')}`,
  );
};

const fromVariable = (key: Key, value: string): unknown => {
  const { kind } = OVERRIDE_KEYS[key];
  if (kind === 'packages') return value.split(/[\s,]+/).filter((name) => name !== '');
  if (kind === 'switch') return { true: true, '1': true, false: false, '0': false }[value.toLowerCase()] ?? value;
  return value;
};

const assign = (overrides: Overrides, key: Key, value: unknown, where: string): void => {
  const { kind } = OVERRIDE_KEYS[key];
  const texts = Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
  const text = typeof value === 'string' ? value : undefined;
  if ((text ?? texts?.join(' '))?.includes('\0')) throw invalidInput(`${where} holds a NUL byte`, 'remove it');
  const taken: Partial<Record<string, unknown>> = {
    text: text?.trim(),
    commands: text === undefined ? texts : text.trim() === '' ? [] : [text],
    argv: text !== undefined && text.trim() !== '' ? text : texts !== undefined && texts.length > 0 ? texts : undefined,
    packages: texts?.every(isPackageName) ? texts : undefined,
    switch: typeof value === 'boolean' ? value : undefined,
  };
  if (taken[kind] === undefined) throw invalidInput(`${where} has a value of the wrong kind`, EXPECTED[kind]);
  Object.assign(overrides, { [key]: taken[kind] });
};

const EXPECTED: Record<KeySpec['kind'], string> = {
  text: 'give a string in quotes, such as "22"',
  commands: 'give a command as a string, or a list of commands',
  argv: 'give a command line as a string, or a list of words',
  packages: 'give a list of Debian package names',
  switch: 'give true or false',
};

/** Debian's own rule for package names, with an optional version: safe inside a command. */
const isPackageName = (name: string): boolean => /^[a-z0-9][a-z0-9+.-]+(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?$/.test(name);
