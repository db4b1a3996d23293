import type { Dir } from '../../source-tree.ts';
import { fieldsAt, readJson, textAt } from '../support/fields.ts';
import { literalOf, mentions } from '../support/tokens.ts';
import { type Manifest, hasDependency, script } from './manifest.ts';

/** What a framework leaves behind when it was built, and how that is served. */
export type Outcome =
  | { kind: 'static'; output: string; fallback: string | null }
  | {
      kind: 'server';
      /** Argv; null to look at the scripts as for any other app. */
      start: string[] | null;
      /** From path to path, relative to the app; null for everything. */
      outputs: [from: string, to: string][] | null;
      /** Whether node_modules is needed at run time. */
      modules: boolean;
    };

export interface Framework {
  name: string;
  outcome: Outcome;
  /** Runs when package.json has no build script. */
  build: string;
  /** Caches the framework keeps between builds, relative to the app. */
  caches: string[];
  buildEnv: Record<string, string>;
  warnings: string[];
}

type Rule = (app: Dir, manifest: Manifest) => Framework | null;

/** The first framework that the app is made with, or null. */
export const recogniseFramework = (app: Dir, manifest: Manifest): Framework | null => {
  for (const rule of RULES) {
    const framework = rule(app, manifest);
    if (framework) return framework;
  }
  return null;
};

const framework = (name: string, build: string, outcome: Outcome, more: Partial<Framework> = {}): Framework => ({
  name,
  build,
  outcome,
  caches: [],
  buildEnv: {},
  warnings: [],
  ...more,
});

const site = (output: string, fallback: string | null = null): Outcome => ({ kind: 'static', output, fallback });
const bundled = (output: string, entry: string): Outcome => ({
  kind: 'server',
  start: ['node', `${output}/${entry}`],
  outputs: [[output, output]],
  modules: false,
});
const scripted: Outcome = { kind: 'server', start: null, outputs: null, modules: true };

const config = (app: Dir, name: string): string | undefined => {
  const file = app.firstOf(...['js', 'mjs', 'ts', 'cjs', 'mts'].map((extension) => `${name}.config.${extension}`));
  return file === undefined ? undefined : app.read(file);
};

const next: Rule = (app, manifest) => {
  if (!hasDependency(manifest, 'next')) return null;
  const text = config(app, 'next');
  const more = { caches: ['.next/cache'], buildEnv: { NEXT_TELEMETRY_DISABLED: '1' } };
  const output = literalOf(text, 'output');
  const folder = plainFolder(literalOf(text, 'distDir')) ?? '.next';
  if (output === 'export')
    return framework('Next.js (export)', 'next build', site(folder === '.next' ? 'out' : folder), more);
  const start = script(manifest, 'start');
  // A custom server is not what the standalone folder holds.
  if (output !== 'standalone' || (start !== undefined && !/^next start\b|standalone/.test(start))) {
    return framework(
      'Next.js',
      'next build',
      { ...scripted, start: start === undefined ? ['next', 'start'] : null },
      more,
    );
  }
  const outputs: [string, string][] = [
    [`${folder}/standalone`, ''],
    [`${folder}/static`, `${folder}/static`],
  ];
  if (app.hasDir('public')) outputs.push(['public', 'public']);
  return framework(
    'Next.js (standalone)',
    'next build',
    { kind: 'server', start: ['node', 'server.js'], outputs, modules: false },
    more,
  );
};

const nuxt: Rule = (_app, manifest) => {
  if (!hasDependency(manifest, 'nuxt')) return null;
  const more = { buildEnv: { NUXT_TELEMETRY_DISABLED: '1' } };
  return /\bnux[ti] generate\b/.test(script(manifest, 'build') ?? '')
    ? framework('Nuxt (generate)', 'nuxt generate', site('.output/public'), more)
    : framework('Nuxt', 'nuxt build', bundled('.output', 'server/index.mjs'), more);
};

