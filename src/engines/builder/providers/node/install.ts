import type { ContextFile } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { safePath } from '../../dockerfile-text.ts';
import { readsSource } from './lifecycle.ts';
import { type Manifest, hasDependency } from './manifest.ts';
import type { Workspace } from './workspaces.ts';

/** Files at the workspace's root that an install reads, besides package.json. */
const ROOT_FILES = [
  '.npmrc',
  '.pnpmfile.cjs',
  '.pnpmfile.mjs',
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
const ROOT_FOLDERS = ['.yarn/cache', '.yarn/patches', '.yarn/plugins', '.yarn/releases', 'patches'];

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

/**
 * What the install step must see, as little as possible: it runs again only when one of these changes. The scripts
 * `dropped` are taken out of the root's package.json, so that the install does not run them.
 */
export const manifestsFor = (
  root: Dir,
  manifest: Manifest,
  workspace: Workspace | null,
  dropped: readonly string[] = [],
): Manifests => {
  const members = workspace?.members ?? [];
  const manifests = [manifest, ...members.map((member) => member.manifest)];
  const reason = needsSource(root, manifests, dropped);
  const rewritten = dropped.length > 0 && reason === null;
  const files = [...(rewritten ? [] : ['package.json']), ...ROOT_FILES.filter((name) => root.has(name))];
  const folders = ROOT_FOLDERS.filter((name) => root.hasDir(name));
  if (hasDependency(manifest, 'prisma') && root.hasDir('prisma')) folders.push('prisma');
  const generated = members.map(({ path }) => ({
    path: `berth/manifests/${path}/package.json`,
    content: root.read(`${path}/package.json`) ?? '',
  }));
  if (rewritten) generated.unshift({ path: 'berth/manifests/package.json', content: without(manifest, dropped) });
  return {
    wholeSource: reason !== null,
    reason: reason ?? '',
    files: files.map(safePath),
    folders: folders.sort(),
    generated,
  };
};

const without = ({ raw, scripts }: Manifest, dropped: readonly string[]): string => {
  const kept = Object.fromEntries(Object.entries(scripts).filter(([name]) => !dropped.includes(name)));
  return `${JSON.stringify({ ...raw, scripts: kept }, null, 2)}\n`;
};

const needsSource = (root: Dir, manifests: Manifest[], dropped: readonly string[]): string | null => {
  for (const [index, one] of manifests.entries()) {
    const name = readsSource(one, index === 0 ? dropped : []);
    if (name !== undefined) return `the ${name} script may read the source`;
  }
  const ranges = manifests.flatMap((one) => Object.values(one.all));
  if (ranges.some((range) => /^(file|link|portal):/.test(range))) return 'a dependency lies in the source';
  if (/^\s*yarn-offline-mirror\s/m.test(root.read('.yarnrc') ?? '')) return 'the packages lie in the source';
  return root.has('binding.gyp') ? 'binding.gyp compiles sources' : null;
};
