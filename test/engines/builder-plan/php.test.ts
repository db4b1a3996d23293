import { describe, expect, test } from 'bun:test';
import { composerRange } from '#engines/builder/providers/php/constraint';
import { type Files, type Given, dockerfileOf, fileOf, packageJson, planOf, refusal } from './support.ts';
import { composerJson, phpApp, composerLock, commands, laravel } from './php-support.ts';

describe('which folder is served', () => {
  const root = (files: Files, given?: Given): string =>
    /DocumentRoot "(.*)"/.exec(fileOf(planOf(files, given), 'berth/apache.conf'))?.[1] ?? '';

  test.each([
    ['index.php alone', { 'index.php': '' }, '/app'],
    ['public of an app with a manifest', phpApp(), '/app/public'],
    ['public rather than a forwarder beside it', phpApp({}, { 'index.php': '' }), '/app/public'],
    ['the root of an app without one', { 'index.php': '', 'public/index.php': '' }, '/app'],
    ['web', { 'composer.json': composerJson(), 'web/index.php': '' }, '/app/web'],
    [
      'webroot of CakePHP',
      {
        'composer.json': composerJson({ require: { 'cakephp/cakephp': '5.*' } }),
        'index.php': '',
        'webroot/index.php': '',
      },
      '/app/webroot',
    ],
    [
      'a folder that Symfony is told',
      phpApp({ extra: { 'public-dir': 'httpdocs/' } }, { 'httpdocs/index.php': '' }),
      '/app/httpdocs',
    ],
    [
      'the frontend of Yii',
      { 'composer.json': composerJson({ require: { 'yiisoft/yii2': '~2.0.45' } }), 'frontend/web/index.php': '' },
      '/app/frontend/web',
    ],
    [
      'web of Drupal, which Composer fills',
      {
        'composer.json': composerJson({ require: { 'drupal/core-recommended': '^11' } }),
        'composer.lock': composerLock({ 'drupal/core-recommended': { version: '11.0.0' } }),
      },
      '/app/web',
    ],
    ['public_html', { 'composer.json': composerJson(), 'public_html/index.php': '' }, '/app/public_html'],
    [
      'what the Procfile says to Heroku’s Apache',
      phpApp({}, { Procfile: 'web: vendor/bin/heroku-php-apache2 site/\n' }),
      '/app/site',
    ],
    [
      'what it says to Heroku’s nginx',
      phpApp({}, { Procfile: 'web: heroku-php-nginx -C nginx.conf public/\n' }),
      '/app/public',
    ],
    [
      'the root where Heroku is told nothing',
      phpApp({}, { Procfile: 'web: vendor/bin/heroku-php-apache2 -C apache.conf\n' }),
      '/app',
    ],
  ])('%s', (_title, files, folder) => {
    expect(root(files)).toBe(folder);
  });

  test('a name that cannot be used in a build is refused', () => {
    expect(refusal(phpApp({}, { Procfile: 'web: heroku-php-apache2 a"b\n' })).message).toStartWith(
      'the path "a\\"b" cannot be used',
    );
  });

  test('a manifest without anything to serve says so', () => {
    const error = refusal({ 'composer.json': composerJson() });
    expect({ kind: error.kind, message: error.message }).toEqual({
      kind: 'NO_PROVIDER_DETECTED',
      message:
        'a PHP app was detected, but it has no start command (looked for index.php in the app, public, web and similar folders)',
    });
  });
});

