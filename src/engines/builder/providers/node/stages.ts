import { APP_DIR, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { SITE_BASE, SITE_DIR, SITE_START, SITE_USER, siteFiles, siteStages } from '../../static/site.ts';
import { siteRules } from '../../static/rules.ts';
import { type PlanContext, aptList, aptSteps, emptyPlan, runtimeOf, userSteps } from '../provider.ts';
import { type NodeApp, memberPath } from './app.ts';
import { cachesOf } from './commands.ts';
import { PACK, buildStage, copySource, depsStage, pruneStage, singleInstall } from './deps.ts';
import { registryVariables } from './install.ts';
import { type Layout, layOut } from './layout.ts';
import { toolInstall } from './package-manager.ts';

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
  const modules = !layout.bare && (outcome?.kind !== 'server' || outcome.modules);
  const baseImage = app.bun ? BUN_BASE : layout.slim;
  const runtime = runtimeOf(baseImage, app.bun ? 'app' : 'node', runtimeEnv(app, start));
  const built = app.build.length > 0;
  // npm is in the runtime image anyway: without anything to build or compile, one stage is all it takes.
  const single =
    !built && !app.bun && app.manager.name === 'npm' && layout.image === layout.slim && app.workspace === null;
  const stages: Stage[] = [];
  if (!single && (!layout.bare || built || app.bun)) stages.push(depsStage(app, plan, layout));
  if (app.bun && layout.install.length === 0)
    stages[0]?.steps.push({
      kind: 'run',
      caches: cachesOf('npm'),
      command: toolInstall(app.manager) ?? 'npm install --global bun',
    });
  if (modules && layout.prune) stages.push(pruneStage(app));
  if (built) stages.push(buildStage(app, layout, outputs === null ? PACK : null));
  const inside = memberPath(app);
  const workdir: Step = { kind: 'workdir', path: [APP_DIR, inside].filter((part) => part !== '').join('/') };
  const bring: Step[] = [
    ...(single ? singleInstall(app, plan, layout) : modules ? [copyModules(app, layout)] : []),
    ...(built ? copyOutputs(outputs, inside) : [{ ...copySource(app, true), target: `${APP_DIR}/` }]),
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

const BUN_COPY: Step = {
  kind: 'copy',
  from: 'deps',
  sources: ['/usr/local/lib/node_modules/bun/bin/bun.exe'],
  target: '/usr/local/bin/bun',
};

const copyModules = (app: NodeApp, layout: Layout): Step => {
  const from = layout.prune ? 'production' : 'deps';
  return app.workspace === null
    ? { kind: 'copy', from, sources: [`${APP_DIR}/node_modules/`], target: `${APP_DIR}/node_modules/`, owned: true }
    : { kind: 'copy', from, sources: [`${APP_DIR}/`], target: `${APP_DIR}/`, owned: true };
};

const copyOutputs = (outputs: [string, string][] | null, inside: string): Step[] => {
  if (outputs === null)
    return [{ kind: 'copy', from: 'build', sources: ['/out/'], target: `${APP_DIR}/`, owned: true }];
  const place = [APP_DIR, inside].filter((part) => part !== '').join('/');
  return outputs.map(([from, to]) => ({
    kind: 'copy',
    from: 'build',
    sources: [`${place}/${safePath(from)}/`],
    // A standalone folder repeats the workspace's layout, so it goes to the top.
    target: to === '' ? `${APP_DIR}/` : `${place}/${safePath(to)}/`,
    owned: true,
  }));
};

const runtimeEnv = (app: NodeApp, start: string[]): Record<string, string> => {
  const plain = (start[0] === 'node' || start[0] === 'bun') && app.needs.env['PATH'] === undefined;
  const folders = [...new Set([memberPath(app), ''])].map((path) =>
    [APP_DIR, path, 'node_modules/.bin'].filter((part) => part !== '').join('/'),
  );
  return { ...app.needs.env, NODE_ENV: 'production', ...(plain ? {} : { PATH: `${folders.join(':')}:$PATH` }) };
};

const sitePlan = (context: PlanContext, app: NodeApp, plan: Plan, layout: Layout): Plan => {
  const { overrides, notes } = context;
  const outcome = app.framework?.outcome;
  const output = (overrides.output ?? (outcome?.kind === 'static' ? outcome.output : 'dist')).replace(
    /^\.?\/|\/+$/g,
    '',
  );
  const found = outcome?.kind === 'static' ? outcome.fallback : null;
  const fallback = overrides.spa === undefined ? found : overrides.spa ? (found ?? 'index.html') : null;
  const inside = memberPath(app);
  notes.decisions.push(
    `static site: the build leaves it in ${output}${fallback === null ? '' : `, unknown paths get ${fallback}`}`,
  );
  const copy: Step = {
    kind: 'copy',
    from: 'build',
    sources: [`${[APP_DIR, inside, safePath(output)].filter((part) => part !== '').join('/')}/`],
    target: `${SITE_DIR}/`,
    owned: true,
  };
  const rules = siteRules([app.dir.dir('public'), app.dir.dir('static'), app.dir], notes.warnings);
  const runtime = runtimeOf(SITE_BASE, SITE_USER, {});
  return {
    ...plan,
    staticRoot: output,
    start: SITE_START,
    runtime,
    stages: [depsStage(app, plan, layout), buildStage(app, layout, null), ...siteStages(copy, runtime.env)],
    files: [...plan.files, ...siteFiles({ fallback, ...rules })],
  };
};
