import type { BerthError } from '#kernel/errors';
import type { Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS, type VersionRequest, pythonRange } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { type PlanContext, type Provider, chosenStart, emptyPlan, noStartCommand, versionOf } from '../provider.ts';
import { fieldsAt, placeOf, readToml, textAt } from '../support/fields.ts';
import { chooseInstaller, planInstall } from './installers.ts';
import { type PythonApp, pythonPlan } from './layout.ts';
import { readRequirements } from './requirements.ts';
import { type PythonStart, findPythonStart } from './start.ts';
import { systemNeeds } from './system.ts';

const MANIFESTS = ['requirements.txt', 'uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile'];
const ENTRIES = ['main.py', 'app.py', 'server.py'];

/** Apps in Python. */
export const python: Provider = {
  name: 'python',
  markers: ['requirements.txt', 'pyproject.toml', 'Pipfile', 'uv.lock', 'poetry.lock', 'pdm.lock', ...ENTRIES],
  doc: {
    title: 'Python',
    detects:
      '`requirements.txt`, `pyproject.toml`, `Pipfile`, `uv.lock`, `poetry.lock`, `pdm.lock`, or `main.py`, `app.py`, `server.py`',
    notes:
      'pip, uv, poetry, pdm, pipenv. Started by a script called start, serve, server, web or prod in pyproject.toml, else Django (gunicorn; collectstatic), FastAPI, Starlette, Litestar, Quart (uvicorn), Flask, Dash, Falcon, Bottle (gunicorn), Streamlit, Gradio, the only script of pyproject.toml, or `python main.py`',
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
  const { app, overrides, notes } = context;
  const version = versionOf(context, TOOLS.python, pythonRequests(app));
  const installer = chooseInstaller(app, context.remembered);
  const requirements = readRequirements(app);
  const chosen = chosenStart(context);
  const found = findPythonStart(app, requirements);
  if (chosen === undefined && found === null) throw noStart();
  const start: PythonStart =
    chosen === undefined && found !== null
      ? found
      : {
          framework: found?.framework ?? null,
          argv: chosen ?? [],
          reason: '',
          extra: [],
          build: found?.build ?? [],
          installsProject: found?.installsProject ?? false,
        };
  notes.decisions.push(
    `packages by ${installer.name}${installer.version === null ? '' : ` ${installer.version}`}: ${installer.reason}`,
  );
  if (start.framework !== null) notes.decisions.push(`framework: ${start.framework}`);
  if (chosen === undefined) notes.decisions.push(`start command: ${start.argv.join(' ')} (${start.reason})`);
  if (start.extra.length > 0)
    notes.decisions.push(`${start.extra.join(', ')} is installed too: the start command needs it`);
  const install = planInstall({ app, installer, requirements, extra: start.extra });
  notes.warnings.push(...install.warnings);
  const needs = systemNeeds(requirements.names);
  if (requirements.git) needs.compiled.push('a requirement from git');
  const parts: PythonApp = {
    context,
    base: emptyPlan(context, 'python'),
    version: version.version,
    installer,
    requirements,
    start,
    install,
    needs,
  };
  return pythonPlan(parts, overrides.install ?? install.commands, overrides.build ?? start.build);
}

const noStart = (): BerthError =>
  noStartCommand(
    'a Python app',
    'a Procfile, [project.scripts], manage.py, a FastAPI, Flask or other app object, and main.py, app.py, server.py',
    'name the file main.py',
  );

const pythonRequests = (app: Dir): (VersionRequest | null)[] => {
  const file = readToml(app, 'pyproject.toml');
  const request = (written: string | undefined, path: string, pattern: RegExp, label: string): VersionRequest | null =>
    written === undefined
      ? null
      : { range: pythonRange(written), written, source: `${label} in ${placeOf(app, path, pattern)}` };
  const pipfile = fieldsAt(readToml(app, 'Pipfile'), 'requires');
  return [
    request(textAt(file, 'project', 'requires-python'), 'pyproject.toml', /^\s*requires-python\s*=/, 'requires-python'),
    request(textAt(file, 'tool', 'poetry', 'dependencies', 'python'), 'pyproject.toml', /^\s*python\s*=/, 'python'),
    request(
      textAt(pipfile, 'python_full_version') ?? textAt(pipfile, 'python_version'),
      'Pipfile',
      /^\s*python_/,
      'python_version',
    ),
    toolVersionRequest(app, { names: ['python'], files: ['.python-version', 'runtime.txt'], range: pythonRange }),
  ];
};
