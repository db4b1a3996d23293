import { describe, expect, test } from 'bun:test';
import { type Files, fileOf, packageJson, planOf, refusal } from './support.ts';
import { composerJson, phpApp, composerLock, stage, commands, laravel, symfony } from './php-support.ts';

describe('Composer', () => {
  const LOCK = composerLock({ 'a/b': {} });

  test('the install sees the manifests, the rest comes after the source', () => {
    const steps =
      stage(phpApp({ require: { 'a/b': '*' } }, { 'composer.lock': LOCK, 'symfony.lock': '{}' }), 'build')?.steps ?? [];
    expect(steps.filter(({ kind }) => kind === 'copy' || kind === 'run')).toEqual([
      { kind: 'copy', from: 'composer:2', sources: ['/usr/bin/composer'], target: '/usr/local/bin/composer' },
      { kind: 'copy', sources: ['source/composer.json', 'source/composer.lock', 'source/symfony.lock'], target: './' },
      {
        kind: 'run',
        caches: [{ name: 'composer', target: '/root/.cache/composer' }],
        command: 'composer install --no-dev --no-progress --no-autoloader --no-scripts',
      },
      { kind: 'copy', sources: ['source/'], target: './' },
      {
        kind: 'run',
        caches: [{ name: 'composer', target: '/root/.cache/composer' }],
        env: 'build',
        command: 'composer install --no-dev --no-progress --optimize-autoloader',
      },
    ]);
  });

  test('only the manifests of packages in the source are seen by the install', () => {
    const files = phpApp(
      { repositories: [{ type: 'path', url: './packages/*' }], require: { 'acme/router': '*' } },
      {
        'packages/router/composer.json': '{"name":"acme/router"}',
        'packages/router/src/a.php': '',
        'packages/other.txt': '',
      },
    );
    expect(fileOf(planOf(files), 'berth/manifests/packages/router/composer.json')).toBe('{"name":"acme/router"}');
    expect(planOf(files).files.filter(({ path }) => path.startsWith('berth/manifests/'))).toHaveLength(1);
  });

  test('packages that are copied, and folders of archives, are there in full', () => {
    const files = phpApp(
      {
        repositories: {
          own: { type: 'path', url: 'packages/a', options: { symlink: false } },
          kept: { type: 'artifact', url: 'archives/' },
        },
      },
      { 'packages/a/composer.json': '{}', 'archives/x.zip': '' },
    );
    expect(
      stage(files, 'build')
        ?.steps.filter(({ kind }) => kind === 'copy')
        .slice(2, 4),
    ).toEqual([
      { kind: 'copy', sources: ['source/packages/a/'], target: './packages/a/' },
      { kind: 'copy', sources: ['source/archives/'], target: './archives/' },
    ]);
  });

  test('a repository outside of the app is refused with its place', () => {
    const error = refusal(phpApp({ repositories: [{ type: 'path', url: '../shared' }] }));
    expect(error.message).toBe('composer.json:6: the repository "../shared" lies outside of the app\'s folder');
  });

  test.each([
    ['a package that is not locked', { 'a/b': '*', 'c/d': '^1' }, 'c/d'],
    ['a version that is not the locked one', { 'a/b': '^2.0' }, 'a/b'],
  ])('%s is resolved anew, with a loud warning', (_title, require, name) => {
    const files = phpApp({ require }, { 'composer.lock': LOCK });
    const plan = planOf(files);
    expect(plan.install).toEqual([
      `composer update --no-dev --no-progress --optimize-autoloader --with-dependencies ${name}`,
    ]);
    expect(plan.warnings).toContain(
      `WARNING: composer.lock does not match composer.json (${name}): these are resolved anew in each build; run composer update with these names and commit composer.lock`,
    );
    // The lock file that the source brings must not come back after the install.
    expect(
      stage(files, 'build')?.steps.filter((step) => step.kind === 'copy' && step.sources.includes('source/')),
    ).toHaveLength(1);
  });

  test.each([
    ['what another package replaces', { 'a/b': '*', 'c/d': '*' }, { 'a/b': { provide: { 'c/d': '*' } } }],
    ['a branch', { 'a/b': 'dev-main' }, { 'a/b': { version: 'dev-main' } }],
    ['a version with a v', { 'a/b': '^1.2' }, { 'a/b': { version: 'v1.4.0' } }],
    ['a version of four parts', { 'a/b': '~1.2' }, { 'a/b': { version: '1.4.0.1' } }],
    ['an inline alias', { 'a/b': 'dev-x as 1.0' }, { 'a/b': { version: 'dev-x' } }],
    ['a beta', { 'a/b': '^2.0@beta' }, { 'a/b': { version: '2.0.0-beta1' } }],
    [
      'properties of the machine',
      { php: '^8.1', 'ext-json': '*', 'lib-icu': '*', 'composer-runtime-api': '^2', 'a/b': '*' },
      { 'a/b': {} },
    ],
  ])('%s is no drift', (_title, require, packages) => {
    const plan = planOf(phpApp({ require }, { 'composer.lock': composerLock(packages) }));
    expect(plan.warnings.filter((line) => line.startsWith('WARNING'))).toEqual([]);
  });

  test('nothing is fetched where everything lies in the source', () => {
    const files = phpApp(
      { require: { php: '~8.5.0', 'a/b': '*' } },
      { 'composer.lock': composerLock({ 'a/b': { path: true } }) },
    );
    expect(planOf(files).apt.build).toEqual([]);
    expect(planOf(phpApp({ require: { 'a/b': '*' } }, { 'composer.lock': LOCK })).apt.build).toEqual(['git', 'unzip']);
  });

  test('credentials reach the install alone', () => {
    const plan = planOf(phpApp({ require: { 'a/b': '*' } }), { env: { COMPOSER_AUTH: '{}', SECRET: 'x' } });
    expect(plan.installEnv).toEqual(['COMPOSER_AUTH']);
  });

  test('a private repository without credentials is warned about', () => {
    const files = phpApp({ repositories: [{ type: 'composer', url: 'https://repo.example.com' }] });
    const said = (env: Record<string, string>): boolean =>
      planOf(files, { env }).warnings.some((line) =>
        line.startsWith('composer.json names the repository https://repo.example.com'),
      );
    expect([said({}), said({ COMPOSER_AUTH: '{}' })]).toEqual([true, false]);
  });

  test.each([
    ['composer.json', phpApp({}, { 'composer.json': '{\n"a": }' }), "composer.json:2: invalid character '}'"],
    [
      'composer.lock in the middle of a merge',
      phpApp({}, { 'composer.lock': '{\n<<<<<<< HEAD\n' }),
      "composer.lock:2: invalid character '<'",
    ],
  ])('a broken %s is refused with its place', (_title, files, message) => {
    const error = refusal(files);
    expect({ kind: error.kind, message: error.message }).toEqual({ kind: 'BUILD_COMMAND_FAILED', message });
  });

  test('PHP writes an empty object as a list', () => {
    expect(planOf(phpApp({ require: [], autoload: [], repositories: [] })).provider).toBe('php');
  });

  test('patches are there before the packages', () => {
    const plan = planOf(phpApp({ require: { 'cweagans/composer-patches': '^1' }, extra: { patches: {} } }));
    expect(plan.decisions).toContain('the source is copied before the install: packages are patched');
  });
});

