import type { ContextFile } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { safePath } from '../../dockerfile-text.ts';
import { type Manifest, hasDependency, script } from './manifest.ts';
import type { Workspace } from './workspaces.ts';

/** Files at the workspace's root that an install reads, besides package.json. */
const ROOT_FILES = [
  '.npmrc',
  '.pnpmfile.cjs',
  '.yarnrc',
  '.yarnrc.yml',
  'bun.lock',
  'bun.lockb',
  'bunfig.toml',
  'npm-shrinkwrap.json',
  'package-lock.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
];
const ROOT_FOLDERS = ['.yarn/patches', '.yarn/plugins', '.yarn/releases', 'patches'];

export interface Manifests {
  /** The whole source must be there before the install runs. */
  wholeSource: boolean;
  /** Why, for the log. */
  reason: string;
  /** Files and folders of the source, relative to the workspace's root. */
  files: string[];
  folders: string[];
  /** Manifests of the workspace's members, repeated below `berth/` so that one COPY brings them all. */
  generated: ContextFile[];
}

/** What the install step must see, as little as possible: it runs again only when one of these changes. */
export const manifestsFor = (root: Dir, manifest: Manifest, workspace: Workspace | null): Manifests => {
  const members = workspace?.members ?? [];
  const files = ['package.json', ...ROOT_FILES.filter((name) => root.has(name))];
  const folders = ROOT_FOLDERS.filter((name) => root.hasDir(name));
  if (hasDependency(manifest, 'prisma') && root.hasDir('prisma')) folders.push('prisma');
  const reason = needsSource(
    root,
    manifest,
    members.map((member) => member.manifest),
  );
  const generated = members.map(({ path }) => ({
    path: `berth/manifests/${path}/package.json`,
    content: root.read(`${path}/package.json`) ?? '',
  }));
  return {
    wholeSource: reason !== null,
    reason: reason ?? '',
    files: files.map(safePath),
    folders: folders.sort(),
    generated,
  };
};

const LIFECYCLE = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'];

/** Install scripts that look at nothing but node_modules. */
const HARMLESS =
  /^((npx )?(husky( install)?|is-ci( \|\| husky( install)?)?|patch-package|prisma generate|lefthook install|simple-git-hooks|playwright install.*)|husky \|\| true|husky install \|\| true)$/;

const needsSource = (root: Dir, manifest: Manifest, members: Manifest[]): string | null => {
  for (const one of [manifest, ...members]) {
    const name = LIFECYCLE.find((key) => {
      const text = script(one, key);
      return text !== undefined && !HARMLESS.test(text);
    });
    if (name !== undefined) return `the ${name} script may read the source`;
  }
  const ranges = [manifest, ...members].flatMap((one) => Object.values(one.all));
  if (ranges.some((range) => /^(file|link|portal):/.test(range))) return 'a dependency lies in the source';
  return root.has('binding.gyp') ? 'binding.gyp compiles sources' : null;
};

/** Development tools that a `prepare` script calls are missing from an install for production. */
export const withoutPrepare = (manifest: Manifest): string[] =>
  ['prepare', 'postinstall', 'preinstall'].filter((name) => {
    const text = script(manifest, name);
    return text !== undefined && Object.keys(manifest.devDependencies).some((tool) => text.split(/\s+/).includes(tool));
  });

/** Names of variables that the settings of a private registry refer to, as far as the project has them. */
export const registryVariables = (root: Dir, projectEnv: Record<string, string>): string[] => {
  const settings = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'bunfig.toml'].map((name) => root.read(name) ?? '').join('\n');
  const named = [...settings.matchAll(/\$\{?([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
  const usual = Object.keys(projectEnv).filter((name) =>
    /^(npm_config_\w+|NPM_CONFIG_\w+|NPM_TOKEN|NODE_AUTH_TOKEN|YARN_NPM_\w+)$/.test(name),
  );
  return [...new Set([...named, ...usual])]
    .filter((name) => Object.hasOwn(projectEnv, name) && !/production|omit|only/i.test(name))
    .sort();
};
