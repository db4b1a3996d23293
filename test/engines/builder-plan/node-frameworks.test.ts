import { describe, expect, test } from 'bun:test';
import { type Files, packageJson, planOf } from './support.ts';

const framework = (dependency: string, scripts: Record<string, string>, files: Files = {}): Files => ({
  'package.json': packageJson({ scripts, dependencies: { [dependency]: '1.0.0' } }),
  ...files,
});

const nextApp = (scripts: Record<string, string>, files: Files = {}, range = '^16.0.0'): Files => ({
  'package.json': packageJson({ scripts, dependencies: { next: range } }),
  ...files,
});

const NEXT = { build: 'next build', start: 'next start' };

describe('frameworks with a server of their own', () => {
  test.each([
    ['Next.js', nextApp(NEXT), 'Next.js', ['node', 'server.js']],
    ['Next.js without scripts', nextApp({}), 'Next.js', ['node', 'server.js']],
    ['Next.js with a port in its script', nextApp({ start: 'next start -p 3000' }), 'Next.js', ['node', 'server.js']],
    ['Next.js before 12.2', framework('next', NEXT), 'Next.js', ['next', 'start']],
    ['Next.js of a catalog', nextApp(NEXT, {}, 'catalog:'), 'Next.js', ['node', 'server.js']],
    [
      'Next.js with migrations before it starts',
      nextApp({ start: 'node migrate.js && next start' }),
      'Next.js',
      ['/bin/sh', '-c', 'node migrate.js && exec next start'],
    ],
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
      nextApp(NEXT, { 'next.config.js': "module.exports = { output: process.env.A ? 'standalone' : undefined }" }),
      'Next.js',
      ['next', 'start'],
    ],
    ['Nuxt', framework('nuxt', { build: 'nuxt build' }), 'Nuxt', ['node', '.output/server/index.mjs']],
    [
      'TanStack Start',
      {
        'package.json': packageJson({
          scripts: { build: 'vite build' },
          dependencies: { '@tanstack/react-start': '1' },
          devDependencies: { nitro: '3' },
        }),
      },
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
      user: '1000:1000',
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
