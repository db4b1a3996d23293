import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, readToml, textsOf } from '../support/fields.ts';

export interface Requirements {
  /** Names of direct dependencies, normalised as PyPI does. */
  names: Set<string>;
  /** requirements.txt and the files it includes. */
  files: string[];
  /** A requirement lies in the source itself (`-e .`, `./lib`). */
  local: boolean;
  /** A requirement is fetched with git. */
  git: boolean;
}

/** The one spelling of a package's name: `Flask_Login` is flask-login. */
export const packageName = (text: string): string => text.toLowerCase().replaceAll(/[-_.]+/g, '-');

/** Direct dependencies of whatever manifests are there. */
export const readRequirements = (app: Dir): Requirements => {
  const found: Requirements = { names: new Set(), files: [], local: false, git: false };
  readFile(app, 'requirements.txt', found);
  const project = readToml(app, 'pyproject.toml');
  const poetry = fieldsAt(project, 'tool', 'poetry', 'dependencies');
  for (const line of textsOf(fieldsAt(project, 'project')['dependencies'])) addLine(line, found);
  addNames(poetry, found);
  addNames(fieldsAt(readToml(app, 'Pipfile'), 'packages'), found);
  found.names.delete('python');
  return found;
};

const addNames = (table: Fields, found: Requirements): void => {
  for (const [name, value] of Object.entries(table)) {
    found.names.add(packageName(name));
    if (typeof value !== 'object' || value === null) continue;
    if ('path' in value) found.local = true;
    if ('git' in value) found.git = true;
  }
};

const readFile = (app: Dir, path: string, found: Requirements): void => {
  const text = app.read(path);
  if (text === undefined || found.files.includes(path) || found.files.length > 50) return;
  found.files.push(path);
  for (const raw of text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)) {
    const line = raw.replace(/(^|\s)#.*$/, '').trim();
    const included = /^(?:-r|--requirement|-c|--constraint)[ =]?\s*(\S+)$/.exec(line)?.[1];
    if (included !== undefined) readFile(app, join(path, included), found);
    else addLine(line, found);
  }
};

const addLine = (line: string, found: Requirements): void => {
  const target = line.replace(/^(?:-e|--editable)[ =]\s*/, '');
  if (/^(\.|file:)/.test(target)) found.local = true;
  if (/\bgit\+|@\s*git\+/.test(target)) found.git = true;
  const name = /^([A-Za-z0-9][\w.-]*)/.exec(target)?.[1];
  if (name !== undefined) found.names.add(packageName(name));
};

/** Paths of an include are relative to the file that includes it. */
const join = (from: string, path: string): string => {
  const parts = from.split('/').slice(0, -1);
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
};
