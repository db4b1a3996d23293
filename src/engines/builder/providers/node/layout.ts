import type { Plan } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { type PlanContext, aptList } from '../provider.ts';
import { type NodeApp, memberPath } from './app.ts';
import { installCommand, pruneCommand } from './commands.ts';
import { type Manifests, manifestsFor } from './install.ts';
import { dispensable, leavesTraces, needsTools } from './lifecycle.ts';
import { type Manifest, hasDependency, script } from './manifest.ts';
import { developmentTools, fixedPort } from './start.ts';

/**
 * Where the packages of the runtime come from: the stage that installed (`installed`), that stage without its development
 * dependencies (`pruned`), or an install of their own beside it (`fresh`), which takes less time than the pruning.
 */
export type Production = { kind: 'installed' } | { kind: 'pruned' | 'fresh'; command: string };

/** What is decided before the stages are written down. */
export interface Layout {
  manifests: Manifests;
  install: string[];
  production: Production;
  buildApt: string[];
  /** The image of the stages that install and build. */
  image: string;
  slim: string;
  /** Nothing is installed at all. */
  bare: boolean;
  /** The image gets node_modules. */
  modules: boolean;
}

export const layOut = (context: PlanContext, app: NodeApp, base: Plan): Layout => {
  const { manifest, needs, start, nodeVersion } = app;
  const { overrides, notes } = context;
  const rootManifest = app.workspace?.manifest ?? manifest;
  const dropped = overrides.install === undefined ? droppedScripts(app, rootManifest) : [];
  const manifests = manifestsFor(app.root, rootManifest, app.workspace, dropped);
  const kept = start === null ? [] : developmentTools([...start.argv, ...(base.releaseCommand ?? [])], manifest);
  if (kept.length > 0)
    notes.warnings.push(`development dependencies stay in the image, because its commands use ${kept.join(', ')}`);
  const port = start === null ? undefined : fixedPort(start.argv);
  if (port !== undefined) notes.warnings.push(`the start command names port ${port}: it must listen on PORT`);
  const bare = overrides.install === undefined && Object.keys(manifest.all).length === 0 && app.workspace === null;
  const slim = `node:${nodeVersion}-slim`;
  const image = needs.compiled.length > 0 ? `node:${nodeVersion}` : slim;
  if (needs.compiled.length > 0)
    notes.decisions.push(`build image ${image}: ${needs.compiled.slice(0, 5).join(', ')} may be compiled`);
  if (manifests.wholeSource && !bare)
    notes.decisions.push(`the source is copied before the install: ${manifests.reason}`);
  const whole = app.build.length > 0 || kept.length > 0 || needsTools(rootManifest, dropped);
  return {
    manifests,
    install: overrides.install ?? (bare ? [] : defaultInstall(app, !whole)),
    production:
      whole && !bare && kept.length === 0 && overrides.install === undefined
        ? productionOf(app, manifests, rootManifest, dropped)
        : { kind: 'installed' },
    buildApt: aptList(base.apt.build, needs.build),
    image,
    slim,
    bare,
    modules: !bare && needsModules(app, kept.length > 0 || overrides.install !== undefined),
  };
};

/** A script that builds is left to the build; that is only known of apps outside of workspaces. */
const droppedScripts = (app: NodeApp, rootManifest: Manifest): string[] =>
  app.workspace === null || app.root.path === app.dir.path ? dispensable(rootManifest) : [];

const needsModules = ({ framework, workspace, manifest, bun }: NodeApp, forced: boolean): boolean => {
  if (framework?.outcome.kind === 'server' && !framework.outcome.modules) return false;
  const { dependencies, optionalDependencies, raw } = manifest;
  const names = [dependencies, optionalDependencies, raw['peerDependencies'] ?? {}].flatMap(Object.keys);
  return forced || bun || workspace !== null || names.length > 0;
};

const isFrozen = ({ manager, drifted }: NodeApp): boolean => manager.lockFile !== null && !drifted;

const productionOf = (app: NodeApp, manifests: Manifests, root: Manifest, dropped: string[]): Production => {
  const { manager, manifest, workspace, needs } = app;
  const frozen = isFrozen(app);
  if (workspace === null && Object.keys(manifest.devDependencies).length === 0) return { kind: 'installed' };
  // Without a lock file, a second install may bring other versions; and compiled or generated files are not made twice.
  const fresh =
    frozen &&
    !manifests.wholeSource &&
    needs.compiled.length === 0 &&
    !hasDependency(root, 'prisma') &&
    !leavesTraces(root, dropped);
  if (!fresh) return { kind: 'pruned', command: pruneCommand(manager, frozen) };
  return { kind: 'fresh', command: installCommand(manager, { production: true, frozen, member: memberOf(app) }) };
};

/** The package of a workspace that is deployed. */
const memberOf = (app: NodeApp): { name: string; path: string } | undefined =>
  memberPath(app) === '' ? undefined : { name: app.manifest.name, path: safePath(memberPath(app)) };

const defaultInstall = (app: NodeApp, production: boolean): string[] => {
  const { manager, manifest, root } = app;
  const rootManifest = app.workspace?.manifest ?? manifest;
  const member = production ? memberOf(app) : undefined;
  const install = installCommand(manager, { production, frozen: isFrozen(app), member });
  // Generated here, so that every later stage has the client and its cache depends on the schema only.
  const prisma =
    hasDependency(rootManifest, 'prisma') &&
    root.hasDir('prisma') &&
    !production &&
    !/prisma generate/.test(script(rootManifest, 'postinstall') ?? '');
  return [install, ...(prisma ? ['node_modules/.bin/prisma generate'] : [])];
};
