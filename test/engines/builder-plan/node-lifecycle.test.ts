import { describe, expect, test } from 'bun:test';
import { type Files, fileOf, nodeApp, packageJson, planOf } from './support.ts';

const dependencies = { express: '^5.0.0' };
const devDependencies = { typescript: '^5.0.0', husky: '^9.0.0', prisma: '^6.0.0' };
const lock: Files = { 'package-lock.json': packageJson({ packages: { '': { dependencies, devDependencies } } }) };

const commands = (files: Files): string[] =>
  planOf(files).stages.flatMap(({ steps }) => steps.flatMap((step) => (step.kind === 'run' ? [step.command] : [])));

describe('scripts that run when packages are installed', () => {
  test.each([
    'husky',
    'husky install',
    'husky || true',
    'is-ci || husky install',
    'nuxt prepare',
    "svelte-kit sync || echo ''",
  ])('%s is not run: nothing of an image needs it', (text) => {
    const plan = planOf(
      nodeApp({ scripts: { start: 'node a.js', prepare: text }, dependencies, devDependencies }, lock),
    );
    expect(plan.decisions.join('\n')).not.toContain('copied before');
    expect(JSON.parse(fileOf(plan, 'berth/manifests/package.json'))).toEqual({
      scripts: { start: 'node a.js' },
      dependencies,
      devDependencies,
    });
    expect(plan.install).toEqual(['npm ci --omit=dev --no-audit --no-fund']);
  });

  test.each(['patch-package', 'prisma generate', 'npx patch-package'])('%s runs, and needs no source', (text) => {
    const plan = planOf(nodeApp({ scripts: { start: 'node a.js', postinstall: text }, dependencies }));
    expect(plan.decisions.join('\n')).not.toContain('copied before');
    expect(plan.files).toEqual([]);
  });

  test('one that may read the source gets it first, and what it makes stays', () => {
    const files = nodeApp({ scripts: { start: 'node a.js', postinstall: 'node scripts/setup.js' }, dependencies });
    const plan = planOf(files);
    expect(plan.decisions).toContain(
      'the source is copied before the install: the postinstall script may read the source',
    );
    expect(plan.stages.map(({ steps }) => steps.filter(({ kind }) => kind === 'copy').length)).toEqual([1]);
    const pnpm = planOf({ ...files, 'pnpm-lock.yaml': '' });
    expect(pnpm.stages.map(({ name }) => name)).toEqual(['deps', 'build', 'runtime']);
  });

  test.each([
    ['postinstall', 'tsc'],
    ['prepare', 'npm run compile'],
    ['postinstall', 'npm run build'],
  ])('a %s script that builds (%s) is the build', (name, text) => {
    const scripts = { start: 'node dist/a.js', compile: 'tsc', build: 'tsc', [name]: text };
    const { build: _, ...withoutBuild } = scripts;
    expect(planOf(nodeApp({ scripts, dependencies, devDependencies }, lock)).build).toEqual(['npm run build']);
    const plan = planOf(nodeApp({ scripts: withoutBuild, dependencies, devDependencies }, lock));
    expect(plan.build).toEqual([`npm run ${name}`]);
    expect(plan.install).toEqual(['npm ci --include=dev --no-audit --no-fund']);
  });

  test('one that calls a development tool has it, and the image does not', () => {
    const plan = planOf(
      nodeApp({ scripts: { start: 'node a.js', postinstall: 'prisma generate' }, dependencies, devDependencies }, lock),
    );
    expect(plan.install).toEqual(['npm ci --include=dev --no-audit --no-fund']);
    expect(plan.stages.map(({ name }) => name)).toEqual(['deps', 'production', 'runtime']);
  });

  test.each(['heroku-postbuild', 'gcp-build'])(
    'the build of other hosts counts where there is no other: %s',
    (name) => {
      expect(planOf(nodeApp({ scripts: { [name]: 'tsc', start: 'node a.js' } })).build).toEqual([`npm run ${name}`]);
      expect(planOf(nodeApp({ scripts: { build: 'x', [name]: 'tsc', start: 'node a.js' } })).build).toEqual([
        'npm run build',
      ]);
    },
  );
});

