import { APP_DIR, type CacheMount, type Plan, type Stage, type Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { safePath } from '../../dockerfile-text.ts';
import { TOOLS, nodeRange } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import {
  type PlanContext,
  type Provider,
  aptSteps,
  chosenStart,
  emptyPlan,
  noStartCommand,
  runtimeOf,
  userSteps,
  versionOf,
} from '../provider.ts';
import { fieldsAt, readJson, textAt } from '../support/fields.ts';
import { builtSite } from '../support/site-plan.ts';
import { sourceOf } from '../support/source.ts';
import { installStep, manifestCopies, manifestFiles } from '../support/steps.ts';
import {
  type DenoConfig,
  importedNames,
  lockState,
  manifestsOf,
  readConfig,
  taskCommand,
  workspaceRoot,
} from './config.ts';
import { DENO_DIR, DOWNLOADS, GATHER, GATHER_FILE } from './gather.ts';
import { entryFile, entryOf, findDenoStart, listening } from './start.ts';

const BASE = 'debian:trixie-slim';
const CACHES: CacheMount[] = [{ name: 'deno', target: DOWNLOADS }];

/** Apps in JavaScript and TypeScript that Deno runs. */
export const deno: Provider = {
  name: 'deno',
  markers: ['deno.json', 'deno.jsonc', 'deno.lock'],
  doc: {
    title: 'Deno',
    detects:
      '`deno.json`, `deno.jsonc`, `deno.lock`; a `package.json` with a start script wins unless there is a `start` task too',
    notes:
      'the `start` task with its permissions (without `--watch`), else `main`, `server`, `app`, `index` or `mod.ts` with all of them; workspaces; Fresh; Lume as a site. `Deno.serve` and `deno serve` listen on `PORT` whatever the code says',
  },
  detect,
  plan: planDeno,
};

function detect(app: Dir): 'strong' | 'weak' | null {
  if (app.firstOf('deno.json', 'deno.jsonc', 'deno.lock') === undefined) return null;
  const config = readConfig(app);
  const node = readJson(app, 'package.json');
  const task = taskCommand(config, 'start') !== undefined;
  // Many Node projects have a deno.json for its formatter, or to be published.
  if (node !== undefined && !task && (textAt(node, 'scripts', 'start') !== undefined || !app.has('deno.lock')))
    return 'weak';
  return task || config.raw['workspace'] !== undefined || entryFile(app) !== undefined ? 'strong' : 'weak';
}

interface DenoApp {
  context: PlanContext;
  root: Dir;
  config: DenoConfig;
  /** Path of the app inside the workspace; empty outside of one. */
  inside: string;
  version: string;
  install: string[];
  build: string[];
  env: string[];
}

function planDeno(context: PlanContext): Plan {
  const { app, repo, overrides, notes } = context;
  const root = workspaceRoot(repo, app);
  const config = readConfig(app);
  const version = versionOf(context, TOOLS.deno, [
    toolVersionRequest(app, { names: ['deno'], files: ['.deno-version', '.dvmrc'], range: nodeRange }),
  ]).version;
  const lock = lockState(root);
  if (lock === 'drifted')
    notes.warnings.push(
      'WARNING: deno.lock does not match deno.json: versions other than the locked ones may be installed; run deno install and commit it',
    );
  const site = overrides.output ?? (chosenStartless(context) ? siteOutput(app, config) : undefined);
  const framework = frameworkOf(app, config);
  if (framework !== null) notes.decisions.push(`framework: ${framework}`);
  const found: DenoApp = {
    context,
    root,
    config,
    inside: app.path.slice(root.path === '' ? 0 : root.path.length + 1).replace(/^\//, ''),
    version,
    install: overrides.install ?? [`deno install${lock === 'exact' ? ' --frozen' : ''}`],
    build: overrides.build ?? (taskCommand(config, 'build') === undefined ? [] : ['deno task build']),
    env: overrides.install === undefined ? registryVariables(context, root) : [],
  };
  const plan = { ...basePlan(found), framework };
  return site === undefined ? serverPlan(found, plan) : sitePlan(found, plan, site);
}

const chosenStartless = ({ overrides, procfile }: PlanContext): boolean =>
  overrides.start === undefined && procfile['web'] === undefined;

const frameworkOf = (app: Dir, config: DenoConfig): string | null => {
  const names = importedNames(app, config);
  if (names.some((name) => /^(\$?fresh\/?$|(jsr:)?@fresh\/core)/.test(name))) return 'Fresh';
  return names.some((name) => /^lume\/$/.test(name)) ? 'Lume' : null;
};

/** Generators of sites whose build leaves nothing to run. */
const siteOutput = (app: Dir, config: DenoConfig): string | undefined =>
  frameworkOf(app, config) === 'Lume' ? '_site' : undefined;

const registryVariables = ({ projectEnv }: PlanContext, root: Dir): string[] => {
  const named = [...(root.read('.npmrc') ?? '').matchAll(/\$\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name);
  return [...new Set([...named, 'DENO_AUTH_TOKENS', 'NPM_CONFIG_REGISTRY', 'JSR_URL'])]
    .filter((name) => Object.hasOwn(projectEnv, name))
    .sort();
};

const basePlan = ({ context, version, install, build, env, root }: DenoApp): Plan => {
  const base = emptyPlan(context, 'deno');
  return {
    ...base,
    install,
    build,
    installEnv: context.overrides.install === undefined ? env : null,
    files: [{ path: GATHER_FILE, content: GATHER }, ...manifestFiles(root, manifestsOf(root))],
    remember: { deno: version },
  };
};

const depsStage = ({ root, version, install, env, context }: DenoApp, plan: Plan): Stage => {
  const seesEnv = env.length > 0 || context.overrides.install !== undefined;
  return {
    name: 'deps',
    from: `node:${TOOLS.node.fallback}-slim`,
    steps: [
      ...aptSteps(plan.apt.build),
      {
        kind: 'run',
        caches: [{ name: 'npm', target: '/root/.npm' }],
        command: `npm install --global --no-audit --no-fund --loglevel=error 'deno@${version}'`,
      },
      { kind: 'env', values: { DENO_DIR: DOWNLOADS, DENO_NO_UPDATE_CHECK: '1' } },
      { kind: 'workdir', path: APP_DIR },
      ...manifestCopies(root, manifestsOf(root)),
      ...installStep({ caches: CACHES, commands: install, env: seesEnv }),
    ],
  };
};

const buildStage = (app: DenoApp, after: string[]): Stage => {
  const place: Step[] = app.inside === '' ? [] : [{ kind: 'workdir', path: placeOf(app) }];
  return {
    name: 'build',
    from: 'deps',
    steps: [
      { kind: 'copy', sources: ['berth/gather.mjs'], target: '/berth/gather.mjs' },
      { kind: 'copy', sources: [`${safePath(sourceOf(app.root))}/`], target: './' },
      ...place,
      { kind: 'run', caches: CACHES, env: 'build', command: [...app.build, ...after].join(' && ') },
    ],
  };
};

const serverPlan = (app: DenoApp, plan: Plan): Plan => {
  const { context, root, config, inside } = app;
  const chosen = chosenStart(context);
  const found = chosen === undefined ? findDenoStart(context.app, config) : { argv: chosen, reason: '' };
  if (found === null) throw noStart(root, inside);
  if (found.warning !== undefined) context.notes.warnings.push(found.warning);
  if (chosen === undefined) context.notes.decisions.push(`start command: ${found.argv.join(' ')} (${found.reason})`);
  const entry = entryOf(context.app, found.argv);
  const gather = [
    ...(entry === undefined ? [] : [`deno cache ${safePath(entry)}`]),
    ...developmentOnly(app),
    `deno run --quiet --no-config --no-lock --allow-all /${GATHER_FILE} ${DOWNLOADS} ${DENO_DIR} ${APP_DIR}`,
  ];
  const runtime = runtimeOf(BASE, 'app', {
    DENO_AUTO_SERVE: '1',
    DENO_DIR,
    DENO_NO_PROMPT: '1',
    DENO_NO_UPDATE_CHECK: '1',
    NODE_ENV: 'production',
  });
  const image: Stage = {
    name: 'runtime',
    from: BASE,
    steps: [
      ...userSteps(),
      ...aptSteps(plan.apt.run),
      { kind: 'copy', from: 'deps', sources: ['/usr/local/lib/node_modules/deno/deno'], target: '/usr/local/bin/deno' },
      { kind: 'copy', from: 'build', sources: [`${DENO_DIR}/`], target: `${DENO_DIR}/`, owned: true },
      { kind: 'copy', from: 'build', sources: [`${APP_DIR}/`], target: `${APP_DIR}/`, owned: true },
      {
        kind: 'workdir',
        path: [APP_DIR, inside]
          .filter((part) => part !== '')
          .map(safePath)
          .join('/'),
      },
      { kind: 'env', values: runtime.env },
      { kind: 'user', name: 'app' },
    ],
  };
  return {
    ...plan,
    start: listening(found.argv),
    runtime,
    stages: [depsStage(app, plan), buildStage(app, gather), image],
  };
};

/** Development dependencies of a package.json are gone after the build. */
const developmentOnly = ({ root, context }: DenoApp): string[] => {
  const development = Object.keys(fieldsAt(readJson(root, 'package.json'), 'devDependencies'));
  if (development.length === 0 || context.overrides.install !== undefined) return [];
  return [`(cd ${APP_DIR} && rm -rf node_modules && deno install --prod)`];
};

const noStart = (root: Dir, inside: string): Error => {
  const members = manifestsOf(root)
    .filter((path) => /\/deno\.jsonc?$/.test(path))
    .map((path) => path.replace(/\/[^/]*$/, ''));
  const where =
    members.length > 0 && inside === ''
      ? `set root in the [build] table of berth.toml to one of ${members.slice(0, 10).join(', ')}`
      : 'add a "start" task to deno.json';
  return noStartCommand('a Deno app', 'a start task, and main, server, app, index and mod files', where);
};

const sitePlan = (app: DenoApp, plan: Plan, output: string): Plan => {
  const { overrides, notes } = app.context;
  return builtSite(plan, {
    stages: [depsStage(app, plan), buildStage(app, app.build.length === 0 ? ['true'] : [])],
    output,
    place: placeOf(app),
    rules: [app.context.app.dir('static'), app.context.app],
    fallback: overrides.spa === true ? 'index.html' : null,
    notes,
  });
};

const placeOf = ({ inside }: DenoApp): string => (inside === '' ? APP_DIR : `${APP_DIR}/${safePath(inside)}`);
