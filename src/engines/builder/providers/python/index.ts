import type { BerthError } from '#kernel/errors';
import type { Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS } from '../../versions.ts';
import { type PlanContext, type Provider, chosenStart, emptyPlan, noStartCommand, versionOf } from '../provider.ts';
import { fieldsAt, readToml } from '../support/fields.ts';
import { planInstall } from './install-plans.ts';
import { chooseInstaller } from './installers.ts';
import { type PythonApp, pythonPlan } from './layout.ts';
import { lockedNames, locksGit } from './lock-file.ts';
import { adviceOf, refuseUnlisted } from './advice.ts';
import { indexVariables } from './private-index.ts';
import { type Requirements, readRequirements } from './requirements.ts';
import type { Has } from './servers.ts';
import { findSite } from './sites.ts';
import { type PythonStart, findPythonStart } from './start.ts';
import { nativeBuild, systemNeeds } from './system.ts';
import { pythonRequests } from './version-requests.ts';

const MANIFESTS = ['requirements.txt', 'uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile', 'setup.py', 'manage.py'];
const ENTRIES = ['main.py', 'app.py', 'server.py'];

/** Apps in Python. */
export const python: Provider = {
  name: 'python',
  markers: [
    'requirements.txt',
    'pyproject.toml',
    'Pipfile',
    'uv.lock',
    'poetry.lock',
    'pdm.lock',
    'setup.py',
    'manage.py',
    ...ENTRIES,
  ],
  doc: {
    title: 'Python',
    detects:
      '`requirements.txt`, `pyproject.toml`, `Pipfile`, `uv.lock`, `poetry.lock`, `pdm.lock`, `setup.py`, `manage.py`, or `main.py`, `app.py`, `server.py`',
    notes:
      'pip, uv (workspaces too), poetry, pdm, pipenv. Started by a script called start, serve, server, web or prod in pyproject.toml, else Django (gunicorn; collectstatic), FastAPI, Starlette, Litestar, Quart, FastHTML (uvicorn), Flask, Dash, Falcon, Bottle (gunicorn), Sanic, Streamlit, Gradio, Chainlit, Panel, the only script of pyproject.toml, or `python main.py`; MkDocs and Pelican are served as files',
  },
  detect,
  plan: planPython,
};

function detect(app: Dir): 'strong' | 'weak' | null {
  if (app.firstOf(...MANIFESTS, ...ENTRIES) !== undefined) return 'strong';
  if (!app.has('pyproject.toml')) return null;
  const file = readToml(app, 'pyproject.toml');
  // Many repositories keep the settings of a linter there, and nothing else.
  return file?.['project'] !== undefined || fieldsAt(file, 'tool')['poetry'] !== undefined ? 'strong' : 'weak';
}

function planPython(context: PlanContext): Plan {
  const { app, repo, overrides, notes, remembered } = context;
  const { version } = versionOf(context, TOOLS.python, pythonRequests(app));
  const installer = chooseInstaller({ app, repo, remembered }, version);
  const requirements = readRequirements(app, repo);
  const base = emptyPlan(context, 'python');
  const locked =
    installer.lockFile !== null && app.has(installer.lockFile)
      ? lockedNames(app, installer.lockFile)
      : new Set<string>();
  const has: Has = (name) => requirements.names.has(name);
  const hasAny: Has = (name) => has(name) || locked.has(name);
  const { start, outcome, build } = whatRuns(context, { has, hasAny, releases: base.releaseCommand !== null });
  notes.decisions.push(
    `packages by ${installer.name}${installer.version === null ? '' : ` ${installer.version}`}: ${installer.reason}`,
  );
  noteStart(context, start, 'argv' in outcome);
  const git = requirements.git || locksGit(app, installer.lockFile);
  const needs = systemNeeds({ has, hasAny, git });
  const native = nativeBuild(app);
  needs.build.push(...(native ?? []));
  const compiles = native !== null || needs.compiled.length > 0 || needs.build.length > 0;
  const staged = installer.name !== 'pip' || compiles || base.apt.build.length > 0;
  const install = planInstall({ app, repo, installer, requirements, extra: start?.extra ?? [], staged });
  addProject({ context, start, requirements, install });
  notes.warnings.push(...install.warnings, ...adviceOf({ app, hasAny, requirements, installer }));
  const installEnv = overrides.install === undefined ? indexVariables(context, installer, requirements) : null;
  return pythonPlan({
    context,
    base,
    version,
    framework: start?.framework ?? null,
    installer,
    install,
    staged,
    needs,
    native: native !== null,
    installEnv,
    commands: overrides.install ?? install.commands,
    build,
    outcome,
  });
}

