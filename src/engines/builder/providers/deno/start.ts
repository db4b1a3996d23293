import type { Dir } from '../../source-tree.ts';
import { fieldsAt } from '../support/fields.ts';
import { shellQuote, simpleWords } from '../support/shell.ts';
import { type Token, javascriptTokens } from '../support/tokens.ts';
import { type DenoConfig, taskCommand } from './config.ts';

export interface DenoStart {
  argv: string[];
  reason: string;
  warning?: string;
}

/** The `start` task, then a file with a usual name. */
export const findDenoStart = (app: Dir, config: DenoConfig): DenoStart | null => {
  const name = startTask(config);
  if (name !== undefined) return taskStart(app, config, name, 0);
  const entry = entryFile(app);
  if (entry === undefined) return null;
  return { argv: ['deno', 'run', permissions(config), entry], reason: `${entry} is there` };
};

/** Fresh's own templates have a `start` task for development, and a `preview` for production. */
const startTask = (config: DenoConfig): string | undefined => {
  const start = taskCommand(config, 'start');
  if (start === undefined) return undefined;
  const development = /\s--watch\b|\bdev\.tsx?\b/.test(start.command);
  return development && taskCommand(config, 'preview') !== undefined ? 'preview' : 'start';
};

const taskStart = (app: Dir, config: DenoConfig, name: string, depth: number): DenoStart => {
  const place = `the ${name} task of ${config.file ?? 'deno.json'}`;
  const fallback: DenoStart = { argv: ['deno', 'task', name], reason: place };
  const task = taskCommand(config, name);
  const words = task?.alone === true ? simpleWords(task.command) : undefined;
  if (words === undefined || words[0] !== 'deno') return fallback;
  const [, verb = '', next = ''] = words;
  if (verb === 'task') {
    return words.length === 3 && depth < 5 && taskCommand(config, next) !== undefined
      ? taskStart(app, config, next, depth + 1)
      : fallback;
  }
  const kept = words.filter(
    (word) => !/^--(watch|watch-hmr|watch-exclude|inspect|inspect-brk|inspect-wait)(=|$)/.test(word),
  );
  const argv = kept.map((word) => (word === 'dev.ts' && app.has('main.ts') ? 'main.ts' : word));
  if (argv.length === words.length && argv.every((word, index) => word === words[index]))
    return { argv, reason: place };
  return { argv, reason: place, warning: `${place} is for development: it is started as ${argv.join(' ')}` };
};

const NAMES = ['main', 'server', 'app', 'index'];
const ENDINGS = ['ts', 'tsx', 'js', 'mjs', 'jsx'];

export const entryFile = (app: Dir): string | undefined => {
  const files = NAMES.flatMap((name) => ENDINGS.map((ending) => `${name}.${ending}`));
  const found = app.firstOf(...files, ...files.map((file) => `src/${file}`));
  if (found !== undefined) return found;
  // A mod.ts is what libraries are imported by: only one that serves is an app.
  return ['mod.ts', 'mod.js', 'src/mod.ts'].find((file) => serves(app.read(file)));
};

const serves = (source: string | undefined): boolean => {
  const tokens = source === undefined ? [] : javascriptTokens(source);
  const calls = tokens.some(
    ({ kind, text }, index) => kind === 'name' && /^(serve|listen)$/.test(text) && tokens[index + 1]?.text === '(',
  );
  return calls || exportsFetch(tokens);
};

/** `export default { fetch }`, in any order of keys. */
const exportsFetch = (tokens: Token[]): boolean => {
  const begin = tokens.findIndex(
    (token, index) =>
      token.text === 'export' && tokens[index + 1]?.text === 'default' && tokens[index + 2]?.text === '{',
  );
  return begin >= 0 && tokens.slice(begin).some(({ text, kind }) => kind === 'name' && text === 'fetch');
};

/** The permissions that deno.json sets as its default, else all: the container is the boundary. */
const permissions = ({ raw }: DenoConfig): string =>
  fieldsAt(raw, 'permissions')['default'] === undefined ? '--allow-all' : '--permission-set';

/** The file that a command runs, so that what it imports can be cached. */
export const entryOf = (app: Dir, argv: readonly string[]): string | undefined =>
  argv.slice(1).find((word) => /\.[cm]?[jt]sx?$/.test(word) && app.has(word.replace(/^\.\//, '')));

/** Deno.serve listens on 8000 or a number of the app's own, unless this variable says otherwise. */
export const listening = (argv: string[]): string[] => {
  if (argv[0] !== 'deno') return argv;
  const command = argv.map((word) => (/^[\w./=,:@+-]+$/.test(word) ? word : shellQuote(word))).join(' ');
  return ['/bin/sh', '-c', `DENO_SERVE_ADDRESS="\${DENO_SERVE_ADDRESS:-tcp:0.0.0.0:\${PORT:-8080}}" exec ${command}`];
};
