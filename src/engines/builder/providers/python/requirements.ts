import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, isFields, readToml, textAt, textsOf } from '../support/fields.ts';
import { type RequirementLine, readRequirementFiles, resolvePath } from './requirement-files.ts';
import { dependenciesOf } from './setup-files.ts';

/** A package that lies in the source itself. */
export interface LocalPackage {
  /** Its folder inside the source; empty for the root. */
  path: string;
  /** `[extra]`, or nothing. */
  extras: string;
  editable: boolean;
  /** Its own requirements; null when only building it would tell. */
  needs: string[] | null;
}

export interface Requirements {
  /** Names of direct dependencies, normalised as PyPI does; `name[extra]` too for each extra that is asked for. */
  names: Set<string>;
  /** requirements.txt and what it includes, as paths inside the source. */
  lists: string[];
  /** Other files of the source that pip reads, and folders (which end with a slash), as paths inside the source. */
  files: string[];
  /** What pip gets, without the packages of the source. */
  lines: RequirementLine[];
  /** Whether lines differ from what the files say. */
  changed: boolean;
  local: LocalPackage[];
  /** What the project needs is only known when it is built. */
  unknown: boolean;
  /** A requirement is fetched with git. */
  git: boolean;
  /** Hashes are given: pip then refuses whatever comes without one. */
  hashed: boolean;
  warnings: string[];
}

/** The one spelling of a package's name: `Flask_Login` is flask-login. */
export const packageName = (text: string): string => text.toLowerCase().replaceAll(/[-_.]+/g, '-');

/** Where a Django project and others keep the requirements of production. */
export const REQUIREMENT_FILES = [
  'requirements.txt',
  'requirements/production.txt',
  'requirements/prod.txt',
  'requirements/base.txt',
];

/** Direct dependencies of whatever manifests are there. */
export const readRequirements = (app: Dir, repo: Dir): Requirements => {
  const found: Requirements = {
    names: new Set(),
    lists: [],
    files: [],
    lines: [],
    changed: false,
    local: [],
    unknown: false,
    git: false,
    hashed: false,
    warnings: [],
  };
  const main = app.firstOf(...REQUIREMENT_FILES);
  if (main !== undefined) {
    const { files, constraints, lines } = readRequirementFiles(repo, inRepo(app, main), app.path);
    found.lists.push(...files);
    found.files.push(...constraints);
    for (const line of lines) addLine(found, app, repo, line);
  }
  const project = readToml(app, 'pyproject.toml');
  if (main === undefined) addProject(found, app, repo, project);
  else for (const text of textsOf(fieldsAt(project, 'project')['dependencies'])) addNames(found, text);
  found.names.delete('python');
  return found;
};

export const inRepo = (app: Dir, path: string): string => [app.path, path].filter((part) => part !== '').join('/');

/** What a project says itself. pip gets it as lines; the other installers read the manifests. */
const addProject = (found: Requirements, app: Dir, repo: Dir, project: Fields | undefined): void => {
  addTables(found, app, repo, project);
  const managed = app.firstOf('uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile') !== undefined;
  const poetry = fieldsAt(project, 'tool')['poetry'] !== undefined;
  const declared = dependenciesOf(app);
  found.unknown =
    declared === null && !managed && !poetry && app.firstOf('pyproject.toml', 'setup.py', 'setup.cfg') !== undefined;
  for (const text of declared ?? []) {
    if (managed) addNames(found, text);
    else addLine(found, app, repo, { text, place: 'pyproject.toml' });
  }
};

const addTables = (found: Requirements, app: Dir, repo: Dir, project: Fields | undefined): void => {
  const sources = fieldsAt(project, 'tool', 'uv', 'sources');
  const tables = [fieldsAt(project, 'tool', 'poetry', 'dependencies'), fieldsAt(readToml(app, 'Pipfile'), 'packages')];
  for (const value of Object.values(sources)) if (isFields(value) && 'git' in value) found.git = true;
  for (const [name, value] of tables.flatMap((table) => Object.entries(table))) {
    const extras = isFields(value) ? textsOf(value['extras']) : [];
    addNames(found, extras.length === 0 ? name : `${name}[${extras.join(',')}]`);
    if (!isFields(value)) continue;
    if ('git' in value) found.git = true;
    const path = textAt(value, 'path') ?? textAt(value, 'file');
    const resolved = path === undefined ? null : resolvePath(app.path, path);
    if (resolved !== null && repo.has(resolved)) found.files.push(resolved);
    else if (resolved !== null) found.local.push({ path: resolved, extras: '', editable: false, needs: [] });
  }
};

