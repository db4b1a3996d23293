import { describe, expect, test } from 'bun:test';
import { type Files, packageJson, planOf, refusal } from './support.ts';
import { LIBRARIES, gemLock, gemfile, rackApp, railsApp, stage, commands } from './ruby-support.ts';

describe('Bundler', () => {
  test('the install sees the Gemfile and its lock, and takes them to the letter', () => {
    const files = rackApp(['rack', 'puma'], { '.ruby-version': '3.4.1' });
    expect(stage(files, 'build')).toEqual({
      name: 'build',
      from: 'ruby:3.4',
      steps: [
        { kind: 'workdir', path: '/app' },
        {
          kind: 'env',
          values: {
            BUNDLE_DEPLOYMENT: '1',
            BUNDLE_GLOBAL_GEM_CACHE: 'true',
            BUNDLE_PATH: '/usr/local/bundle',
            BUNDLE_WITHOUT: 'development:test',
          },
        },
        { kind: 'copy', sources: ['source/Gemfile', 'source/Gemfile.lock', 'source/.ruby-version'], target: './' },
        {
          kind: 'run',
          caches: [{ name: 'gems', target: '/root/.bundle/cache' }],
          command: `bundle install && rm -rf /usr/local/bundle/ruby/*/cache /usr/local/bundle/ruby/*/bundler/gems/*/.git${LIBRARIES}`,
        },
        { kind: 'copy', sources: ['source/'], target: './' },
        { kind: 'env', values: { APP_ENV: 'production', RACK_ENV: 'production' } },
      ],
    });
  });

  test.each([
    ['gems that may be compiled need compilers', rackApp(['rack', 'puma']), 'ruby:3.4'],
    ['others do not', rackApp(['rack', 'sinatra', 'rackup', 'webrick']), 'ruby:3.4-slim'],
    ['gems of the source do not', rackApp([], { 'gems/local/a.rb': '' }, { path: 'gems/local' }), 'ruby:3.4-slim'],
    [
      'unless they hold something to compile',
      rackApp([], { 'gems/local/ext/extconf.rb': '' }, { path: 'gems/local' }),
      'ruby:3.4',
    ],
    ['without a lock file nobody knows', { Gemfile: gemfile('gem "rack"'), 'config.ru': '' }, 'ruby:3.4'],
  ])('%s', (_title, files, image) => {
    expect(stage(files, 'build')?.from).toBe(image);
  });

  test.each([
    ['a gem that is not locked', 'gem "rack"\ngem "puma"', 'puma'],
    ['another requirement', 'gem "rack", "~> 3.0"', 'rack'],
    ['a gem that was removed', '', 'rack'],
  ])('%s is drift: a loud warning, and nothing to the letter', (_title, lines, name) => {
    const files = { Gemfile: gemfile(lines), 'Gemfile.lock': gemLock({ gems: ['rack 3.1.0'] }), 'config.ru': '' };
    const plan = planOf(files);
    expect(plan.warnings).toContain(
      `WARNING: Gemfile.lock does not match the Gemfile (${name}): versions other than the locked ones may be installed; run bundle install and commit Gemfile.lock`,
    );
    expect(plan.decisions).toContain('the source is copied before the install: the lock file is written anew');
    expect(JSON.stringify(plan.stages)).not.toContain('BUNDLE_DEPLOYMENT');
  });

  test.each([
    ['the same requirement', 'gem "rack", "~> 3.1"', 'rack (~> 3.1)'],
    ['an exact version', 'gem "rack", "3.1.0"', 'rack (= 3.1.0)'],
    ['two requirements in another order', 'gem "rack", ">= 3.0", "< 4"', 'rack (< 4, >= 3.0)'],
    ['from git', 'gem "rack", git: "https://x", branch: "main"', 'rack!'],
    ['a gem under a condition', 'gem "rack"\nif ENV["X"]\n  gem "puma"\nend\ngem "thin" unless ENV["Y"]', 'rack'],
    ['options without a version', 'gem "rack", require: false, platforms: %i[mri windows]', 'rack'],
  ])('%s is no drift', (_title, lines, dependency) => {
    const files = {
      Gemfile: gemfile(lines),
      'Gemfile.lock': gemLock({ gems: ['rack 3.1.0'], dependencies: [dependency] }),
      'config.ru': '',
    };
    expect(planOf(files).warnings).toEqual([]);
  });

  test('a lock file of another system gets the platforms of images', () => {
    const files = rackApp(['rack', 'puma'], {}, { platforms: ['arm64-darwin-24', 'x86_64-linux-musl'] });
    expect(commands(files, 'build')[0]).toStartWith(
      'bundle lock --add-platform x86_64-linux aarch64-linux && bundle install && ',
    );
    expect(planOf(files).warnings[0]).toStartWith(
      'WARNING: Gemfile.lock is for arm64-darwin-24, x86_64-linux-musl only',
    );
    for (const platform of ['ruby', 'x86_64-linux', 'aarch64-linux-gnu'])
      expect(planOf(rackApp(['rack'], {}, { platforms: ['arm64-darwin-24', platform] })).warnings).toEqual([]);
  });

  test('gems in vendor/cache are used, and do not stay', () => {
    const gems = ['rack 3.1.0', 'nokogiri 1.18.0-x86_64-linux-gnu', 'nokogiri 1.18.0-arm64-darwin'];
    const kept = { 'vendor/cache/rack-3.1.0.gem': '', 'vendor/cache/nokogiri-1.18.0-x86_64-linux-gnu.gem': '' };
    const files = rackApp(gems, kept, { gems });
    expect(commands(files, 'build')).toEqual([
      `bundle install --local && rm -rf /usr/local/bundle/ruby/*/cache /usr/local/bundle/ruby/*/bundler/gems/*/.git${LIBRARIES}`,
      'rm -rf vendor/cache',
    ]);
    expect(stage(files, 'build')?.steps).toContainEqual({
      kind: 'copy',
      sources: ['source/vendor/cache/'],
      target: './vendor/cache/',
    });
    expect(commands(rackApp(gems, { 'vendor/cache/rack-3.1.0.gem': '' }, { gems }), 'build')[0]).toStartWith(
      'bundle install && ',
    );
  });

  test('gems in the source are there before the install, the rest of it is not', () => {
    const files = rackApp(
      [],
      { 'gems/local/local.gemspec': '', 'gems/local/lib/local.rb': '' },
      { path: 'gems/local', dependencies: ['local!'] },
    );
    files['Gemfile'] = gemfile('gem "local", path: "gems/local"');
    expect(stage(files, 'build')?.steps.filter(({ kind }) => kind === 'copy')).toEqual([
      { kind: 'copy', sources: ['source/Gemfile', 'source/Gemfile.lock'], target: './' },
      { kind: 'copy', sources: ['source/gems/local/'], target: './gems/local/' },
      { kind: 'copy', sources: ['source/'], target: './' },
    ]);
  });

  test.each([
    [
      'a gem of its own',
      { Gemfile: gemfile('gemspec'), 'Gemfile.lock': gemLock({ path: '.', dependencies: ['local!'] }) },
      'the source is a gem itself',
    ],
    [
      'a Gemfile that reads others',
      { Gemfile: gemfile('eval_gemfile "other.rb"'), 'Gemfile.lock': gemLock({}) },
      'the Gemfile reads other files',
    ],
  ])('%s needs the whole source', (_title, files, reason) => {
    expect(planOf({ 'config.ru': '', ...(files as Files) }).decisions).toContain(
      `the source is copied before the install: ${reason}`,
    );
  });

  test.each(['../shared', '/opt/x', 'missing'])('a gem from %s is refused', (path) => {
    expect(refusal(rackApp([], {}, { path })).message).toBe(
      `Gemfile.lock takes a gem from "${path}", which is no folder of the app`,
    );
  });

  test('a lock file in the middle of a merge is refused with its place', () => {
    expect(refusal({ Gemfile: '', 'main.rb': '', 'Gemfile.lock': 'GEM\n<<<<<<< HEAD\n' }).message).toBe(
      'Gemfile.lock:2: it holds the marks of a merge that was not finished',
    );
  });

  test('credentials and what the Gemfile reads reach the install alone', () => {
    const files = rackApp(['rack'], { Gemfile: gemfile('gem "rack"', 'x = ENV.fetch("TOKEN")', 'y = ENV["OTHER"]') });
    const env = { TOKEN: 't', BUNDLE_GEMS__EXAMPLE__COM: 'u:p', SECRET_KEY_BASE: 's' };
    expect(planOf(files, { env }).installEnv).toEqual(['BUNDLE_GEMS__EXAMPLE__COM', 'TOKEN']);
  });

  test('a private server without credentials is warned about', () => {
    const files = rackApp(['rack'], {}, { remote: 'https://gems.example.com/' });
    const said = (env: Record<string, string>): boolean =>
      planOf(files, { env }).warnings.some((line) =>
        line.startsWith('Gemfile.lock names the gem server https://gems.example.com/'),
      );
    expect([said({}), said({ BUNDLE_GEMS__EXAMPLE__COM: 'x' })]).toEqual([true, false]);
  });

  test('a missing lock file is said', () => {
    expect(planOf({ Gemfile: gemfile('gem "rack"'), 'config.ru': '' }).warnings).toEqual([
      'there is no Gemfile.lock: versions may change from build to build; commit it',
    ]);
  });
});

