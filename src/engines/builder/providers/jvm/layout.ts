import { safePath } from '../../dockerfile-text.ts';
import { APP_DIR, APP_UID, type CopyStep, type Plan, type Runtime, type Stage, type Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, aptSteps, emptyPlan, runtimeOf } from '../provider.ts';
import { assetCopies } from '../support/assets.ts';
import { servedSite } from '../support/site-plan.ts';
import { sourceOf } from '../support/source.ts';
import { type JvmBuild, relative } from './build.ts';

const SOURCE_ENDINGS = ['.java', '.kt', '.kts', '.scala', '.groovy', '.gradle', '.sbt', '.properties', '.jar'];
/** The heap leaves room for classes, code and threads within the container's memory; without memory the app ends. */
const JVM_OPTIONS = '-XX:MaxRAMPercentage=70 -XX:+ExitOnOutOfMemoryError';

/** The plan of an app on the JVM: built with the JDK, run with the JRE. */
export const jvmPlan = (context: PlanContext, parts: JvmBuild, chosenStart: string[] | undefined): Plan => {
  const { overrides } = context;
  const { outcome, java } = parts;
  const base = emptyPlan(context, 'java');
  const install = overrides.install ?? [];
  const build = overrides.build ?? parts.build;
  const plan: Plan = {
    ...base,
    framework: outcome?.framework?.name ?? null,
    packageManager: parts.tool,
    install,
    build,
    remember: { java, ...parts.remember },
  };
  if (overrides.output !== undefined) return sitePlan(context, plan, parts);
  const collect = chosenStart === undefined ? (outcome?.collect ?? []) : [];
  const runtime = runtimeOf(`eclipse-temurin:${java}-jre`, 'app', { JAVA_TOOL_OPTIONS: JVM_OPTIONS });
  const outputs = chosenStart === undefined ? collected(context, parts) : [wholeFolder(context, parts)];
  return {
    ...plan,
    start: chosenStart ?? outcome?.start ?? [],
    runtime,
    stages: [buildStage(plan, parts, [...install, ...build, ...collect]), runtimeStage(runtime, plan.apt.run, outputs)],
  };
};

const buildStage = ({ apt }: Plan, parts: JvmBuild, commands: string[]): Stage => {
  const run: Step = { kind: 'run', caches: parts.caches, env: 'build', command: commands.join(' && ') };
  return {
    name: 'build',
    from: parts.image,
    steps: [
      ...aptSteps(apt.build),
      { kind: 'workdir', path: APP_DIR },
      ...parts.setup,
      { kind: 'env', values: parts.env },
      { kind: 'copy', sources: [`${safePath(sourceOf(parts.workspace))}/`], target: './' },
      ...(commands.length === 0 ? [] : [run]),
    ],
  };
};

/** Temurin's images are Ubuntu's, which have a user of that id already. */
const USER = `if id ubuntu >/dev/null 2>&1; then userdel ubuntu; fi && useradd --uid ${APP_UID} --create-home --shell /usr/sbin/nologin app && install -d -o app -g app ${APP_DIR}`;

const runtimeStage = (runtime: Runtime, apt: string[], outputs: Step[]): Stage => ({
  name: 'runtime',
  from: runtime.baseImage,
  steps: [
    { kind: 'run', command: USER },
    ...aptSteps(apt),
    { kind: 'workdir', path: APP_DIR },
    ...outputs,
    { kind: 'env', values: runtime.env },
    { kind: 'user', name: runtime.user },
  ],
});

/** Libraries have a layer of their own, which an edited line leaves as it is. */
const collected = ({ app }: PlanContext, { outcome }: JvmBuild): Step[] => {
  const libraries: CopyStep = { kind: 'copy', from: 'build', sources: ['/out/lib/'], target: './lib/' };
  return [
    ...(outcome?.libraries === true ? [libraries] : []),
    { kind: 'copy', from: 'build', sources: ['/out/app/'], target: './' },
    ...assets(app, outcome?.framework?.name),
  ];
};

/** The large frameworks pack what they read into the jar, but for a folder of settings. */
const assets = (app: Dir, framework: string | undefined): CopyStep[] => {
  const packed = ['Spring Boot', 'Quarkus', 'Micronaut'].includes(framework ?? '');
  return assetCopies(app, SOURCE_ENDINGS).filter(({ target }) => !packed || target === './config/');
};

const builtFolder = ({ app }: PlanContext, { workspace }: JvmBuild, path = ''): string =>
  [APP_DIR, relative(workspace, app), path]
    .filter((part) => part !== '.' && part !== '')
    .map((part) => safePath(part))
    .join('/');

/** The user's start command names files as the build leaves them. */
const wholeFolder = (context: PlanContext, parts: JvmBuild): Step => ({
  kind: 'copy',
  from: 'build',
  sources: [`${builtFolder(context, parts)}/`],
  target: './',
  owned: true,
});

const sitePlan = (context: PlanContext, plan: Plan, parts: JvmBuild): Plan => {
  const { overrides, app, notes } = context;
  const folder = (overrides.output ?? '').replace(/^(\.?\/)+|\/+$/g, '');
  notes.decisions.push(`static site: the build leaves it in ${folder}`);
  return servedSite(plan, {
    stages: [buildStage(plan, parts, [...plan.install, ...plan.build])],
    from: { stage: 'build', path: builtFolder(context, parts, folder) },
    folder,
    rules: app,
    fallback: overrides.spa === true ? 'index.html' : null,
    warnings: notes.warnings,
  });
};