/** `name[extra, other]` at the head of a requirement. */
const addNames = (found: Requirements, text: string): void => {
  if (/\bgit\+/.test(text)) found.git = true;
  const [, name, extras = ''] = /^([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?/.exec(text) ?? [];
  if (name === undefined) return;
  found.names.add(packageName(name));
  for (const extra of extras.split(',').map((part) => part.trim()))
    if (extra !== '') found.names.add(`${packageName(name)}[${packageName(extra)}]`);
};

/** Packages that exist for Windows only: `pip freeze` there lists them. */
const WINDOWS = new Set(['pywin32', 'pypiwin32', 'pywinpty', 'wmi']);

const addLine = (found: Requirements, app: Dir, repo: Dir, line: RequirementLine): void => {
  if (line.text.includes('--hash=')) found.hashed = true;
  const editable = /^(?:-e|--editable)[ =]\s*/.exec(line.text)?.[0];
  const target = line.text.slice(editable?.length ?? 0).replace(/^[\w.-]+\s*@\s*(?=file:)/, '');
  if (/git\+(ssh:|git@)|@\s*git@/.test(target)) throw needsKey(line);
  const links = /^(?:-f|--find-links)[ =]?\s*([^\s:]+)$/.exec(line.text)?.[1];
  const folder = links === undefined ? null : resolvePath(app.path, links);
  if (folder !== null && repo.hasDir(folder)) found.files.push(`${folder}/`);
  const place = localPath(target);
  if (place !== null) {
    addLocal(found, app, repo, { line, ...place, editable: editable !== undefined });
    return;
  }
  addNames(found, target.startsWith('git+') ? (/#egg=(.+)$/.exec(target)?.[1] ?? '') : target);
  if (target.includes('git+')) found.git = true;
  const name = packageName(/^[\w.-]+/.exec(target)?.[0] ?? '');
  if (WINDOWS.has(name) && !target.includes(';')) {
    found.changed = true;
    found.warnings.push(`WARNING: ${line.place} is left out: ${name} exists for Windows only`);
    return;
  }
  found.lines.push(line);
};

const needsKey = ({ place }: RequirementLine): Error =>
  invalidInput(
    `${place} is fetched by SSH, and builds have no key`,
    'write git+https://${GIT_TOKEN}@<host>/<path>.git and set the variable: berth env set GIT_TOKEN=<token>',
  );

/** `./lib[extra]`, `file:lib`, `.`, `../shared`, `wheels/a.whl`; null for what comes from an index or an address. */
const localPath = (target: string): { path: string; extras: string } | null => {
  const text = target.replace(/^file:(\/\/)?(?=\.|[^/])/, '').replace(/\s*;.*$/, '');
  if (/^-|:\/\/|^[A-Za-z0-9][\w.-]*\s*(\[[^\]]*\])?\s*@/.test(text)) return null;
  const [, path = '', extras = ''] = /^([^\s[#]+)(\[[^\]]*\])?/.exec(text) ?? [];
  return path.startsWith('.') || path.includes('/') || path.endsWith('.whl') ? { path, extras } : null;
};

interface LocalLine {
  line: RequirementLine;
  path: string;
  extras: string;
  editable: boolean;
}

const addLocal = (found: Requirements, app: Dir, repo: Dir, { line, path, extras, editable }: LocalLine): void => {
  // pip takes them from the folder it runs in, which is the app's.
  const resolved = resolvePath(app.path, path);
  if (resolved !== null && repo.has(resolved)) {
    found.files.push(resolved);
    found.lines.push(line);
    addNames(found, resolved.replace(/^.*\//, '').replace(/-\d.*$/, ''));
    return;
  }
  const folder = resolved === null ? null : resolved === '' ? repo : repo.dir(resolved);
  if (resolved === null || folder?.firstOf('pyproject.toml', 'setup.py', 'setup.cfg') === undefined) {
    throw invalidInput(
      `${line.place} needs the package in ${JSON.stringify(path)}, which is not in the source`,
      'add the folder with its pyproject.toml, or remove the line; a path outside of what is deployed cannot be used',
    );
  }
  const needs = dependenciesOf(folder);
  found.changed = true;
  found.local.push({ path: resolved, extras, editable, needs: extras === '' ? needs : null });
  for (const text of needs ?? []) {
    addNames(found, text);
    found.lines.push({ text, place: line.place });
  }
};
