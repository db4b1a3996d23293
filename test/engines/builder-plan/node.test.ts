import { describe, expect, test } from 'bun:test';
import { type Files, nodeApp, packageJson, planOf, refusal } from './support.ts';

const framework = (dependency: string, scripts: Record<string, string>, files: Files = {}): Files => ({
  'package.json': packageJson({ scripts, dependencies: { [dependency]: '1.0.0' } }),
  ...files,
});

const NEXT = { build: 'next build', start: 'next start' };

describe('frameworks with a server of their own', () => {
  test.each([
    ['Next.js', framework('next', NEXT), 'Next.js', ['next', 'start']],
    ['Next.js without scripts', framework('next', {}), 'Next.js', ['next', 'start']],
    [
      'Next.js standalone',
      framework('next', NEXT, { 'next.config.mjs': "export default { output: 'standalone' }" }),
      'Next.js (standalone)',
      ['node', 'server.js'],
    ],
    [
      'Next.js with a custom server',
      framework(
        'next',
        { build: 'next build', start: 'node server.js' },
        { 'next.config.js': "module.exports = { output: 'standalone' }" },
      ),
      'Next.js',
      ['node', 'server.js'],
    ],
    [
      'standalone in a comment only',
      framework('next', NEXT, { 'next.config.js': "// output: 'standalone'\nmodule.exports = {}" }),
      'Next.js',
      ['next', 'start'],
    ],
    [
      'standalone under a condition',
      framework('next', NEXT, {
        'next.config.js': "module.exports = { output: process.env.A ? 'standalone' : undefined }",
      }),
      'Next.js',
      ['next', 'start'],
    ],
    ['Nuxt', framework('nuxt', { build: 'nuxt build' }), 'Nuxt', ['node', '.output/server/index.mjs']],
    [
      'TanStack Start',
      framework('@tanstack/react-start', { build: 'vite build' }),
      '@tanstack/react-start',
      ['node', '.output/server/index.mjs'],
    ],
    [
      'React Router',
      framework('@react-router/dev', {
        build: 'react-router build',
        start: 'react-router-serve ./build/server/index.js',
      }),
      'React Router',
      ['react-router-serve', './build/server/index.js'],
    ],
    [
      'Remix',
      framework('@remix-run/dev', { build: 'remix vite:build' }),
      'Remix',
      ['remix-serve', './build/server/index.js'],
    ],
    [
      'SvelteKit',
      framework(
        '@sveltejs/kit',
        { build: 'vite build' },
        { 'svelte.config.js': "import adapter from '@sveltejs/adapter-node'" },
      ),
      'SvelteKit',
      ['node', 'build'],
    ],
    [
      'Astro server',
      framework(
        'astro',
        { build: 'astro build' },
        { 'astro.config.mjs': "import node from '@astrojs/node'\nexport default { output: 'server' }" },
      ),
      'Astro (server)',
      ['node', './dist/server/entry.mjs'],
    ],
    [
      'Angular server',
      framework(
        '@angular/core',
        { build: 'ng build' },
        {
          'angular.json': packageJson({
            projects: {
              shop: {
                architect: {
                  build: { builder: '@angular/build:application', options: { outputPath: 'dist/shop', ssr: true } },
                },
              },
            },
          }),
          'package.json': packageJson({ dependencies: { '@angular/core': '1', '@angular/ssr': '1' } }),
        },
      ),
      'Angular (server)',
      ['node', 'dist/shop/server/server.mjs'],
    ],
    [
      'NestJS',
      framework('@nestjs/core', { build: 'nest build', start: 'nest start', 'start:prod': 'node dist/main' }),
      'NestJS',
      ['node', 'dist/main'],
    ],
    [
      'NestJS without start:prod',
      framework('@nestjs/core', { build: 'nest build', start: 'nest start' }),
      'NestJS',
      ['node', 'dist/main.js'],
    ],
  ])('%s', (_title, files, name, start) => {
    const plan = planOf(files);
    expect({ framework: plan.framework, start: plan.start, staticRoot: plan.staticRoot }).toEqual({
      framework: name,
      start,
      staticRoot: null,
    });
  });
});

