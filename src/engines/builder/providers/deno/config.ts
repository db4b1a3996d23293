import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, readJson, textAt } from '../support/fields.ts';

/** deno.json or deno.jsonc; empty when there is none. */
export interface DenoConfig {
  file: string | undefined;
  raw: Fields;
}

export const readConfig = (dir: Dir): DenoConfig => {
  const file = dir.firstOf('deno.json', 'deno.jsonc');
  return { file, raw: file === undefined ? {} : (readJson(dir, file) ?? {}) };
};

/** The command of a task, when it is one command without other tasks before it. */
export const taskCommand = ({ raw }: DenoConfig, name: string): { command: string; alone: boolean } | undefined => {
  const plain = textAt(raw, 'tasks', name);
  if (plain !== undefined) return { command: plain, alone: true };
  const command = textAt(raw, 'tasks', name, 'command');
  return command === undefined
    ? undefined
    : { command, alone: fieldsAt(raw, 'tasks', name)['dependencies'] === undefined };
};

/** Everything that the import map and package.json name, as written: `npm:hono@^4`. */
export const importedNames = (dir: Dir, { raw }: DenoConfig): string[] => [
  ...Object.entries(fieldsAt(raw, 'imports')).flatMap(([name, value]) => [
    name,
    typeof value === 'string' ? value : '',
  ]),
  ...Object.keys(fieldsAt(readJson(dir, 'package.json'), 'dependencies')),
];

/** The folder whose deno.json makes a workspace of the app and others, or the app itself. */
export const workspaceRoot = (repo: Dir, app: Dir): Dir => {
  const parts = app.path === '' ? [] : app.path.split('/');
  for (let length = 0; length < parts.length; length += 1) {
    const dir = length === 0 ? repo : repo.dir(parts.slice(0, length).join('/'));
    if (readConfig(dir).raw['workspace'] !== undefined) return dir;
  }
  return app;
};

/** What an install reads, for the app or every member of its workspace. */
export const manifestsOf = (root: Dir): string[] => {
  const members =
    readConfig(root).raw['workspace'] === undefined ? [] : root.files().filter((file) => MEMBER.test(file));
  return [...TOP.filter((name) => root.has(name)), ...members.filter((file) => !ASIDE.test(file))];
};

const TOP = ['.npmrc', 'deno.json', 'deno.jsonc', 'deno.lock', 'import_map.json', 'package.json'];
const MEMBER = /\/(deno\.jsonc?|package\.json)$/;
const ASIDE = /(^|\/)(node_modules|vendor)\//;

/** Whether the lock file is of this Deno, and holds what the import map asks for. */
export const lockState = (root: Dir): 'none' | 'exact' | 'drifted' => {
  const lock = root.has('deno.lock') ? readJson(root, 'deno.lock') : undefined;
  if (lock === undefined) return 'none';
  const config = readConfig(root);
  if (config.raw['lock'] === false) return 'none';
  const version = Number(textAt(lock, 'version') ?? '0');
  // Deno 2 rewrites the format of Deno 1, which it may not do to a frozen file.
  if (version < 4) return 'drifted';
  const locked = fieldsAt(lock, 'workspace')['dependencies'];
  const known = new Set((Array.isArray(locked) ? locked : []).map((entry: unknown) => packageOf(String(entry))));
  const wanted = Object.values(fieldsAt(config.raw, 'imports')).filter(
    (value): value is string => typeof value === 'string' && /^(npm|jsr):/.test(value),
  );
  return wanted.every((value) => known.has(packageOf(value))) ? 'exact' : 'drifted';
};

/** `npm:@scope/name` of `npm:@scope/name@^1/path`: ranges are written in several ways. */
const packageOf = (specifier: string): string =>
  /^(npm|jsr):\/?(@[^/@]+\/)?[^/@]+/.exec(specifier)?.[0].replace(':/', ':') ?? specifier;
