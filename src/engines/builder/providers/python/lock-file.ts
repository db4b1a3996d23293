import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, isFields, readJson, readToml, textAt, textsOf } from '../support/fields.ts';
import { inRepo, packageName } from './requirements.ts';
import { folderOf, resolvePath } from './requirement-files.ts';

/** A package of the source that a lock file knows. */
export interface LockedLocal {
  name: string;
  /** Its folder, relative to that of the lock file; empty for the same. */
  path: string;
  /** It has nothing to install: a folder with a pyproject.toml that only lists dependencies. */
  virtual: boolean;
  needs: string[];
}

/** Every package of a lock file, normalised. */
export const lockedNames = (app: Dir, file: string): Set<string> => {
  if (file === 'Pipfile.lock') return new Set(Object.keys(fieldsAt(readJson(app, file), 'default')).map(packageName));
  const text = app.read(file) ?? '';
  return new Set([...text.matchAll(/^name = "([^"\n]+)"/gm)].map(([, name = '']) => packageName(name)));
};

/** Direct dependencies that the lock file has never heard of: it was not written after the last change. */
export const missingFrom = (locked: ReadonlySet<string>, names: ReadonlySet<string>): string[] =>
  [...names].filter((name) => !name.includes('[') && !locked.has(name));

/** A locked package is fetched with git. */
export const locksGit = (app: Dir, file: string | null): boolean =>
  file !== null && /^(?:source = \{ git = |type = "git"$|git = "|\s+"git": ")/m.test(app.read(file) ?? '');

const packagesOf = (dir: Dir, file: string): Fields[] => {
  const list: unknown = readToml(dir, file)?.['package'];
  return Array.isArray(list) ? list.filter(isFields) : [];
};

/** The packages of the source in uv.lock: the project itself, members of its workspace, and others by path. */
export const uvLocals = (dir: Dir): LockedLocal[] =>
  packagesOf(dir, 'uv.lock').flatMap((item) => {
    const source = fieldsAt(item, 'source');
    const path = textAt(source, 'editable') ?? textAt(source, 'directory') ?? textAt(source, 'virtual');
    const list: unknown = item['dependencies'];
    const needs = (Array.isArray(list) ? list : []).map((need) => packageName(textAt(need, 'name') ?? ''));
    return path === undefined
      ? []
      : [
          {
            name: packageName(textAt(item, 'name') ?? ''),
            path: path.replace(/^\.\/?$/, ''),
            virtual: source['virtual'] !== undefined,
            needs,
          },
        ];
  });

/** The packages of the source that one of them needs, itself among them. */
export const neededLocals = (all: LockedLocal[], first: LockedLocal): LockedLocal[] => {
  const found = [first];
  for (const item of found)
    for (const need of item.needs) {
      const local = all.find(({ name }) => name === need);
      if (local !== undefined && !found.includes(local)) found.push(local);
    }
  return found;
};

/** What uv.lock was made of differs from what pyproject.toml says now: names of the requirements that changed. */
export const uvDrift = (dir: Dir): string[] => {
  const project = fieldsAt(readToml(dir, 'pyproject.toml'), 'project');
  const root = packagesOf(dir, 'uv.lock').find((item) => {
    const source = fieldsAt(item, 'source');
    return [source['editable'], source['virtual'], source['directory']].includes('.');
  });
  const wanted = textsOf(project['dependencies']);
  const listed: unknown = fieldsAt(root, 'metadata')['requires-dist'];
  if (!Array.isArray(listed)) {
    const locked = lockedNames(dir, 'uv.lock');
    return wanted.map(nameOf).filter((name) => name !== '' && !locked.has(name));
  }
  const known = new Map<string, string[]>();
  for (const item of listed) {
    const name = packageName(textAt(item, 'name') ?? '');
    known.set(name, [...(known.get(name) ?? []), canonical(textAt(item, 'specifier') ?? '')]);
  }
  return wanted
    .filter((text) => !text.includes('@') && known.get(nameOf(text))?.includes(specifierOf(text)) !== true)
    .map(nameOf);
};

const nameOf = (text: string): string => packageName(/^[A-Za-z0-9][\w.-]*/.exec(text)?.[0] ?? '');

const specifierOf = (text: string): string =>
  canonical(text.replace(/;.*$/, '').replace(/^[A-Za-z0-9][\w.-]*\s*(\[[^\]]*\])?/, ''));

/** The clauses of a specifier in one order and spelling: uv sorts them. */
const canonical = (text: string): string =>
  text
    .replaceAll(/[\s()]/g, '')
    .split(',')
    .filter((clause) => clause !== '')
    .sort()
    .join(',');

/** Paths that poetry.lock takes packages from, relative to it: folders, and files such as wheels. */
export const poetryLocals = (app: Dir): { folders: string[]; files: string[] } => {
  const main = packagesOf(app, 'poetry.lock').filter(
    (item) => item['groups'] === undefined || textsOf(item['groups']).includes('main'),
  );
  const pathsOf = (type: string): string[] =>
    main.flatMap((item) => (textAt(item, 'source', 'type') === type ? (textAt(item, 'source', 'url') ?? []) : []));
  return { folders: pathsOf('directory'), files: pathsOf('file') };
};

/** The nearest folder above the app whose uv.lock has the app as a package: its workspace. */
export const uvWorkspace = (app: Dir, repo: Dir): { root: string; member: LockedLocal } | null => {
  for (let folder = app.path; folder !== '';) {
    folder = folderOf(folder);
    const dir = folder === '' ? repo : repo.dir(folder);
    if (!dir.has('uv.lock')) continue;
    const member = uvLocals(dir).find(({ path }) => resolvePath(folder, path) === inRepo(app, ''));
    if (member !== undefined) return { root: folder, member };
  }
  return null;
};
