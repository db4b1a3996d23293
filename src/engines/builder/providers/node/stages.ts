import { APP_DIR, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { type PlanContext, aptList, aptSteps, emptyPlan, runtimeOf, userSteps } from '../provider.ts';
import { servedSite, siteFolder } from '../support/site-plan.ts';
import { type NodeApp, memberPath } from './app.ts';
import type { Output } from './frameworks/index.ts';
import { BUN_INSTALL } from './bun.ts';
import { cachesOf } from './commands.ts';
import { buildStage, copySource, packCommand, packageStages, singleInstall } from './deps.ts';
import { type Layout, layOut } from './layout.ts';
import { toolInstall } from './package-manager.ts';
import { registryVariables } from './registry.ts';

const BUN_BASE = 'debian:trixie-slim';

/** Lays out the image of a Node app. */
export const nodePlan = (context: PlanContext, app: NodeApp): Plan => {
  const base = emptyPlan(context, app.bun ? 'bun' : 'node');
  const layout = layOut(context, app, base);
  const { manager, needs, framework } = app;
  const remember: Record<string, string> = { node: app.nodeVersion };
  if (manager.version !== null) remember[manager.name] = manager.version;
  const plan: Plan = {
    ...base,
    root: app.dir.path,
    framework: framework?.name ?? null,
    packageManager: {
      name: manager.name,
      version: manager.version,
      lockFile: manager.lockFile,
      reason: manager.reason,
    },
    install: layout.install,
    build: app.build,
    installEnv: context.overrides.install === undefined ? registryVariables(app.root, app.projectEnv) : null,
    apt: { build: layout.buildApt, run: aptList(base.apt.run, needs.run) },
    files: layout.manifests.generated,
    remember,
  };
  return app.start === null ? sitePlan(context, app, plan, layout) : serverPlan(app, plan, layout, app.start.argv);
};

const serverPlan = (app: NodeApp, plan: Plan, layout: Layout, start: string[]): Plan => {
  const outcome = app.framework?.outcome;
  const outputs = outcome?.kind === 'server' ? outcome.outputs : null;
  const { modules } = layout;
  const baseImage = app.bun ? BUN_BASE : layout.slim;
  const runtime = runtimeOf(baseImage, app.bun ? 'app' : 'node', runtimeEnv(app, start));
  const single = isSingle(app, layout);
  const gathered = app.build.length > 0 || (!single && !isWhole(app, layout));
  const stages: Stage[] = single || (layout.bare && !gathered && !app.bun) ? [] : packageStages(app, plan, layout);
  const bunIsThere = app.manager.name === 'bun' && layout.install.length > 0;
  if (app.bun && !bunIsThere)
    stages[0]?.steps.unshift({
      kind: 'run',
      caches: cachesOf('npm'),
      command: app.manager.name === 'bun' ? (toolInstall(app.manager) ?? BUN_INSTALL) : BUN_INSTALL,
    });
  const inside = memberPath(app);
  if (gathered) stages.push(buildStage(app, layout, gatherCommand(app, outputs)));
  const workdir: Step = { kind: 'workdir', path: joined(APP_DIR, inside) };
  const whole: Step[] =
    single && layout.manifests.wholeSource ? [] : [{ ...copySource(app, true), target: `${APP_DIR}/` }];
  const bring: Step[] = [
    ...(single ? singleInstall(app, plan, layout) : modules ? [copyModules(app, layout)] : []),
    ...(gathered ? copyOutputs(outputs, inside) : whole),
  ];
  const user: Step[] = app.bun ? [...userSteps(), BUN_COPY] : [];
  const steps = [
    ...user,
    ...aptSteps(plan.apt.run),
    ...bring,
    ...(single && layout.install.length > 0 ? [] : [workdir]),
    { kind: 'env', values: runtime.env } as const,
    { kind: 'user', name: runtime.user } as const,
  ];
  stages.push({ name: 'runtime', from: baseImage, steps });
  return { ...plan, start, runtime, stages };
};

/** npm is in the runtime image anyway: without anything to build, compile or drop, one stage is all it takes. */
const isSingle = (app: NodeApp, layout: Layout): boolean =>
  app.build.length === 0 &&
  !app.bun &&
  app.manager.name === 'npm' &&
  layout.image === layout.slim &&
  layout.production.kind === 'installed' &&
  app.workspace === null;

/** Whether the source is what runs, as it stands: nothing was made by install scripts, and nothing must be left out. */
const isWhole = (app: NodeApp, layout: Layout): boolean =>
  !layout.manifests.wholeSource &&
  memberPath(app) === '' &&
  !(app.manager.name === 'yarn-berry' && app.root.hasDir('.yarn'));

const BUN_COPY: Step = {
  kind: 'copy',
  from: 'deps',
  sources: ['/usr/local/lib/node_modules/bun/bin/bun.exe'],
  target: '/usr/local/bin/bun',
};

const copyModules = (app: NodeApp, layout: Layout): Step => {
  const from = layout.production.kind === 'installed' ? 'deps' : 'production';
  return app.workspace === null
    ? { kind: 'copy', from, sources: [`${APP_DIR}/node_modules/`], target: `${APP_DIR}/node_modules/`, owned: true }
    : { kind: 'copy', from, sources: [`${APP_DIR}/`], target: `${APP_DIR}/`, owned: true };
};

/** The build stage gathers what the image needs, when that is not one folder. */
const isGathered = (outputs: Output[] | null): boolean => outputs === null || outputs.length > 1;

const gatherCommand = (app: NodeApp, outputs: Output[] | null): string | null => {
  if (outputs === null) return packCommand(app);
  if (!isGathered(outputs)) return null;
  const inside = memberPath(app);
  const steps = outputs.map(({ from, to, optional }) => {
    const source = safePath(joined(inside, from));
    // A folder that repeats the workspace's layout is the top itself.
    if (to === '') return `mv ${source} /out`;
    const target = `/out/${safePath(joined(inside, to))}`;
    const copy = `mkdir -p ${target} && cp -a ${source}/. ${target}/`;
    return optional ? `if [ -d ${source} ]; then ${copy}; fi` : copy;
  });
  return steps.join(' && ');
};

const copyOutputs = (outputs: Output[] | null, inside: string): Step[] => {
  const [only] = outputs ?? [];
  const [from, to] =
    isGathered(outputs) || only === undefined
      ? ['/out/', '']
      : [`${joined(APP_DIR, inside, safePath(only.from))}/`, only.to === '' ? '' : joined(inside, safePath(only.to))];
  return [{ kind: 'copy', from: 'build', sources: [from], target: `${joined(APP_DIR, to)}/`, owned: true }];
};

const joined = (...parts: string[]): string => parts.filter((part) => part !== '').join('/');

const runtimeEnv = (app: NodeApp, start: string[]): Record<string, string> => {
  const plain = (start[0] === 'node' || start[0] === 'bun') && app.needs.env['PATH'] === undefined;
  const folders = [...new Set([memberPath(app), ''])].map((path) =>
    [APP_DIR, path, 'node_modules/.bin'].filter((part) => part !== '').join('/'),
  );
  return {
    ...app.framework?.runEnv,
    ...app.needs.env,
    NODE_ENV: 'production',
    ...(plain ? {} : { PATH: `${folders.join(':')}:$PATH` }),
  };
};

const sitePlan = (context: PlanContext, app: NodeApp, plan: Plan, layout: Layout): Plan => {
  const { overrides, notes } = context;
  const outcome = app.framework?.outcome;
  const folder = siteFolder(overrides.output ?? (outcome?.kind === 'static' ? outcome.output : 'dist'));
  const found = outcome?.kind === 'static' ? outcome.fallback : null;
  const fallback = overrides.spa === undefined ? found : overrides.spa ? (found ?? 'index.html') : null;
  notes.decisions.push(
    `static site: the build leaves it in ${folder}${fallback === null ? '' : `, unknown paths get ${fallback}`}`,
  );
  const path = [APP_DIR, memberPath(app), safePath(folder)].filter((part) => part !== '').join('/');
  return servedSite(plan, {
    stages: [...packageStages(app, plan, { ...layout, modules: false }), buildStage(app, layout, null)],
    from: { stage: 'build', path },
    folder,
    rules: [app.dir.dir('public'), app.dir.dir('static'), app.dir],
    fallback,
    warnings: notes.warnings,
  });
};