const nitro: Rule = (_app, manifest) => {
  const name = ['@tanstack/react-start', '@tanstack/solid-start', '@solidjs/start', '@analogjs/platform'].find(
    (candidate) => hasDependency(manifest, candidate),
  );
  if (
    name === undefined ||
    (script(manifest, 'start') !== undefined && !script(manifest, 'start')?.includes('.output'))
  )
    return null;
  return framework(
    name,
    'vite build',
    name.startsWith('@analogjs') ? bundled('dist/analog', 'server/index.mjs') : bundled('.output', 'server/index.mjs'),
  );
};

const reactRouter: Rule = (app, manifest) => {
  if (!hasDependency(manifest, '@react-router/dev')) return null;
  if (literalOf(config(app, 'react-router'), 'ssr') === 'false') {
    return framework('React Router (SPA)', 'react-router build', site('build/client', 'index.html'));
  }
  const start = script(manifest, 'start') === undefined ? ['react-router-serve', './build/server/index.js'] : null;
  return framework('React Router', 'react-router build', { ...scripted, start });
};

const remix: Rule = (_app, manifest) => {
  if (!hasDependency(manifest, '@remix-run/dev')) return null;
  const start = script(manifest, 'start') === undefined ? ['remix-serve', './build/server/index.js'] : null;
  return framework('Remix', 'remix vite:build', { ...scripted, start });
};

const svelteKit: Rule = (app, manifest) => {
  if (!hasDependency(manifest, '@sveltejs/kit')) return null;
  const text = config(app, 'svelte');
  if (mentions(text, '@sveltejs/adapter-static')) {
    const fallback = plainFolder(literalOf(text, 'fallback')) ?? null;
    return framework(
      'SvelteKit (static)',
      'vite build',
      site(plainFolder(literalOf(text, 'pages')) ?? 'build', fallback),
    );
  }
  const start = script(manifest, 'start') === undefined ? ['node', 'build'] : null;
  const server = { ...scripted, start };
  if (!mentions(text, '@sveltejs/adapter-auto')) return framework('SvelteKit', 'vite build', server);
  // adapter-auto takes adapter-node where this variable is set, and installs it when it is missing.
  return framework('SvelteKit', 'vite build', server, {
    buildEnv: { GCP_BUILDPACKS: '1' },
    warnings: ['svelte.config.js uses adapter-auto: install @sveltejs/adapter-node so that its version is locked'],
  });
};

const astro: Rule = (app, manifest) => {
  if (!hasDependency(manifest, 'astro')) return null;
  const text = config(app, 'astro');
  const output = literalOf(text, 'output');
  if (output !== 'server' && output !== 'hybrid') {
    return framework('Astro', 'astro build', site(plainFolder(literalOf(text, 'outDir')) ?? 'dist'));
  }
  const warnings = mentions(text, '@astrojs/node')
    ? []
    : ['astro.config asks for a server, but not for the @astrojs/node adapter'];
  return framework(
    'Astro (server)',
    'astro build',
    { ...scripted, start: ['node', './dist/server/entry.mjs'] },
    { warnings },
  );
};

const angular: Rule = (app, manifest) => {
  if (!hasDependency(manifest, '@angular/core') || !app.has('angular.json')) return null;
  const workspace = readJson(app, 'angular.json');
  const projects = fieldsAt(workspace, 'projects');
  const name =
    textAt(workspace, 'defaultProject') ??
    Object.keys(projects).find((key) => textAt(projects, key, 'projectType') !== 'library') ??
    'app';
  const options =
    ['architect', 'targets']
      .map((key) => fieldsAt(projects, name, key, 'build'))
      .find((target) => Object.keys(target).length > 0) ?? {};
  const output =
    plainFolder(textAt(options, 'options', 'outputPath') ?? textAt(options, 'options', 'outputPath', 'base')) ??
    `dist/${plainFolder(name) ?? 'app'}`;
  const more = { buildEnv: { NG_CLI_ANALYTICS: 'false' }, caches: ['.angular/cache'] };
  if (hasDependency(manifest, '@angular/ssr') && fieldsAt(options, 'options')['ssr'] !== undefined) {
    return framework(
      'Angular (server)',
      'ng build',
      { ...scripted, start: ['node', `${output}/server/server.mjs`] },
      more,
    );
  }
  const modern = /application"?$|:application$/.test(textAt(options, 'builder') ?? '');
  return framework('Angular', 'ng build', site(modern ? `${output}/browser` : output, 'index.html'), more);
};

