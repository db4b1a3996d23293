import { APP_DIR, type CacheMount, type ContextFile, type Plan, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { type PlanContext, aptList, aptSteps, chosenStart, emptyPlan, noStartCommand, runtimeOf } from '../provider.ts';
import { assetCopies } from './assets.ts';
import { BINARY, COMPILED_BASE, compiledOutputs, compiledRuntime } from './compiled.ts';
import { gatherLibraries, libraryCopies, programsIn } from './shared-libraries.ts';
import { builtSite } from './site-plan.ts';
import { sourceOf } from './source.ts';
import { installStep, manifestCopies, manifestFiles } from './steps.ts';

/** An app that becomes one program in a slim image. */
export interface CompiledApp {
  provider: string;
  framework?: string | null;
  /** The image of the build stage. */
  image: string;
  /** Debian packages that the build needs besides the user's own. */
  apt?: string[];
  /** Steps before anything of the app is copied. */
  before?: Step[];
  caches: CacheMount[];
  /** Variables of the build stage. */
  env?: Record<string, string>;
  /** Dependencies, fetched before the sources are there; null where only the build itself can tell them. */
  install: { manifests: string[]; commands: string[]; env?: string[] } | null;
  /** Leaves the program in /out/app. */
  build: string[];
  start?: string[] | undefined;
  /** Endings of source files, which the image of the program does not need. */
  endings: string[];
  /** What the image gets, where that is not one program in /out/app, and the folders whose libraries are gathered. */
  outputs?: { copies: Step[]; programs: string | null };
  runtimeEnv?: Record<string, string>;
  /** Generated files of the build context, below `berth/`; they come to /berth. */
  files?: ContextFile[];
  remember: Record<string, string>;
}

/** Shell text that makes the modification times of all sources new: builders look at them, and uploads have only one. */
export const touchSources = (except: string): string => `find . -path ./${except} -prune -o -type f -exec touch {} +`;

/** Lays out the image of an app that becomes one program. */
export const compiledPlan = (context: PlanContext, app: CompiledApp): Plan => {
  const { overrides } = context;
  const base = emptyPlan(context, app.provider);
  const early = overrides.install === undefined ? app.install : null;
  const build = overrides.build ?? app.build;
  const plan: Plan = {
    ...base,
    framework: app.framework ?? null,
    install: overrides.install ?? early?.commands ?? [],
    installEnv: overrides.install === undefined ? (early?.env ?? []) : null,
    build,
    apt: { build: aptList(base.apt.build, app.apt), run: base.apt.run },
    files: [...(app.files ?? []), ...(early === null ? [] : manifestFiles(context.app, early.manifests))],
    remember: app.remember,
  };
  return overrides.output === undefined
    ? programPlan(context, app, plan)
    : builtSite(plan, {
        stages: [{ name: 'build', from: app.image, steps: buildSteps(context, app, plan, []) }],
        output: overrides.output,
        rules: [context.app.dir('public'), context.app.dir('static'), context.app],
        fallback: overrides.spa === true ? 'index.html' : null,
        notes: context.notes,
      });
};

const programPlan = (context: PlanContext, app: CompiledApp, plan: Plan): Plan => {
  const own = context.overrides.build !== undefined;
  const chosen = chosenStart(context);
  if (own && chosen === undefined)
    throw noStartCommand(
      `a ${app.provider} app with a build command of its own`,
      '[build] start',
      'set start to the program that the build command leaves',
    );
  const programs = app.outputs === undefined ? (own ? programsIn('.') : '/out/app') : foldersOf(app.outputs.programs);
  const copies = app.outputs?.copies ?? compiledOutputs(own, assetCopies(context.app, app.endings));
  const runtime = runtimeOf(COMPILED_BASE, 'app', app.runtimeEnv ?? {});
  // Libraries change less often than the program.
  const outputs = [...(programs === null ? [] : libraryCopies()), ...copies];
  const steps = buildSteps(context, app, plan, programs === null ? [] : gatherLibraries(programs));
  return {
    ...plan,
    start: chosen ?? app.start ?? [BINARY],
    runtime,
    stages: [{ name: 'build', from: app.image, steps }, compiledRuntime(plan.apt.run, outputs, runtime.env)],
  };
};

const foldersOf = (folders: string | null): string | null => (folders === null ? null : programsIn(folders));

const buildSteps = (context: PlanContext, app: CompiledApp, plan: Plan, after: string[]): Step[] => {
  const { overrides } = context;
  const early = overrides.install === undefined ? app.install : null;
  const install: Step[] =
    early === null || early.commands.length === 0
      ? []
      : [
          ...manifestCopies(context.app, early.manifests),
          ...installStep({ caches: app.caches, commands: early.commands, env: (early.env ?? []).length > 0 }),
        ];
  const commands = [...(overrides.install ?? []), ...plan.build, ...after];
  return [
    ...aptSteps(plan.apt.build),
    ...(app.before ?? []),
    { kind: 'workdir', path: APP_DIR },
    ...(app.env === undefined ? [] : [{ kind: 'env', values: app.env } as const]),
    ...install,
    ...(app.files ?? []).map((file): Step => ({ kind: 'copy', sources: [file.path], target: `/${file.path}` })),
    { kind: 'copy', sources: [`${safePath(sourceOf(context.app))}/`], target: './' },
    { kind: 'run', caches: app.caches, env: 'build', command: commands.length === 0 ? 'true' : commands.join(' && ') },
  ];
};
