import { literalOf, mentions } from '../../support/tokens.ts';
import { hasDependency, script } from '../manifest.ts';
import { type Rule, bundled, config, configFile, framework, plainFolder, server, site } from './framework.ts';

const NITRO_HERE = new Set(['node', 'node-server', 'node_server', 'node-listener', 'bun']);

const elsewhere = (place: string, host: string, instead: string) => ({
  message: `${place} builds for ${host}, which cannot be served here`,
  hint: `${instead}; or set start in the [build] table of berth.toml`,
});

export const nuxt: Rule = ({ app, manifest }) => {
  if (!hasDependency(manifest, 'nuxt')) return null;
  const buildEnv = { NUXT_TELEMETRY_DISABLED: '1' };
  const preset = literalOf(config(app, 'nuxt'), 'preset');
  if (/\bnux[ti] generate\b/.test(script(manifest, 'build') ?? '') || preset === 'static')
    return framework('Nuxt (generate)', 'nuxt generate', site('.output/public'), { buildEnv });
  const foreign = preset !== undefined && !NITRO_HERE.has(preset) ? preset : undefined;
  return framework('Nuxt', 'nuxt build', bundled('.output', 'server/index.mjs'), {
    buildEnv,
    refusal:
      foreign === undefined
        ? null
        : elsewhere(`the nitro preset ${foreign} in ${configFile(app, 'nuxt')}`, 'another host', 'remove the preset'),
  });
};

const NITRO = ['@tanstack/react-start', '@tanstack/solid-start', '@solidjs/start', '@analogjs/platform'];

export const nitro: Rule = ({ app, manifest }) => {
  const name = NITRO.find((candidate) => hasDependency(manifest, candidate));
  const start = script(manifest, 'start');
  if (name === undefined || (start !== undefined && !start.includes('.output'))) return null;
  const analog = name.startsWith('@analogjs');
  const outcome = bundled(analog ? 'dist/analog' : '.output', 'server/index.mjs');
  const bare =
    name.startsWith('@tanstack') && !hasDependency(manifest, 'nitro') && !mentions(config(app, 'vite'), 'nitro');
  return framework(name, 'vite build', outcome, {
    refusal: bare
      ? {
          message: 'this TanStack Start app is built without a server that listens',
          hint: 'install nitro, and add nitro() from "nitro/vite" to the plugins in vite.config.ts; or set start in the [build] table of berth.toml',
        }
      : null,
  });
};

export const reactRouter: Rule = ({ app, manifest }) => {
  if (!hasDependency(manifest, '@react-router/dev')) return null;
  if (literalOf(config(app, 'react-router'), 'ssr') === 'false')
    return framework('React Router (SPA)', 'react-router build', site('build/client', 'index.html'));
  const start = script(manifest, 'start') === undefined ? ['react-router-serve', './build/server/index.js'] : null;
  return framework('React Router', 'react-router build', server(start));
};

export const remix: Rule = ({ manifest }) => {
  if (!hasDependency(manifest, '@remix-run/dev')) return null;
  const start = script(manifest, 'start') === undefined ? ['remix-serve', './build/server/index.js'] : null;
  return framework('Remix', 'remix vite:build', server(start));
};

const SVELTE_HOSTS = ['vercel', 'netlify', 'cloudflare', 'cloudflare-workers'];

export const svelteKit: Rule = ({ app, manifest }) => {
  if (!hasDependency(manifest, '@sveltejs/kit')) return null;
  // The adapter is named in svelte.config, or as an option of the plugin in vite.config.
  const text = `${config(app, 'svelte') ?? ''}\n${config(app, 'vite') ?? ''}`;
  const uses = (adapter: string): boolean => mentions(text, `@sveltejs/adapter-${adapter}`);
  if (uses('static')) {
    const fallback = plainFolder(literalOf(text, 'fallback')) ?? null;
    const output = plainFolder(literalOf(text, 'pages')) ?? 'build';
    return framework('SvelteKit (static)', 'vite build', site(output, fallback));
  }
  const folder = uses('node') ? (plainFolder(literalOf(text, 'out')) ?? 'build') : 'build';
  const outcome = server(script(manifest, 'start') === undefined ? ['node', folder] : null);
  // Behind a proxy it would take every form for one from another site.
  const runEnv = { PROTOCOL_HEADER: 'x-forwarded-proto', HOST_HEADER: 'x-forwarded-host' };
  if (uses('auto')) {
    // adapter-auto takes adapter-node where this variable is set, and installs it when it is missing.
    return framework('SvelteKit', 'vite build', outcome, {
      runEnv,
      buildEnv: { GCP_BUILDPACKS: '1' },
      warnings: [
        'adapter-auto is used: each build installs adapter-node, unlocked; put @sveltejs/adapter-node in its place',
      ],
    });
  }
  const host = SVELTE_HOSTS.find(uses);
  const refusal =
    host === undefined
      ? null
      : elsewhere(
          `@sveltejs/adapter-${host}`,
          'another host',
          'use @sveltejs/adapter-node, or @sveltejs/adapter-static',
        );
  return framework('SvelteKit', 'vite build', outcome, { runEnv, refusal });
};

export const nest: Rule = ({ manifest }) => {
  if (!hasDependency(manifest, '@nestjs/core')) return null;
  const production = script(manifest, 'start:prod');
  const start =
    production === undefined || /[^\w./ -]/.test(production) ? ['node', 'dist/main.js'] : production.split(/\s+/);
  return framework('NestJS', 'nest build', server(start));
};
