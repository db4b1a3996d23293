import type { Dir } from '../../../source-tree.ts';
import { literalOf, mentions } from '../../support/tokens.ts';
import { hasDependency, script } from '../manifest.ts';
import { type Rule, config, framework, plainFolder, server, site } from './framework.ts';

const HOSTS = ['vercel', 'netlify', 'cloudflare'];

export const astro: Rule = ({ app, manifest }) => {
  if (!hasDependency(manifest, 'astro')) return null;
  const text = config(app, 'astro');
  const folder = plainFolder(literalOf(text, 'outDir')) ?? 'dist';
  const output = literalOf(text, 'output');
  const adapter = mentions(text, '@astrojs/node');
  const onDemand = output === 'server' || output === 'hybrid' || (adapter && rendersOnDemand(app));
  if (!onDemand) return framework('Astro', 'astro build', site(adapter ? `${folder}/client` : folder));
  const own = literalOf(text, 'mode') === 'middleware' || script(manifest, 'start')?.includes(`${folder}/`);
  const host = HOSTS.find((name) => mentions(text, `@astrojs/${name}`));
  const warnings = adapter ? [] : ['astro.config asks for a server, but not for the @astrojs/node adapter'];
  return framework('Astro (server)', 'astro build', server(own ? null : ['node', `./${folder}/server/entry.mjs`]), {
    warnings: host === undefined ? warnings : [],
    refusal:
      host === undefined || adapter
        ? null
        : {
            message: `@astrojs/${host} in astro.config builds for another host, which cannot be served here`,
            hint: 'run npx astro add node; or set start in the [build] table of berth.toml',
          },
  });
};

const PAGES = 500;

/** Whether a page says `export const prerender = false`, or there are actions, which only a server can carry out. */
const rendersOnDemand = (app: Dir): boolean => {
  if (app.firstOf('src/actions.ts', 'src/actions/index.ts', 'src/actions.js', 'src/actions/index.js')) return true;
  const pages = app.dir('src/pages');
  return pages
    .files()
    .filter((file) => /\.(astro|ts|js|mjs|md|mdx)$/.test(file))
    .slice(0, PAGES)
    .some((file) => /^\s*export\s+const\s+prerender\s*=\s*false\b/m.test(pages.read(file) ?? ''));
};
