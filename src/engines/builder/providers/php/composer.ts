import semver from 'semver';
import { invalidInput } from '#kernel/errors';
import type { ContextFile } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, isFields, placeOf, readJson, textAt } from '../support/fields.ts';
import { composerRange } from './constraint.ts';

/** What composer.json and composer.lock say. */
export interface Composer {
  raw: Fields;
  /** `require` of composer.json. */
  requires: Record<string, string>;
  /** The packages of composer.lock that production gets. */
  locked: LockedPackage[];
  /** Names of all packages that are known to be installed. */
  names: ReadonlySet<string>;
  lockFile: string | null;
  /** Packages that composer.json asks for and composer.lock does not have in that version. */
  drift: string[];
}

export interface LockedPackage {
  name: string;
  version: string;
  requires: Record<string, string>;
  /** What it stands in for: `ext-mbstring` for a polyfill. */
  provides: string[];
  /** Comes from the source itself, not over the network. */
  local: boolean;
}

/** Reads both files; undefined without a composer.json. */
export const readComposer = (app: Dir): Composer | undefined => {
  const raw = readJson(app, 'composer.json');
  if (raw === undefined) return undefined;
  const requires = texts(raw['require']);
  const lock = readJson(app, 'composer.lock');
  const locked = Array.isArray(lock?.['packages']) ? lock['packages'].flatMap(lockedPackage) : [];
  return {
    raw,
    requires,
    locked,
    names: new Set([...Object.keys(requires).filter(isPackage), ...locked.map(({ name }) => name)]),
    lockFile: lock === undefined ? null : 'composer.lock',
    drift: lock === undefined ? [] : driftOf(requires, locked),
  };
};

/** PHP writes an empty object as `[]`: that is no mistake. */
const texts = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isFields(value) ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );

const lockedPackage = (value: unknown): LockedPackage[] => {
  const name = textAt(value, 'name');
  if (name === undefined) return [];
  const provides = ['provide', 'replace'].flatMap((key) => Object.keys(fieldsAt(value, key)));
  const local = textAt(value, 'dist', 'type') === 'path';
  const version = textAt(value, 'version') ?? '';
  return [{ name, version, requires: texts(fieldsAt(value, 'require')), provides, local }];
};

/** `php`, `ext-…` and `lib-…` are properties of the machine, not packages. */
export const isPackage = (name: string): boolean => /^\w[\w.-]*\/[\w.-]+$/.test(name);

/** Whether anything must be fetched at all. */
export const downloads = ({ requires, locked, lockFile }: Composer): boolean =>
  lockFile === null ? Object.keys(requires).some(isPackage) : locked.some(({ local }) => !local);

const driftOf = (requires: Record<string, string>, locked: LockedPackage[]): string[] => {
  const versions = new Map(locked.map(({ name, version }) => [name.toLowerCase(), version]));
  const provided = new Set(locked.flatMap(({ provides }) => provides.map((name) => name.toLowerCase())));
  return Object.entries(requires)
    .filter(([name, constraint]) => {
      const version = versions.get(name.toLowerCase());
      if (!isPackage(name)) return false;
      return version === undefined ? !provided.has(name.toLowerCase()) : contradicts(version, constraint);
    })
    .map(([name]) => name);
};

/** Only when both are plain numbers: branches and aliases are left to Composer. */
const contradicts = (version: string, constraint: string): boolean => {
  const plain = semver.valid(version.replace(/^v/, '').replace(/^(\d+\.\d+\.\d+)\.\d+$/, '$1'));
  const range = semver.validRange(composerRange(constraint));
  if (plain === null || range === null || /[a-z#]/i.test(constraint.replaceAll(/(^|[\s|,<>=~^])v(?=\d)/g, '$1')))
    return false;
  return !semver.satisfies(plain, range, { includePrerelease: true });
};

export interface ComposerFiles {
  files: string[];
  folders: string[];
  generated: ContextFile[];
  /** Why the whole source must be there before the install, or null. */
  wholeSource: string | null;
}

/** What the install step must see, as little as possible: it runs again only when one of these changes. */
export const composerFiles = (app: Dir, composer: Composer): ComposerFiles => {
  const files = ['composer.json', 'composer.lock', 'symfony.lock', 'auth.json'].filter((name) => app.has(name));
  const found: ComposerFiles = { files, folders: [], generated: [], wholeSource: sourceReason(composer) };
  for (const { type, url, mirrored } of localRepositories(composer)) {
    if (outside(url)) throw outsideError(app, url);
    const folders = type === 'path' ? packageFolders(app, url) : [plainPath(url)];
    if (type === 'artifact' || mirrored) found.folders.push(...folders);
    // A package of the source is linked, not copied: its composer.json is all that the install reads.
    else found.generated.push(...folders.map((folder) => manifestOf(app, folder)));
  }
  return found;
};

const sourceReason = ({ names, raw, drift }: Composer): string | null => {
  if (drift.length > 0) return 'the lock file must be written anew';
  if (names.has('cweagans/composer-patches') && raw['extra'] !== undefined) return 'packages are patched';
  return names.has('wikimedia/composer-merge-plugin') ? 'composer.json includes other files' : null;
};

interface LocalRepository {
  type: string;
  url: string;
  mirrored: boolean;
}

const repositories = ({ raw }: Composer): unknown[] => {
  const list = raw['repositories'];
  return Array.isArray(list) ? list : Object.values(isFields(list) ? list : {});
};

const localRepositories = (composer: Composer): LocalRepository[] =>
  repositories(composer).flatMap((repository) => {
    const type = textAt(repository, 'type') ?? '';
    const url = textAt(repository, 'url');
    if (url === undefined || !['path', 'artifact'].includes(type)) return [];
    return [{ type, url, mirrored: fieldsAt(repository, 'options')['symlink'] === false }];
  });

/** Addresses of repositories besides Packagist, some of which may ask for credentials. */
export const remoteRepositories = (composer: Composer): string[] =>
  repositories(composer).flatMap((repository) => {
    const url = textAt(repository, 'url') ?? '';
    return textAt(repository, 'type') === 'composer' && !/^https:\/\/(repo\.)?packagist\.org\b/.test(url) ? [url] : [];
  });

const plainPath = (url: string): string => url.replace(/^(\.\/)+|\/+$/g, '');

const outside = (url: string): boolean => url.startsWith('/') || plainPath(url).split('/').includes('..');

const outsideError = (app: Dir, url: string): Error =>
  invalidInput(
    `${placeOf(app, 'composer.json', new RegExp(url.replaceAll(/[^\w/-]/g, '.')))}: the repository ${JSON.stringify(url)} lies outside of the app's folder`,
    'move it into the folder of the app, or add a Dockerfile at the root that holds both',
  );

/** `packages/*` as the folders that have a composer.json. */
const packageFolders = (app: Dir, url: string): string[] => {
  const pattern = plainPath(url).slice(0, 200);
  const source = pattern
    .split('*')
    .map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&'))
    .join('[^/]*');
  const matching = new RegExp(`^${source}$`);
  return app
    .files()
    .filter((file) => file.endsWith('/composer.json'))
    .map((file) => file.slice(0, -'/composer.json'.length))
    .filter((folder) => matching.test(folder));
};

const manifestOf = (app: Dir, folder: string): ContextFile => ({
  path: `berth/manifests/${folder}/composer.json`,
  content: app.read(`${folder}/composer.json`) ?? '',
});
