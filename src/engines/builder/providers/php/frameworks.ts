import type { Dir } from '../../source-tree.ts';
import { fieldsAt, textAt } from '../support/fields.ts';
import type { Composer } from './composer.ts';

/** What is known about an app's framework. */
export interface PhpFramework {
  name: string;
  /** Folders that may be the one that is served, besides the usual ones. */
  roots?: string[];
  env?: Record<string, string>;
  /** Commands of the build, once packages and assets are there. */
  build?: (app: Dir, composer: Composer) => string[];
  /** Commands before the server starts, with the variables of the running app. */
  start?: string[];
  /** The folder of its migrations, and the command that runs them. */
  migrations?: [folder: string, command: string];
  /** Every address that is no file is a page of the app, even without an .htaccess. */
  routes?: boolean;
  /** The extensions that it talks to a database server with. */
  database?: Drivers;
}

interface Drivers {
  mysql: string;
  pgsql?: string;
}

const PDO: Drivers = { mysql: 'pdo_mysql', pgsql: 'pdo_pgsql' };
const MYSQL: Drivers = { mysql: 'mysqli' };

/** By package, the more telling first. */
const FRAMEWORKS: [pack: string, framework: PhpFramework][] = [
  [
    'laravel/framework',
    {
      name: 'Laravel',
      env: { APP_DEBUG: 'false', APP_ENV: 'production', LOG_CHANNEL: 'stderr' },
      build: laravelBuild,
      // Cached with the variables of the running app, which a build must not keep.
      start: [
        'php artisan config:cache && php artisan event:cache && php artisan route:cache || { php artisan config:clear; php artisan event:clear; php artisan route:clear; }',
      ],
      migrations: ['database/migrations', 'php artisan migrate --force'],
      routes: true,
      database: PDO,
    },
  ],
  ['laravel/lumen-framework', { name: 'Lumen', env: { APP_ENV: 'production' }, routes: true, database: PDO }],
  [
    'symfony/framework-bundle',
    {
      name: 'Symfony',
      env: { APP_DEBUG: '0', APP_ENV: 'prod' },
      build: symfonyBuild,
      migrations: ['migrations', 'php bin/console doctrine:migrations:migrate --no-interaction'],
      routes: true,
    },
  ],
  ['drupal/core-recommended', { name: 'Drupal', roots: ['web'], database: PDO }],
  ['drupal/core', { name: 'Drupal', roots: ['web'], database: PDO }],
  ['typo3/cms-core', { name: 'TYPO3', env: { TYPO3_CONTEXT: 'Production' }, database: { ...PDO, mysql: 'mysqli' } }],
  ['craftcms/cms', { name: 'Craft CMS', roots: ['web'], routes: true, database: PDO }],
  ['roots/wordpress', { name: 'WordPress', roots: ['web'], database: MYSQL }],
  ['johnpbloch/wordpress-core', { name: 'WordPress', database: MYSQL }],
  ['cakephp/cakephp', { name: 'CakePHP', roots: ['webroot'], routes: true, database: PDO }],
  [
    'codeigniter4/framework',
    {
      name: 'CodeIgniter',
      env: { CI_ENVIRONMENT: 'production' },
      routes: true,
      database: { mysql: 'mysqli', pgsql: 'pgsql' },
    },
  ],
  ['yiisoft/yii2', { name: 'Yii', roots: ['web', 'frontend/web'], routes: true, database: PDO }],
  ['mezzio/mezzio', { name: 'Mezzio', routes: true }],
  ['slim/slim', { name: 'Slim', routes: true }],
];

/** Packages that make index.php answer every address. */
const ROUTERS = [
  'altorouter/altorouter',
  'bcosca/fatfree-core',
  'bramus/router',
  'leafs/leaf',
  'league/route',
  'mikecao/flight',
  'flightphp/core',
  'nikic/fast-route',
  'phroute/phroute',
  'symfony/http-kernel',
  'symfony/routing',
];

/** Packages that talk to a database server through PDO. */
const DATABASE_PACKAGES = [
  'catfan/medoo',
  'cycle/database',
  'doctrine/dbal',
  'illuminate/database',
  'nette/database',
  'propel/propel',
  'robmorgan/phinx',
];

/** The framework of an app, or null for PHP on its own. */
export const recognisePhp = (app: Dir, composer: Composer | undefined): PhpFramework | null => {
  const found = FRAMEWORKS.find(([pack]) => composer?.names.has(pack))?.[1];
  if (found !== undefined) return found;
  return app.has('wp-includes/version.php') || app.has('wp-load.php')
    ? { name: 'WordPress', routes: true, database: MYSQL }
    : null;
};

const FOLDERS = ['public', 'web', 'webroot', 'htdocs', 'public_html', 'httpdocs', 'docroot', 'www', 'html', 'pub'];