describe('frameworks that leave a site behind', () => {
  test.each([
    ['Vite', framework('vite', { build: 'vite build' }, { 'index.html': '' }), 'Vite', 'dist'],
    [
      'Vite with outDir',
      framework(
        'vite',
        { build: 'vite build' },
        { 'index.html': '', 'vite.config.ts': "export default { build: { outDir: './public_html/' } }" },
      ),
      'Vite',
      'public_html',
    ],
    [
      'Vite with vite preview as start',
      framework('vite', { build: 'vite build', start: 'vite preview --port 8080' }, { 'index.html': '' }),
      'Vite',
      'dist',
    ],
    ['Vite without scripts', framework('vite', {}, { 'index.html': '' }), 'Vite', 'dist'],
    [
      'Create React App',
      framework('react-scripts', { start: 'react-scripts start', build: 'react-scripts build' }),
      'Create React App',
      'build',
    ],
    ['Vue CLI', framework('@vue/cli-service', { build: 'vue-cli-service build' }), 'Vue CLI', 'dist'],
    ['Gatsby', framework('gatsby', { build: 'gatsby build', start: 'gatsby develop' }), 'Gatsby', 'public'],
    [
      'Docusaurus',
      framework('@docusaurus/core', { build: 'docusaurus build', start: 'docusaurus start' }),
      'Docusaurus',
      'build',
    ],
    ['Eleventy', framework('@11ty/eleventy', { build: 'eleventy' }), 'Eleventy', '_site'],
    ['VitePress', framework('vitepress', { build: 'vitepress build docs' }), 'VitePress', 'docs/.vitepress/dist'],
    ['Expo', framework('expo', { start: 'expo start' }), 'Expo (web)', 'dist'],
    ['Astro', framework('astro', { build: 'astro build', start: 'astro dev' }), 'Astro', 'dist'],
    [
      'Next.js export',
      framework('next', NEXT, { 'next.config.ts': 'const config = { output: "export" }' }),
      'Next.js (export)',
      'out',
    ],
    ['Nuxt generate', framework('nuxt', { build: 'nuxt generate' }), 'Nuxt (generate)', '.output/public'],
    [
      'React Router without a server',
      framework(
        '@react-router/dev',
        { build: 'react-router build' },
        { 'react-router.config.ts': 'export default { ssr: false }' },
      ),
      'React Router (SPA)',
      'build/client',
    ],
    [
      'SvelteKit static',
      framework(
        '@sveltejs/kit',
        { build: 'vite build' },
        { 'svelte.config.js': "import adapter from '@sveltejs/adapter-static'" },
      ),
      'SvelteKit (static)',
      'build',
    ],
    [
      'Angular',
      framework(
        '@angular/core',
        { build: 'ng build', start: 'ng serve' },
        {
          'angular.json': packageJson({
            projects: { shop: { architect: { build: { builder: '@angular/build:application', options: {} } } } },
          }),
        },
      ),
      'Angular',
      'dist/shop/browser',
    ],
    [
      'older Angular',
      framework(
        '@angular/core',
        { build: 'ng build' },
        {
          'angular.json': packageJson({
            projects: {
              shop: {
                architect: {
                  build: { builder: '@angular-devkit/build-angular:browser', options: { outputPath: 'dist/x' } },
                },
              },
            },
          }),
        },
      ),
      'Angular',
      'dist/x',
    ],
  ])('%s', (_title, files, name, output) => {
    const plan = planOf(files);
    expect({ framework: plan.framework, staticRoot: plan.staticRoot, user: plan.runtime?.user }).toEqual({
      framework: name,
      staticRoot: output,
      user: 'app',
    });
  });

  test('a server that is bundled with Vite is no site', () => {
    const plan = planOf(framework('vite', { build: 'vite build', start: 'node dist/server.js' }, { 'index.html': '' }));
    expect(plan.staticRoot).toBeNull();
    expect(plan.start).toEqual(['node', 'dist/server.js']);
  });

  test('Vite as a development tool of a server makes no site', () => {
    const plan = planOf({ 'package.json': packageJson({ devDependencies: { vite: '6' } }), 'server.js': '' });
    expect(plan.start).toEqual(['node', 'server.js']);
  });
});

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
      framework('next', NEXT, { 'bun.lock': '{"workspaces":{"":{"dependencies":{"next":"1.0.0"}}}}' }),
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
    expect(plan.warnings).toContain('development dependencies stay in the image, because the start command uses tsx');
  });

  test('a package that may be compiled gets the full image for the install only', () => {
    const plan = planOf(nodeApp({ dependencies: { bcrypt: '5' } }));
    expect(plan.stages.map(({ name, from }) => [name, from])).toEqual([
      ['deps', 'node:24'],
      ['runtime', 'node:24-slim'],
    ]);
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