describe('frameworks', () => {
  test('Laravel: folders, compiled views, and caches that are made where the app runs', () => {
    const plan = planOf(laravel());
    expect(plan.build).toEqual([
      'mkdir -p storage/framework/cache/data storage/framework/sessions storage/framework/views storage/app/public storage/logs bootstrap/cache',
      '{ [ -e public/storage ] || ln -s ../storage/app/public public/storage; }',
      '{ php artisan view:cache || echo "views are compiled when they are first used"; }',
    ]);
    expect(plan.runtime?.env).toMatchObject({ APP_DEBUG: 'false', APP_ENV: 'production', LOG_CHANNEL: 'stderr' });
    expect(fileOf(plan, 'berth/serve-php')).toContain(
      'php artisan config:cache && php artisan event:cache && php artisan route:cache ||',
    );
    expect(JSON.stringify(plan.stages)).not.toContain('config:cache');
  });

  test('Laravel: migrations are only proposed, and a missing key is said', () => {
    const plan = planOf(laravel({ 'database/migrations/1.php': '' }));
    expect(plan.decisions).toContain(
      'migrations are not run by themselves: set release = "php artisan migrate --force" in the [build] table',
    );
    expect(plan.releaseCommand).toBe(null);
    expect(plan.warnings).toEqual([
      'APP_KEY is not set: make one with php artisan key:generate --show, and set it as a variable',
    ]);
    const told = planOf(
      laravel({ 'database/migrations/1.php': '', Procfile: 'release: php artisan migrate --force\n' }),
      { env: { APP_KEY: 'x' } },
    );
    expect(told.releaseCommand).toEqual(['php', 'artisan', 'migrate', '--force']);
    expect(told.warnings).toEqual([]);
    expect(told.decisions.join('\n')).not.toContain('migrations are not run');
  });

  test('Symfony: production, the cache by its own scripts or by hand, and assets', () => {
    expect(planOf(symfony()).build).toEqual(['php bin/console cache:warmup']);
    expect(planOf(symfony({}, {}, { scripts: { 'auto-scripts': { 'cache:clear': 'symfony-cmd' } } })).build).toEqual(
      [],
    );
    expect(planOf(symfony({}, { 'symfony/asset-mapper': '*', 'symfonycasts/tailwind-bundle': '*' })).build).toEqual([
      'php bin/console tailwind:build --minify',
      'php bin/console asset-map:compile',
      'php bin/console cache:warmup',
    ]);
    expect(stage(symfony(), 'build')?.steps).toContainEqual({
      kind: 'env',
      values: { APP_DEBUG: '0', APP_ENV: 'prod' },
    });
  });

  test('assets are built with Node in the same stage, where PHP is, and Node stays behind', () => {
    const files = laravel({
      'package.json': packageJson({ scripts: { build: 'vite build' }, devDependencies: { vite: '6' } }),
      'pnpm-lock.yaml':
        "lockfileVersion: '9.0'\nimporters:\n  .:\n    devDependencies:\n      vite:\n        specifier: '6'\n        version: 6.0.0\n",
      '.nvmrc': '22',
    });
    const plan = planOf(files);
    expect(plan.stages.map(({ name, from }) => `${name} ${from}`)).toEqual([
      'slim php:8.5-apache',
      'modules node:22-slim',
      'php php:8.5-apache',
      'build php',
      'runtime scratch',
    ]);
    expect(commands(files, 'modules')).toEqual([
      "npm install --global --force --no-audit --no-fund --loglevel=error 'pnpm@9'",
      'pnpm install --frozen-lockfile --prod=false --store-dir /root/.local/share/pnpm/store && mkdir -p node_modules',
    ]);
    expect(commands(files, 'build').at(-1)).toMatch(
      /--optimize-autoloader && pnpm run build && .* && rm -rf node_modules$/,
    );
    expect(plan.remember).toEqual({ php: '8.5', node: '22', pnpm: '9' });
  });

  test('the version of [build] is PHP’s, not that of Node', () => {
    const plan = planOf(laravel({ 'package.json': packageJson({ scripts: { build: 'x' } }) }), {
      env: { BERTH_VERSION: '8.3' },
    });
    expect(plan.versions.map(({ tool, version }) => `${tool} ${version}`)).toEqual(['php 8.3', 'node 24']);
  });

  test('a package.json without anything to build brings no Node', () => {
    expect(
      planOf(laravel({ 'package.json': packageJson({ devDependencies: { prettier: '3' } }) })).stages.map(
        ({ name }) => name,
      ),
    ).toEqual(['slim', 'php', 'build', 'runtime']);
  });
});

