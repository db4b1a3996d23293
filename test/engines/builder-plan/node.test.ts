import { describe, expect, test } from 'bun:test';
import { nodeApp, packageJson, planOf, refusal } from './support.ts';

describe('how an app without a framework starts', () => {
  test.each([
    ['a simple script runs without npm', { scripts: { start: 'node server.js' } }, ['node', 'server.js']],
    [
      'flags and quotes',
      { scripts: { start: 'node --enable-source-maps "dist/my server.js"' } },
      ['node', '--enable-source-maps', 'dist/my server.js'],
    ],
    [
      'a variable needs a shell, which gives way',
      { scripts: { start: 'serve -l $PORT' } },
      ['/bin/sh', '-c', 'exec serve -l $PORT'],
    ],
    [
      'the last of several commands gets the signal',
      { scripts: { start: 'node migrate.js && node server.js' } },
      ['/bin/sh', '-c', 'node migrate.js && exec node server.js'],
    ],
    [
      'an assignment in front',
      { scripts: { start: 'NODE_ENV=production node server.js' } },
      ['/bin/sh', '-c', 'exec env NODE_ENV=production node server.js'],
    ],
    [
      'cross-env is not needed',
      { scripts: { start: 'cross-env NODE_ENV=production node server.js' } },
      ['/bin/sh', '-c', 'exec env NODE_ENV=production node server.js'],
    ],
    ['npx is not needed', { scripts: { start: 'npx serve build' } }, ['serve', 'build']],
    [
      'a pipe stays as it is',
      { scripts: { start: 'node server.js | pino-pretty' } },
      ['/bin/sh', '-c', 'node server.js | pino-pretty'],
    ],
    ['a script that calls another', { scripts: { start: 'npm run serve', serve: 'node app.js' } }, ['node', 'app.js']],
    ['yarn without run', { scripts: { start: 'yarn serve', serve: 'node app.js' } }, ['node', 'app.js']],
    [
      'scripts that call each other in a circle',
      { scripts: { start: 'npm run a', a: 'npm run start' } },
      ['npm', 'run', 'a'],
    ],
    [
      'prestart runs first',
      { scripts: { prestart: 'node check.js', start: 'node server.js' } },
      ['/bin/sh', '-c', 'node check.js && exec node server.js'],
    ],
    ['main', { main: './lib/run' }, ['node', 'lib/run.js']],
    ['main that is a folder', { main: 'api' }, ['node', 'api/index.js']],
    ['main that the build makes', { main: 'dist/index.js', scripts: { build: 'tsc' } }, ['node', 'dist/index.js']],
    ['main that does not exist', { main: 'nope.js' }, ['node', 'index.mjs']],
    ['nothing but a file', {}, ['node', 'index.mjs']],
  ])('%s', (_title, manifest, start) => {
    const files = { 'package.json': packageJson(manifest), 'index.mjs': '', 'lib/run.js': '', 'api/index.js': '' };
    expect(planOf(files).start).toEqual(start);
  });

  test('a TypeScript file runs by Node itself', () => {
    expect(planOf({ 'package.json': '{}', 'server.ts': '' }).start).toEqual(['node', 'server.ts']);
  });

  test('without any start it says just that', () => {
    const error = refusal({ 'package.json': packageJson({ dependencies: { left: '1' } }) });
    expect(error.kind).toBe('NO_PROVIDER_DETECTED');
    expect(error.message).toBe(
      'a Node app was detected, but it has no start command (looked for a start script, main, and index, server, app or main files)',
    );
    expect(error.hint).toContain('add a "start" script to package.json');
  });

  test('an Nx repository without workspaces gets what to write', () => {
    const { hint } = refusal({
      'package.json': packageJson({ devDependencies: { nx: '22' } }),
      'nx.json': '{}',
      'apps/api/project.json': '{}',
      'libs/ui/project.json': '{}',
    });
    expect(hint).toContain(
      'projects apps/api, libs/ui: set build = "npx nx build api" and start = "node dist/apps/api/main.js"',
    );
  });

  test('a Procfile beats the start script', () => {
    expect(planOf(nodeApp({}, { Procfile: 'web: node other.js\nrelease: node migrate.js' }))).toMatchObject({
      start: ['node', 'other.js'],
      releaseCommand: ['node', 'migrate.js'],
    });
  });

  test('a port written into the script is warned of', () => {
    expect(planOf(nodeApp({ scripts: { start: 'next start -p 3000' } })).warnings).toContain(
      'the start command names port 3000: it must listen on PORT',
    );
  });
});

