import type { Dir } from '../../source-tree.ts';
import { brokenManifest } from '../support/fields.ts';
import type { Gemfile } from './gemfile.ts';

/** What a Gemfile.lock says. */
export interface GemLock {
  /** Name and version (with a platform, where there is one) of every gem of a gem server. */
  gems: { name: string; version: string }[];
  /** Every name, those from git and from folders too. */
  names: Set<string>;
  /** Requirements of the Gemfile when the lock was written, by name. */
  dependencies: Map<string, string[]>;
  platforms: string[];
  ruby: string | undefined;
  bundler: string | undefined;
  /** Folders that gems lie in, as written, and the names of these gems. */
  paths: string[];
  local: Set<string>;
  /** Addresses of gem servers. */
  remotes: string[];
}

export const readGemLock = (app: Dir): GemLock | undefined => {
  const text = app.read('Gemfile.lock');
  if (text === undefined) return undefined;
  const found: GemLock = {
    gems: [],
    names: new Set(),
    dependencies: new Map(),
    platforms: [],
    ruby: undefined,
    bundler: undefined,
    paths: [],
    local: new Set(),
    remotes: [],
  };
  let section = '';
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^(<{7}|={7}|>{7})/.test(line))
      throw brokenManifest('Gemfile.lock', String(index + 1), 'it holds the marks of a merge that was not finished');
    if (/^[A-Z]/.test(line)) section = line.trim();
    else readLine(found, section, line);
  }
  return found;
};

const readLine = (found: GemLock, section: string, line: string): void => {
  const text = line.trim();
  if (text === '') return;
  const spec = /^ {4}([\w.-]+) \(([^)]+)\)$/.exec(line);
  const remote = /^ {2}remote: (.+)$/.exec(line)?.[1]?.trim();
  if (spec && ['GEM', 'GIT', 'PATH'].includes(section)) {
    const [, name = '', version = ''] = spec;
    found.names.add(name);
    if (section === 'GEM') found.gems.push({ name, version });
    if (section === 'PATH') found.local.add(name);
  } else if (remote !== undefined && section === 'PATH') found.paths.push(remote);
  else if (remote !== undefined && section === 'GEM') found.remotes.push(remote);
  else if (section === 'PLATFORMS') found.platforms.push(text);
  else if (section === 'DEPENDENCIES') {
    const [, name = '', written = ''] = /^([\w.-]+)(?: \((.*)\))?!?$/.exec(text) ?? [];
    if (name !== '') found.dependencies.set(name, written === '' ? [] : written.split(',').map((part) => part.trim()));
  } else if (section === 'RUBY VERSION') found.ruby ??= /^ruby (\d+(?:\.\d+)*)/.exec(text)?.[1];
  else if (section === 'BUNDLED WITH') found.bundler ??= /^\d+(\.\d+)+$/.exec(text)?.[0];
};

/** Direct dependencies that the Gemfile and the lock file do not agree on. */
export const lockDrift = (gemfile: Gemfile, lock: GemLock): string[] => {
  const certain = gemfile.gems.filter(({ conditional }) => !conditional);
  const changed = certain
    .filter(({ name, requirements }) => {
      const locked = lock.dependencies.get(name);
      return locked === undefined || !sameRequirements(requirements, locked);
    })
    .map(({ name }) => name);
  const listed = new Set(gemfile.gems.map(({ name }) => name));
  const whole = !gemfile.dynamic && !gemfile.gemspec && certain.length === gemfile.gems.length;
  const removed = whole ? [...lock.dependencies.keys()].filter((name) => !listed.has(name)) : [];
  return [...new Set([...changed, ...removed])].sort();
};

const sameRequirements = (left: string[], right: string[]): boolean => {
  const plain = (list: string[]): string =>
    list
      .map((text) => text.replace(/^=?\s*(?=\d)/, '= ').replace(/^([<>=~!]+)\s*/, '$1 '))
      .filter((text) => text !== '>= 0')
      .sort()
      .join();
  return plain(left) === plain(right);
};

/** Whether the lock file has gems for the machines that images run on. */
export const locksLinux = ({ platforms }: GemLock): boolean =>
  platforms.length === 0 || platforms.some((name) => name === 'ruby' || /-linux(-gnu)?$/.test(name));

/** Whether `vendor/cache` holds every gem, so that no server need be asked. */
export const isVendored = (app: Dir, { gems }: GemLock): boolean => {
  const files = new Set(app.dir('vendor/cache').entries());
  const kept = new Set(gems.filter(({ name, version }) => files.has(`${name}-${version}.gem`)).map(({ name }) => name));
  return gems.length > 0 && gems.every(({ name }) => kept.has(name));
};