const nest: Rule = (_app, manifest) => {
  if (!hasDependency(manifest, '@nestjs/core')) return null;
  const production = script(manifest, 'start:prod');
  const start =
    production === undefined || /[^\w./ -]/.test(production) ? ['node', 'dist/main.js'] : production.split(/\s+/);
  return framework('NestJS', 'nest build', { ...scripted, start });
};

/** Start scripts that serve a development copy of a site: such an app has no server of its own. */
const DEVELOPMENT_SERVER =
  /^(npx )?(vite|react-scripts|ng|serve|http-server|live-server|gatsby|docusaurus|vue-cli-service|parcel|webpack|webpack-dev-server|eleventy|expo|vitepress|(npm|yarn|pnpm|bun) (run )?(dev|develop|preview|serve))\b/;

const SITES: { dependency: string; name: string; build: string; output: string; fallback: string | null }[] = [
  { dependency: 'gatsby', name: 'Gatsby', build: 'gatsby build', output: 'public', fallback: null },
  { dependency: '@docusaurus/core', name: 'Docusaurus', build: 'docusaurus build', output: 'build', fallback: null },
  { dependency: '@11ty/eleventy', name: 'Eleventy', build: 'eleventy', output: '_site', fallback: null },
  {
    dependency: 'react-scripts',
    name: 'Create React App',
    build: 'react-scripts build',
    output: 'build',
    fallback: 'index.html',
  },
  {
    dependency: '@vue/cli-service',
    name: 'Vue CLI',
    build: 'vue-cli-service build',
    output: 'dist',
    fallback: 'index.html',
  },
  {
    dependency: 'expo',
    name: 'Expo (web)',
    build: 'expo export --platform web',
    output: 'dist',
    fallback: 'index.html',
  },
  { dependency: 'vitepress', name: 'VitePress', build: 'vitepress build', output: '.vitepress/dist', fallback: null },
  { dependency: 'vite', name: 'Vite', build: 'vite build', output: 'dist', fallback: 'index.html' },
];

const sites: Rule = (app, manifest) => {
  const start = script(manifest, 'start');
  const found = SITES.find(({ dependency }) => hasDependency(manifest, dependency));
  if (!found || (start !== undefined && !DEVELOPMENT_SERVER.test(start))) return null;
  // Tools that bundle a server use Vite too: only an entry page makes it a site.
  if (found.dependency === 'vite' && !isViteSite(app, manifest)) return null;
  const configured = found.dependency === 'vite' ? plainFolder(literalOf(config(app, 'vite'), 'outDir')) : undefined;
  const docs = /^vitepress build (\S+)/.exec(script(manifest, 'build') ?? script(manifest, 'docs:build') ?? '')?.[1];
  const folder =
    found.dependency === 'vitepress' && plainFolder(docs) !== undefined
      ? `${plainFolder(docs)}/${found.output}`
      : undefined;
  return framework(found.name, found.build, site(configured ?? folder ?? found.output, found.fallback));
};

const isViteSite = (app: Dir, manifest: Manifest): boolean =>
  (app.has('index.html') || app.has('src/index.html') || literalOf(config(app, 'vite'), 'root') !== undefined) &&
  /\bvite\b/.test(script(manifest, 'build') ?? 'vite build');

const RULES: Rule[] = [next, nuxt, nitro, reactRouter, remix, svelteKit, astro, angular, nest, sites];

/** A folder named in a config: only a plain relative path may reach the Dockerfile. */
const plainFolder = (path: string | undefined): string | undefined => {
  const cleaned = path?.replace(/^\.\//, '').replace(/\/+$/, '');
  return cleaned !== undefined && /^[\w.@-]+(\/[\w.@-]+)*$/.test(cleaned) && !/(^|\/)\.\.?(\/|$)/.test(cleaned)
    ? cleaned
    : undefined;
};
