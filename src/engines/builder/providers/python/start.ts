import type { Dir } from '../../source-tree.ts';
import { fieldsAt, readToml } from '../support/fields.ts';
import { pythonTokens } from '../support/tokens.ts';
import { type Instance, candidates, findInstance } from './instances.ts';
import type { Requirements } from './requirements.ts';

export interface PythonStart {
  framework: string | null;
  argv: string[];
  reason: string;
  /** Servers that the command needs and the manifests do not name. */
  extra: string[];
  build: string[];
  /** The project itself must be installed for its script. */
  installsProject: boolean;
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
export const findPythonStart = (app: Dir, { names }: Requirements): PythonStart | null =>
  projectScript(app, names, true) ??
  django(app, names) ??
  asgi(app, names) ??
  wsgi(app, names) ??
  dataApp(app, names) ??
  projectScript(app, names, false) ??
  plainFile(app);

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
  ...more,
});

const missing = (names: ReadonlySet<string>, wanted: string): string[] => (names.has(wanted) ? [] : [wanted]);

/** A script of the project: one with a name that says so, or (when nothing else is known) the only one. */
const projectScript = (app: Dir, names: ReadonlySet<string>, named: boolean): PythonStart | null => {
  const project = readToml(app, 'pyproject.toml');
  const scripts = { ...fieldsAt(project, 'tool', 'poetry', 'scripts'), ...fieldsAt(project, 'project', 'scripts') };
  const valid = Object.keys(scripts).filter((name) => /^[\w.-]+$/.test(name) && !name.startsWith('-'));
  const chosen = named
    ? valid.find((name) => ['start', 'serve', 'server', 'web', 'prod'].includes(name))
    : valid.length === 1
      ? valid[0]
      : undefined;
  if (chosen === undefined || (!named && names.size === 0 && !project?.['build-system'])) return null;
  return start(null, [chosen], `the script ${chosen} of pyproject.toml`, { installsProject: true });
};

const django = (app: Dir, names: ReadonlySet<string>): PythonStart | null => {
  if (!app.has('manage.py') || !names.has('django')) return null;
  const files = candidates(app);
  const settings = settingsModule(app);
  const wsgiFile = [`${settings.replace(/\..*$/, '')}/wsgi.py`, ...files].find(
    (file) => /(^|\/)wsgi\.py$/.test(file) && app.has(file),
  );
  const asgiFile = files.find((file) => /(^|\/)asgi\.py$/.test(file));
  const build = app
    .files()
    .some((file) => /(^|\/)settings(\/\w+)?\.py$/.test(file) && assigns(app.read(file), 'STATIC_ROOT'))
    ? ['python manage.py collectstatic --noinput']
    : [];
  const async =
    asgiFile !== undefined &&
    (names.has('channels') || names.has('daphne') || (names.has('uvicorn') && !names.has('gunicorn')));
  const server = async ? moduleOf(asgiFile) : moduleOf(wsgiFile);
  if (server === null) return null;
  return async
    ? start('Django (ASGI)', uvicorn(`${server}:application`, []), `${asgiFile} is there`, {
        build,
        extra: missing(names, 'uvicorn'),
      })
    : start('Django', ['gunicorn', `${server}:application`], `${wsgiFile} is there`, {
        build,
        extra: missing(names, 'gunicorn'),
      });
};

const moduleOf = (file: string | undefined): string | null => {
  const module = file?.replace(/\.py$/, '').replaceAll('/', '.');
  return module !== undefined && /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(module) ? module : null;
};

/** manage.py says `os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site.settings")`. */
const settingsModule = (app: Dir): string => {
  const tokens = pythonTokens(app.read('manage.py') ?? '');
  const index = tokens.findIndex((token) => token.kind === 'string' && token.text === 'DJANGO_SETTINGS_MODULE');
  return tokens.slice(index + 1).find((token) => token.kind === 'string')?.text ?? '';
};

const assigns = (source: string | undefined, name: string): boolean =>
  pythonTokens(source ?? '').some(
    (token, index, all) => token.leftmost && token.text === name && all[index + 1]?.text === '=',
  );

const ASGI: [name: string, constructor: string, title: string][] = [
  ['fastapi', 'FastAPI', 'FastAPI'],
  ['starlette', 'Starlette', 'Starlette'],
  ['litestar', 'Litestar', 'Litestar'],
  ['quart', 'Quart', 'Quart'],
];

const asgi = (app: Dir, names: ReadonlySet<string>): PythonStart | null => {
  for (const [name, constructor, title] of ASGI) {
    const found = names.has(name) ? findInstance(app, [constructor]) : null;
    if (found === null) continue;
    const flags = [
      ...(found.folder === '' ? [] : ['--app-dir', found.folder]),
      ...(found.factory ? ['--factory'] : []),
    ];
    return start(title, uvicorn(`${found.module}:${found.variable}`, flags), describe(found), {
      extra: missing(names, 'uvicorn'),
    });
  }
  return null;
};

/** uvicorn takes its port from the command line only. */
const uvicorn = (target: string, flags: string[]): string[] => [
  '/bin/sh',
  '-c',
  ['exec uvicorn', target, '--host 0.0.0.0 --port "${PORT:-8080}"', ...flags].join(' '),
];

const describe = ({ module, variable, factory }: Instance): string =>
  factory ? `${variable}() in ${module} makes it` : `${variable} in ${module} is it`;

const WSGI: [name: string, constructors: string[], title: string][] = [
  ['flask', ['Flask', 'APIFlask'], 'Flask'],
  ['dash', ['Dash'], 'Dash'],
  ['falcon', ['App', 'API'], 'Falcon'],
  ['bottle', ['Bottle'], 'Bottle'],
];

/** gunicorn binds to 0.0.0.0 and PORT by itself. */
const wsgi = (app: Dir, names: ReadonlySet<string>): PythonStart | null => {
  for (const [name, constructors, title] of WSGI) {
    const found = names.has(name) ? findInstance(app, constructors) : null;
    if (found === null) continue;
    const folder = found.folder === '' ? [] : ['--chdir', found.folder];
    const suffix = found.factory ? '()' : name === 'dash' ? '.server' : '';
    return start(title, ['gunicorn', ...folder, `${found.module}:${found.variable}${suffix}`], describe(found), {
      extra: missing(names, 'gunicorn'),
    });
  }
  return null;
};

const dataApp = (app: Dir, names: ReadonlySet<string>): PythonStart | null => {
  const file = app.firstOf('app.py', 'streamlit_app.py', 'Home.py', 'main.py', 'src/app.py', 'src/main.py', 'demo.py');
  if (file === undefined) return null;
  if (names.has('streamlit')) {
    const command = `exec streamlit run ${file} --server.port "\${PORT:-8080}" --server.address 0.0.0.0 --server.headless true --browser.gatherUsageStats false`;
    return start('Streamlit', ['/bin/sh', '-c', command], `${file} is there`);
  }
  if (!names.has('gradio')) return null;
  const command = `GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT="\${PORT:-8080}" GRADIO_ANALYTICS_ENABLED=False exec python ${file}`;
  return start('Gradio', ['/bin/sh', '-c', command], `${file} is there`);
};

const plainFile = (app: Dir): PythonStart | null => {
  const file = app.firstOf(...ENTRIES);
  return file === undefined ? null : start(null, ['python', file], `${file} is there`);
};
