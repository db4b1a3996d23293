import { parse as parseYaml } from 'yaml';
import { invalidInput, messageOf } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { brokenManifest, fieldsAt, isFields, readJson, textsOf } from '../support/fields.ts';
import { type Manifest, hasDependency, readManifest, script } from './manifest.ts';
import { recogniseFramework } from './frameworks/index.ts';

export interface Member {
  /** Path inside the workspace. */
  path: string;
  manifest: Manifest;
}

export interface Workspace {
  root: Dir;
  manifest: Manifest;
  members: Member[];
}

/** The workspace that a folder belongs to: itself, or the nearest one above that lists it. */
export const findWorkspace = (repo: Dir, app: Dir): Workspace | null => {
  const parts = app.path === '' ? [] : app.path.split('/');
  for (let length = parts.length; length >= 0; length -= 1) {
    const path = parts.slice(0, length).join('/');
    const root = path === '' ? repo : repo.dir(path);
    const patterns = workspacePatterns(root);
    const inside = parts.slice(length).join('/');
    const manifest = patterns === null ? undefined : readManifest(root);
    if (patterns === null || manifest === undefined) continue;
    const members = membersOf(root, patterns);
    if (inside === '' || members.some((member) => member.path === inside)) return { root, manifest, members };
  }
  return null;
};

/** The patterns of the workspace that a folder declares, or null when it declares none. */
const workspacePatterns = (dir: Dir): string[] | null => {
  const pnpm = dir.read('pnpm-workspace.yaml');
  if (pnpm !== undefined) {
    const packages = textsOf(fieldsAt({ file: yamlOf(dir, pnpm) }, 'file')['packages']);
    // pnpm 10 keeps settings there too: a file without packages makes no workspace.
    if (packages.length > 0) return packages;
  }
  const declared = readJson(dir, 'package.json')?.['workspaces'];
  const list = textsOf(isFields(declared) ? declared['packages'] : declared);
  return list.length > 0 ? list : null;
};

const yamlOf = (dir: Dir, text: string): unknown => {
  try {
    return parseYaml(text);
  } catch (error) {
    const line = /at line (\d+)/.exec(messageOf(error))?.[1];
    const path = dir.path === '' ? 'pnpm-workspace.yaml' : `${dir.path}/pnpm-workspace.yaml`;
    throw brokenManifest(path, line, messageOf(error).split('\n')[0] ?? '', error);
  }
};

const membersOf = (root: Dir, patterns: string[]): Member[] => {
  const folders = root
    .files()
    .filter((file) => file.endsWith('/package.json'))
    .map((file) => file.slice(0, -'/package.json'.length));
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(folderPattern);
  const refused = patterns
    .filter((pattern) => pattern.startsWith('!'))
    .map((pattern) => folderPattern(pattern.slice(1)));
  return folders
    .filter(
      (folder) => wanted.some((pattern) => pattern.test(folder)) && !refused.some((pattern) => pattern.test(folder)),
    )
    .flatMap((path) => {
      const manifest = readManifest(root.dir(path));
      return manifest === undefined ? [] : [{ path, manifest }];
    });
};

/** `packages/*`, `apps/**`, `tools/{a,b}` as a pattern for folders. */
const folderPattern = (glob: string): RegExp => {
  const cleaned = glob.replace(/^\.\//, '').replace(/\/+$/, '').slice(0, 200);
  const source = cleaned.replaceAll(/\*\*\/?|\*|\{[^{}]*\}|[.+^$()|[\]\\?{}]/g, (part) => {
    if (part.startsWith('**')) return '(?:[^/]+/)*[^/]*';
    if (part === '*') return '[^/]+';
    if (part.length > 2 && part.startsWith('{')) {
      return `(?:${part
        .slice(1, -1)
        .split(',')
        .map((word) => word.replaceAll(/[^\w-]/g, '\\$&'))
        .join('|')})`;
    }
    return `\\${part}`;
  });
  return new RegExp(`^${source}$`);
};

/** The members that can run: those with a start script or a known framework. */
export const runnable = (workspace: Workspace): Member[] =>
  workspace.members.filter(({ path, manifest }) => {
    const dir = workspace.root.dir(path);
    return script(manifest, 'start') !== undefined || recogniseFramework(dir, manifest) !== null;
  });

/** The member to deploy when nobody named one: the only one that runs, or the one with the service's name. */
export const chooseMember = (workspace: Workspace, serviceName: string): { member: Member; reason: string } => {
  const candidates = runnable(workspace);
  const only = candidates.length === 1 ? candidates[0] : undefined;
  if (only) return { member: only, reason: 'the only package of the workspace that can be started' };
  const named = candidates.filter(
    ({ path, manifest }) => basename(path) === serviceName || basename(manifest.name) === serviceName,
  );
  if (named.length === 1 && named[0]) return { member: named[0], reason: 'it has the name of the service' };
  const list = (candidates.length > 0 ? candidates : workspace.members).map(({ path }) => path).slice(0, 20);
  throw invalidInput(
    candidates.length === 0
      ? 'this workspace has no package that can be started'
      : `this workspace has several apps: ${list.join(', ')}`,
    `set root in the [build] table of berth.toml (or [services.<name>.build]) to one of: ${list.join(', ')}; or name the service after its folder`,
  );
};

/** What to write for an app of an Nx repository, whose projects have no package.json of their own. */
export const nxAdvice = (root: Dir): string => {
  if (!root.has('nx.json')) return '';
  const folders = root
    .files()
    .filter((file) => file.endsWith('/project.json'))
    .map((file) => file.slice(0, -13));
  const folder = folders.find((path) => path.startsWith('apps/')) ?? folders[0] ?? 'apps/api';
  return `this is an Nx repository${folders.length > 0 ? ` with the projects ${folders.slice(0, 20).join(', ')}` : ''}: set build = "npx nx build ${basename(folder)}" and start = "node dist/${folder}/main.js" (output = "dist/${folder}" for a site) in [services.<name>.build] of berth.toml; or `;
};

const basename = (path: string): string => path.replace(/^.*\//, '');

/** The packages that must be built before an app, each after what it depends on itself; the app comes last. */
export const buildOrder = (workspace: Workspace, path: string): string[] => {
  const order: string[] = [];
  const seen = new Set<string>();
  const visit = (member: Member): void => {
    if (seen.has(member.path)) return;
    seen.add(member.path);
    for (const other of workspace.members) {
      if (other.manifest.name !== '' && hasDependency(member.manifest, other.manifest.name)) visit(other);
    }
    order.push(member.path);
  };
  const app = workspace.members.find((member) => member.path === path);
  if (app) visit(app);
  return order;
};