describe('detection', () => {
  test.each([
    ['composer.json and a front controller', phpApp(), 'php'],
    [
      'Laravel with its assets',
      laravel({
        'package.json': packageJson({ scripts: { build: 'vite build' }, devDependencies: { vite: '6' } }),
        'vite.config.js': '',
      }),
      'php',
    ],
    ['WordPress', { 'index.php': '', 'wp-load.php': '', 'wp-includes/version.php': '' }, 'php'],
    [
      'a Node app that keeps Composer for a tool',
      { 'composer.json': composerJson(), 'package.json': packageJson({ scripts: { start: 'node a.js' } }) },
      'node',
    ],
    ['a page beside a vendored index.php', { 'index.html': '', 'vendor/a/index.php': '' }, 'static'],
  ])('%s', (_title, files, provider) => {
    expect(planOf(files).provider).toBe(provider);
  });

  test('a package.json for assets is no rival', () => {
    const { warnings } = planOf(
      laravel({
        'package.json': packageJson({
          scripts: { build: 'vite build', start: 'vite' },
          devDependencies: { vite: '6' },
        }),
        'index.html': '',
      }),
      { env: { APP_KEY: 'x' } },
    );
    expect(warnings).toEqual([]);
  });

  test.each([
    ['laravel/framework', 'Laravel'],
    ['laravel/lumen-framework', 'Lumen'],
    ['symfony/framework-bundle', 'Symfony'],
    ['slim/slim', 'Slim'],
    ['cakephp/cakephp', 'CakePHP'],
    ['codeigniter4/framework', 'CodeIgniter'],
    ['yiisoft/yii2', 'Yii'],
    ['drupal/core', 'Drupal'],
    ['craftcms/cms', 'Craft CMS'],
    ['roots/wordpress', 'WordPress'],
    ['mezzio/mezzio', 'Mezzio'],
    ['monolog/monolog', null],
  ])('%s is %s', (pack, framework) => {
    expect(planOf(phpApp({ require: { [pack]: '*' } })).framework).toBe(framework);
  });
});

describe('versions', () => {
  const version = (more: Record<string, unknown>, files: Files = {}, given: Given = {}): string | undefined =>
    planOf(phpApp(more, files), given).versions.find(({ tool }) => tool === 'php')?.version;

  test.each([
    ['nothing', {}, {}, '8.5'],
    ['a caret', { require: { php: '^8.2' } }, {}, '8.5'],
    ['an upper bound', { require: { php: '>=8.1 <8.4' } }, {}, '8.3'],
    ['a comma', { require: { php: '>=8.1, <8.3' } }, {}, '8.2'],
    ['a tilde of two parts', { require: { php: '~8.1' } }, {}, '8.5'],
    ['a tilde of three parts', { require: { php: '~8.1.0' } }, {}, '8.1'],
    ['alternatives', { require: { php: '^7.4|^8.0' } }, {}, '8.5'],
    ['alternatives with an end', { require: { php: '~8.2.0 || ~8.3.0' } }, {}, '8.3'],
    ['a wildcard', { require: { php: '8.2.*' } }, {}, '8.2'],
    ['one line', { require: { php: '8.4' } }, {}, '8.4'],
    ['an old one', { require: { php: '^7.4' } }, {}, '7.4'],
    ['php-64bit', { require: { 'php-64bit': '~8.3.0' } }, {}, '8.3'],
    ['the platform of config', { require: { php: '^8.1' }, config: { platform: { php: '8.2.13' } } }, {}, '8.2'],
    ['.php-version', {}, { '.php-version': '8.3\n' }, '8.3'],
    ['.tool-versions', {}, { '.tool-versions': 'php 8.2.5\n' }, '8.2'],
    ['mise.toml', {}, { 'mise.toml': '[tools]\nphp = "8.4"\n' }, '8.4'],
    ['a wide range, narrowed by a file', { require: { php: '>=8.1' } }, { '.php-version': '8.2' }, '8.2'],
    [
      'a range, narrowed by locked packages',
      { require: { php: '^8.1', 'a/b': '*' } },
      { 'composer.lock': composerLock({ 'a/b': { require: { php: '~8.2.0 || ~8.3.0' } } }) },
      '8.3',
    ],
    [
      'locked packages alone',
      { require: { 'a/b': '*' } },
      { 'composer.lock': composerLock({ 'a/b': { require: { php: '^7.4 || ~8.0.0' } } }) },
      '8.0',
    ],
  ])('%s', (_title, more, files, wanted) => {
    expect(version(more, files as Files)).toBe(wanted);
  });

  test('the reason names the file and the line', () => {
    const plan = planOf(phpApp({ require: { php: '~8.3.0' } }));
    expect(plan.versions[0]?.reason).toBe('require.php in composer.json:4 says "~8.3.0"');
  });

  test('the reason names the package that sets the limit', () => {
    const plan = planOf(
      phpApp({ require: { 'a/b': '*' } }, { 'composer.lock': composerLock({ 'a/b': { require: { php: '~8.1.0' } } }) }),
    );
    expect(plan.versions[0]).toEqual({ tool: 'php', version: '8.1', reason: 'a/b in composer.lock says "~8.1.0"' });
  });

  test('what was remembered, and an override', () => {
    expect(version({}, {}, { remembered: { php: '8.3' } })).toBe('8.3');
    expect(version({ require: { php: '^8.2' } }, {}, { env: { BERTH_VERSION: '8.4.3' } })).toBe('8.4.3');
  });

  test('an impossible one is refused with its place', () => {
    expect(refusal(phpApp({ require: { php: '^9.0' } })).message).toBe(
      'require.php in composer.json:4 asks for PHP "^9.0", which no known version satisfies',
    );
    expect(refusal(phpApp({ require: { php: 'newest' } })).message).toContain('which is no version');
  });

  test.each([
    ['^8.1', '^8.1'],
    ['~8.1', '>=8.1.0 <9.0.0'],
    ['~8.1.2', '>=8.1.2 <8.2.0'],
    ['~8', '>=8.0.0 <9.0.0'],
    ['>= 8.1 , < 9', '>=8.1 <9'],
    ['8.*', '8.x'],
    ['^7.1 | ^8.0', '^7.1 || ^8.0'],
    ['v8.1.0', '8.1.0'],
    ['^8.1@dev', '^8.1'],
    ['8.1.2.3', '8.1.2'],
    ['>=8.1 !=8.1.3', '>=8.1'],
    ['8.1 - 8.3', '8.1 - 8.3'],
    ['*', '*'],
  ])('Composer’s %s is %s', (written, range) => {
    expect(composerRange(written)).toBe(range);
  });
});

