import { describe, expect, test } from 'bun:test';
import { rubyRange } from '#engines/builder/providers/ruby/versions';
import { type Files, type Given, dockerfileOf, fileOf, packageJson, planOf, refusal } from './support.ts';
import { gemLock, gemfile, rackApp, railsApp, PUMA, LIBRARIES } from './ruby-support.ts';

describe('detection', () => {
  test.each([
    ['Rails', railsApp(), 'ruby'],
    [
      'Rails with its assets',
      railsApp(['vite_rails'], {
        'package.json': packageJson({ scripts: { start: 'vite' }, devDependencies: { vite: '6' } }),
      }),
      'ruby',
    ],
    ['config.ru alone', { 'config.ru': '', 'main.rb': '' }, 'ruby'],
    ['a script alone', { 'app.rb': '' }, 'ruby'],
    [
      'a Node app with a Gemfile for a tool',
      { Gemfile: gemfile('gem "fastlane"'), 'package.json': packageJson({ scripts: { start: 'node a' } }) },
      'node',
    ],
    [
      'a Node app with Jekyll for its pages',
      {
        Gemfile: gemfile('gem "jekyll"'),
        '_config.yml': '',
        'package.json': packageJson({ scripts: { start: 'node a' } }),
      },
      'node',
    ],
    [
      'Jekyll, whose index.html is a template',
      { Gemfile: gemfile('gem "jekyll"'), '_config.yml': '', 'index.html': '---\n---' },
      'ruby',
    ],
    ['a page beside a Gemfile for a tool', { Gemfile: gemfile('gem "html-proofer"'), 'index.html': '' }, 'static'],
  ])('%s', (_title, files, provider) => {
    expect(planOf(files).provider).toBe(provider);
  });

  test('a package.json for assets is no rival', () => {
    const files = railsApp(['jsbundling-rails'], {
      'package.json': packageJson({ scripts: { build: 'esbuild', start: 'x' } }),
    });
    expect(planOf(files, { env: { RAILS_MASTER_KEY: 'x' } }).warnings).toEqual([]);
  });

  test('gems without anything to start say so', () => {
    const error = refusal({ Gemfile: gemfile('gem "rake"') });
    expect({ kind: error.kind, message: error.message }).toEqual({
      kind: 'NO_PROVIDER_DETECTED',
      message:
        'a Ruby app was detected, but it has no start command (looked for Rails, config.ru, and main.rb, app.rb, server.rb, web.rb)',
    });
  });
});

