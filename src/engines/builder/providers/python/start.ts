import type { Dir } from '../../source-tree.ts';
import { fieldsAt, readToml } from '../support/fields.ts';
import { dataApp } from './data-apps.ts';
import { findDjango } from './django.ts';
import { type Instance, findInstance } from './instances.ts';
import { type Has, type Server, asgiServer, inShell, missing, wsgiServer } from './servers.ts';

export interface PythonStart {
  framework: string | null;
  argv: string[];
  reason: string;
  /** Servers that the command needs and the manifests do not name. */
  extra: string[];
  build: string[];
  /** The project itself must be installed for its script. */
  installsProject: boolean;
  /** A file is run because of its name alone. */
  plain: boolean;
  warnings: string[];
}

export interface StartSearch {
  app: Dir;
  /** Direct dependencies, which tell the framework. */
  has: Has;
  /** Those and what a lock file adds, where servers may be. */
  serves: Has;
  serviceName: string;
  /** Whether several candidates are an error: not when the user has named a start command. */
  strict: boolean;
  env: Record<string, string>;
  /** A release command is named. */
  releases: boolean;
}

const ENTRIES = [
  'main.py',
  'app.py',
  'server.py',
  'run.py',
  'bot.py',
  'index.py',
  'src/main.py',
  'src/app.py',
  '__main__.py',
];

/** How a Python app is started when neither the user nor a Procfile says so. */
export const findPythonStart = (search: StartSearch): PythonStart | null =>
  projectScript(search, true) ??
  django(search) ??
  asgi(search) ??
  wsgi(search) ??
  dataAppStart(search) ??
  projectScript(search, false) ??
  plainFile(search.app);

const start = (
  framework: string | null,
  argv: string[],
  reason: string,
  more: Partial<PythonStart> = {},
): PythonStart => ({
  framework,
  argv,
  reason,
  extra: [],
  build: [],
  installsProject: false,
  plain: false,
  warnings: [],
  ...more,
});

/** A script of the project: one with a name that says so, or (when nothing else is known) the only one. */
const projectScript = ({ app }: StartSearch, named: boolean): PythonStart | null => {
  const project = readToml(app, 'pyproject.toml');
  const scripts = { ...fieldsAt(project, 'tool', 'poetry', 'scripts'), ...fieldsAt(project, 'project', 'scripts') };
  const valid = Object.keys(scripts).filter((name) => /^[\w.-]+$/.test(name) && !name.startsWith('-'));
  const chosen = named
    ? valid.find((name) => ['start', 'serve', 'server', 'web', 'prod'].includes(name))
    : valid.length === 1
      ? valid[0]
      : undefined;
  if (chosen === undefined) return null;
  return start(null, [chosen], `the script ${chosen} of pyproject.toml`, { installsProject: true });
};

const django = (search: StartSearch): PythonStart | null => {
  const found = findDjango(search);
  if (found === null) return null;
  const { title, server, reason, extra, build, warnings } = found;
  return start(title, server.argv, reason, { extra, build, warnings });
};

interface Framework {
  name: string;
  title: string;
  constructors: string[];
  /** What makes the server's app of the framework's object. */
  suffix?: string;
}

const ASGI: Framework[] = [
  { name: 'fastapi', title: 'FastAPI', constructors: ['FastAPI'] },
  { name: 'starlette', title: 'Starlette', constructors: ['Starlette'] },
  { name: 'litestar', title: 'Litestar', constructors: ['Litestar'] },
  { name: 'quart', title: 'Quart', constructors: ['Quart'] },
  { name: 'python-fasthtml', title: 'FastHTML', constructors: ['FastHTML'] },
];

const WSGI: Framework[] = [
  { name: 'flask', title: 'Flask', constructors: ['Flask', 'APIFlask', 'OpenAPI'] },
  { name: 'dash', title: 'Dash', constructors: ['Dash'], suffix: '.server' },
  { name: 'falcon', title: 'Falcon', constructors: ['App', 'API'] },
  { name: 'bottle', title: 'Bottle', constructors: ['Bottle'] },
];

const asgi = (search: StartSearch): PythonStart | null => serverStart(search, ASGI, asgiServer);

const wsgi = (search: StartSearch): PythonStart | null => serverStart(search, WSGI, wsgiServer);

const serverStart = (search: StartSearch, frameworks: Framework[], server: typeof asgiServer): PythonStart | null => {
  const { app, has, serves } = search;
  for (const { name, title, constructors, suffix = '' } of frameworks) {
    const found = has(name) ? findInstance({ ...search, title, constructors }) : null;
    if (found === null) continue;
    const { folder, module, variable, factory } = found;
    const made: Server = server({
      app,
      has: serves,
      folder,
      factory,
      target: `${module}:${variable}${factory ? '' : suffix}`,
    });
    return start(title, made.argv, describe(found), { extra: missing(serves, made) });
  }
  return has('sanic') ? sanic(search) : null;
};

const sanic = (search: StartSearch): PythonStart | null => {
  const found = findInstance({ ...search, title: 'Sanic', constructors: ['Sanic'] });
  if (found === null) return null;
  const { folder, module, variable, factory } = found;
  const path = [folder, module].filter((part) => part !== '').join('.');
  const command = `sanic ${path}:${variable}${factory ? ' --factory' : ''} --host=0.0.0.0 --port="\${PORT:-8080}"`;
  return start('Sanic', inShell(command), describe(found));
};

const describe = ({ file, variable, factory }: Instance): string =>
  factory ? `${variable}() in ${file} makes it` : `${variable} in ${file} is it`;

const dataAppStart = ({ app, has, strict }: StartSearch): PythonStart | null => {
  const found = dataApp(app, has, strict);
  return found === null ? null : start(found.title, found.argv, found.reason);
};

const plainFile = (app: Dir): PythonStart | null => {
  const file = app.firstOf(...ENTRIES);
  return file === undefined ? null : start(null, ['python', file], `${file} is there`, { plain: true });
};