describe('extensions', () => {
  const installed = (files: Files, given?: Given): string =>
    commands(files, 'php', given)
      .join(' && ')
      .replace(/ && find .*$/, '');

  test('those of PHP itself are compiled, those of PECL are fetched, both are enabled', () => {
    expect(
      installed(
        phpApp({ require: { php: '~8.5.0', 'ext-gd': '*', 'ext-intl': '*', 'ext-redis': '*', 'ext-json': '*' } }),
      ),
    ).toEndWith(
      'docker-php-ext-configure gd --with-freetype --with-jpeg --with-webp && docker-php-ext-install -j"$(nproc)" gd intl && MAKEFLAGS="-j$(nproc)" pecl install redis && docker-php-ext-enable redis',
    );
  });

  test.each([
    ['built in ones are not', { 'ext-json': '*', 'ext-mbstring': '*', 'ext-PDO': '*', 'ext-simplexml': '*' }, ''],
    [
      'names are written in many ways',
      { 'ext-BCMath': '*', 'ext-zend-opcache': '*', 'ext-pdo_mysql': '*' },
      'docker-php-ext-install -j"$(nproc)" bcmath pdo_mysql',
    ],
    [
      'one that nobody knows comes from PECL',
      { 'ext-weird': '*' },
      'MAKEFLAGS="-j$(nproc)" pecl install weird && docker-php-ext-enable weird',
    ],
  ])('%s', (_title, require, wanted) => {
    expect(installed(phpApp({ require: { php: '~8.5.0', ...require } }))).toBe(wanted);
  });

  test('until 8.4, the opcode cache is an extension to enable', () => {
    expect(installed(phpApp({ require: { php: '~8.4.0' } }))).toBe('docker-php-ext-enable opcache');
    expect(installed(phpApp({ require: { php: '~8.5.0' } }))).toBe('');
  });

  test('locked packages are asked, but not for what a polyfill stands in for', () => {
    const files = phpApp(
      { require: { php: '~8.5.0', 'a/b': '*' } },
      {
        'composer.lock': composerLock({
          'a/b': { require: { 'ext-bcmath': '*', 'ext-intl': '*' } },
          'symfony/polyfill-intl': { provide: { 'ext-intl': '*' } },
        }),
      },
    );
    expect(planOf(files).decisions).toContain('extensions: bcmath (a/b)');
  });

  test.each([
    [
      'Laravel gets both drivers',
      laravel(),
      {},
      'pdo_mysql (Laravel, for a database), pdo_pgsql (Laravel, for a database)',
    ],
    [
      'or the one that its variables name',
      laravel(),
      { DB_CONNECTION: 'pgsql' },
      'pdo_pgsql (Laravel, for a database)',
    ],
    ['or that an address names', laravel(), { DATABASE_URL: 'mysql://db/shop' }, 'pdo_mysql (Laravel, for a database)'],
    [
      'and the client of Redis',
      laravel(),
      { DB_CONNECTION: 'mysql', REDIS_URL: 'redis://r' },
      'pdo_mysql (Laravel, for a database), redis (Laravel, whose variables name Redis)',
    ],
    [
      'but not where the app has its own',
      laravel({}, { require: { 'laravel/framework': '*', 'predis/predis': '*' } }),
      { DB_CONNECTION: 'mysql', REDIS_HOST: 'r' },
      'pdo_mysql (Laravel, for a database)',
    ],
    [
      'Doctrine gets both',
      phpApp({ require: { 'doctrine/dbal': '^4' } }),
      {},
      'pdo_mysql (the app, for a database), pdo_pgsql (the app, for a database)',
    ],
    [
      'a plain folder finds what shared hosting has',
      { 'index.php': '' },
      {},
      'mysqli (the app, for a database), pdo_mysql (the app, for a database)',
    ],
    [
      'WordPress',
      { 'index.php': '', 'wp-load.php': '' },
      {},
      'exif (WordPress), gd (WordPress), intl (WordPress), mysqli (WordPress, for a database), zip (WordPress)',
    ],
  ])('%s', (_title, files, env, wanted) => {
    expect(planOf(files, { env: env }).decisions).toContain(`extensions: ${wanted}`);
  });

  test.each(['oci8', 'imap', 'a b', '$(id)'])('ext-%s is refused with its place', (name) => {
    const error = refusal(phpApp({ require: { [`ext-${name}`]: '*' } }));
    expect(error.kind).toBe('INVALID_INPUT');
    expect(error.message).toStartWith('composer.json:4 asks for the PHP extension');
  });

  test('libraries are installed for what was compiled, and nothing where there is nothing to link', () => {
    const last = (files: Files): string => dockerfileOf(files).split('AS runtime\n')[1] ?? '';
    expect(last(phpApp({ require: { 'ext-intl': '*' } }))).toContain(
      'apt-get install -y -qq --no-install-recommends $(cat /usr/local/lib/php/libraries)',
    );
    expect(last(phpApp({ require: { 'ext-bcmath': '*' } }))).not.toContain('apt-get');
  });
});

