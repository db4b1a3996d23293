import { APP_DIR, type CacheMount, type CopyStep, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, aptSteps } from '../provider.ts';
import { assetCopies } from '../support/assets.ts';
import { bareRuntime, bareSystem, compiledRuntime } from '../support/compiled.ts';
import type { GitCredentials } from '../support/git-credentials.ts';
import { gatherLibraries, libraryCopies, programsIn } from '../support/shared-libraries.ts';
import { sourceOf } from '../support/source.ts';
import { manifestCopies } from '../support/steps.ts';
import type { GoApp } from './app.ts';

const BUILD_CACHE: CacheMount = { name: 'go-build', target: '/root/.cache/go-build' };
const MODULE_CACHE: CacheMount = { name: 'go-mod', target: '/go/pkg/mod' };

/** Endings of files that the program itself does not read. */
const SOURCES = ['.go', '.mod', '.sum', '.work'];

export const goStages = (context: PlanContext, app: GoApp, plan: Plan, credentials: GitCredentials): Stage[] => {
  const inside = below(app.layout.context, app.home);
  const outputs = app.programs === null ? ownOutputs(inside) : programOutputs(context, app);
  return [
    { name: 'build', from: `golang:${app.version}`, steps: buildSteps(context, app, plan, credentials) },
    runtimeStage(app, plan, outputs),
  ];
};

const runtimeStage = (app: GoApp, plan: Plan, outputs: Step[]): Stage => {
  const env = plan.runtime?.env ?? {};
  if (app.bare) return bareRuntime(outputs, env);
  return compiledRuntime(plan.apt.run, [...outputs, ...(app.cgo.on ? libraryCopies() : [])], env);
};

const buildSteps = (context: PlanContext, app: GoApp, plan: Plan, credentials: GitCredentials): Step[] => {
  const { layout, modules, cgo, programs } = app;
  const inside = below(layout.context, app.home);
  const gather = cgo.on ? gatherLibraries(programs === null ? programsIn('.') : '/out/*') : [];
  const command = [...credentials.commands, ...plan.build, ...gather].join(' && ');
  return [
    ...aptSteps(plan.apt.build),
    // The official image says "local", which refuses a go.mod that asks for a newer Go.
    { kind: 'env', values: { GOTOOLCHAIN: 'auto', ...(layout.strayWork ? { GOWORK: 'off' } : {}) } },
    ...(app.bare ? [bareSystem()] : []),
    workdir(''),
    ...installSteps(context, plan, credentials, { root: layout.context, manifests: modules.manifests, inside }),
    { kind: 'run', caches: [BUILD_CACHE, MODULE_CACHE], env: 'build', command },
  ];
};

interface Place {
  root: Dir;
  manifests: string[];
  /** Folder of the module inside the context. */
  inside: string;
}

/** Modules come before the sources, so that an edit downloads nothing; an install command of the user's own sees all. */
const installSteps = (
  { overrides }: PlanContext,
  { install, installEnv }: Plan,
  { commands }: GitCredentials,
  { root, manifests, inside }: Place,
): Step[] => {
  const source: Step = { kind: 'copy', sources: [`${safePath(sourceOf(root))}/`], target: './' };
  const enter = inside === '' ? [] : [workdir(inside)];
  if (install.length === 0) return [source, ...enter];
  const seesEnv = installEnv === null || installEnv.length > 0;
  const run: Step = {
    kind: 'run',
    caches: [MODULE_CACHE],
    command: [...commands, ...install].join(' && '),
    ...(seesEnv ? { env: 'install' as const } : {}),
  };
  if (overrides.install !== undefined) return [source, ...enter, run];
  const leave = inside === '' ? [] : [workdir('')];
  return [...manifestCopies(root, manifests), ...enter, run, ...leave, source, ...enter];
};

const workdir = (inside: string): Step => ({
  kind: 'workdir',
  path: inside === '' ? APP_DIR : `${APP_DIR}/${safePath(inside)}`,
});

const ownOutputs = (inside: string): Step[] => [
  {
    kind: 'copy',
    from: 'build',
    sources: [inside === '' ? `${APP_DIR}/` : `${APP_DIR}/${inside}/`],
    target: './',
    owned: true,
  },
];

/** The programs, and the files that they may open by a relative path. */
const programOutputs = ({ app }: PlanContext, { programs, home }: GoApp): Step[] => {
  const copies = (programs?.built ?? []).map(({ output, place }): CopyStep => ({
    kind: 'copy',
    from: 'build',
    sources: [`/out/${output}`],
    target: place,
  }));
  const folders = home.path === app.path ? [home] : [home, ...(app.path.startsWith(home.path) ? [app] : [])];
  return [...copies, ...folders.flatMap((folder) => assetCopies(folder, SOURCES))];
};

/** The path of a folder inside another. */
const below = (outer: Dir, inner: Dir): string =>
  inner.path === outer.path ? '' : inner.path.slice(outer.path === '' ? 0 : outer.path.length + 1);
