import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, isFields, readJson } from '../support/fields.ts';
import type { Manifest } from './manifest.ts';

type Wanted = [name: string, range: string][];

/** The direct dependencies that a package of the lock file's workspace asks for. */
interface Asked {
  /** Its folder; empty for the root. */
  path: string;
  wanted: Wanted;
}

/**
 * The names of direct dependencies whose range differs between package.json and the lock file; those of a workspace's
 * packages with their folder.
 */
export const lockDrift = (
  workspace: Dir,
  lockFile: string,
  manifest: Manifest,
  members: readonly { path: string; manifest: Manifest }[] = [],
): string[] => {
  const asked = [{ path: '', manifest }, ...members].map((one) => ({
    path: one.path,
    wanted: Object.entries(one.manifest.all),
  }));
  const own = new Set(members.map((member) => member.manifest.name));
  switch (lockFile) {
    case 'package-lock.json':
    case 'npm-shrinkwrap.json':
      return npmDrift(workspace, lockFile, asked);
    case 'bun.lock':
      return bunDrift(workspace, asked);
    case 'yarn.lock':
      return yarnDrift(workspace.read(lockFile) ?? '', asked, own);
    case 'pnpm-lock.yaml':
      return pnpmDrift(workspace.read(lockFile) ?? '', asked);
    default:
      return [];
  }
};

const named = ({ path }: Asked, names: string[]): string[] =>
  names.map((name) => (path === '' ? name : `${path}: ${name}`));

const npmDrift = (workspace: Dir, lockFile: string, asked: Asked[]): string[] => {
  const packages = readJson(workspace, lockFile)?.['packages'];
  // A lock file of npm 6 has no such entry: npm ci reads it in its own way.
  if (packages === undefined) return [];
  return asked.flatMap((one) => named(one, differing(one.wanted, fieldsAt(packages, one.path))));
};

const bunDrift = (workspace: Dir, asked: Asked[]): string[] => {
  const lock = readJson(workspace, 'bun.lock');
  return asked.flatMap((one) => named(one, differing(one.wanted, fieldsAt(lock, 'workspaces', one.path))));
};

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'];

const differing = (wanted: Wanted, root: Fields): string[] => {
  const locked = new Map<string, unknown>(KINDS.flatMap((kind) => Object.entries(fieldsAt(root, kind))));
  const names = new Set(wanted.map(([name]) => name));
  const changed = wanted.filter(([name, range]) => locked.get(name) !== range).map(([name]) => name);
  const removed = [...locked.keys()].filter((name) => !names.has(name));
  return [...changed, ...removed].sort();
};

/** Entries of yarn.lock start at the left margin: `"a@^1", "a@^1.2":`, or `"a@npm:^1"` in newer ones. */
const yarnDrift = (text: string, asked: Asked[], own: ReadonlySet<string>): string[] => {
  const locked = new Set<string>();
  for (const line of text.split('\n')) {
    if (!/^["@\w]/.test(line) || !line.trimEnd().endsWith(':')) continue;
    for (const entry of line.trimEnd().slice(0, -1).split(/,\s*/)) locked.add(entry.replaceAll('"', ''));
  }
  const isLocked = ([name, range]: [string, string]): boolean =>
    own.has(name) ||
    locked.has(`${name}@${range}`) ||
    locked.has(`${name}@npm:${range}`) ||
    !/^[\d^~><=*x v.|-]+$/.test(range);
  return asked.flatMap((one) =>
    named(
      one,
      one.wanted
        .filter((entry) => !isLocked(entry))
        .map(([name]) => name)
        .sort(),
    ),
  );
};

/** Reads the `specifier:` lines below `importers:`; the rest of the file may be megabytes long. */
const pnpmDrift = (text: string, asked: Asked[]): string[] => {
  const importers = /^importers:\n([\s\S]*?)(?=^\S|(?![\s\S]))/m.exec(text)?.[1];
  if (importers === undefined) return [];
  const locked = new Map<string, string>();
  const pattern = /^ {2}'?([^\s':]+)'?:\n|^ {6}'?([^\s':]+(?:\/[^\s':]+)?)'?:\n {8}specifier: (.*)$/gm;
  let path = '';
  for (const [, importer, name = '', range = ''] of importers.matchAll(pattern)) {
    if (importer !== undefined) path = importer === '.' ? '' : importer;
    else locked.set(`${path}: ${name}`, range.replace(/^(['"])(.*)\1$/, '$2'));
  }
  return asked.flatMap((one) =>
    named(
      one,
      one.wanted
        .filter(([name, range]) => locked.get(`${one.path}: ${name}`) !== range && /^[\d^~]/.test(range))
        .map(([name]) => name)
        .sort(),
    ),
  );
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