describe('package.json as people write it', () => {
  test('comments and trailing commas are fine', () => {
    expect(planOf({ 'package.json': '{ // ours\n "scripts": { "start": "node a.js", }, }' }).start).toEqual([
      'node',
      'a.js',
    ]);
  });

  test('a byte order mark is fine', () => {
    expect(planOf({ 'package.json': '\uFEFF{"scripts":{"start":"node a.js"}}' }).start).toEqual(['node', 'a.js']);
  });

  test.each([
    ['broken JSON', '{\n  "scripts": {\n', 'package.json:3: invalid end of input'],
    ['not an object', '[]', 'package.json:1: it must hold an object'],
    ['scripts of the wrong type', '{"scripts": "node ."}', 'package.json: "scripts" must be an object'],
  ])('%s fails with its place', (_title, text, message) => {
    const error = refusal({ 'package.json': text });
    expect(error.kind).toBe('BUILD_COMMAND_FAILED');
    expect(error.message).toBe(message);
  });

  test('a prototype key is no script', () => {
    expect(planOf({ 'package.json': '{"scripts":{"__proto__":{"start":"evil"}}}', 'index.js': '' }).start).toEqual([
      'node',
      'index.js',
    ]);
  });
});

describe('what runs', () => {
  test('Bun alone, when the start script calls it', () => {
    const plan = planOf(nodeApp({ scripts: { start: 'bun src/index.ts' } }, { 'bun.lock': '{}' }));
    expect({ provider: plan.provider, base: plan.runtime?.baseImage }).toEqual({
      provider: 'bun',
      base: 'debian:trixie-slim',
    });
  });

  test('Bun, when only its lock file and an entry are there', () => {
    expect(planOf({ 'package.json': '{}', 'bun.lock': '{}', 'index.ts': '' }).start).toEqual(['bun', 'index.ts']);
  });

  test('Node, when Bun only installs', () => {
    const plan = planOf(
      nodeApp(
        { scripts: { build: 'next build', start: 'next start' }, dependencies: { next: '1.0.0' } },
        { 'bun.lock': '{"workspaces":{"":{"dependencies":{"next":"1.0.0"}}}}' },
      ),
    );
    expect({ provider: plan.provider, base: plan.runtime?.baseImage, manager: plan.packageManager?.name }).toEqual({
      provider: 'node',
      base: 'node:24-slim',
      manager: 'bun',
    });
  });

  test('development tools stay when the start command needs them', () => {
    const plan = planOf(nodeApp({ scripts: { start: 'tsx server.ts' }, devDependencies: { tsx: '4', vitest: '3' } }));
    expect(plan.install).toEqual(['npm install --include=dev --no-audit --no-fund']);
    expect(plan.warnings).toContain('development dependencies stay in the image, because its commands use tsx');
  });

  test('a package that may be compiled gets the full image for the install only', () => {
    const plan = planOf(nodeApp({ dependencies: { bcrypt: '5' } }));
    expect(plan.stages.map(({ name, from }) => [name, from])).toEqual([
      ['deps', 'node:24'],
      ['runtime', 'node:24-slim'],
    ]);
  });

  test.each([
    [{ bcrypt: '^6.0.0' }, 'node:24-slim'],
    [{ bcrypt: '^5.1.0' }, 'node:24'],
    [{ bcrypt: 'latest' }, 'node:24'],
    [{ argon2: '^0.44.0' }, 'node:24-slim'],
    [{ 'better-sqlite3': '^12.0.0' }, 'node:24'],
    [{ sharp: '^0.34.0' }, 'node:24-slim'],
  ])('%p is installed on %s', (dependencies, image) => {
    expect(planOf(nodeApp({ dependencies })).stages[0]?.from).toBe(image);
  });

  test.each([
    [{ canvas: '^3.0.0' }, 'libcairo2', 'libcairo2-dev'],
    [{ '@prisma/client': '^6.0.0' }, 'openssl', 'openssl'],
    [{ '@prisma/client': '^7.0.0' }, undefined, undefined],
    [{ puppeteer: '24' }, 'chromium', undefined],
  ])('%p brings what it needs of Debian', (dependencies, run, build) => {
    const { apt } = planOf(nodeApp({ dependencies }));
    expect([apt.run[0], apt.build[0]]).toEqual([run, build]);
  });

  test('a compiled package deep in the lock file counts too', () => {
    const lock = packageJson({
      packages: { '': { dependencies: { db: '1' } }, 'node_modules/db/node_modules/better-sqlite3': {} },
    });
    expect(planOf(nodeApp({ dependencies: { db: '1' } }, { 'package-lock.json': lock })).stages[0]?.from).toBe(
      'node:24',
    );
  });

  test('Prisma brings openssl, and its client is made where every stage has it', () => {
    const plan = planOf(
      nodeApp(
        {
          scripts: { build: 'tsc', start: 'node dist/a.js' },
          dependencies: { '@prisma/client': '6' },
          devDependencies: { prisma: '6' },
        },
        { 'prisma/schema.prisma': '' },
      ),
    );
    expect(plan.apt).toEqual({ build: ['openssl'], run: ['openssl'] });
    expect(plan.install.at(-1)).toBe('node_modules/.bin/prisma generate');
  });
});
