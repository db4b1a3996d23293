import { APP_DIR, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import { siteRules } from '../../static/rules.ts';
import { SITE_BASE, SITE_DIR, SITE_START, SITE_USER, siteFiles, siteStages } from '../../static/site.ts';
import { type Notes, runtimeOf } from '../provider.ts';

interface BuiltSite {
  /** The stages that build it; the last one holds it. */
  stages: Stage[];
  /** Folder of the site as people write it: relative to the app, or absolute where the build itself chose it. */
  output: string;
  /** The app's folder in the image of the build. */
  place?: string;
  /** Where `_redirects` and `_headers` may lie. */
  rules: Dir[];
  fallback: string | null;
  notes: Notes;
}

/** The plan of a site that another provider's build leaves in a folder. */
export const builtSite = (plan: Plan, site: BuiltSite): Plan => {
  const { stages, output, place = APP_DIR, rules, fallback, notes } = site;
  const folder = output.startsWith('/') ? output : output.replace(/^\.\/|\/+$/g, '');
  const from = safePath(folder.startsWith('/') ? folder : `${place}/${folder}`);
  notes.decisions.push(
    `static site: the build leaves it in ${folder}${fallback === null ? '' : `, unknown paths get ${fallback}`}`,
  );
  const copy: Step = {
    kind: 'copy',
    from: stages.at(-1)?.name ?? 'build',
    sources: [`${from}/`],
    target: `${SITE_DIR}/`,
    owned: true,
  };
  const runtime = runtimeOf(SITE_BASE, SITE_USER, {});
  return {
    ...plan,
    staticRoot: folder,
    start: SITE_START,
    runtime,
    stages: [...stages, ...siteStages(copy, runtime.env)],
    files: [...plan.files, ...siteFiles({ fallback, ...siteRules(rules, notes.warnings) })],
  };
};
