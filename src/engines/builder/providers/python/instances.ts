import type { Dir } from '../../source-tree.ts';
import { type Token, pythonTokens } from '../support/tokens.ts';

/** Where an app object is made: `app = FastAPI()` in app/main.py is `app.main:app`. */
export interface Instance {
  /** Folder to import from, relative to the app; empty for the app's own. */
  folder: string;
  module: string;
  variable: string;
  /** A function that makes the object. */
  factory: boolean;
}

const NAMES = ['main', 'app', 'server', 'api', 'application', 'asgi', 'wsgi', 'run', 'index'];
const FOLDERS = ['', 'app/', 'src/', 'api/', 'backend/', 'server/'];
const MAX_FILES = 300;

/** The first place where one of the constructors is called at the outermost level, usual file names first. */
export const findInstance = (app: Dir, constructors: readonly string[]): Instance | null => {
  for (const file of candidates(app)) {
    const found = instanceIn(pythonTokens(app.read(file) ?? ''), constructors);
    const place = found === null ? null : modulePlace(app, file);
    if (found !== null && place !== null) return { ...place, ...found };
  }
  return null;
};

/** Files worth reading, in the order in which they are believed. */
export const candidates = (app: Dir): string[] => {
  const usual = FOLDERS.flatMap((folder) => [...NAMES, '__init__'].map((name) => `${folder}${name}.py`)).filter(
    (file) => app.has(file),
  );
  const others = app
    .files()
    .filter(
      (file) =>
        file.endsWith('.py') &&
        file.split('/').length <= 4 &&
        !/(^|\/)(tests?|migrations|docs|examples)\/|(^|\/)(test_\w+|conftest|setup)\.py$/.test(file),
    )
    .sort((left, right) => left.split('/').length - right.split('/').length);
  return [...new Set([...usual, ...others])].slice(0, MAX_FILES);
};

const instanceIn = (
  tokens: Token[],
  constructors: readonly string[],
): Pick<Instance, 'variable' | 'factory'> | null => {
  for (const [index, token] of tokens.entries()) {
    if (!token.leftmost || token.kind !== 'name') continue;
    if (isAssigned(tokens, index, constructors)) return { variable: token.text, factory: false };
  }
  return factoryIn(tokens, constructors);
};

/** `app = FastAPI(`, `app: FastAPI = fastapi.FastAPI(`. */
const isAssigned = (tokens: Token[], index: number, constructors: readonly string[]): boolean => {
  const rest = tokens.slice(index + 1, index + 10);
  const equals = rest.findIndex((token) => token.text === '=' && token.kind === 'punctuation');
  if (equals < 0 || (equals > 0 && rest[0]?.text !== ':') || rest.slice(0, equals).some((token) => token.leftmost))
    return false;
  const [first, second, third, fourth] = rest.slice(equals + 1);
  const called = second?.text === '.' ? third : first;
  const bracket = second?.text === '.' ? fourth : second;
  return called?.kind === 'name' && constructors.includes(called.text) && bracket?.text === '(';
};

/** `def create_app(...):` whose body calls a constructor. */
const factoryIn = (tokens: Token[], constructors: readonly string[]): Pick<Instance, 'variable' | 'factory'> | null => {
  for (const [index, token] of tokens.entries()) {
    const name = tokens[index + 1]?.text ?? '';
    if (!token.leftmost || token.text !== 'def' || !/^(create|make|build|get)_(app|application)$/.test(name)) continue;
    const end = tokens.findIndex((other, at) => at > index && other.leftmost);
    const body = tokens.slice(index, end < 0 ? undefined : end);
    const calls = body.some(
      (other, at) => other.kind === 'name' && constructors.includes(other.text) && body[at + 1]?.text === '(',
    );
    if (calls) return { variable: name, factory: true };
  }
  return null;
};

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
