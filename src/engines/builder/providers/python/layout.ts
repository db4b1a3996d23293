import { APP_DIR, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { type PlanContext, aptList, aptSteps, runtimeOf, userSteps } from '../provider.ts';
import { shellQuote } from '../support/shell.ts';
import { servedSite, siteFolder } from '../support/site-plan.ts';
import { sourceOf } from '../support/source.ts';
import { type InstallPlan, type LocalInstall, PIP_CACHE, VENV, pipInstall, venvInstall } from './install-plan.ts';
import type { Installer } from './installers.ts';
import { installSteps, topOf } from './manifest-steps.ts';
import { relativePath } from './requirement-files.ts';
import type { SystemNeeds } from './system.ts';

/** Everything that is known about a Python app before its image is laid out. */
export interface PythonApp {
  context: PlanContext;
  base: Plan;
  version: string;
  framework: string | null;
  installer: Installer;
  install: InstallPlan;
  /** Packages are installed into an environment, in a stage of its own. */
  staged: boolean;
  needs: SystemNeeds;
  /** The project's own modules are compiled, which takes the tools of the stage that installs. */
  native: boolean;
  /** Names of the project variables that the install sees; null for all of them. */
  installEnv: string[] | null;
  commands: string[];
  build: string[];
  /** What runs, or the folder of the site that the build leaves. */
  outcome: { argv: string[] } | { output: string };
}

/** Lays out the image of a Python app: one stage where pip is all it takes, else one that installs into a venv first. */
export const pythonPlan = (app: PythonApp): Plan => {
  const { base, version, framework, installer, install, needs, staged } = app;
  const apt = { build: aptList(base.apt.build, needs.build), run: aptList(base.apt.run, needs.run) };
  const locals = install.local.map((local) => localCommand(app, local));
  const plan: Plan = {
    ...base,
    framework,
    packageManager: {
      name: installer.name,
      version: installer.version,
      lockFile: installer.lockFile,
      reason: installer.reason,
    },
    install: [...app.commands, ...locals],
    build: app.build,
    apt,
    installEnv: app.installEnv,
    files: install.generated,
    remember: { python: version, ...(installer.version === null ? {} : { [installer.name]: installer.version }) },
  };
  const early = app.native ? locals : [];
  const late = app.native ? [] : locals;
  const deps = staged ? [depsStage(app, apt.build, early)] : [];
  return 'argv' in app.outcome
    ? serverPlan(app, plan, { deps, locals: late, start: app.outcome.argv })
    : sitePlan(app, plan, { deps, locals: late, output: app.outcome.output });
};

interface Parts {
  deps: Stage[];
  /** Commands that install packages of the source. */
  locals: string[];
}

const serverPlan = (app: PythonApp, plan: Plan, { deps, locals, start }: Parts & { start: string[] }): Plan => {
  const slim = slimImage(app);
  const runtime = runtimeOf(slim, 'app', {
    // The proxy is the only way in: what it says about a request's scheme and sender is true.
    FORWARDED_ALLOW_IPS: '*',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
    ...(app.staged ? { PATH: `${VENV}/bin:$PATH`, VIRTUAL_ENV: VENV } : {}),
  });
  const last: Stage = {
    name: 'runtime',
    from: slim,
    steps: [...appSteps(app, plan, runtime.env, locals), { kind: 'user', name: 'app' }],
  };
  return { ...plan, start, runtime, stages: [...deps, last] };
};

/** The folder that a build leaves, served as files. */
const sitePlan = (app: PythonApp, plan: Plan, { deps, locals, output }: Parts & { output: string }): Plan => {
  const { overrides, notes, app: dir } = app.context;
  const folder = siteFolder(output);
  notes.decisions.push(`static site: the build leaves it in ${folder}`);
  const env = app.staged ? { PATH: `${VENV}/bin:$PATH`, VIRTUAL_ENV: VENV } : { PYTHONUNBUFFERED: '1' };
  const build: Stage = { name: 'build', from: slimImage(app), steps: appSteps(app, plan, env, locals) };
  const path = [workdirOf(app), safePath(folder)].filter((part) => part !== '').join('/');
  return servedSite(
    { ...plan, apt: { build: aptList(plan.apt.build, plan.apt.run), run: [] } },
    {
      stages: [...deps, build],
      from: { stage: 'build', path },
      folder,
      rules: [dir, dir.dir('docs')],
      fallback: overrides.spa === true ? 'index.html' : null,
      warnings: notes.warnings,
    },
  );
};

const slimImage = ({ version }: PythonApp): string => `python:${version}-slim`;

/** Where the app lies in the image: below its workspace, when it needs more of that than its own folder. */
const workdirOf = ({ context, install }: PythonApp): string =>
  [APP_DIR, safe(relativePath(topOf(context.app, install), context.app.path))].filter((part) => part !== '').join('/');

const safe = (path: string): string => (path === '' ? '' : safePath(path));

/** The packages, then the source, then what comes of the source. */
const appSteps = (app: PythonApp, plan: Plan, env: Record<string, string>, locals: string[]): Step[] => {
  const venv: Step = { kind: 'copy', from: 'deps', sources: [`${VENV}/`], target: `${VENV}/` };
  const [copy, ...inside] = sourceSteps(app);
  return [
    ...userSteps(),
    ...aptSteps(plan.apt.run),
    { kind: 'workdir', path: APP_DIR },
    ...(app.staged ? [venv] : [...installSteps(app), ...backToTop(app)]),
    ...(copy === undefined ? [] : [copy]),
    { kind: 'env', values: env },
    ...inside,
    ...localSteps(app, locals),
    ...buildSteps(app.build),
  ];
};

/** Brings the source, and moves to the app in it. */
const sourceSteps = (app: PythonApp): Step[] => {
  const { context, install } = app;
  const from = safePath(sourceOf(context.repo, topOf(context.app, install)));
  const copy: Step = { kind: 'copy', sources: [`${from}/`], target: './', owned: true };
  return workdirOf(app) === APP_DIR ? [copy] : [copy, { kind: 'workdir', path: workdirOf(app) }];
};

/** What builds them may come from a private index, too. */
const localSteps = ({ installEnv }: PythonApp, locals: string[]): Step[] =>
  locals.length === 0
    ? []
    : [
        {
          kind: 'run',
          caches: [PIP_CACHE],
          command: locals.join(' && '),
          ...(installEnv === null || installEnv.length > 0 ? { env: 'install' as const } : {}),
        },
      ];

/** The install may have run in another folder than the one that the source is copied to. */
const backToTop = ({ context, install }: PythonApp): Step[] =>
  install.folder === topOf(context.app, install) ? [] : [{ kind: 'workdir', path: APP_DIR }];

const depsStage = (app: PythonApp, apt: string[], locals: string[]): Stage => {
  const { context, version, needs, install } = app;
  const tool: Step[] = install.tool === null ? [] : [{ kind: 'run', caches: [PIP_CACHE], command: install.tool }];
  const own = context.overrides.install !== undefined;
  const env = { ...install.env, ...(own ? { PATH: `${VENV}/bin:$PATH`, VIRTUAL_ENV: VENV } : {}) };
  return {
    name: 'deps',
    from: needs.compiled.length > 0 || app.native ? `python:${version}` : `python:${version}-slim`,
    steps: [
      ...aptSteps(apt),
      ...tool,
      { kind: 'workdir', path: APP_DIR },
      ...(Object.keys(env).length === 0 ? [] : [{ kind: 'env', values: env } as const]),
      ...installSteps(app),
      ...(locals.length === 0 ? [] : [...backToTop(app), ...sourceSteps(app), ...localSteps(app, locals)]),
    ],
  };
};

/** pip installs every kind of project, after its dependencies, so that an edited line leaves those where they are. */
const localCommand = ({ context, staged }: PythonApp, { path, extras, editable, needs }: LocalInstall): string => {
  const way = relativePath(context.app.path, path);
  const target = `${way === '' ? '.' : way.startsWith('..') ? way : `./${way}`}${extras}`;
  const word = /^[\w./-]+$/.test(target) ? target : shellQuote(target);
  return [staged ? venvInstall : pipInstall, ...(needs ? [] : ['--no-deps']), ...(editable ? ['-e'] : []), word].join(
    ' ',
  );
};

/** What a build writes belongs to the app's user, as the source does; files that already do are left where they are. */
const buildSteps = (build: string[]): Step[] =>
  build.length === 0
    ? []
    : [
        {
          kind: 'run',
          env: 'build',
          command: [...build, 'find . ! -user app -exec chown -h app:app {} +'].join(' && '),
        },
      ];
