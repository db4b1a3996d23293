import { APP_DIR, type CopyStep, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { type PlanContext, aptList, aptSteps, runtimeOf, userSteps } from '../provider.ts';
import { DROP_MODULES, type NodeAssets } from '../support/node-assets.ts';
import { servedSite, siteFolder } from '../support/site-plan.ts';
import { gatherLibraries, libraryCopies, programsIn } from '../support/shared-libraries.ts';
import { sourceOf } from '../support/source.ts';
import type { RubyStart } from './frameworks.ts';
import { BUNDLE_PATH, type BundleInstall, GEM_CACHE, type Gems, gemVariables } from './gems.ts';
import type { SystemNeeds } from './system.ts';

/** Everything that is known about a Ruby app before its image is laid out. */
export interface RubyApp {
  context: PlanContext;
  base: Plan;
  version: string;
  gems: Gems;
  install: BundleInstall;
  start: RubyStart;
  assets: NodeAssets | null;
  needs: SystemNeeds;
  build: string[];
}

/** Lays out the image of a Ruby app: gems and assets in a stage of their own, then Ruby, gems and the app. */
export const rubyPlan = (app: RubyApp): Plan => {
  const { context, base, version, gems, install, start, assets, needs, build } = app;
  const { notes, overrides, projectEnv } = context;
  const slim = `ruby:${version}-slim`;
  const rails = start.framework === 'Rails';
  const apt = {
    build: aptList(base.apt.build, needs.build),
    run: aptList(base.apt.run, needs.run, rails ? ['libjemalloc2'] : []),
  };
  const staged = install.commands.length > 0 || build.length > 0 || start.argv === null;
  const installEnv =
    overrides.install === undefined
      ? [...new Set([...gemVariables(gems, projectEnv), ...(assets?.installEnv ?? [])])].sort()
      : null;
  if (install.wholeSource !== null)
    notes.decisions.push(`the source is copied before the install: ${install.wholeSource}`);
  const runtime = runtimeOf(slim, 'app', { ...install.env, ...start.env, MALLOC_ARENA_MAX: '2' });
  const plan: Plan = {
    ...base,
    framework: start.framework,
    packageManager:
      gems.gemfile === undefined
        ? null
        : {
            name: 'bundler',
            version: gems.lock?.bundler ?? null,
            lockFile: gems.lock === undefined ? null : 'Gemfile.lock',
            reason: 'Gemfile is there',
          },
    install: [...(assets?.install ?? []), ...install.commands],
    build,
    apt,
    installEnv,
    runtime,
    start: start.argv ?? [],
    remember: { ruby: version, ...assets?.remember },
  };
  const before = [
    ...(assets === null ? [] : [assets.stage]),
    ...(staged ? [buildStage(app, apt.build, installEnv === null || installEnv.length > 0)] : []),
  ];
  return start.argv === null
    ? sitePlan(app, plan, before)
    : { ...plan, stages: [...before, runtimeStage(app, { image: slim, apt: apt.run, staged, env: runtime.env })] };
};

const sourceStep = ({ app }: PlanContext): CopyStep => ({
  kind: 'copy',
  sources: [`${safePath(sourceOf(app))}/`],
  target: './',
});

const buildStage = (app: RubyApp, apt: string[], seesEnv: boolean): Stage => {
  const { context, version, gems, install, start, assets, needs, build } = app;
  // Assets bring Node, which needs libraries that the slim image lacks.
  const full = needs.compiled.length > 0 || assets !== null || (gems.gemfile !== undefined && gems.lock === undefined);
  const image = `ruby:${version}${full ? '' : '-slim'}`;
  if (needs.compiled.length > 0)
    context.notes.decisions.push(`build image ${image}: ${needs.compiled.slice(0, 5).join(', ')} may be compiled`);
  const whole = install.wholeSource !== null && install.commands.length > 0;
  const { LD_PRELOAD: _allocator, ...env } = start.env;
  const skip = assets === null ? {} : SKIP_INSTALLS;
  const commands = [...build, ...dropped(app)];
  return {
    name: 'build',
    from: image,
    steps: [
      ...aptSteps(apt),
      ...(gems.names.has('execjs') && assets === null ? [NODE] : []),
      { kind: 'workdir', path: APP_DIR },
      { kind: 'env', values: { ...install.env, BUNDLE_GLOBAL_GEM_CACHE: 'true' } },
      ...(install.commands.length === 0
        ? []
        : [...(whole ? [sourceStep(context)] : manifestSteps(app)), installStep(app, seesEnv)]),
      ...(assets?.bring ?? []),
      ...(whole ? [] : [sourceStep(context)]),
      ...(Object.keys({ ...env, ...skip }).length === 0 ? [] : [{ kind: 'env', values: { ...env, ...skip } } as const]),
      ...(commands.length === 0 ? [] : [buildStep(app, commands)]),
    ],
  };
};

/** Ruby's own library is in every image of Ruby. */
const LIBRARIES = [...gatherLibraries(programsIn(BUNDLE_PATH)), 'rm -f /out/lib/libruby*'];

/** Whether gems may be linked with libraries that the slim image lacks. */
const links = ({ needs, install }: RubyApp): boolean => needs.compiled.length > 0 && install.commands.length > 0;

/** The packages are there already; these gems would install them once more. */
const SKIP_INSTALLS = {
  SHAKAPACKER_SKIP_INSTALL: 'true',
  SKIP_BUN_INSTALL: '1',
  SKIP_YARN_INSTALL: '1',
  VITE_RUBY_SKIP_ASSETS_PRECOMPILE_INSTALL: 'true',
};

/** execjs compiles assets with whatever runs JavaScript. */
const NODE: Step = {
  kind: 'copy',
  from: 'node:24-slim',
  sources: ['/usr/local/bin/node'],
  target: '/usr/local/bin/node',
};

const installStep = (app: RubyApp, seesEnv: boolean): Step => ({
  kind: 'run',
  caches: [GEM_CACHE],
  command: [...app.install.commands, ...(links(app) ? LIBRARIES : [])].join(' && '),
  ...(seesEnv ? { env: 'install' as const } : {}),
});

const buildStep = ({ start }: RubyApp, commands: string[]): Step => ({
  kind: 'run',
  caches: start.framework === 'Rails' ? [{ name: 'rails-assets', target: `${APP_DIR}/tmp/cache/assets` }] : [],
  env: 'build',
  command: commands.join(' && '),
});

/** What only the build needed. */
const dropped = ({ assets, context }: RubyApp): string[] => [
  ...(assets === null ? [] : [DROP_MODULES]),
  ...(context.app.hasDir('vendor/cache') ? ['rm -rf vendor/cache'] : []),
];

const manifestSteps = ({ context, install }: RubyApp): Step[] => {
  const folder = safePath(sourceOf(context.app));
  return [
    { kind: 'copy', sources: install.files.map((file) => `${folder}/${file}`), target: './' },
    ...install.folders.map((path): Step => ({
      kind: 'copy',
      sources: [`${folder}/${safePath(path)}/`],
      target: `./${safePath(path)}/`,
    })),
  ];
};

interface RuntimeInput {
  image: string;
  apt: string[];
  /** The app comes from the stage that built it. */
  staged: boolean;
  env: Record<string, string>;
}

const runtimeStage = (app: RubyApp, { image, apt, staged, env }: RuntimeInput): Stage => {
  const { context, gems } = app;
  const packages: Step[] = [{ kind: 'copy', from: 'build', sources: [`${BUNDLE_PATH}/`], target: `${BUNDLE_PATH}/` }];
  const source: Step = staged
    ? { kind: 'copy', from: 'build', sources: [`${APP_DIR}/`], target: './', owned: true }
    : { ...sourceStep(context), owned: true };
  return {
    name: 'runtime',
    from: image,
    steps: [
      ...userSteps(),
      ...aptSteps(apt),
      { kind: 'workdir', path: APP_DIR },
      ...(links(app) ? libraryCopies() : []),
      ...(gems.gemfile === undefined ? [] : packages),
      source,
      { kind: 'env', values: env },
      { kind: 'user', name: 'app' },
    ],
  };
};

const sitePlan = ({ context, start }: RubyApp, plan: Plan, before: Stage[]): Plan => {
  const { app, overrides, notes } = context;
  const folder = siteFolder(overrides.output ?? start.output ?? '');
  notes.decisions.push(`static site: the build leaves it in ${folder}`);
  return servedSite(plan, {
    stages: before,
    from: { stage: 'build', path: `${APP_DIR}/${safePath(folder)}` },
    folder,
    rules: [app.dir('source'), app],
    fallback: overrides.spa === true ? 'index.html' : null,
    warnings: notes.warnings,
  });
};
