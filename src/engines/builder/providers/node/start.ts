import type { Dir } from '../../source-tree.ts';
import { textAt } from '../support/fields.ts';
import { commandToArgv } from '../support/shell.ts';
import { isBuild } from './lifecycle.ts';
import { type Manifest, script } from './manifest.ts';

export interface Start {
  argv: string[];
  reason: string;
}

const ENTRIES = ['server', 'index', 'app', 'main'];
const EXTENSIONS = ['js', 'mjs', 'cjs', 'ts', 'mts'];

/** The app's own start: its `start` script, then `main`, then a file with a usual name. */
export const findStart = (app: Dir, manifest: Manifest, runtime: 'node' | 'bun'): Start | null => {
  const { command } = startScript(manifest);
  if (command !== undefined) return { argv: commandToArgv(command), reason: 'the start script of package.json' };
  const main = textAt(manifest.raw, 'main') ?? (runtime === 'bun' ? textAt(manifest.raw, 'module') : undefined);
  const file = main === undefined ? undefined : mainFile(app, manifest, main);
  if (file !== undefined) return { argv: [runtime, file], reason: 'main in package.json' };
  const names = ENTRIES.flatMap((name) => EXTENSIONS.map((extension) => `${name}.${extension}`));
  const entry = app.firstOf(...names, ...names.map((name) => `src/${name}`));
  return entry === undefined ? null : { argv: [runtime, entry], reason: `${entry} is there` };
};

/** The start script: what of it only builds, which is done once for the image, and what starts the app. */
export const startScript = (manifest: Manifest): { build: string[]; command: string | undefined } => {
  const command = scriptCommand(manifest, 'start', 0);
  if (command === undefined || /["'`;|()\\]/.test(command)) return { build: [], command };
  const parts = command.split('&&').map((part) => part.trim());
  const first = parts.findIndex((part) => !isBuild(part));
  return first <= 0
    ? { build: [], command }
    : { build: parts.slice(0, first), command: parts.slice(first).join(' && ') };
};

const mainFile = (app: Dir, manifest: Manifest, main: string): string | undefined => {
  const path = main.replace(/^\.\//, '');
  const file = app.firstOf(path, `${path}.js`, `${path}/index.js`);
  // A main that the build makes is not in the source yet.
  return file ?? (script(manifest, 'build') !== undefined && /^[\w.-]+\/[\w./-]+$/.test(path) ? path : undefined);
};

/** The text of a script with what would run before it; a script that only calls another one becomes that other one. */
const scriptCommand = (manifest: Manifest, name: string, depth: number): string | undefined => {
  const text = script(manifest, name);
  if (text === undefined || depth > 5) return text;
  const called = /^(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)$/.exec(text)?.[1];
  const inner = called === undefined ? undefined : scriptCommand(manifest, called, depth + 1);
  const command = plainCommand(inner ?? text);
  const before = script(manifest, `pre${name}`);
  return before === undefined ? command : `${before} && ${command}`;
};

/** Without helpers that a container has no use for: `npx`, `cross-env`. The image has Bun under one name only. */
const plainCommand = (text: string): string =>
  text.replace(/^(npx (?!-)|yarn (?=node )|cross-env(?:-shell)? )+/, '').replace(/^bunx /, 'bun x ');

/** The development dependencies that a command needs, so that they must stay in the image: `tsx src/server.ts`. */
export const developmentTools = (argv: readonly string[], manifest: Manifest): string[] => {
  const called = /(?:npm|pnpm|yarn|bun)(?: run)? ([\w:.-]+)/.exec(argv.join(' '))?.[1];
  const words = `${argv.join(' ')} ${called === undefined ? '' : (scriptCommand(manifest, called, 0) ?? '')}`
    .split(/[\s'"=&;|]+/)
    .map((word) => word.replace(/^(\.\/)?node_modules\/(\.bin\/)?/, ''));
  const names = new Set(words.flatMap((word) => [word, word.replace(/\/.*$/, ''), BINARIES[word] ?? word]));
  return Object.keys(manifest.devDependencies)
    .filter((name) => names.has(name) && !Object.hasOwn(manifest.dependencies, name))
    .sort();
};

/** Programs whose package has another name. */
const BINARIES: Record<string, string> = {
  nest: '@nestjs/cli',
  'react-router-serve': '@react-router/serve',
  'remix-serve': '@remix-run/serve',
  'ts-node-esm': 'ts-node',
  tsc: 'typescript',
};

/** A port written into a command: the health gate probes PORT, and would not find it. */
export const fixedPort = (argv: readonly string[]): string | undefined =>
  /(?:^|\s)(?:-p|--port)[ =](\d{2,5})\b/.exec(argv.join(' '))?.[1];
