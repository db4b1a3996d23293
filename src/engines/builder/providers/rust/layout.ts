import { posix } from 'node:path';
import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, isFields, placeOf, readToml, textAt, textsOf } from '../support/fields.ts';

export interface Crate {
  dir: Dir;
  manifest: Fields;
  /** Empty for the root of a workspace that is no package itself. */
  name: string;
}

/** Where the parts of a Rust app lie in the source. */
export interface RustLayout {
  /** The folder that the build needs: the workspace, and packages beside it that it refers to. */
  context: Dir;
  /** Where Cargo.lock and target are: the workspace's root, or the package. */
  root: Crate;
  /** The package that was asked for; the root itself for a whole workspace. */
  app: Crate;
  /** Every package of the workspace. */
  members: Crate[];
  /** Packages in the source that the members refer to by path, but which are no members. */
  others: Crate[];
}

export const rustLayout = (repo: Dir, appDir: Dir): RustLayout => {
  const crates = new Crates(repo);
  const app = crates.at(appDir.path) ?? { dir: appDir, manifest: {}, name: '' };
  const root = workspaceOf(crates, app) ?? app;
  const listed = membersOf(crates, root);
  const linked = crates.linkedFrom(root.dir.path === app.dir.path ? [root, ...listed] : [root, app, ...listed]);
  const inRoot = (crate: Crate): boolean => isBelow(root.dir.path, crate.dir.path);
  const members = unique([root, app, ...listed, ...linked.filter(inRoot)]).filter(({ name }) => name !== '');
  const others = linked.filter((crate) => !inRoot(crate));
  const shared = commonFolder([root.dir.path, ...others.map(({ dir }) => dir.path)]);
  return { context: shared === '' ? repo : repo.dir(shared), root, app, members, others };
};

/** Manifests by folder, each read once. */
class Crates {
  readonly #repo: Dir;
  readonly #known = new Map<string, Crate | undefined>();

  constructor(repo: Dir) {
    this.#repo = repo;
  }

  at(path: string): Crate | undefined {
    if (!this.#known.has(path)) {
      const dir = path === '' ? this.#repo : this.#repo.dir(path);
      const manifest = readToml(dir, 'Cargo.toml');
      const name = textAt(manifest, 'package', 'name') ?? '';
      this.#known.set(path, manifest === undefined ? undefined : { dir, manifest, name });
    }
    return this.#known.get(path);
  }

  /** What these refer to by path, and what that refers to. */
  linkedFrom(start: Crate[]): Crate[] {
    const found = new Map<string, Crate>();
    const open = [...start];
    for (let crate = open.pop(); crate !== undefined; crate = open.pop()) {
      for (const [name, path] of pathDependencies(crate.manifest)) {
        const target = this.#resolve(crate, name, path);
        if (found.has(target.dir.path) || start.some(({ dir }) => dir.path === target.dir.path)) continue;
        found.set(target.dir.path, target);
        open.push(target);
      }
    }
    return [...found.values()];
  }

  #resolve(from: Crate, name: string, path: string): Crate {
    const folder = posix.normalize(posix.join(from.dir.path, path)).replace(/^\.$|\/$/g, '');
    const place = placeOf(from.dir, 'Cargo.toml', new RegExp(`path\\s*=\\s*"${path.replaceAll(/\W/g, '.')}"`));
    const outside = folder.startsWith('../') || folder === '..' || path.startsWith('/');
    const crate = outside ? undefined : this.at(folder);
    if (crate !== undefined) return crate;
    throw invalidInput(
      `${place}: ${name} lies in ${path}, which ${outside ? 'is outside of the source' : 'has no Cargo.toml'}`,
      "deploy the folder that holds both, with root set to the app's folder; or correct the path",
    );
  }
}

/** The workspace that a package belongs to: the nearest one above that does not exclude it. */
const workspaceOf = (crates: Crates, app: Crate): Crate | undefined => {
  if (isFields(app.manifest['workspace'])) return app;
  const named = textAt(app.manifest, 'package', 'workspace');
  if (named !== undefined) return crates.at(posix.join(app.dir.path, named).replace(/^\.$/, ''));
  const parts = app.dir.path === '' ? [] : app.dir.path.split('/');
  for (let length = parts.length - 1; length >= 0; length -= 1) {
    const crate = crates.at(parts.slice(0, length).join('/'));
    if (crate === undefined || !isFields(crate.manifest['workspace'])) continue;
    const inside = parts.slice(length).join('/');
    const excluded = textsOf(fieldsAt(crate.manifest, 'workspace')['exclude']);
    return excluded.some((path) => isBelow(plainPath(path), inside)) ? undefined : crate;
  }
  return undefined;
};

const membersOf = (crates: Crates, root: Crate): Crate[] => {
  const workspace = fieldsAt(root.manifest, 'workspace');
  const patterns = textsOf(workspace['members']).map(folderPattern);
  if (patterns.length === 0) return [];
  const excluded = textsOf(workspace['exclude']).map(plainPath);
  return root.dir
    .files()
    .filter((file) => file.endsWith('/Cargo.toml'))
    .map((file) => file.slice(0, -'/Cargo.toml'.length))
    .filter(
      (folder) => patterns.some((pattern) => pattern.test(folder)) && !excluded.some((path) => isBelow(path, folder)),
    )
    .flatMap((folder) => crates.at(root.dir.dir(folder).path) ?? []);
};

const folderPattern = (pattern: string): RegExp => {
  const source = plainPath(pattern)
    .split('*')
    .map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&'))
    .join('[^/]*');
  return new RegExp(`^${source}$`);
};

const plainPath = (path: string): string => path.replace(/^\.\//, '').replace(/\/+$/, '');

/** Dependencies in folders: `[dependencies]`, those of targets, of the workspace, and patches. */
const pathDependencies = (manifest: Fields): [name: string, path: string][] => {
  const targets = Object.values(fieldsAt(manifest, 'target'));
  const patches = Object.values(fieldsAt(manifest, 'patch'));
  const tables = [manifest, ...targets].flatMap((table) =>
    ['dependencies', 'dev-dependencies', 'build-dependencies'].map((kind) => fieldsAt(table, kind)),
  );
  return [
    ...tables,
    fieldsAt(manifest, 'workspace', 'dependencies'),
    ...patches.map((table) => fieldsAt(table)),
  ].flatMap((table) =>
    Object.keys(table).flatMap((name): [string, string][] => {
      const path = textAt(table, name, 'path');
      return path === undefined ? [] : [[name, path]];
    }),
  );
};

const unique = (crates: Crate[]): Crate[] => [...new Map(crates.map((crate) => [crate.dir.path, crate])).values()];

const isBelow = (outer: string, path: string): boolean =>
  outer === '' || path === outer || path.startsWith(`${outer}/`);

const commonFolder = (paths: string[]): string => {
  const [first = '', ...more] = paths;
  const parts = first === '' ? [] : first.split('/');
  const end = parts.findIndex((part, index) => more.some((path) => path.split('/')[index] !== part));
  return (end < 0 ? parts : parts.slice(0, end)).join('/');
};
