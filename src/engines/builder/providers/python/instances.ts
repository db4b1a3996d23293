import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { pythonTokens } from '../support/tokens.ts';
import { instanceIn } from './instance-tokens.ts';

/** Where an app object is made: `app = FastAPI()` in app/main.py is `app.main:app`. */
export interface Instance {
  file: string;
  /** Folder to import from, relative to the app; empty for the app's own. */
  folder: string;
  module: string;
  variable: string;
  /** A function that makes the object. */
  factory: boolean;
}

export interface Search {
  app: Dir;
  /** What the framework is called in messages. */
  title: string;
  constructors: readonly string[];
  serviceName: string;
  /** Whether a choice between several must be made by the user; else the first is taken. */
  strict: boolean;
}

const NAMES = ['main', 'app', 'server', 'api', 'application', 'asgi', 'wsgi', 'run', 'index', '__init__'];
/** Here the first of the usual names is the app: what else is there belongs to it. */
const USUAL_FOLDERS = ['', 'app/', 'src/'];
const MAX_FILES = 300;

/**
 * The place where one of the constructors is called at the outermost level: usual file names at the usual places first,
 * then the one folder that has such a file, then the one file that has it.
 */
export const findInstance = (search: Search): Instance | null => {
  const files = candidates(search.app);
  const calls = new RegExp(`\\b(?:${search.constructors.join('|')})\\s*\\(`);
  if (!files.some((file) => calls.test(search.app.read(file) ?? ''))) return null;
  const usual = USUAL_FOLDERS.flatMap((folder) => NAMES.map((name) => `${folder}${name}.py`));
  for (const file of usual.filter((name) => search.app.has(name))) {
    const found = instanceOf(search, file);
    if (found !== null && !found.factory) return found;
  }
  const found = files.flatMap((file) => instanceOf(search, file) ?? []);
  return (
    chosenOf(
      search,
      found.filter(({ factory }) => !factory),
    ) ?? chosenOf(search, found)
  );
};

const chosenOf = (search: Search, list: Instance[]): Instance | null => {
  const called = firstOfFolders(list.filter(({ file }) => moduleParts(file).includes(search.serviceName)));
  if (called.length === 1) return called[0] ?? null;
  return oneOf(search, firstOfFolders(list.filter(named))) ?? oneOf(search, list);
};

const moduleParts = (file: string): string[] => file.replace(/\.py$/, '').split('/');

const named = ({ file }: Instance): boolean => NAMES.includes(moduleParts(file).at(-1) ?? '');

/** Of several files in one folder, the one with the most usual name. */
const firstOfFolders = (list: Instance[]): Instance[] => {
  const rank = ({ file }: Instance): number => [...NAMES, moduleParts(file).at(-1)].indexOf(moduleParts(file).at(-1));
  const folders = new Map<string, Instance>();
  for (const item of list) {
    const folder = item.file.replace(/[^/]*$/, '');
    const other = folders.get(folder);
    if (other === undefined || rank(item) < rank(other)) folders.set(folder, item);
  }
  return [...folders.values()];
};

const oneOf = ({ title, strict }: Search, list: Instance[]): Instance | null => {
  if (list.length < 2 || !strict) return list[0] ?? null;
  throw severalApps(
    title,
    list.map(({ file, variable }) => `${variable} in ${file}`),
  );
};

/** The user has to choose. */
export const severalApps = (title: string, list: string[]): Error =>
  invalidInput(
    `this source has several ${title} apps: ${list.slice(0, 20).join(', ')}`,
    'name the service after the folder of one of them, or set start (or root) in the [build] table of berth.toml, or write "web: <command>" into a Procfile',
  );

const instanceOf = ({ app, title, constructors, strict }: Search, file: string): Instance | null => {
  const place = modulePlace(app, file);
  if (place === null) return null;
  const found = instanceIn(pythonTokens(app.read(file) ?? ''), constructors);
  if (found === null) return null;
  const [variable, ...others] = found.variables;
  if (variable === undefined) return null;
  if (others.length > 0 && strict)
    throw severalApps(
      title,
      found.variables.map((name) => `${name} in ${file}`),
    );
  return { ...place, file, variable, factory: found.factory };
};

const NOT_APPS =
  /(^|\/)(tests?|testing|migrations|alembic|docs?|examples?|samples?|scripts|benchmarks?|\.?venv|env|site-packages|node_modules|build|dist)\/|(^|\/)(test_\w+|\w+_test|conftest|setup|manage)\.py$/;

/** Files that an app may be in, those closest to the root first. */
export const candidates = (app: Dir): string[] =>
  app
    .files()
    .filter((file) => file.endsWith('.py') && file.split('/').length <= 5 && !NOT_APPS.test(file))
    .sort((left, right) => left.split('/').length - right.split('/').length)
    .slice(0, MAX_FILES);

/** Only plain identifiers may become a module path in a command. */
const modulePlace = (app: Dir, file: string): Pick<Instance, 'folder' | 'module'> | null => {
  const parts = file
    .replace(/\.py$/, '')
    .replace(/\/__init__$/, '')
    .split('/');
  if (!parts.every((part) => /^[A-Za-z_]\w*$/.test(part))) return null;
  const inSource = parts[0] === 'src' && parts.length > 1 && !app.has('src/__init__.py');
  const module = (inSource ? parts.slice(1) : parts).join('.');
  return { folder: inSource ? 'src' : '', module };
};