/** The folder that is served: empty for the app's own, undefined when nothing has an index.php. */
export const documentRoot = (
  app: Dir,
  composer: Composer | undefined,
  framework: PhpFramework | null,
): string | undefined => {
  const named = textAt(composer?.raw, 'extra', 'public-dir');
  const folders = [
    ...(named === undefined ? [] : [named.replace(/^\.?\/+|\/+$/g, '')]),
    ...(framework?.roots ?? []),
    ...FOLDERS,
  ];
  const found = folders.find((folder) => app.has(`${folder}/index.php`));
  // Without a manifest, index.php at the root is the app; with one, it often only leads to the public folder.
  const own = app.has('index.php') ? '' : undefined;
  if (composer === undefined) return own ?? found;
  // Drupal and others put their index.php there when they are installed.
  return (
    found ?? own ?? (framework?.roots !== undefined && composer.lockFile !== null ? framework.roots[0] : undefined)
  );
};

/** Whether index.php answers for addresses that are no file, where no .htaccess says so. */
export const answersAll = (
  app: Dir,
  root: string,
  composer: Composer | undefined,
  framework: PhpFramework | null,
): boolean => {
  if (app.has(root === '' ? '.htaccess' : `${root}/.htaccess`)) return false;
  if (framework?.routes === true || ROUTERS.some((pack) => composer?.names.has(pack))) return true;
  return composer !== undefined && root !== '';
};

/** Extensions that no manifest names, and why they are installed. */
export const usualExtensions = (
  composer: Composer | undefined,
  framework: PhpFramework | null,
  env: Record<string, string>,
): Map<string, string> => {
  const usual = new Map<string, string>();
  const talks = DATABASE_PACKAGES.some((pack) => composer?.names.has(pack));
  // Without a manifest, an app finds what shared hosting has.
  const drivers = framework?.database ?? (talks ? PDO : composer === undefined ? MYSQL : undefined);
  const kind = databaseKind(env);
  const why = `${framework?.name ?? 'the app'}, for a database`;
  const wanted =
    kind === 'sqlite' ? [] : [kind === 'pgsql' ? [] : [drivers?.mysql], kind === 'mysql' ? [] : [drivers?.pgsql]];
  for (const name of wanted.flat()) if (name !== undefined) usual.set(name, why);
  if (composer === undefined && framework === null) usual.set('pdo_mysql', why);
  if (framework?.name === 'WordPress') for (const name of ['exif', 'gd', 'intl', 'zip']) usual.set(name, 'WordPress');
  if (framework?.name === 'Drupal') for (const name of ['gd', 'zip']) usual.set(name, 'Drupal');
  if (framework?.name === 'Laravel' && usesRedis(env) && !composer?.names.has('predis/predis'))
    usual.set('redis', 'Laravel, whose variables name Redis');
  return usual;
};

const databaseKind = (env: Record<string, string>): 'mysql' | 'pgsql' | 'sqlite' | undefined => {
  const said = env['DB_CONNECTION'] ?? /^\w+/.exec(env['DATABASE_URL'] ?? env['DB_URL'] ?? '')?.[0] ?? '';
  if (/^(pgsql|postgres|pdo_pgsql)/.test(said)) return 'pgsql';
  if (/^(mysql|mariadb|pdo_mysql)/.test(said)) return 'mysql';
  return said.startsWith('sqlite') ? 'sqlite' : undefined;
};

const usesRedis = (env: Record<string, string>): boolean =>
  ['REDIS_URL', 'REDIS_HOST'].some((name) => Object.hasOwn(env, name)) ||
  ['CACHE_DRIVER', 'CACHE_STORE', 'QUEUE_CONNECTION', 'SESSION_DRIVER'].some((name) => env[name] === 'redis');

/** Folders that git does not keep when they are empty, and compiled views: neither depends on a variable. */
function laravelBuild(app: Dir): string[] {
  const folders = ['cache/data', 'sessions', 'views'].map((name) => `storage/framework/${name}`);
  return [
    `mkdir -p ${folders.join(' ')} storage/app/public storage/logs bootstrap/cache`,
    ...(app.hasDir('public') ? ['{ [ -e public/storage ] || ln -s ../storage/app/public public/storage; }'] : []),
    ...(app.has('artisan') && app.hasDir('resources/views')
      ? ['{ php artisan view:cache || echo "views are compiled when they are first used"; }']
      : []),
  ];
}

function symfonyBuild(app: Dir, { names, raw }: Composer): string[] {
  if (!app.has('bin/console')) return [];
  const warmed = Object.keys(fieldsAt(raw, 'scripts', 'auto-scripts')).some((name) => name.startsWith('cache:clear'));
  return [
    ...(names.has('symfonycasts/tailwind-bundle') ? ['php bin/console tailwind:build --minify'] : []),
    ...(names.has('symfonycasts/sass-bundle') ? ['php bin/console sass:build'] : []),
    ...(names.has('symfony/asset-mapper') ? ['php bin/console asset-map:compile'] : []),
    ...(warmed ? [] : ['php bin/console cache:warmup']),
  ];
}
