import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { type Token, pythonTokens } from '../support/tokens.ts';
import { candidates } from './instances.ts';
import { type Has, type Server, asgiServer, missing, wsgiServer } from './servers.ts';

export interface Django {
  title: string;
  server: Server;
  reason: string;
  build: string[];
  warnings: string[];
}

interface Options {
  app: Dir;
  has: Has;
  serves: Has;
  strict: boolean;
  /** The project's variables, and whether anything runs migrations. */
  env: Record<string, string>;
  releases: boolean;
}

/** A project with manage.py at the root of the app, or in the only folder there that has one. */
export const findDjango = (options: Options): (Django & { extra: string[] }) | null => {
  const { app, has, serves } = options;
  const folder = manageFolder(app);
  if (folder === null || !has('django')) return null;
  const dir = folder === '' ? app : app.dir(folder);
  const settings = settingsModule(dir.read('manage.py') ?? '');
  const asgiFile = moduleFile(dir, settings, 'asgi');
  const wsgiFile = moduleFile(dir, settings, 'wsgi');
  const chosen = asgiFile !== null && wantsAsgi(has) ? asgiFile : (onlyOne(wsgiFile, options) ?? asgiFile);
  const file = Array.isArray(chosen) ? chosen[0] : chosen;
  const module = file === undefined || file === null ? null : moduleOf(file);
  if (file === undefined || file === null || module === null) return null;
  const async = file.endsWith('asgi.py');
  const target = { app: dir, has: serves, target: `${module}:application`, folder };
  const server = async ? asgiServer(target) : wsgiServer(target);
  // A project may have other settings for production than those that manage.py starts with.
  const deployed = settingsModule(dir.read(file) ?? '') || settings;
  const source = settingsSource(dir, deployed);
  return {
    title: async ? 'Django (ASGI)' : 'Django',
    server,
    extra: missing(serves, server),
    reason: `${file} is there`,
    build: collectStatic(options, { folder, source, deployed: deployed === settings ? '' : deployed }),
    warnings: [...settingsWarnings(source, has), ...releaseWarning(options, folder)],
  };
};

const manageFolder = (app: Dir): string | null => {
  if (app.has('manage.py')) return '';
  const folders = app
    .entries()
    .filter((name) => name.endsWith('/') && app.has(`${name}manage.py`))
    .map((name) => name.slice(0, -1));
  return folders.length === 1 && /^[\w-]+$/.test(folders[0] ?? '') ? (folders[0] ?? null) : null;
};

const wantsAsgi = (has: Has): boolean =>
  has('channels') || has('daphne') || (has('uvicorn') && !has('gunicorn') && !has('waitress'));

/** The file in the package of the settings or in a folder above it; else all there are. */
const moduleFile = (dir: Dir, settings: string, name: string): string | string[] | null => {
  const parts = settings.split('.').slice(0, -1);
  for (let length = parts.length; length > 0; length -= 1) {
    const file = `${parts.slice(0, length).join('/')}/${name}.py`;
    if (dir.has(file)) return file;
  }
  const files = candidates(dir).filter((file) => file === `${name}.py` || file.endsWith(`/${name}.py`));
  return files.length > 1 ? files : (files[0] ?? null);
};

const onlyOne = (found: string | string[] | null, { strict }: Options): string | null => {
  if (!Array.isArray(found)) return found;
  if (!strict) return found[0] ?? null;
  throw invalidInput(
    `this Django project has several WSGI modules, and manage.py names the settings of none: ${found.join(', ')}`,
    'set start in the [build] table of berth.toml, for example "gunicorn shop.wsgi", or write "web: gunicorn shop.wsgi" into a Procfile',
  );
};

const moduleOf = (file: string): string | null => {
  const module = file.replace(/\.py$/, '').replaceAll('/', '.');
  return /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(module) ? module : null;
};

/** manage.py and wsgi.py say `os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site.settings")`. */
const settingsModule = (source: string): string => {
  const tokens = pythonTokens(source);
  const index = tokens.findIndex((token) => token.kind === 'string' && token.text === 'DJANGO_SETTINGS_MODULE');
  const text = tokens.slice(index + 1).find((token) => token.kind === 'string')?.text ?? '';
  return index >= 0 && /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(text) ? text : '';
};

interface Settings {
  path: string;
  tokens: Token[];
  lines: string[];
}