test('the Dockerfile of a plain folder', () => {
  expect(dockerfileOf({ 'index.php': '<?php', '.php-version': '8.4' })).toBe(`FROM php:8.4-apache AS slim
RUN apt-get purge -y -qq --auto-remove -o APT::AutoRemove::RecommendsImportant=false $PHPIZE_DEPS libc6-dev && rm -rf /usr/src/php* /usr/local/include/php /usr/local/lib/php/build /usr/local/lib/php/test /usr/local/php/man && useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app && a2dismod -q -f autoindex status && a2enmod -q expires headers remoteip rewrite && a2disconf -q other-vhosts-access-log && rm /etc/apache2/sites-enabled/* && : > /etc/apache2/ports.conf && php --version

FROM php:8.4-apache AS php
RUN docker-php-ext-install -j"$(nproc)" mysqli pdo_mysql && docker-php-ext-enable opcache

FROM scratch AS runtime
COPY --from=slim / /
ENV APACHE_CONFDIR=/etc/apache2 APACHE_ENVVARS=/etc/apache2/envvars HOST=0.0.0.0 HOSTNAME=0.0.0.0 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PHP_INI_DIR=/usr/local/etc/php PORT=8080
COPY --from=php /usr/local/lib/php/extensions/ /usr/local/lib/php/extensions/
COPY --from=php /usr/local/etc/php/conf.d/ /usr/local/etc/php/conf.d/
COPY berth/php.ini /usr/local/etc/php/conf.d/zz-berth.ini
COPY berth/apache.conf /etc/apache2/sites-enabled/berth.conf
COPY berth/serve-php /usr/local/bin/serve-php
WORKDIR /app
COPY --chown=1000:1000 source/ ./
USER app
EXPOSE 8080
CMD ["/bin/sh","/usr/local/bin/serve-php"]
`);
});
