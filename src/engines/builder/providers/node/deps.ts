import { APP_DIR, type CopyStep, type Plan, SOURCE_PREFIX, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { aptSteps } from '../provider.ts';
import { type NodeApp, memberPath } from './app.ts';
import { cachesOf, pruneCommand } from './commands.ts';
import type { Layout } from './layout.ts';
import { toolInstall } from './package-manager.ts';

/** The folder of the source that the stages copy: the workspace's root, or the app. */
const sourceFolder = (app: NodeApp): string =>
  safePath([SOURCE_PREFIX, app.root.path].filter((part) => part !== '').join('/'));

export const copySource = (app: NodeApp, owned: boolean): CopyStep => ({
  kind: 'copy',
  sources: [`${sourceFolder(app)}/`],
  target: './',
  ...(owned ? { owned } : {}),
});

const copyManifests = (app: NodeApp, { manifests }: Layout, owned: boolean): Step[] => {
  const into = { target: `${APP_DIR}/`, ...(owned ? { owned } : {}) };
  if (manifests.wholeSource) return [{ ...copySource(app, owned), ...into }];
  const folder = sourceFolder(app);
  const files: Step = { kind: 'copy', sources: manifests.files.map((file) => `${folder}/${file}`), ...into };
  const folders = manifests.folders.map((path): Step => ({
    kind: 'copy',
    sources: [`${folder}/${path}/`],
    target: `${APP_DIR}/${path}/`,
  }));
  const members: Step[] =
    manifests.generated.length > 0 ? [{ kind: 'copy', sources: ['berth/manifests/'], target: `${APP_DIR}/` }] : [];
  return [files, ...folders, ...members];
};

const installSteps = (app: NodeApp, plan: Plan, layout: Layout): { before: Step[]; install: Step } => {
  const tool = toolInstall(app.manager);
  const toolStep: Step[] = tool === undefined ? [] : [{ kind: 'run', caches: cachesOf('npm'), command: tool }];
  const seesEnv = plan.installEnv === null || plan.installEnv.length > 0;
  const install: Step = {
    kind: 'run',
    caches: cachesOf(app.manager.name),
    command: layout.install.join(' && '),
    ...(seesEnv ? { env: 'install' as const } : {}),
  };
  return { before: [...aptSteps(layout.buildApt), ...toolStep], install };
};

export const installEnv = ({ manager, needs }: Pick<NodeApp, 'manager' | 'needs'>): Record<string, string> => ({
  ...needs.env,
  CI: 'true',
  HUSKY: '0',
  ...(needs.compiled.length > 0 ? { npm_config_nodedir: '/usr/local' } : {}),
  // The right pnpm is installed already: it must not look for another, nor ask the lock file about itself.
  ...(manager.name === 'pnpm' ? { pnpm_config_pm_on_fail: 'ignore' } : {}),
  ...(manager.name === 'yarn' ? { YARN_CACHE_FOLDER: '/usr/local/share/.cache/yarn' } : {}),
  // Plug'n'Play needs yarn itself at run time: with node_modules, plain node runs the app.
  ...(manager.name === 'yarn-berry' ? { YARN_ENABLE_GLOBAL_CACHE: 'true', YARN_NODE_LINKER: 'node-modules' } : {}),
});

export const depsStage = (app: NodeApp, plan: Plan, layout: Layout): Stage => ({
  name: 'deps',
  from: layout.image,
  steps: depsSteps(app, plan, layout),
});

const depsSteps = (app: NodeApp, plan: Plan, layout: Layout): Step[] => {
  const workdir: Step = { kind: 'workdir', path: APP_DIR };
  if (layout.install.length === 0) return [workdir];
  const { before, install } = installSteps(app, plan, layout);
  return [...before, workdir, { kind: 'env', values: installEnv(app) }, ...copyManifests(app, layout, false), install];
};

export const pruneStage = (app: NodeApp): Stage => ({
  name: 'production',
  from: 'deps',
  steps: [
    {
      kind: 'run',
      caches: cachesOf(app.manager.name),
      command: pruneCommand(app.manager, app.manager.lockFile !== null && !app.drifted),
    },
  ],
});

/** The first COPY makes /app, so that it belongs to the app's user, who may then write there. */
export const singleInstall = (app: NodeApp, plan: Plan, layout: Layout): Step[] => {
  if (layout.install.length === 0) return [];
  const { before, install } = installSteps(app, plan, layout);
  return [...before, ...copyManifests(app, layout, true), { kind: 'workdir', path: APP_DIR }, install];
};

/** Everything but dependencies and caches, gathered where the runtime stage can copy it from. */
export const PACK =
  'mkdir /out && tar -cf - --exclude=node_modules --exclude=.next/cache --exclude=.angular/cache . | tar -xf - -C /out';

export const buildStage = (app: NodeApp, layout: Layout, after: string | null): Stage => {
  const { framework } = app;
  const inside = memberPath(app);
  const caches = (framework?.caches ?? []).map((path) => ({
    name: path.replaceAll(/[^a-z]+/g, '-').replaceAll(/^-|-$/g, ''),
    target: [APP_DIR, inside, path].filter((part) => part !== '').join('/'),
  }));
  const command = [...app.build, ...(after === null ? [] : [after])].join(' && ');
  const env = framework?.buildEnv ?? {};
  return {
    name: 'build',
    from: 'deps',
    steps: [
      ...(layout.manifests.wholeSource && !layout.bare ? [] : [copySource(app, false)]),
      ...(Object.keys(env).length > 0 ? [{ kind: 'env', values: env } as const] : []),
      { kind: 'run', caches, env: 'build', command },
    ],
  };
};
