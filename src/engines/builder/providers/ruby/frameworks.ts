import type { Dir } from '../../source-tree.ts';

/** How a Ruby app is built and started. */
export interface RubyStart {
  framework: string | null;
  /** What the container runs; null for a site, which is served as files. */
  argv: string[] | null;
  reason: string;
  /** Folder of the built site. */
  output: string | null;
  build: string[];
  env: Record<string, string>;
}

interface Known {
  app: Dir;
  /** Gems that are installed in production. */
  names: ReadonlySet<string>;
  /** The version of railties. */
  rails: string | undefined;
  bootsnap: boolean;
  /** Prefix of commands: gems are found through Bundler where there is a Gemfile. */
  exec: string[];
}

const RACK_ENV = { APP_ENV: 'production', RACK_ENV: 'production' };
const SCRIPTS = ['main.rb', 'app.rb', 'server.rb', 'web.rb', 'index.rb'];

/** How a Ruby app is started when neither the user nor a Procfile says so. */
export const findRubyStart = (known: Known): RubyStart | null =>
  rails(known) ?? site(known) ?? rack(known) ?? script(known);

export const isRails = (app: Dir, names: ReadonlySet<string>): boolean =>
  (names.has('railties') || names.has('rails')) &&
  (app.has('config/application.rb') || app.has('config/environment.rb'));

const rails = (known: Known): RubyStart | null => {
  const { app, names } = known;
  if (!isRails(app, names)) return null;
  const argv = rackServer(names) ?? ['/bin/sh', '-c', 'exec bundle exec rails server -b 0.0.0.0 -p "${PORT:-8080}"'];
  return {
    framework: 'Rails',
    argv,
    reason: rackServer(names) === null ? 'no server is among the gems' : 'its server is among the gems',
    output: null,
    build: railsBuild(known),
    env: {
      ...RACK_ENV,
      RAILS_ENV: 'production',
      RAILS_LOG_TO_STDOUT: 'true',
      RAILS_SERVE_STATIC_FILES: 'true',
      // Found by its name in every architecture's folder of libraries.
      LD_PRELOAD: 'libjemalloc.so.2',
    },
  };
};

/** Gems that add to `assets:precompile`. */
const ASSETS = [
  'cssbundling-rails',
  'jsbundling-rails',
  'propshaft',
  'shakapacker',
  'sprockets',
  'sprockets-rails',
  'vite_rails',
  'webpacker',
];

/** Gems that run the tools of package.json by themselves, as a part of `assets:precompile`. */
export const BUNDLERS = [
  'cssbundling-rails',
  'jsbundling-rails',
  'shakapacker',
  'vite_rails',
  'vite_ruby',
  'webpacker',
];

const railsBuild = ({ app, names, rails: version, bootsnap }: Known): string[] => {
  const compiles = ASSETS.some((name) => names.has(name));
  const [major = 8, minor = 0] = (version ?? '').split('.').map(Number);
  // Since 7.1 Rails makes up a key by itself; until then any one does, because nothing that is built depends on it.
  const key =
    major > 7 || (major === 7 && minor >= 1) ? 'SECRET_KEY_BASE_DUMMY=1' : 'SECRET_KEY_BASE="${SECRET_KEY_BASE:-none}"';
  const code = ['app', 'lib'].filter((folder) => app.hasDir(folder)).map((folder) => `${folder}/`);
  return [
    'mkdir -p log storage tmp/pids',
    ...(bootsnap && code.length > 0 ? [`bundle exec bootsnap precompile ${code.join(' ')}`] : []),
    ...(compiles ? [`${key} bundle exec rails assets:precompile`] : []),
  ];
};

/** The server among the gems, told where to listen: what its own settings say about that is overruled. */
const rackServer = (names: ReadonlySet<string>): string[] | null => {
  const servers: [name: string, command: string][] = [
    ['puma', 'puma -b "tcp://0.0.0.0:${PORT:-8080}"'],
    ['falcon', 'falcon serve --bind "http://0.0.0.0:${PORT:-8080}"'],
    ['unicorn', 'unicorn -E production -l "0.0.0.0:${PORT:-8080}"'],
    ['iodine', 'iodine -b 0.0.0.0 -p "${PORT:-8080}"'],
    ['thin', 'thin start -e production -a 0.0.0.0 -p "${PORT:-8080}"'],
    ['passenger', 'passenger start -e production -a 0.0.0.0 -p "${PORT:-8080}"'],
  ];
  const found = servers.find(([name]) => names.has(name));
  return found === undefined ? null : ['/bin/sh', '-c', `exec bundle exec ${found[1]}`];
};

const rack = ({ app, names }: Known): RubyStart | null => {
  if (!app.has('config.ru') || !app.has('Gemfile')) return null;
  const frameworks: [name: string, title: string][] = [
    ['hanami', 'Hanami'],
    ['padrino', 'Padrino'],
    ['grape', 'Grape'],
    ['sinatra', 'Sinatra'],
    ['roda', 'Roda'],
  ];
  const framework = frameworks.find(([name]) => names.has(name))?.[1] ?? 'Rack';
  const rackup = ['/bin/sh', '-c', 'exec bundle exec rackup -E production -o 0.0.0.0 -p "${PORT:-8080}"'];
  return {
    framework,
    argv: rackServer(names) ?? rackup,
    reason: 'config.ru is there',
    output: null,
    build: framework === 'Hanami' && names.has('hanami-assets') ? ['bundle exec hanami assets compile'] : [],
    env: { ...RACK_ENV, ...(framework === 'Hanami' ? { HANAMI_ENV: 'production', HANAMI_SERVE_ASSETS: 'true' } : {}) },
  };
};

/** Generators of sites leave files, which need no Ruby. */
const site = ({ app, names }: Known): RubyStart | null => {
  if (app.has('config.ru')) return null;
  const generators: [name: string, title: string, build: string, output: string][] = [
    ['jekyll', 'Jekyll', 'JEKYLL_ENV=production bundle exec jekyll build --destination _site', '_site'],
    ['github-pages', 'Jekyll', 'JEKYLL_ENV=production bundle exec jekyll build --destination _site', '_site'],
    ['middleman', 'Middleman', 'bundle exec middleman build --build-dir build', 'build'],
  ];
  const found = generators.find(([name]) => names.has(name));
  if (found === undefined) return null;
  const [, framework, build, output] = found;
  return { framework, argv: null, reason: '', output, build: [build], env: {} };
};

const script = ({ app, names, exec }: Known): RubyStart | null => {
  const file = app.firstOf(...SCRIPTS);
  if (file === undefined) return null;
  const framework = names.has('sinatra') ? 'Sinatra' : null;
  return {
    framework,
    argv: [...exec, 'ruby', file],
    reason: `${file} is there`,
    output: null,
    build: [],
    env: RACK_ENV,
  };
};

/** Whether the app's files alone say that this is Ruby. */
export const hasEntry = (app: Dir): boolean => app.has('config.ru') || app.firstOf(...SCRIPTS) !== undefined;
