import { APP_DIR, type CopyStep, type Plan, type RunStep, SOURCE_PREFIX, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { aptSteps } from '../provider.ts';
import { type NodeApp, memberPath } from './app.ts';
import { cachesOf, forgivingInstall } from './commands.ts';
import type { Layout } from './layout.ts';
import { toolInstall } from './package-manager.ts';
import { buildOrder } from './workspaces.ts';

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
  const own = owned ? { owned } : {};
  if (manifests.wholeSource) return [{ ...copySource(app, owned), target: `${APP_DIR}/` }];
  const folder = sourceFolder(app);
  const copy = (sources: string[], target: string): Step => ({ kind: 'copy', sources, target, ...own });
  return [
    ...(manifests.files.length > 0
      ? [
          copy(
            manifests.files.map((file) => `${folder}/${file}`),
            `${APP_DIR}/`,
          ),
        ]
      : []),
    ...manifests.folders.map((path) => copy([`${folder}/${path}/`], `${APP_DIR}/${path}/`)),
    ...(manifests.generated.length > 0 ? [copy(['berth/manifests/'], `${APP_DIR}/`)] : []),
  ];
};

const installStep = (app: NodeApp, plan: Plan, commands: readonly string[]): RunStep => ({
  kind: 'run',
  caches: cachesOf(app.manager.name),
  command: commands.join(' && '),
  ...(plan.installEnv === null || plan.installEnv.length > 0 ? { env: 'install' as const } : {}),
});

const toolSteps = (app: NodeApp, layout: Layout): Step[] => {
  const tool = toolInstall(app.manager);
  return [
    ...aptSteps(layout.buildApt),
    ...(tool === undefined ? [] : [{ kind: 'run', caches: cachesOf('npm'), command: tool } as const]),
  ];
};

export const installEnv = ({
  manager,
  needs,
  root,
}: Pick<NodeApp, 'manager' | 'needs'> & Partial<Pick<NodeApp, 'root'>>): Record<string, string> => ({
  ...needs.env,
  CI: 'true',
  HUSKY: '0',
  ...(needs.compiled.length > 0 ? { npm_config_nodedir: '/usr/local' } : {}),
  // The right pnpm is installed already: it must not look for another, nor ask the lock file about itself.
  ...(manager.name === 'pnpm' ? { pnpm_config_pm_on_fail: 'ignore' } : {}),
  ...(manager.name === 'yarn' ? { YARN_CACHE_FOLDER: '/usr/local/share/.cache/yarn' } : {}),
  // Plug'n'Play needs yarn itself at run time: with node_modules, plain node runs the app.
  ...(manager.name === 'yarn-berry'
    ? { YARN_ENABLE_GLOBAL_CACHE: String(root?.hasDir('.yarn/cache') !== true), YARN_NODE_LINKER: 'node-modules' }
    : {}),
});

/** The stages up to the packages of the build (`deps`) and of the runtime (`production`, where that differs). */
export const packageStages = (app: NodeApp, plan: Plan, layout: Layout): Stage[] => {
  const { production, modules, install, image } = layout;
  const workdir: Step = { kind: 'workdir', path: APP_DIR };
  if (install.length === 0) return [{ name: 'deps', from: image, steps: [workdir] }];
  const before = [
    ...toolSteps(app, layout),
    workdir,
    { kind: 'env', values: installEnv(app) } as const,
    ...copyManifests(app, layout, false),
  ];
  const commands = install.map(forgivingInstall);
  if (production.kind === 'installed' || !modules) {
    const last = installStep(app, plan, [...commands, ...(modules && app.build.length === 0 ? tidyCommands(app) : [])]);
    return [{ name: 'deps', from: image, steps: [...before, last] }];
  }
  const step = installStep(app, plan, commands);
  const command = [forgivingInstall(production.command), ...tidyCommands(app)].join(' && ');
  const last: Stage = {
    name: 'production',
    from: production.kind === 'fresh' ? 'manifests' : 'deps',
    steps: [installStep(app, plan, [command])],
  };
  if (production.kind === 'pruned') return [{ name: 'deps', from: image, steps: [...before, step] }, last];
  return [{ name: 'manifests', from: image, steps: before }, { name: 'deps', from: 'manifests', steps: [step] }, last];
};

/** Leaves only what the app uses of a workspace whose folder goes into the image as it is. */
const tidyCommands = (app: NodeApp): string[] => {
  if (app.workspace === null) return [];
  const useless = [...(app.manager.name === 'yarn-berry' ? ['.yarn'] : []), ...strangers(app)];
  return useless.length === 0 ? [] : [`rm -rf ${useless.join(' ')}`];
};

/** The first COPY makes /app, so that it belongs to the app's user, who may then write there. */
export const singleInstall = (app: NodeApp, plan: Plan, layout: Layout): Step[] => {
  if (layout.install.length === 0) return [];
  const step = installStep(app, plan, layout.install.map(forgivingInstall));
  return [...toolSteps(app, layout), ...copyManifests(app, layout, true), { kind: 'workdir', path: APP_DIR }, step];
};

/** Gathers everything but packages and caches where the runtime stage can copy it from. */
export const packCommand = (app: NodeApp): string => {
  const inside = memberPath(app);
  const caches = (app.framework?.caches ?? []).map(
    (path) => `./${[inside, path].filter((part) => part !== '').join('/')}`,
  );
  const excluded = [
    'node_modules',
    ...caches,
    ...(app.manager.name === 'yarn-berry' ? ['./.yarn', './.pnp.*'] : []),
    ...strangers(app).map((path) => `./${path}`),
  ];
  return `mkdir /out && tar -cf - ${excluded.map((path) => `--exclude=${path}`).join(' ')} . | tar -xf - -C /out`;
};

/** Packages of the workspace that this app has no use for. */
const strangers = (app: NodeApp): string[] => {
  if (app.workspace === null || memberPath(app) === '') return [];
  const used = buildOrder(app.workspace, memberPath(app));
  return app.workspace.members
    .map(({ path }) => path)
    .filter((path) => !used.some((one) => one === path || one.startsWith(`${path}/`)))
    .filter((path) => /^[\w.@+=~,-]+(\/[\w.@+=~,-]+)*$/.test(path) && !path.startsWith('-'));
};

export const buildStage = (app: NodeApp, layout: Layout, after: string | null): Stage => {
  const { framework } = app;
  const inside = memberPath(app);
  const caches = (framework?.caches ?? []).map((path) => ({
    name: path.replaceAll(/[^a-z]+/g, '-').replaceAll(/^-|-$/g, ''),
    target: [APP_DIR, inside, path].filter((part) => part !== '').join('/'),
  }));
  const pnp = app.manager.name === 'yarn-berry' && app.root.has('.pnp.cjs');
  const command = [
    // With it there, bundlers would look for packages in yarn's cache.
    ...(pnp ? ['rm -f .pnp.cjs .pnp.loader.mjs'] : []),
    ...app.build,
    ...(after === null ? [] : [after]),
  ].join(' && ');
  const env = framework?.buildEnv ?? {};
  return {
    name: 'build',
    from: 'deps',
    steps: [
      ...(layout.manifests.wholeSource && !layout.bare ? [] : [copySource(app, false)]),
      ...(Object.keys(env).length > 0 ? [{ kind: 'env', values: env } as const] : []),
      { kind: 'run', caches, ...(app.build.length > 0 ? { env: 'build' as const } : {}), command },
    ],
  };
};
