import { invalidInput } from '#kernel/errors';
import type { Dir } from '../source-tree.ts';
import { APP_DIR, type Plan, type Stage, type Step } from '../plan.ts';
import { safePath } from '../dockerfile-text.ts';
import { readStaticfile } from '../static/staticfile.ts';
import { type PlanContext, type Provider, aptSteps, emptyPlan } from './provider.ts';
import { shell } from './shell.ts';
import { servedSite, siteFolder } from './support/site-plan.ts';
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
      'served by Caddy: pretty URLs, `404.html`, hashed assets `immutable`, everything else `no-cache`, gzip and zstd, dot files hidden, `_redirects` and `_headers` respected; `root` and `pushstate` of a Staticfile',
  },
  detect: (app) => (rootOf(app) === undefined ? null : 'strong'),
  plan: planSite,
};

const rootOf = (app: Dir): string | undefined => {
  const { root } = readStaticfile(app);
  if (root !== undefined) return root;
  if (app.has('index.html') || app.has('Staticfile')) return '';
  return FOLDERS.find((folder) => app.has(`${folder}/index.html`));
};

function planSite(context: PlanContext): Plan {
  const { app, overrides, procfile, notes } = context;
  // Whoever names a start command has a server of their own for these files.
  if (overrides.start !== undefined || procfile['web'] !== undefined) return shell.plan(context);
  const plan = emptyPlan(context, 'static');
  const staticfile = readStaticfile(app);
  const folder = siteFolder(overrides.output ?? rootOf(app) ?? '');
  const site = folder === '' ? app : app.dir(folder);
  const build = [...(overrides.install ?? []), ...(overrides.build ?? [])];
  if (build.length === 0 && folder !== '' && !app.hasDir(folder))
    throw missingFolder(folder, overrides.output !== undefined);
  const what = folder === '' ? 'the whole source' : `the folder ${folder}`;
  notes.decisions.push(`static site: ${what} is served by Caddy`);
  notes.warnings.push(...staticfile.warnings);
  const builds = build.length > 0;
  return servedSite(
    { ...plan, build, apt: { build: builds ? plan.apt.build : [], run: [] } },
    {
      stages: builds ? [buildStage(app, build, plan.apt.build)] : [],
      from: builds
        ? { stage: 'build', path: folder === '' ? APP_DIR : `${APP_DIR}/${safePath(folder)}` }
        : { path: safePath(sourceOf(app, folder)) },
      folder,
      rules: site,
      fallback: (overrides.spa ?? staticfile.spa) ? 'index.html' : null,
      warnings: notes.warnings,
    },
  );
}

/** A build command of the user's own: on Debian, with the packages that berth.toml names. */
const buildStage = (app: Dir, build: string[], apt: string[]): Stage => ({
  name: 'build',
  from: 'debian:trixie-slim',
  steps: [
    ...aptSteps(apt),
    { kind: 'workdir', path: APP_DIR },
    { kind: 'copy', sources: [`${safePath(sourceOf(app))}/`], target: './' },
    ...build.map((command): Step => ({ kind: 'run', command, env: 'build' })),
  ],
});

const missingFolder = (folder: string, named: boolean): Error =>
  invalidInput(
    `${named ? '[build] output' : 'the root of Staticfile'} names ${JSON.stringify(folder.slice(0, 80))}, which is no folder of the source`,
    'correct it, commit that folder, or set build in the [build] table of berth.toml to what makes it',
  );
