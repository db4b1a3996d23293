import { APP_DIR, type CacheMount, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, aptList, aptSteps, runtimeOf, userSteps } from '../provider.ts';
import { fieldsAt, readToml } from '../support/fields.ts';
import { sourceOf } from '../support/source.ts';
import { type InstallPlan, type Installer, pipInstall } from './installers.ts';
import type { Requirements } from './requirements.ts';
import type { PythonStart } from './start.ts';
import type { SystemNeeds } from './system.ts';

/** Everything that is known about a Python app before its image is laid out. */
export interface PythonApp {
  context: PlanContext;
  base: Plan;
  version: string;
  installer: Installer;
  requirements: Requirements;
  start: PythonStart;
  install: InstallPlan;
  needs: SystemNeeds;
}

const VENV = '/opt/venv';
const PIP_CACHE: CacheMount = { name: 'pip', target: '/root/.cache/pip' };

/** Lays out the image of a Python app: one stage where pip is all it takes, else one that installs into a venv first. */
export const pythonPlan = (app: PythonApp, commands: string[], build: string[]): Plan => {
  const { context, base, version, installer, start, install, needs } = app;
  const slim = `python:${version}-slim`;
  const apt = { build: aptList(base.apt.build, needs.build), run: aptList(base.apt.run, needs.run) };
  // Tools that compile, or that only the install needs, stay out of what runs.
  const staged = install.tool !== null || needs.compiled.length > 0 || apt.build.length > 0;
  const installEnv = context.overrides.install === undefined ? registryVariables(context) : null;
  const steps = installSteps(app, staged, { commands, seesEnv: installEnv === null || installEnv.length > 0 });
  const runtime = runtimeOf(slim, 'app', {
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
    ...(staged ? { PATH: `${VENV}/bin:$PATH`, VIRTUAL_ENV: VENV } : {}),
  });
  const deps = staged ? [depsStage(app, apt.build, steps)] : [];
  const venv: Step = { kind: 'copy', from: 'deps', sources: [`${VENV}/`], target: `${VENV}/` };
  const last: Stage = {
    name: 'runtime',
    from: slim,
    steps: [
      ...userSteps(),
      ...aptSteps(apt.run),
      { kind: 'workdir', path: APP_DIR },
      ...(staged ? [venv] : steps),
      { kind: 'copy', sources: [`${sourceFolder(context.app)}/`], target: './', owned: true },
      { kind: 'env', values: runtime.env },
      ...projectSteps(app, staged),
      ...buildSteps(build),
      { kind: 'user', name: 'app' },
    ],
  };
  return {
    ...base,
    framework: start.framework,
    packageManager: installer,
    install: commands,
    build,
    start: start.argv,
    runtime,
    apt,
    installEnv,
    files: install.generated,
    stages: [...deps, last],
    remember: { python: version, ...(installer.version === null ? {} : { [installer.name]: installer.version }) },
  };
};

const sourceFolder = (app: Dir): string => safePath(sourceOf(app));

const depsStage = ({ version, needs, install }: PythonApp, apt: string[], steps: Step[]): Stage => {
  const tool: Step[] = install.tool === null ? [] : [{ kind: 'run', caches: [PIP_CACHE], command: install.tool }];
  return {
    name: 'deps',
    from: needs.compiled.length > 0 ? `python:${version}` : `python:${version}-slim`,
    steps: [
      ...aptSteps(apt),
      ...tool,
      { kind: 'workdir', path: APP_DIR },
      { kind: 'env', values: install.tool === null ? { PATH: `${VENV}/bin:$PATH` } : install.env },
      ...steps,
    ],
  };
};

interface InstallInput {
  commands: string[];
  seesEnv: boolean;
}

const installSteps = (app: PythonApp, staged: boolean, { commands, seesEnv }: InstallInput): Step[] => {
  if (commands.length === 0 && !staged) return [];
  const venv = staged && app.install.tool === null ? [`python -m venv ${VENV}`] : [];
  const run: Step = {
    kind: 'run',
    caches: app.install.caches,
    command: [...venv, ...commands].join(' && '),
    ...(seesEnv ? { env: 'install' as const } : {}),
  };
  return [...manifestCopies(app), ...(run.command === '' ? [] : [run])];
};

/** What the install reads, as little as possible: it runs again only when one of these changes. */
const manifestCopies = ({ context, requirements, install }: PythonApp): Step[] => {
  const { app, overrides } = context;
  const folder = sourceFolder(app);
  const workspace = fieldsAt(readToml(app, 'pyproject.toml'), 'tool', 'uv')['workspace'];
  if (requirements.local || workspace !== undefined || overrides.install !== undefined) {
    return [{ kind: 'copy', sources: [`${folder}/`], target: './' }];
  }
  const files = install.files.filter((file) => !file.includes('/')).map((file) => `${folder}/${safePath(file)}`);
  const nested = install.files
    .filter((file) => file.includes('/'))
    .map((file) => safePath(file.replace(/\/[^/]*$/, '')));
  return [
    ...(files.length > 0 ? [{ kind: 'copy', sources: files, target: './' } as const] : []),
    ...[...new Set(nested)].map((path): Step => ({
      kind: 'copy',
      sources: [`${folder}/${path}/`],
      target: `./${path}/`,
    })),
    ...install.generated.map(({ path }): Step => ({ kind: 'copy', sources: [path], target: './' })),
  ];
};

/**
 * Installs the project itself where it is a package: for its scripts, or because its modules lie in `src`. pip does that
 * for every kind of project, after the dependencies, so that an edited line leaves those where they are.
 */
const projectSteps = ({ context, start, installer }: PythonApp, staged: boolean): Step[] => {
  const { app } = context;
  const file = readToml(app, 'pyproject.toml');
  const isPackage = file?.['build-system'] !== undefined;
  if (!start.installsProject && !(isPackage && app.hasDir('src') && installer.lockFile !== null)) return [];
  const pip = staged ? pipInstall.replace('pip ', `pip --python ${VENV}/bin/python `) : pipInstall;
  return [{ kind: 'run', caches: [PIP_CACHE], command: `${pip} --no-deps .` }];
};

/** What a build writes belongs to the app's user, as the source does. */
const buildSteps = (build: string[]): Step[] =>
  build.length === 0 ? [] : [{ kind: 'run', env: 'build', command: [...build, 'chown -R app:app /app'].join(' && ') }];

/** Names of variables that choose or open a private index, as far as the project has them. */
const registryVariables = ({ app, projectEnv }: PlanContext): string[] => {
  const named = [...(app.read('requirements.txt') ?? '').matchAll(/\$\{([A-Z_][A-Z0-9_]*)\}/g)].map(
    ([, name = '']) => name,
  );
  const usual = Object.keys(projectEnv).filter((name) => /^(PIP_|UV_|POETRY_|PDM_|PIPENV_)/.test(name));
  return [...new Set([...named, ...usual])].filter((name) => Object.hasOwn(projectEnv, name)).sort();
};