describe('a start script that builds first', () => {
  test.each([
    ['npm run build:ts && fastify start dist/app.js', ['npm run build:ts'], ['fastify', 'start', 'dist/app.js']],
    ['npm run build && node dist/a.js', ['npm run build'], ['node', 'dist/a.js']],
    ['tsc && node dist/a.js', ['PATH="$PWD/node_modules/.bin:$PATH" tsc'], ['node', 'dist/a.js']],
    [
      'node migrate.js && npm run build && node a.js',
      [],
      ['/bin/sh', '-c', 'node migrate.js && npm run build && exec node a.js'],
    ],
    ['npm run build', [], ['tsc']],
  ])('%s', (start, build, argv) => {
    const { build: _, ...scripts } = { start, 'build:ts': 'tsc', build: 'tsc' };
    const own = start.includes('npm run build ') || start === 'npm run build' ? { ...scripts, build: 'tsc' } : scripts;
    const plan = planOf(nodeApp({ scripts: own, dependencies, devDependencies }));
    expect(plan.start).toEqual(argv);
    expect(plan.build).toEqual(start === 'npm run build' || start.startsWith('node') ? ['npm run build'] : build);
  });

  test('prestart counts too', () => {
    const plan = planOf(
      nodeApp({ scripts: { prestart: 'npm run build', build: 'tsc', start: 'node dist/a.js' }, dependencies }),
    );
    expect({ build: plan.build, start: plan.start }).toEqual({
      build: ['npm run build'],
      start: ['node', 'dist/a.js'],
    });
  });

  test('a command of the user builds what it says itself', () => {
    const plan = planOf(
      nodeApp({ scripts: { start: 'tsc && node a.js' }, dependencies }, { Procfile: 'web: node b.js' }),
    );
    expect({ build: plan.build, start: plan.start }).toEqual({ build: [], start: ['node', 'b.js'] });
  });
});

describe('packages of the runtime', () => {
  const built = {
    scripts: { build: 'tsc', start: 'node dist/a.js' },
    dependencies,
    devDependencies: { typescript: '^5.0.0' },
  };
  const locked: Files = {
    'package-lock.json': packageJson({ packages: { '': { dependencies, devDependencies: built.devDependencies } } }),
  };

  test('are installed beside those of the build, where the lock file makes them the same', () => {
    const plan = planOf(nodeApp(built, locked));
    expect(plan.stages.map(({ name, from }) => [name, from])).toEqual([
      ['manifests', 'node:24-slim'],
      ['deps', 'manifests'],
      ['production', 'manifests'],
      ['build', 'deps'],
      ['runtime', 'node:24-slim'],
    ]);
  });

  test.each([
    ['there is no lock file', built, {}],
    ['something is compiled', { ...built, dependencies: { ...dependencies, canvas: '1' } }, locked],
    ['a script left its traces', { ...built, scripts: { ...built.scripts, postinstall: 'patch-package' } }, locked],
  ])('are what is left of those of the build, where %s', (_title, manifest, files) => {
    const plan = planOf(nodeApp(manifest, files));
    expect(plan.stages.find(({ name }) => name === 'production')?.from).toBe('deps');
  });

  test('the release command has the development tools that it names', () => {
    const plan = planOf(
      nodeApp(
        { scripts: { start: 'node a.js', migrate: 'prisma migrate deploy' }, dependencies, devDependencies },
        { ...lock, Procfile: 'release: npm run migrate' },
      ),
    );
    expect(plan.warnings).toContain('development dependencies stay in the image, because its commands use prisma');
    expect(plan.install).toEqual(['npm ci --include=dev --no-audit --no-fund']);
  });

  test('npm installs without the lock file where it refuses it, and only then', () => {
    const [install = ''] = commands(
      nodeApp({ dependencies }, { 'package-lock.json': packageJson({ packages: { '': { dependencies } } }) }),
    );
    expect(install).toStartWith('npm ci --omit=dev --no-audit --no-fund || { npm ci --dry-run ');
    expect(install).toEndWith('&& npm install --omit=dev --no-audit --no-fund; }');
    expect(install).toContain('WARNING');
  });
});
