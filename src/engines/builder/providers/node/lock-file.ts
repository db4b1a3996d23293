import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, isFields, readJson } from '../support/fields.ts';
import type { Manifest } from './manifest.ts';

/** The names of direct dependencies whose range differs between package.json and the lock file. */
export const lockDrift = (workspace: Dir, lockFile: string, manifest: Manifest): string[] => {
  const wanted = Object.entries(manifest.all);
  switch (lockFile) {
    case 'package-lock.json':
    case 'npm-shrinkwrap.json':
      return npmDrift(workspace, lockFile, wanted);
    case 'bun.lock':
      return differing(wanted, bunRoot(workspace));
    case 'yarn.lock':
      return yarnDrift(workspace.read(lockFile) ?? '', wanted);
    case 'pnpm-lock.yaml':
      return pnpmDrift(workspace.read(lockFile) ?? '', wanted);
    default:
      return [];
  }
};

type Wanted = [name: string, range: string][];

const npmDrift = (workspace: Dir, lockFile: string, wanted: Wanted): string[] => {
  const lock = readJson(workspace, lockFile);
  const root = fieldsAt(lock, 'packages', '');
  // A lock file of npm 6 has no such entry: npm ci reads it in its own way.
  return lock?.['packages'] === undefined ? [] : differing(wanted, root);
};

const bunRoot = (workspace: Dir): Fields => fieldsAt(readJson(workspace, 'bun.lock'), 'workspaces', '');

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'];

const differing = (wanted: Wanted, root: Fields): string[] => {
  const locked = new Map<string, unknown>(KINDS.flatMap((kind) => Object.entries(fieldsAt(root, kind))));
  const names = new Set(wanted.map(([name]) => name));
  const changed = wanted.filter(([name, range]) => locked.get(name) !== range).map(([name]) => name);
  const removed = [...locked.keys()].filter((name) => !names.has(name));
  return [...changed, ...removed].sort();
};

/** Entries of yarn.lock start at the left margin: `"a@^1", "a@^1.2":`, or `"a@npm:^1"` in newer ones. */
const yarnDrift = (text: string, wanted: Wanted): string[] => {
  const locked = new Set<string>();
  for (const line of text.split('\n')) {
    if (!/^["@\w]/.test(line) || !line.trimEnd().endsWith(':')) continue;
    for (const entry of line.trimEnd().slice(0, -1).split(/,\s*/)) locked.add(entry.replaceAll('"', ''));
  }
  const isLocked = ([name, range]: [string, string]): boolean =>
    locked.has(`${name}@${range}`) || locked.has(`${name}@npm:${range}`) || !/^[\d^~><=*x v.|-]+$/.test(range);
  return wanted
    .filter((entry) => !isLocked(entry))
    .map(([name]) => name)
    .sort();
};

/** Reads the `specifier:` lines of the root importer; the rest of the file may be megabytes long. */
const pnpmDrift = (text: string, wanted: Wanted): string[] => {
  const importer = /^importers:\n\n? {2}\.:\n([\s\S]*?)(?=^ {0,2}\S|(?![\s\S]))/m.exec(text)?.[1];
  if (importer === undefined) return [];
  const locked = new Map<string, string>();
  const pattern = /^ {6}'?([^\s':]+(?:\/[^\s':]+)?)'?:\n {8}specifier: (.*)$/gm;
  for (const [, name = '', range = ''] of importer.matchAll(pattern))
    locked.set(name, range.replace(/^(['"])(.*)\1$/, '$2'));
  return wanted
    .filter(([name, range]) => locked.get(name) !== range && /^[\d^~]/.test(range))
    .map(([name]) => name)
    .sort();
};

/** Names of every package that will be installed, as far as the lock file tells them. */
export const lockedNames = (workspace: Dir, lockFile: string | null): Set<string> => {
  if (lockFile === null) return new Set();
  const text = workspace.read(lockFile) ?? '';
  if (lockFile.endsWith('.json')) {
    const packages = fieldsAt(readJson(workspace, lockFile), 'packages');
    return new Set(
      Object.entries(packages)
        .filter(([, value]) => isFields(value))
        .map(([path]) => path.replace(/^.*node_modules\//, '')),
    );
  }
  const names = text.matchAll(/^ {0,4}["']?\/?(@?[\w.-]+(?:\/[\w.-]+)?)(?:@|["']?: \[)/gm);
  return new Set([...names].map(([, name = '']) => name));
};

/** The format version of package-lock.json: 1 for npm 6, 3 for the newer ones. */
export const npmLockVersion = (workspace: Dir, lockFile: string | null): number => {
  const version = lockFile?.endsWith('.json') ? readJson(workspace, lockFile)?.['lockfileVersion'] : undefined;
  return typeof version === 'number' ? version : 0;
};

/** The format version of pnpm-lock.yaml: `6.0`, `9.0`. */
export const pnpmLockVersion = (text: string): number =>
  Number(/^lockfileVersion:\s*'?([\d.]+)/m.exec(text)?.[1] ?? Number.NaN);