describe('what Apache serves', () => {
  const site = (files: Files): string => fileOf(planOf(files), 'berth/apache.conf');

  test.each([
    ['Symfony without an .htaccess', symfony(), true],
    ['Laravel with its own', laravel(), false],
    ['a front controller', phpApp(), true],
    ['a plain folder', { 'index.php': '' }, false],
    [
      'a plain folder with packages',
      { 'index.php': '', 'composer.json': composerJson({ require: { 'a/b': '*' } }) },
      false,
    ],
    [
      'a plain folder with a router',
      { 'index.php': '', 'composer.json': composerJson({ require: { 'mikecao/flight': '*' } }) },
      true,
    ],
    ['WordPress', { 'index.php': '', 'wp-load.php': '' }, true],
  ])('index.php answers every address: %s', (_title, files, answers) => {
    expect(site(files).includes('FallbackResource /index.php')).toBe(answers);
  });

  test('packages and classes are hidden where the whole app is served', () => {
    const text = site({
      'index.php': '',
      'composer.json': composerJson({
        autoload: { 'psr-4': { 'App\\': 'src/', 'Lib\\': ['lib/a', ''] } },
        config: { 'vendor-dir': 'packages' },
      }),
    });
    expect(text).toContain('RedirectMatch 404 "^/(?:bin|lib/a|node_modules|packages|src)(?:/|$)"');
  });

  test('the app’s own php.ini comes last', () => {
    expect(stage(phpApp({}, { 'php.ini': 'memory_limit = 1G' }), 'runtime')?.steps).toContainEqual({
      kind: 'copy',
      sources: ['source/php.ini'],
      target: '/usr/local/etc/php/conf.d/zzz-app.ini',
    });
  });

  test('files are looked at again only where they may change', () => {
    const fixed = (files: Files): boolean => fileOf(planOf(files), 'berth/php.ini').includes('validate_timestamps = 0');
    expect([fixed(symfony()), fixed({ 'index.php': '', 'wp-load.php': '' }), fixed({ 'index.php': '' })]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('overrides', () => {
  test('a start command of the user’s runs without Apache', () => {
    const plan = planOf(phpApp({}, { Procfile: 'web: php -S 0.0.0.0:$PORT server.php\n' }));
    expect(plan.start).toEqual(['/bin/sh', '-c', 'exec php -S 0.0.0.0:$PORT server.php']);
    expect(plan.stages.map(({ from }) => from)).toEqual(['php:8.5-cli', 'php:8.5-cli', 'php', 'scratch']);
    expect(plan.files.map(({ path }) => path)).toEqual(['berth/php.ini']);
  });

  test('install, build and packages', () => {
    const plan = planOf(
      laravel({
        'berth.toml': '[build]\ninstall = "composer i"\nbuild = ["make"]\napt = ["ffmpeg"]\nbuild_apt = ["cmake"]\n',
      }),
    );
    expect({ install: plan.install, build: plan.build, env: plan.installEnv }).toEqual({
      install: ['composer i'],
      build: ['make'],
      env: null,
    });
    expect(plan.apt).toEqual({ build: ['cmake', 'ffmpeg', 'git', 'libpq-dev', 'unzip'], run: ['ffmpeg'] });
  });

  test('an output folder is served as files', () => {
    const plan = planOf({
      'composer.json': composerJson({ require: { 'tightenco/jigsaw': '^1' } }),
      'berth.toml': '[build]\nbuild = "vendor/bin/jigsaw build production"\noutput = "build_production"\n',
    });
    expect({ root: plan.staticRoot, stages: plan.stages.map(({ name }) => name) }).toEqual({
      root: 'build_production',
      stages: ['php', 'build', 'server', 'runtime'],
    });
  });
});
