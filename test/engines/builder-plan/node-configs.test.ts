import { describe, expect, test } from 'bun:test';
import { type Files, packageJson, planOf, refusal } from './support.ts';

const framework = (dependency: string, scripts: Record<string, string>, files: Files = {}): Files => ({
  'package.json': packageJson({ scripts, dependencies: { [dependency]: '1.0.0' } }),
  ...files,
});

const nextApp = (scripts: Record<string, string>, files: Files = {}, range = '^16.0.0'): Files => ({
  'package.json': packageJson({ scripts, dependencies: { next: range } }),
  ...files,
});

const NEXT = { build: 'next build', start: 'next start' };

describe('what of a framework reaches the image', () => {
  const last = (files: Files, env: Record<string, string> = {}): string[] =>
    planOf(files, { env }).stages.map(({ name }) => name);

  test('Next.js is built as standalone, which its config may overrule', () => {
    const plan = planOf(nextApp(NEXT));
    expect(plan.stages.map(({ name }) => name)).toEqual(['deps', 'build', 'runtime']);
    expect(plan.stages[1]?.steps).toContainEqual({
      kind: 'env',
      values: { NEXT_PRIVATE_STANDALONE: 'true', NEXT_TELEMETRY_DISABLED: '1' },
    });
  });

  test.each([
    ['a start command', { 'berth.toml': '[build]\nstart = "next start"' }],
    ['a release command', { Procfile: 'release: npx prisma migrate deploy' }],
  ])('%s of the user keeps all of it', (_title, files) => {
    const plan = planOf(nextApp(NEXT, files));
    expect(plan.start).toEqual(['next', 'start']);
    expect(plan.stages[1]?.steps.some((step) => step.kind === 'env')).toBe(true);
    expect(JSON.stringify(plan.stages)).not.toContain('STANDALONE');
    expect(JSON.stringify(plan.stages.at(-1))).toContain('/app/node_modules/');
  });

  test('a start command inside the output needs no more than that', () => {
    const nuxt = framework('nuxt', { build: 'nuxt build' }, { Procfile: 'web: node .output/server/index.mjs' });
    expect(last(nuxt)).toEqual(['deps', 'build', 'runtime']);
    expect(JSON.stringify(planOf(nuxt).stages.at(-1))).not.toContain('node_modules');
    const other = framework('nuxt', { build: 'nuxt build' }, { Procfile: 'web: node server.js' });
    expect(JSON.stringify(planOf(other).stages.at(-1))).toContain('/app/node_modules/');
  });

  test('without packages of its own, a server that is bundled gets none', () => {
    const files = {
      'package.json': packageJson({ scripts: { build: 'vite build' }, devDependencies: { '@sveltejs/kit': '3' } }),
      'vite.config.ts': "import adapter from '@sveltejs/adapter-node'",
    };
    expect(last(files)).toEqual(['deps', 'build', 'runtime']);
    expect(JSON.stringify(planOf(files).stages.at(-1))).not.toContain('node_modules');
  });
});

describe('configs', () => {
  test('an output that next.config decides while it runs is warned of', () => {
    const plan = planOf(nextApp(NEXT, { 'next.config.ts': "export default { output: isCi ? 'export' : undefined }" }));
    expect(plan.warnings.join()).toContain('next.config decides its output while it runs');
  });

  test('adapter-auto in svelte.config or in vite.config gets adapter-node, with a warning', () => {
    for (const file of ['svelte.config.js', 'vite.config.ts']) {
      const plan = planOf(
        framework('@sveltejs/kit', { build: 'vite build' }, { [file]: "import adapter from '@sveltejs/adapter-auto'" }),
      );
      expect(plan.warnings.join()).toContain('put @sveltejs/adapter-node in its place');
      expect(plan.stages.find(({ name }) => name === 'build')?.steps).toContainEqual({
        kind: 'env',
        values: { GCP_BUILDPACKS: '1' },
      });
    }
  });

  test('the folder of adapter-node', () => {
    const text =
      "import adapter from '@sveltejs/adapter-node'\nexport default { kit: { adapter: adapter({ out: 'server' }) } }";
    const plan = planOf(framework('@sveltejs/kit', { build: 'vite build' }, { 'svelte.config.js': text }));
    expect(plan.start).toEqual(['node', 'server']);
  });

  test('SvelteKit believes the proxy about its address', () => {
    const plan = planOf(
      framework('@sveltejs/kit', { build: 'vite build' }, { 'svelte.config.js': "'@sveltejs/adapter-node'" }),
    );
    expect(plan.runtime?.env).toMatchObject({ PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host' });
  });

  test.each([
    ['a page', { 'src/pages/cart.astro': '---\nexport const prerender = false;\n---\n' }, 'Astro (server)'],
    ['an action', { 'src/actions/index.ts': '' }, 'Astro (server)'],
    ['nothing', { 'src/pages/index.astro': '---\n// export const prerender = false\n---\n' }, 'Astro'],
  ])('Astro with the node adapter, where %s asks for a server', (_title, files, name) => {
    const text = "import node from '@astrojs/node'\nexport default { adapter: node({ mode: 'standalone' }) }";
    expect(planOf(framework('astro', {}, { 'astro.config.mjs': text, ...(files as Files) })).framework).toBe(name);
  });

  test('Angular that renders everything ahead of time is a site', () => {
    const build = {
      builder: '@angular/build:application',
      options: { outputMode: 'static', ssr: { entry: 'src/server.ts' } },
    };
    const plan = planOf({
      'package.json': packageJson({ dependencies: { '@angular/core': '22', '@angular/ssr': '22' } }),
      'angular.json': packageJson({ projects: { shop: { architect: { build } } } }),
    });
    expect(plan.staticRoot).toBe('dist/shop/browser');
  });

  test.each([
    [[], '*'],
    [['shop.example.com'], undefined],
  ])('Angular that renders pages answers for the hosts %p', (allowedHosts, wanted) => {
    const build = { builder: '@angular/build:application', options: { ssr: {}, security: { allowedHosts } } };
    const plan = planOf({
      'package.json': packageJson({ dependencies: { '@angular/core': '22', '@angular/ssr': '22' } }),
      'angular.json': packageJson({ projects: { shop: { architect: { build } } } }),
    });
    expect(plan.runtime?.env['NG_ALLOWED_HOSTS']).toBe(wanted);
  });

  test.each([
    [
      'SvelteKit',
      framework('@sveltejs/kit', {}, { 'svelte.config.js': "'@sveltejs/adapter-vercel'" }),
      'adapter-vercel',
    ],
    [
      'Astro',
      framework(
        'astro',
        {},
        { 'astro.config.mjs': "import v from '@astrojs/vercel'\nexport default { output: 'server' }" },
      ),
      '@astrojs/vercel',
    ],
    [
      'Nuxt',
      framework('nuxt', {}, { 'nuxt.config.ts': "export default { nitro: { preset: 'cloudflare-pages' } }" }),
      'cloudflare-pages',
    ],
    [
      'TanStack Start',
      framework('@tanstack/react-start', { build: 'vite build' }, { 'vite.config.ts': '' }),
      'without a server that listens',
    ],
  ])('%s built for another host is refused, with what to do', (_title, files, named) => {
    const error = refusal(files);
    expect([error.kind, error.message, error.hint].join(' ')).toContain(named);
    expect(error.hint).toContain('set start in the [build] table of berth.toml');
    expect(planOf({ ...files, 'berth.toml': '[build]\nstart = "node x.js"' }).start).toEqual(['node', 'x.js']);
  });
});