describe('versions', () => {
  const version = (files: Files, given: Given = {}): string | undefined =>
    planOf({ 'main.rb': '', ...files }, given).versions.find(({ tool }) => tool === 'ruby')?.version;

  test.each([
    ['nothing', {}, '3.4'],
    ['.ruby-version', { '.ruby-version': '3.3.5\n' }, '3.3'],
    ['.ruby-version with a prefix', { '.ruby-version': 'ruby-3.2.2' }, '3.2'],
    ['.tool-versions', { '.tool-versions': 'nodejs 22\nruby 3.1.4\n' }, '3.1'],
    ['mise.toml', { 'mise.toml': '[tools]\nruby = "4.0"\n' }, '4.0'],
    ['the Gemfile: Bundler takes no other patch release', { Gemfile: 'ruby "3.3.5"' }, '3.3.5'],
    ['the Gemfile, in parentheses', { Gemfile: "ruby('3.2.1')" }, '3.2.1'],
    ['the Gemfile with a patch level', { Gemfile: 'ruby "2.7.8p225"' }, '2.7.8'],
    ['the Gemfile with two parts', { Gemfile: 'ruby "3.3"' }, '3.3.0'],
    ['the Gemfile with a range', { Gemfile: 'ruby "~> 3.3.0"' }, '3.3'],
    ['the Gemfile with a wide range', { Gemfile: 'ruby "~> 3.1"' }, '3.4'],
    ['the Gemfile with two ends', { Gemfile: 'ruby ">= 3.1", "< 3.3"' }, '3.2'],
    ['the Gemfile with a file', { Gemfile: 'ruby file: ".ruby-version"', '.ruby-version': '3.2.6\n' }, '3.2.6'],
    [
      'the Gemfile with .tool-versions',
      { Gemfile: 'ruby file: ".tool-versions"', '.tool-versions': 'ruby 3.2.6\n' },
      '3.2.6',
    ],
    ['the Gemfile before a file', { Gemfile: 'ruby "~> 3.2.0"', '.ruby-version': '3.4.1' }, '3.2'],
    ['a wide range, narrowed by a file', { Gemfile: 'ruby ">= 3.0"', '.ruby-version': '3.2.2' }, '3.2'],
    ['a comment', { Gemfile: '# ruby "2.7.0"\n' }, '3.4'],
    ['Gemfile.lock', { Gemfile: '', 'Gemfile.lock': gemLock({ ruby: '3.3.5p100' }) }, '3.3'],
    [
      '.ruby-version before Gemfile.lock',
      { Gemfile: '', '.ruby-version': '3.4.1', 'Gemfile.lock': gemLock({ ruby: '3.3.5p100' }) },
      '3.4',
    ],
  ])('%s', (_title, files, wanted) => {
    expect(version(files as Files)).toBe(wanted);
  });

  test('what was remembered, and an override', () => {
    expect(version({}, { remembered: { ruby: '3.3' } })).toBe('3.3');
    expect(version({ Gemfile: 'ruby "3.3.5"' }, { env: { BERTH_VERSION: '3.4' } })).toBe('3.4');
  });

  test('the reason names the file and the line', () => {
    expect(planOf({ 'main.rb': '', Gemfile: 'source "x"\nruby "~> 3.3.0"\n' }).versions[0]?.reason).toBe(
      'ruby in Gemfile:2 says "~> 3.3.0"',
    );
  });

  test.each([
    [
      'impossible',
      { Gemfile: 'ruby "~> 9.0"' },
      'ruby in Gemfile:1 asks for Ruby "~> 9.0", which no known version satisfies',
    ],
    [
      'of another engine',
      { Gemfile: 'ruby "3.1.4", engine: "jruby", engine_version: "9.4.0"' },
      'ruby in Gemfile:1 asks for the engine "jruby"',
    ],
    [
      'of another engine, in a file',
      { '.ruby-version': 'jruby-9.4.5.0' },
      '.ruby-version asks for Ruby "jruby-9.4.5.0", which is no version',
    ],
  ])('one that is %s is refused with its place', (_title, files, message) => {
    const error = refusal({ 'main.rb': '', ...(files as Files) });
    expect({ kind: error.kind, message: error.message }).toEqual({ kind: 'INVALID_INPUT', message });
  });

  test.each([
    ['~> 3.3', '>=3.3.0 <4.0.0'],
    ['~> 3.3.1', '>=3.3.1 <3.4.0'],
    ['= 3.3.1', '3.3.1'],
    ['>= 3.1, < 3.4', '>=3.1 <3.4'],
    ['!= 3.1.0, >= 3', '>=3'],
    ['ruby-3.3.1', '3.3.1'],
    ['3.4.0-preview1', '3.4.0-preview1'],
    ['3.4.0.rc1', '3.4.0-rc1'],
    ['', '*'],
  ])('RubyGems’ %s is %s', (written, range) => {
    expect(rubyRange(written)).toBe(range);
  });
});

