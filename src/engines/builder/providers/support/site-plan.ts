import { APP_DIR, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import { siteRules } from '../../static/rules.ts';
import { SITE_BASE, SITE_DIR, SITE_START, SITE_USER, siteFiles, siteStages } from '../../static/site.ts';
import { type Notes, runtimeOf } from '../provider.ts';

interface ServedSite {
  /** The stages before that of the server; none when files of the source are served. */
  stages: Stage[];
  /** Where the files lie: a folder in a stage, or in the build context when it names none. */
  from: { stage?: string; path: string };
  /** The folder as people are shown it. */
  folder: string;
  /** Where `_redirects` and `_headers` may lie. */
  rules: Dir | Dir[];
  fallback: string | null;
  warnings: string[];
}

/** The plan of a site, whose files are copied beside their server. */
export const servedSite = (plan: Plan, site: ServedSite): Plan => {
  const { stages, from, folder, rules, fallback, warnings } = site;
  const runtime = runtimeOf(SITE_BASE, SITE_USER, {});
  const copy: Step = {
    kind: 'copy',
    ...(from.stage === undefined ? {} : { from: from.stage }),
    sources: [`${from.path}/`],
    target: `${SITE_DIR}/`,
    owned: true,
  };
  return {
    ...plan,
    staticRoot: folder,
    start: SITE_START,
    runtime,
    stages: [...stages, ...siteStages(copy, runtime.env)],
    files: [...plan.files, ...siteFiles({ fallback, ...siteRules(rules, warnings) })],
  };
};

/** The folder of a site as people write it, without what surrounds its name. */
export const siteFolder = (written: string): string => written.replace(/^\.?\/|\/+$/g, '');

interface BuiltSite {
  /** The stages that build it; the last one holds it. */
  stages: Stage[];
  /** Folder of the site as people write it: relative to the app, or absolute where the build itself chose it. */
  output: string;
  /** The app's folder in the image of the build. */
  place?: string;
  rules: Dir[];
  fallback: string | null;
  notes: Notes;
}

/** The plan of a site that another provider's build leaves in a folder. */
export const builtSite = (plan: Plan, site: BuiltSite): Plan => {
  const { stages, output, place = APP_DIR, rules, fallback, notes } = site;
  const folder = output.startsWith('/') ? output : output.replace(/^\.\/|\/+$/g, '');
  const path = safePath(folder.startsWith('/') ? folder : `${place}/${folder}`);
  notes.decisions.push(
    `static site: the build leaves it in ${folder}${fallback === null ? '' : `, unknown paths get ${fallback}`}`,
  );
  const from = { stage: stages.at(-1)?.name ?? 'build', path };
  return servedSite(plan, { stages, from, folder, rules, fallback, warnings: notes.warnings });
};
