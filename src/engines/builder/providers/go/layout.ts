import { posix } from 'node:path';
import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { type GoManifest, readGoManifest } from './manifest.ts';

export interface GoModule {
  dir: Dir;
  manifest: GoManifest;
}

/** Where the parts of a Go app lie in the source. */
export interface GoLayout {
  /** The folder that the build needs: the app's module, its workspace, or what holds the modules that replace others. */
  context: Dir;
  /** The module that the app belongs to; null for the root of a workspace, and for Go files without a module. */
  module: GoModule | null;
  /** The folder of the go.work that lists the module. */
  work: Dir | null;
  /** A go.work lies above the module, but does not list it: Go would refuse to build. */
  strayWork: boolean;
  /** Modules of the workspace, or the app's own. */
  modules: GoModule[];
  /** Modules in the source that stand in for others by `replace`. */
  local: GoModule[];
}

export const goLayout = (repo: Dir, app: Dir, env: Record<string, string>): GoLayout => {
  const above = ancestors(app.path).map((path) => (path === '' ? repo : repo.dir(path)));
  const workDir = env['GOWORK'] === 'off' ? undefined : above.find((dir) => dir.has('go.work'));
  const moduleDir = above.find((dir) => dir.has('go.mod') || dir.path === workDir?.path);
  const module = moduleDir === undefined ? null : moduleOf(moduleDir);
  const members = workDir === undefined ? [] : workMembers(repo, workDir);
  const listed = module === null || members.some(({ dir }) => dir.path === module.dir.path);
  const work = workDir !== undefined && listed ? workDir : null;
  const modules = work === null ? (module === null ? [] : [module]) : members;
  const local = withReplacements(repo, work, modules);
  const base = work?.path ?? module?.dir.path ?? app.path;
  const shared = commonFolder([base, ...[...modules, ...local].map(({ dir }) => dir.path)]);
  return {
    context: shared === '' ? repo : repo.dir(shared),
    module,
    work,
    strayWork: workDir !== undefined && !listed,
    modules,
    local,
  };
};

/** A folder and those above it, the nearest first. */
const ancestors = (path: string): string[] => {
  const parts = path === '' ? [] : path.split('/');
  return Array.from({ length: parts.length + 1 }, (_none, up) => parts.slice(0, parts.length - up).join('/'));
};

const moduleOf = (dir: Dir): GoModule | null => {
  const manifest = readGoManifest(dir, 'go.mod');
  return manifest === undefined ? null : { dir, manifest };
};

const workMembers = (repo: Dir, work: Dir): GoModule[] => {
  const uses = readGoManifest(work, 'go.work')?.uses ?? [];
  return uses.map(({ folder, line }) => {
    const place = `${work.path === '' ? '' : `${work.path}/`}go.work:${line}`;
    const module = moduleOf(folderOf(repo, work, folder, place));
    if (module !== null) return module;
    throw missing(place, folder, 'has no go.mod');
  });
};

/** The modules that these replace by folders. */
const withReplacements = (repo: Dir, work: Dir | null, modules: GoModule[]): GoModule[] => {
  const workManifest = work === null ? undefined : readGoManifest(work, 'go.work');
  const sources = [
    ...modules.map(({ dir, manifest }) => ({ dir, manifest, file: 'go.mod' })),
    ...(work !== null && workManifest !== undefined ? [{ dir: work, manifest: workManifest, file: 'go.work' }] : []),
  ];
  const found = new Map<string, GoModule>();
  for (const { dir, manifest, file } of sources) {
    for (const { target, line } of manifest.replaces.filter((each) => /^\.\.?(\/|$)/.test(each.target))) {
      const place = `${dir.path === '' ? '' : `${dir.path}/`}${file}:${line}`;
      const module = moduleOf(folderOf(repo, dir, target, place));
      if (module === null) throw missing(place, target, 'has no go.mod');
      found.set(module.dir.path, module);
    }
  }
  return [...found.values()].filter(({ dir }) => !modules.some((module) => module.dir.path === dir.path));
};

const folderOf = (repo: Dir, from: Dir, folder: string, place: string): Dir => {
  const path = posix.normalize(posix.join(from.path, folder)).replace(/^\.$|\/$/g, '');
  if (path === '') return repo;
  if (path.startsWith('../') || path === '..' || path.startsWith('/'))
    throw missing(place, folder, 'lies outside of the source');
  if (!repo.hasDir(path)) throw missing(place, folder, 'is not in the source');
  return repo.dir(path);
};

const missing = (place: string, folder: string, why: string): Error =>
  invalidInput(
    `${place} names ${folder}, which ${why}`,
    `deploy the folder that holds both, with root set to the app's folder; or correct ${place}`,
  );

const commonFolder = (paths: string[]): string => {
  const [first = '', ...others] = paths;
  const parts = first === '' ? [] : first.split('/');
  const shared = parts.findIndex((part, index) => others.some((path) => path.split('/')[index] !== part));
  return (shared < 0 ? parts : parts.slice(0, shared)).join('/');
};
