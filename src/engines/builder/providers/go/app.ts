import { posix } from 'node:path';
import { APP_DIR } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import type { PlanContext } from '../provider.ts';
import { type BuiltProgram, builtPrograms, placesOf } from '../support/programs.ts';
import type { Cgo } from './cgo.ts';
import { reasonForPrograms } from './imports.ts';
import type { GoLayout } from './layout.ts';
import type { ModuleSource } from './modules.ts';
import { type MainPackage, chooseMain, mainPackages, workspaceMains } from './packages.ts';

/** Everything that is known about a Go app before its image is laid out. */
export interface GoApp {
  layout: GoLayout;
  version: string;
  modules: ModuleSource;
  cgo: Cgo;
  /** Null when the user builds with a command of their own. */
  programs: GoPrograms | null;
  /** Whether the image holds the programs alone, without a Debian around them. */
  bare: boolean;
  /** Where the build runs: the folder of the module, or the app's for a build command of its own. */
  home: Dir;
}

export interface GoPrograms {
  main: MainPackage;
  /** The one that is started first, then those that other commands name. */
  built: (BuiltProgram & { package: MainPackage })[];
}

/** The programs to build: the app's own, and those that its start or release command names. */
export const programsOf = (context: PlanContext, layout: GoLayout, start: string[], release: string[]): GoPrograms => {
  const mains = mainPackages(context.app, layout);
  const names = mains.map(({ name }) => name);
  const main = chooseMain(
    context,
    layout,
    mains,
    placesOf([start], names).map(({ name }) => name),
  );
  const all = workspaceMains(context.app, layout);
  const named = placesOf(
    [start, release],
    all.map(({ name }) => name),
  );
  const built = builtPrograms(main.name, named).map((program) => ({
    ...program,
    package: all.find(({ name }) => name === program.output) ?? main,
  }));
  return { main, built: built.map((program, index) => (index === 0 ? { ...program, package: main } : program)) };
};

/** The commands that leave every program in /out. */
export const buildCommands = ({ layout, modules, cgo, programs }: GoApp, env: Record<string, string>): string[] => {
  if (programs === null) return [];
  // A tag on the command line would hide those of GOFLAGS.
  const tags = /-tags\b/.test(env['GOFLAGS'] ?? '') ? '' : ' -tags timetzdata';
  const flags = `-trimpath${modules.flag}${tags} -ldflags "-s -w"`;
  // Without a module Go would not build: one is made up for lone files.
  const init = layout.module === null && layout.work === null ? ['go mod init app', 'go mod tidy'] : [];
  const builds = programs.built.map(
    (program) =>
      `CGO_ENABLED=${cgo.on ? 1 : 0} go build ${flags} -o /out/${safePath(program.output)} ${packagePath(programs.main, program.package)}`,
  );
  return [...init, ...builds];
};

/** A package as `go build` names it from the folder of the main program's module. */
const packagePath = (main: MainPackage, { module, folder }: MainPackage): string => {
  const path = posix.join(posix.relative(`/${main.module.path}`, `/${module.path}`), folder);
  const [, up = '', down = ''] = /^((?:\.\.\/)*)(.*)$/.exec(path) ?? [];
  if (down === '' || down === '.') return '.';
  if (down === '..') return path;
  return up === '' ? `./${safePath(down)}` : `${up}${safePath(down)}`;
};

/** Whether an image without a shell and other programs will do, and the line for the log that says why or why not. */
export const bareness = (
  app: Omit<GoApp, 'bare'>,
  { start, release, apt }: { start: string[]; release: string[]; apt: string[] },
): { bare: boolean; reason: string } => {
  const debian = (why: string) => ({ bare: false, reason: `image: Debian, because ${why}` });
  if (app.programs === null) return debian('nobody knows what a build command of your own leaves');
  if (app.cgo.on) return debian('C libraries need it');
  if (apt.length > 0) return debian('of the packages that it is to have');
  const places = app.programs.built.map(({ place }) => place);
  const foreign = [start, release].find((argv) => argv.length > 0 && !isProgram(argv, places));
  if (foreign !== undefined) return debian(`the command ${JSON.stringify(foreign[0])} needs it`);
  const { module, context, modules, local } = app.layout;
  const required = [...modules, ...local].flatMap(({ manifest }) => manifest.requires.map(({ path }) => path));
  const reason = reasonForPrograms([module?.dir ?? context, ...local.map(({ dir }) => dir)], required);
  if (reason !== undefined) return debian(reason);
  return { bare: true, reason: 'image: the program alone, which needs nothing else (run_apt puts Debian around it)' };
};

/** A command finds its program by the whole path, from the folder of the app, or on the PATH. */
const isProgram = ([program = '']: string[], places: readonly string[]): boolean =>
  places.includes(program.includes('/') ? posix.resolve(APP_DIR, program) : `/usr/local/bin/${program}`);