describe('start', () => {
  test.each([
    ['Rails with puma', railsApp(), 'Rails', PUMA],
    [
      'Rails without a server',
      rackApp(['rails 7.1.0', 'railties 7.1.0'], { 'config/application.rb': '' }),
      'Rails',
      ['/bin/sh', '-c', 'exec bundle exec rails server -b 0.0.0.0 -p "${PORT:-8080}"'],
    ],
    ['puma', rackApp(['rack', 'puma']), 'Rack', PUMA],
    ['Sinatra with puma', rackApp(['sinatra', 'puma']), 'Sinatra', PUMA],
    [
      'falcon',
      rackApp(['roda', 'falcon']),
      'Roda',
      ['/bin/sh', '-c', 'exec bundle exec falcon serve --bind "http://0.0.0.0:${PORT:-8080}"'],
    ],
    [
      'unicorn',
      rackApp(['grape', 'unicorn']),
      'Grape',
      ['/bin/sh', '-c', 'exec bundle exec unicorn -E production -l "0.0.0.0:${PORT:-8080}"'],
    ],
    [
      'thin',
      rackApp(['rack', 'thin']),
      'Rack',
      ['/bin/sh', '-c', 'exec bundle exec thin start -e production -a 0.0.0.0 -p "${PORT:-8080}"'],
    ],
    [
      'rackup',
      rackApp(['rack', 'rackup', 'webrick']),
      'Rack',
      ['/bin/sh', '-c', 'exec bundle exec rackup -E production -o 0.0.0.0 -p "${PORT:-8080}"'],
    ],
    ['Hanami', rackApp(['hanami', 'puma']), 'Hanami', PUMA],
    [
      'a classic Sinatra app',
      { Gemfile: gemfile('gem "sinatra"'), 'app.rb': '' },
      'Sinatra',
      ['bundle', 'exec', 'ruby', 'app.rb'],
    ],
    [
      'a script with gems',
      { Gemfile: gemfile('gem "async"'), 'server.rb': '' },
      null,
      ['bundle', 'exec', 'ruby', 'server.rb'],
    ],
    ['a script without', { 'main.rb': '' }, null, ['ruby', 'main.rb']],
    [
      'a Procfile',
      railsApp([], { Procfile: 'web: bundle exec rails s -p $PORT\n' }),
      'Rails',
      ['/bin/sh', '-c', 'exec bundle exec rails s -p $PORT'],
    ],
    [
      '[build] start',
      railsApp([], { 'berth.toml': '[build]\nstart = ["bin/thrust", "bin/rails", "server"]\n' }),
      'Rails',
      ['bin/thrust', 'bin/rails', 'server'],
    ],
    [
      'a server for development only',
      {
        Gemfile: gemfile('gem "rack"', 'gem "rackup"', 'group :development do', '  gem "puma"', 'end'),
        'config.ru': '',
      },
      'Rack',
      ['/bin/sh', '-c', 'exec bundle exec rackup -E production -o 0.0.0.0 -p "${PORT:-8080}"'],
    ],
  ])('%s', (_title, files, framework, argv) => {
    const plan = planOf(files);
    expect({ framework: plan.framework, start: plan.start }).toEqual({
      framework: framework,
      start: argv,
    });
  });
});

describe('groups of a Gemfile', () => {
  const starts = (...lines: string[]): boolean =>
    planOf({ Gemfile: gemfile('gem "rack"', ...lines), 'config.ru': '' }).start[2]?.includes('puma') ?? false;

  test.each([
    ['none', ['gem "puma"'], true],
    ['a block', ['group :development, :test do', 'gem "puma"', 'end'], false],
    ['a block of production', ['group :production do', 'gem "puma"', 'end'], true],
    ['after a block', ['group :test do', 'gem "x"', 'end', 'gem "puma"'], true],
    ['a block inside a block', ['group :test do', 'platforms :mri do', 'gem "x"', 'end', 'gem "puma"', 'end'], false],
    ['an option', ['gem "puma", group: :development'], false],
    ['an old option', ['gem "puma", :group => [:development, :test]'], false],
    ['a list of words', ['gem "puma", groups: %i[development test]'], false],
    ['an option that adds production', ['gem "puma", groups: [:test, :production]'], true],
    ['a line that goes on', ['gem "puma",', '    "~> 6.0",', '    group: :development'], false],
    ['in both', ['gem "puma"', 'group :test do', 'gem "puma"', 'end'], true],
    ['in a comment', ['# gem "puma"'], false],
    ['with a comment behind', ['gem "puma" # gem "x", group: :test'], true],
    ['single quotes and parentheses', ["gem('puma', '~> 6')"], true],
  ])('%s', (_title, lines, wanted) => {
    expect(starts(...lines)).toBe(wanted);
  });
});

