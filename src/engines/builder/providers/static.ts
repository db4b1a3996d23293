import type { Dir } from '../source-tree.ts';
import type { Plan, Step } from '../plan.ts';
import { safePath } from '../dockerfile-text.ts';
import { SITE_BASE, SITE_DIR, SITE_START, SITE_USER, siteFiles, siteStages } from '../static/site.ts';
import { siteRules } from '../static/rules.ts';
import { type PlanContext, type Provider, emptyPlan, runtimeOf } from './provider.ts';
import { sourceOf } from './support/source.ts';

const FOLDERS = ['public', 'dist', 'build', '_site', 'www', 'site'];

/** Files that are served as they are. */
export const staticSite: Provider = {
  name: 'static',
  markers: ['Staticfile', 'index.html', 'public/index.html', 'dist/index.html'],
  doc: {
    title: 'Static site',
    detects: '`index.html`, `Staticfile`, or one of these in `public/`, `dist/`, `build/`, `_site/`, `www/`, `site/`',
    notes:
      'served by Caddy: pretty URLs, `404.html`, hashed assets `immutable`, everything else `no-cache`, gzip and zstd, dot files hidden, `_redirects` and `_headers` respected',
  },
  detect: (app) => (rootOf(app) === undefined ? null : 'strong'),
  plan: planSite,
};

const rootOf = (app: Dir): string | undefined => {
  const named = /^\s*root:\s*(\S+)\s*$/m.exec(app.read('Staticfile') ?? '')?.[1];
  if (named !== undefined) return named.replace(/^\.\/|\/+$/g, '');
  if (app.has('index.html') || app.has('Staticfile')) return '';
  return FOLDERS.find((folder) => app.has(`${folder}/index.html`));
};

function planSite(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const plan = emptyPlan(context, 'static');
  const folder = (overrides.output ?? rootOf(app) ?? '').replace(/^\.?\/|\/+$/g, '');
  const from = safePath(sourceOf(app, folder));
  const site = folder === '' ? app : app.dir(folder);
  notes.decisions.push(
    `static site: ${folder === '' ? 'the whole source' : `the folder ${folder}`} is served by Caddy`,
  );
  const copy: Step = { kind: 'copy', sources: [`${from}/`], target: `${SITE_DIR}/`, owned: true };
  const rules = siteRules(site, notes.warnings);
  const runtime = runtimeOf(SITE_BASE, SITE_USER, {});
  return {
    ...plan,
    staticRoot: folder,
    start: SITE_START,
    runtime,
    stages: siteStages(copy, runtime.env),
    files: siteFiles({ fallback: overrides.spa === true ? 'index.html' : null, ...rules }),
  };
}