/** The settings and those beside them, which they usually import: `settings/production.py` and `settings/base.py`. */
const settingsSource = (dir: Dir, module: string): Settings[] => {
  const path = module.replaceAll('.', '/');
  const file = dir.firstOf(`${path}.py`, `${path}/__init__.py`) ?? dir.firstOf('settings.py');
  if (file === undefined) return [];
  const folder = file.replace(/[^/]*$/, '');
  const beside = ['base', 'common', 'defaults', '__init__'].map((name) => `${folder}${name}.py`);
  const shared = /(^|\/)settings\/|^config\//.test(file) ? beside.filter((other) => dir.has(other)) : [];
  return [...new Set([file, ...shared])].map((one) => {
    const text = dir.read(one) ?? '';
    return {
      path: [dir.path, one].filter((part) => part !== '').join('/'),
      tokens: pythonTokens(text),
      lines: text.split('\n'),
    };
  });
};

/** The tokens of the value that a name is given at the outermost level. */
const valueOf = ({ tokens }: Settings, name: string): Token[] | null => {
  const at = tokens.findIndex(
    (token, index) => token.leftmost && token.text === name && tokens[index + 1]?.text === '=',
  );
  if (at < 0) return null;
  const end = tokens.findIndex((token, index) => index > at && token.leftmost && !')]}'.includes(token.text));
  return tokens.slice(at + 2, end < 0 ? undefined : end);
};

/** The first of the settings that gives a name a value. */
const setting = (all: Settings[], name: string): { place: string; text: string } | null => {
  for (const one of all) {
    const value = valueOf(one, name);
    if (value === null) continue;
    const line = one.lines.findIndex((text) => new RegExp(`^${name}\\s*=`).test(text));
    return { place: `${one.path}:${line + 1}`, text: value.map(({ text }) => text).join(' ') };
  }
  return null;
};

interface Collected {
  folder: string;
  source: Settings[];
  /** Settings of production where they are others than those of manage.py. */
  deployed: string;
}

const collectStatic = ({ env }: Options, { folder, source, deployed }: Collected): string[] => {
  if (setting(source, 'STATIC_ROOT') === null || /^(1|true|yes)$/i.test(env['DISABLE_COLLECTSTATIC'] ?? '')) return [];
  const own = Object.hasOwn(env, 'DJANGO_SETTINGS_MODULE');
  const settings = deployed === '' || own ? '' : `DJANGO_SETTINGS_MODULE=${deployed} `;
  const manage = [folder, 'manage.py'].filter((part) => part !== '').join('/');
  return [`${settings}python ${manage} collectstatic --noinput`];
};

/** What works on a developer's machine only. */
const settingsWarnings = (source: Settings[], has: Has): string[] => {
  const warnings: string[] = [];
  const hosts = setting(source, 'ALLOWED_HOSTS');
  if (hosts?.text === '[ ]' || hosts?.text === '( )')
    warnings.push(
      `${hosts.place}: ALLOWED_HOSTS is empty, so that requests for any name but localhost get status 400: add the name of the service, whose address is in BERTH_SERVICE_URL`,
    );
  const debug = setting(source, 'DEBUG');
  if (debug?.text === 'True')
    warnings.push(`${debug.place}: DEBUG is on, and shows settings to visitors: read it from a variable`);
  const apps = setting(source, 'INSTALLED_APPS');
  if (
    apps?.text.includes('django.contrib.staticfiles') === true &&
    !has('whitenoise') &&
    setting(source, 'STORAGES') === null
  )
    warnings.push(
      `${apps.place}: nothing serves the static files outside of runserver: add whitenoise (and STATIC_ROOT), or keep them elsewhere`,
    );
  const databases = setting(source, 'DATABASES');
  if (
    databases !== null &&
    /\bdjango\.db\.backends\.sqlite3\b/.test(databases.text) &&
    !/env|DATABASE_URL/i.test(databases.text)
  )
    warnings.push(
      `${databases.place}: SQLite lies in the container, so that its data is gone with each release and is not shared by replicas: use a database outside`,
    );
  return warnings;
};

const releaseWarning = ({ releases }: Options, folder: string): string[] => {
  const manage = [folder, 'manage.py'].filter((part) => part !== '').join('/');
  return releases
    ? []
    : [
        `no release command runs the migrations: write "release: python ${manage} migrate --noinput" into a Procfile, or set release in the [build] table of berth.toml`,
      ];
};