interface Facts {
  has: Has;
  hasAny: Has;
  releases: boolean;
}

interface WhatRuns {
  start: PythonStart | null;
  outcome: PythonApp['outcome'];
  build: string[];
}

/** The user's word first, then what the source says; a build that leaves a site needs no start command. */
const whatRuns = (context: PlanContext, { has, hasAny, releases }: Facts): WhatRuns => {
  const { app, overrides, projectEnv, serviceName, notes } = context;
  const chosen = chosenStart(context);
  const strict = chosen === undefined && overrides.output === undefined;
  const start = findPythonStart({ app, has, serves: hasAny, serviceName, strict, env: projectEnv, releases });
  const build = overrides.build ?? start?.build ?? [];
  if (chosen !== undefined) {
    return { start: start === null ? null : { ...start, argv: chosen, extra: [] }, outcome: { argv: chosen }, build };
  }
  const site = findSite(app, has);
  const found = start === null || start.plain ? site : null;
  if (overrides.output !== undefined || found !== null) {
    if (found !== null) notes.decisions.push(`site by ${found.title}`);
    const output = overrides.output ?? found?.output ?? '';
    return { start: null, outcome: { output }, build: overrides.build ?? site?.build ?? build };
  }
  if (start === null) throw noStart(app);
  if (start.plain) refuseUnlisted(app, start.argv);
  return { start, outcome: { argv: start.argv }, build };
};

const noteStart = ({ overrides, procfile, notes }: PlanContext, start: PythonStart | null, runs: boolean): void => {
  if (start === null) return;
  const chosen = overrides.start !== undefined || procfile['web'] !== undefined;
  if (start.framework !== null) notes.decisions.push(`framework: ${start.framework}`);
  if (runs && !chosen) notes.decisions.push(`start command: ${start.argv.join(' ')} (${start.reason})`);
  if (start.extra.length > 0)
    notes.decisions.push(`${start.extra.join(', ')} is installed too: the start command needs it`);
  if (start.argv[0] === 'gunicorn' && !chosen)
    notes.decisions.push('gunicorn: one process, which fits a small memory limit; WEB_CONCURRENCY sets their number');
  notes.warnings.push(...start.warnings);
};

const noStart = (app: Dir): BerthError => {
  const members = fieldsAt(readToml(app, 'pyproject.toml'), 'tool', 'uv')['workspace'] !== undefined;
  return noStartCommand(
    'a Python app',
    'a Procfile, [project.scripts], manage.py, a FastAPI, Flask or other app object, and main.py, app.py, server.py',
    members ? 'set root to the member of the workspace that is the app' : 'name the file main.py',
  );
};

interface Project {
  context: PlanContext;
  start: PythonStart | null;
  requirements: Requirements;
  install: PythonApp['install'];
}

/** Installs the project itself where it is a package: for its scripts, for its modules in `src`, or to learn what it needs. */
const addProject = ({ context: { app, overrides }, start, requirements, install }: Project): void => {
  if (overrides.install !== undefined || install.local.some(({ path }) => path === app.path)) return;
  const file = readToml(app, 'pyproject.toml');
  const isPackage = file?.['build-system'] !== undefined && fieldsAt(file, 'tool', 'poetry')['package-mode'] !== false;
  const needs = requirements.unknown;
  if (!needs && start?.installsProject !== true && !(isPackage && app.hasDir('src'))) return;
  install.local.push({ path: app.path, extras: '', editable: false, needs });
};