describe('what gems need of Debian', () => {
  test.each([
    ['pg', [], []],
    ['mysql2', [], ['libmariadb3']],
    ['image_processing', [], ['libvips42']],
    ['mini_magick', [], ['imagemagick']],
    ['rmagick', [], ['imagemagick']],
    ['charlock_holmes', ['libicu-dev'], []],
    ['sqlite3', [], []],
    ['nokogiri', [], []],
  ])('%s', (gem, build, run) => {
    expect(planOf(rackApp(['rack', gem])).apt).toEqual({ build, run });
  });

  test('packages of [build] are added', () => {
    const plan = planOf(
      rackApp(['rack', 'mysql2'], { 'berth.toml': '[build]\nrun_apt = ["ffmpeg"]\nbuild_apt = ["cmake"]\n' }),
    );
    expect(plan.apt).toEqual({ build: ['cmake'], run: ['ffmpeg', 'libmariadb3'] });
  });
});

describe('Rails', () => {
  test('production, logs, files and its allocator', () => {
    expect(planOf(railsApp()).runtime?.env).toMatchObject({
      BUNDLE_DEPLOYMENT: '1',
      BUNDLE_WITHOUT: 'development:test',
      LD_PRELOAD: 'libjemalloc.so.2',
      RACK_ENV: 'production',
      RAILS_ENV: 'production',
      RAILS_LOG_TO_STDOUT: 'true',
      RAILS_SERVE_STATIC_FILES: 'true',
    });
    expect(planOf(railsApp()).apt.run).toEqual(['libjemalloc2']);
    expect(JSON.stringify(stage(railsApp(), 'build'))).not.toContain('jemalloc');
  });

  test.each([
    ['an API', [], '8.0.1', ['mkdir -p log storage tmp/pids']],
    [
      'propshaft',
      ['propshaft'],
      '8.0.1',
      ['mkdir -p log storage tmp/pids', 'SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile'],
    ],
    [
      'sprockets of an older Rails',
      ['sprockets-rails'],
      '7.0.8',
      [
        'mkdir -p log storage tmp/pids',
        'SECRET_KEY_BASE="${SECRET_KEY_BASE:-none}" bundle exec rails assets:precompile',
      ],
    ],
    [
      'bootsnap',
      ['bootsnap 1.18.4'],
      '7.1.2',
      ['mkdir -p log storage tmp/pids', 'bundle exec bootsnap precompile app/'],
    ],
  ])('the build of %s', (_title, gems, version, build) => {
    const files = rackApp([`rails ${version}`, `railties ${version}`, 'puma 6.5.0', ...gems], {
      'config/application.rb': '',
      'app/a.rb': '',
    });
    expect(planOf(files).build).toEqual(build);
  });

  test('bootsnap prepares the gems where they are installed', () => {
    const install = (version: string): string => commands(railsApp([`bootsnap ${version}`]), 'build')[0] ?? '';
    expect(install('1.18.4')).toEndWith(`&& bundle exec bootsnap precompile --gemfile${LIBRARIES}`);
    expect(install('1.5.1')).not.toContain('bootsnap');
  });

  test('assets made with package.json are built by Rails itself, with Node at hand', () => {
    const files = railsApp(['jsbundling-rails', 'propshaft'], {
      'package.json': packageJson({ scripts: { build: 'esbuild' }, dependencies: { esbuild: '0.24' } }),
      'yarn.lock': '# yarn lockfile v1\n\nesbuild@0.24:\n  version "0.24.0"\n',
    });
    const plan = planOf(files);
    expect(plan.stages.map(({ name, from }) => `${name} ${from}`)).toEqual([
      'modules node:24-slim',
      'build ruby:3.4',
      'runtime ruby:3.4-slim',
    ]);
    expect(plan.build).toEqual([
      'mkdir -p log storage tmp/pids',
      'SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile',
    ]);
    expect(commands(files, 'build').at(-1)).toEndWith('assets:precompile && rm -rf node_modules');
    expect(JSON.stringify(stage(files, 'build'))).toContain('"SKIP_YARN_INSTALL":"1"');
    expect(plan.remember).toMatchObject({ ruby: '3.4', node: '24' });
  });

  test('a build script that no gem runs is run', () => {
    const files = railsApp([], {
      'package.json': packageJson({ scripts: { build: 'vite build' }, devDependencies: { vite: '6' } }),
    });
    expect(planOf(files).build).toEqual(['npm run build', 'mkdir -p log storage tmp/pids']);
  });

  test('execjs gets something that runs JavaScript', () => {
    expect(stage(railsApp(['execjs']), 'build')?.steps).toContainEqual({
      kind: 'copy',
      from: 'node:24-slim',
      sources: ['/usr/local/bin/node'],
      target: '/usr/local/bin/node',
    });
  });

  test('migrations are only proposed, and a missing key is said', () => {
    const plan = planOf(railsApp([], { 'db/migrate/1.rb': '' }));
    expect(plan.decisions).toContain(
      'migrations are not run by themselves: set release = "bundle exec rails db:migrate" in the [build] table',
    );
    expect(plan.warnings[0]).toStartWith('neither RAILS_MASTER_KEY nor SECRET_KEY_BASE is set');
    const told = planOf(railsApp([], { 'db/migrate/1.rb': '', Procfile: 'release: rails db:migrate\n' }), {
      env: { SECRET_KEY_BASE: 'x' },
    });
    expect({ release: told.releaseCommand, warnings: told.warnings }).toEqual({
      release: ['rails', 'db:migrate'],
      warnings: [],
    });
    expect(told.decisions.join('\n')).not.toContain('migrations are not run');
  });
});
