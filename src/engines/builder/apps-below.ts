import { type BerthError, invalidInput } from '#kernel/errors';
import { PROVIDERS } from './providers/index.ts';
import type { Dir } from './source-tree.ts';

/** An app in a folder of a source that has none at its root. */
export interface AppBelow {
  dir: Dir;
  /** Name of the provider that would build it. */
  provider: string;
}

/** Folders that are no app, or a part of one. */
const NO_APPS =
  /^(\..*|_.*|assets|bin|build|dist|docs?|e2e|examples?|fixtures|node_modules|public|samples?|scripts|site-packages|static|target|templates?|tests?|third_party|vendor)$/;
const MAX_DEPTH = 3;
/** Enough for every monorepo seen; a source of thousands of folders must not hold up a deploy. */
const MAX_FOLDERS = 1000;

/** The apps below a folder, the outermost of each branch. */
export const appsBelow = (root: Dir, repo: Dir): AppBelow[] => {
  const found: AppBelow[] = [];
  let level = [root];
  let seen = 0;
  for (let depth = 1; depth <= MAX_DEPTH && level.length > 0; depth += 1) {
    const folders = level.flatMap(subfolders).slice(0, MAX_FOLDERS - seen);
    seen += folders.length;
    level = folders.filter((dir) => {
      const provider = providerOf(dir, repo);
      if (provider !== undefined) found.push({ dir, provider });
      return provider === undefined;
    });
  }
  return found.sort((left, right) => (left.dir.path < right.dir.path ? -1 : 1));
};

const subfolders = (dir: Dir): Dir[] =>
  dir
    .entries()
    .filter((name) => name.endsWith('/') && !NO_APPS.test(name.slice(0, -1)))
    .map((name) => dir.dir(name.slice(0, -1)));

const MARKERS = [...new Set(PROVIDERS.flatMap(({ markers }) => markers))];
const NAMES = new Set(MARKERS.filter((marker) => !marker.includes('*')).map((marker) => marker.replace(/\/.*$/, '/')));
const ENDINGS = MARKERS.filter((marker) => marker.startsWith('*')).map((marker) => marker.slice(1));

/** What would build a folder; a package without a start of its own is a library. */
const providerOf = (dir: Dir, repo: Dir): string | undefined => {
  const marked = dir.entries().some((name) => NAMES.has(name) || ENDINGS.some((ending) => name.endsWith(ending)));
  if (!marked) return undefined;
  return PROVIDERS.find((provider) => detects(() => provider.detect(dir, repo)))?.name;
};

/** A manifest that cannot be read is no reason to hide the others: it is named when its folder is chosen. */
const detects = (detect: () => 'strong' | 'weak' | null): boolean => {
  try {
    return detect() === 'strong';
  } catch {
    return true;
  }
};

/** The app whose folder has the name of the service. */
export const namedApp = (apps: readonly AppBelow[], serviceName: string): AppBelow | undefined => {
  const named = apps.filter(({ dir }) => dir.path.replace(/^.*\//, '') === serviceName);
  return named.length === 1 ? named[0] : undefined;
};

/** Several apps, and nothing that says which one is meant. */
export const severalApps = (apps: readonly AppBelow[]): BerthError => {
  const list = apps.slice(0, 20).map(({ dir, provider }) => `${JSON.stringify(dir.path).slice(1, -1)} (${provider})`);
  const more = apps.length > 20 ? `, and ${apps.length - 20} more` : '';
  return invalidInput(
    `there is no app at the root of the source, but there are several below: ${list.join(', ')}${more}`,
    `set root to the folder of one of them in the [build] table of berth.toml (or [services.<name>.build]); or name the service after its folder`,
  );
};
