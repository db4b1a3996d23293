import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, noStartCommand } from '../provider.ts';
import type { GoLayout } from './layout.ts';

/** A program of the app: a folder with a main package. */
export interface MainPackage {
  /** Folder of its module; the app's own where there is none. */
  module: Dir;
  /** Folder below that. */
  folder: string;
  /** What Go calls the program. */
  name: string;
}

/** Every program that the app may be. */
export const mainPackages = (app: Dir, { module, work, modules }: GoLayout): MainPackage[] => {
  const whole = module === null && work !== null ? modules : [module ?? { dir: app, manifest: { module: '' } }];
  return whole.flatMap(({ dir, manifest }) => {
    const below =
      dir.path === app.path || module === null ? '' : app.path.slice(dir.path === '' ? 0 : dir.path.length + 1);
    const root = lastPart(manifest.module.replace(/\/v\d+$/, '')) || lastPart(dir.path) || 'app';
    return mainFolders(dir, below).map((folder) => ({ module: dir, folder, name: lastPart(folder) || root }));
  });
};

/** Every program of the workspace, the app's own first. */
export const workspaceMains = (app: Dir, layout: GoLayout): MainPackage[] => {
  const own = mainPackages(app, layout);
  if (layout.work === null || layout.module === null) return own;
  const others = mainPackages(layout.work, { ...layout, module: null });
  return [...own, ...others.filter(({ module }) => module.path !== layout.module?.dir.path)];
};

/** The program to build: the app's own folder, the only one, or the one that a name leads to. */
export const chooseMain = (
  context: PlanContext,
  layout: GoLayout,
  mains: MainPackage[],
  started: string[],
): MainPackage => {
  const { app, serviceName, notes } = context;
  const own = mains.find(({ module, folder }) => pathOf(module, folder) === app.path && layout.module !== null);
  if (own !== undefined) return own;
  if (mains.length === 1 && mains[0] && mains[0].folder === '') return mains[0];
  const moduleName = lastPart(layout.module?.manifest.module.replace(/\/v\d+$/, '') ?? '');
  const named = (name: string): MainPackage | undefined => {
    const found = mains.filter((main) => main.name === name);
    return found.length === 1 ? found[0] : undefined;
  };
  const reasons: [MainPackage | undefined, string][] = [
    [mains.length === 1 ? mains[0] : undefined, 'the only main package'],
    [started.length === 1 ? named(started[0] ?? '') : undefined, 'the start command names it'],
    [named(serviceName), 'it has the name of the service'],
    [named(moduleName), 'it has the name of the module'],
  ];
  for (const [main, reason] of reasons) {
    if (main === undefined) continue;
    notes.decisions.push(`package ${shown(main, layout)}: ${reason}`);
    return main;
  }
  throw mains.length === 0 ? nothingToStart() : severalMains(mains, layout);
};

const pathOf = (module: Dir, folder: string): string => [module.path, folder].filter((part) => part !== '').join('/');

const shown = ({ module, folder }: MainPackage, { context }: GoLayout): string => {
  const base = layoutBase(context.path, module.path);
  return `./${[base, folder].filter((part) => part !== '').join('/')}`;
};

const layoutBase = (context: string, module: string): string =>
  module === context ? '' : module.slice(context === '' ? 0 : context.length + 1);

const nothingToStart = (): Error =>
  noStartCommand(
    'a Go module',
    'a main package at the root and below',
    'add a package main, or set root to the folder of the app',
  );

const severalMains = (mains: MainPackage[], layout: GoLayout): Error => {
  const list = mains.slice(0, 20).map((main) => shown(main, layout));
  const first = mains[0] === undefined ? '' : pathOf(mains[0].module, mains[0].folder);
  return invalidInput(
    `this ${layout.module === null ? 'workspace' : 'module'} has several main packages: ${list.join(', ')}`,
    `set root to one of them (root = "${first}") in the [build] table of berth.toml, or in [services.<name>.build]; or name the service after it`,
  );
};

/** Code that is no part of the app. */
const FOREIGN = /(^|\/)(vendor|testdata|node_modules|examples?|_[^/]*|\.[^/]*)\//;
/** Programs for those who work on the app. */
const HELPERS = /(^|\/)(tools?|hack|scripts?|tests?|e2e|docs?)(\/|$)/;

/** Folders with a main package: those under cmd/ when there are any, else all. */
const mainFolders = (module: Dir, below: string): string[] => {
  const files = module.files();
  const nested = files.filter((file) => file.endsWith('/go.mod')).map((file) => file.slice(0, -'go.mod'.length));
  const inside = below === '' ? '' : `${below}/`;
  const folders = new Map<string, string[]>();
  for (const file of files) {
    if (!file.endsWith('.go') || !file.startsWith(inside) || FOREIGN.test(file)) continue;
    if (nested.some((folder) => file.startsWith(folder))) continue;
    const folder = file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '';
    const known = folders.get(folder);
    if (known === undefined) folders.set(folder, [file]);
    else known.push(file);
  }
  const mainsOf = (names: string[]): string[] =>
    names.filter((folder) => isMain(module, folders.get(folder) ?? [])).sort();
  const names = [...folders.keys()];
  if (names.includes(below) && isMain(module, folders.get(below) ?? []))
    return [below, ...mainsOf(names.filter(isCommand))];
  const commands = mainsOf(names.filter(isCommand));
  if (commands.length > 0) return commands;
  const others = mainsOf(names);
  const apps = others.filter((folder) => !HELPERS.test(folder));
  return apps.length > 0 ? apps : others;
};

const isCommand = (folder: string): boolean => /^cmd(\/|$)/.test(folder);

/** All files of a folder belong to one package: the first that is built on Linux tells which. */
const isMain = (module: Dir, files: string[]): boolean => {
  for (const file of files) {
    if (file.endsWith('_test.go') || OTHER_SYSTEM.test(file)) continue;
    const name = packageName(module.read(file) ?? '');
    if (name !== undefined) return name === 'main';
  }
  return false;
};

/** Whether a folder holds a program. */
export const holdsMain = (dir: Dir): boolean =>
  isMain(
    dir,
    dir.entries().filter((name) => name.endsWith('.go')),
  );

const OTHER_SYSTEM = /_(windows|darwin|freebsd|openbsd|netbsd|plan9|solaris|aix|android|ios|js|wasip1)(_\w+)?\.go$/;
const BUILT_HERE = /^(linux|unix|amd64|arm64|cgo|go1\.\d+|gc)$/;

/** The package clause comes after comments; a file that no build on Linux includes does not count. */
const packageName = (source: string): string | undefined => {
  const only = /^\/\/go:build[ \t]+([\w.]+)[ \t]*$/m.exec(source.slice(0, 20_000))?.[1];
  if (only !== undefined && !BUILT_HERE.test(only)) return undefined;
  const code = source.slice(0, 100_000).replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
  return /^\s*package\s+(\w+)/.exec(code)?.[1];
};

const lastPart = (path: string): string => path.replace(/^.*\//, '');