describe('sites', () => {
  test('Jekyll leaves files', () => {
    const plan = planOf({
      Gemfile: gemfile('gem "jekyll"'),
      'Gemfile.lock': gemLock({ gems: ['jekyll 4.3.4'] }),
      '_config.yml': '',
      'index.md': '',
    });
    expect({ root: plan.staticRoot, build: plan.build, start: plan.start[0] }).toEqual({
      root: '_site',
      build: ['JEKYLL_ENV=production bundle exec jekyll build --destination _site'],
      start: 'caddy',
    });
    expect(plan.stages.map(({ name }) => name)).toEqual(['build', 'server', 'runtime']);
  });

  test('and so does any build with an output', () => {
    const plan = planOf({
      Gemfile: gemfile('gem "nanoc"'),
      'berth.toml': '[build]\nbuild = "bundle exec nanoc"\noutput = "output"\n',
    });
    expect({ root: plan.staticRoot, build: plan.build }).toEqual({ root: 'output', build: ['bundle exec nanoc'] });
  });
});

describe('overrides', () => {
  test('install and build', () => {
    const plan = planOf(railsApp([], { 'berth.toml': '[build]\ninstall = "bundle i"\nbuild = []\n' }));
    expect({ install: plan.install, build: plan.build, env: plan.installEnv }).toEqual({
      install: ['bundle i'],
      build: [],
      env: null,
    });
  });
});

test('the Dockerfile of a script', () => {
  expect(dockerfileOf({ 'main.rb': '' })).toBe(`FROM ruby:3.4-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
WORKDIR /app
COPY --chown=1000:1000 source/ ./
ENV APP_ENV=production HOST=0.0.0.0 HOSTNAME=0.0.0.0 MALLOC_ARENA_MAX=2 PORT=8080 RACK_ENV=production
USER app
EXPOSE 8080
CMD ["ruby","main.rb"]
`);
});

test('the Dockerfile of a rack app', () => {
  const files = rackApp(['rack', 'puma', 'pg']);
  expect(fileOf(planOf(files), 'berth/env')).toBe('');
  expect(dockerfileOf(files)).toBe(`FROM ruby:3.4 AS build
WORKDIR /app
ENV BUNDLE_DEPLOYMENT=1 BUNDLE_GLOBAL_GEM_CACHE=true BUNDLE_PATH=/usr/local/bundle BUNDLE_WITHOUT=development:test
COPY source/Gemfile source/Gemfile.lock ./
RUN --mount=type=cache,id=berth-shop-web-gems,target=/root/.bundle/cache bundle install && rm -rf /usr/local/bundle/ruby/*/cache /usr/local/bundle/ruby/*/bundler/gems/*/.git${LIBRARIES}
COPY source/ ./
ENV APP_ENV=production RACK_ENV=production

FROM ruby:3.4-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
WORKDIR /app
COPY --from=build /out/lib/ /usr/local/lib/
RUN ldconfig
COPY --from=build /usr/local/bundle/ /usr/local/bundle/
COPY --from=build --chown=1000:1000 /app/ ./
ENV APP_ENV=production BUNDLE_DEPLOYMENT=1 BUNDLE_PATH=/usr/local/bundle BUNDLE_WITHOUT=development:test HOST=0.0.0.0 HOSTNAME=0.0.0.0 MALLOC_ARENA_MAX=2 PORT=8080 RACK_ENV=production
USER app
EXPOSE 8080
CMD ["/bin/sh","-c","exec bundle exec puma -b \\"tcp://0.0.0.0:\${PORT:-8080}\\""]
`);
});
