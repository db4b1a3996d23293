import type { Plan } from '../../plan.ts';
import { type PlanContext, aptList } from '../provider.ts';
import type { NodeApp } from './app.ts';
import { installCommand } from './commands.ts';
import { type Manifests, manifestsFor, withoutPrepare } from './install.ts';
import { hasDependency, script } from './manifest.ts';
import { developmentTools, fixedPort } from './start.ts';

/** What is decided before the stages are written down. */
export interface Layout {
  manifests: Manifests;
  install: string[];
  buildApt: string[];
  /** The image of the stages that install and build. */
  image: string;
  slim: string;
  /** Development dependencies are installed, and must be dropped again for the runtime. */
  prune: boolean;
  /** Nothing is installed at all. */
  bare: boolean;
}

export const layOut = (context: PlanContext, app: NodeApp, base: Plan): Layout => {
  const { manifest, needs, build, start, nodeVersion } = app;
  const { overrides, notes } = context;
  const rootManifest = app.workspace?.manifest ?? manifest;
  const manifests = manifestsFor(app.root, rootManifest, app.workspace);
  const kept = start === null ? [] : developmentTools(start.argv, manifest);
  if (kept.length > 0)
    notes.warnings.push(
      `development dependencies stay in the image, because the start command uses ${kept.join(', ')}`,
    );
  const port = start === null ? undefined : fixedPort(start.argv);
  if (port !== undefined) notes.warnings.push(`the start command names port ${port}: it must listen on PORT`);
  const bare = overrides.install === undefined && Object.keys(manifest.all).length === 0 && app.workspace === null;
  const development = app.workspace !== null || Object.keys(manifest.devDependencies).length > 0;
  const whole = build.length > 0 || kept.length > 0;
  const install = overrides.install ?? (bare ? [] : defaultInstall(app, !whole));
  const slim = `node:${nodeVersion}-slim`;
  const image = needs.compiled.length > 0 ? `node:${nodeVersion}` : slim;
  if (needs.compiled.length > 0)
    notes.decisions.push(`build image ${image}: ${needs.compiled.slice(0, 5).join(', ')} may be compiled`);
  if (manifests.wholeSource && !bare)
    notes.decisions.push(`the source is copied before the install: ${manifests.reason}`);
  return {
    manifests,
    install,
    buildApt: aptList(base.apt.build, needs.build),
    image,
    slim,
    prune: overrides.install === undefined && whole && development && kept.length === 0 && !bare,
    bare,
  };
};

const defaultInstall = (app: NodeApp, production: boolean): string[] => {
  const { manager, manifest, root, drifted } = app;
  const rootManifest = app.workspace?.manifest ?? manifest;
  const frozen = manager.lockFile !== null && !drifted;
  const skipped = production ? withoutPrepare(rootManifest) : [];
  const install = installCommand(manager, { production, frozen });
  const first = skipped.length === 0 ? [] : [`npm pkg delete ${skipped.map((name) => `scripts.${name}`).join(' ')}`];
  // Generated here, so that every later stage has the client and its cache depends on the schema only.
  const prisma =
    hasDependency(rootManifest, 'prisma') &&
    root.hasDir('prisma') &&
    !production &&
    !/prisma generate/.test(script(rootManifest, 'postinstall') ?? '');
  return [...first, install, ...(prisma ? ['node_modules/.bin/prisma generate'] : [])];
};
