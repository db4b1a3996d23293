import { invalidInput } from '#kernel/errors';
import { safePath } from '../../dockerfile-text.ts';
import type { Step } from '../../plan.ts';
import { type Tool, chooseVersion } from '../../versions.ts';
import { type PlanContext, noStartCommand } from '../provider.ts';
import {
  type JvmBuild,
  type Outcome,
  distributionOutcome,
  jarOutcome,
  quarkusOutcome,
  relative,
  warOutcome,
} from './build.ts';
import { frameworkOf } from './frameworks.ts';
import { type GradleBuild, type GradleProject, readGradleBuild } from './gradle-projects.ts';
import { gradleLimit, gradleWish, javaRangeOf, wrapperVersion } from './gradle-version.ts';
import { chooseJava } from './version.ts';

const HOME = '/var/cache/gradle';

/** The line of the official image, for projects without a wrapper; its tags name Java too. */
const GRADLE: Tool = { name: 'gradle', title: 'Gradle', fallback: '9', lines: ['9', '8', '7'] };

/** How a Gradle project is built. */
export const gradleBuild = (context: PlanContext, ownStart: boolean): JvmBuild => {
  const { app, repo } = context;
  const build = readGradleBuild(repo, app);
  const itself = build.projects.find(({ dir }) => dir.path === app.path);
  const chosen = ownStart ? itself : chooseProject(context, build);
  const launcher = launcherOf(context, build);
  const outer = build.projects.find(({ path }) => path === '');
  const scripts = [chosen, outer].filter((project) => project !== undefined);
  const java = chooseJava(
    context,
    [gradleWish(scripts, build.workspace, build.catalogue)],
    gradleLimit(launcher.wrapper),
  ).version;
  const runsOn = gradleJava(launcher.version, java);
  if (runsOn !== java) {
    context.notes.decisions.push(`Gradle ${launcher.version} runs on Java ${runsOn} and compiles with Java ${java}`);
  }
  const outcome = ownStart || chosen === undefined ? null : outcomeOf(build, chosen);
  return {
    tool: { name: 'gradle', version: launcher.version, lockFile: null, reason: launcher.reason },
    workspace: build.workspace,
    image: launcher.wrapper === null ? `gradle:${launcher.version}-jdk${runsOn}` : `eclipse-temurin:${runsOn}-jdk`,
    java,
    remember: launcher.remember,
    setup: runsOn === java ? [] : toolchainSteps(java),
    env: { GRADLE_USER_HOME: HOME },
    caches: [{ name: 'gradle', target: HOME, locked: true }],
    build: buildCommands(build, { project: chosen, launcher, toolchain: runsOn !== java, ownStart }),
    outcome,
  };
};

interface Launcher {
  version: string;
  /** Version of the wrapper; null when the image's Gradle is used. */
  wrapper: string | null;
  carriageReturns: boolean;
  reason: string;
  remember: Record<string, string>;
}

const launcherOf = ({ notes, remembered }: PlanContext, { workspace }: GradleBuild): Launcher => {
  const version = wrapperVersion(workspace);
  const complete = workspace.has('gradlew') && workspace.has('gradle/wrapper/gradle-wrapper.jar');
  const carriageReturns = workspace.read('gradlew')?.includes('\r\n') ?? false;
  if (version !== null && complete) {
    return { version, wrapper: version, carriageReturns, reason: 'the wrapper gradlew is there', remember: {} };
  }
  if (version !== null) {
    const missing = workspace.has('gradlew') ? 'gradle/wrapper/gradle-wrapper.jar' : 'gradlew';
    notes.warnings.push(`the Gradle wrapper is not used: ${missing} is missing (.gitignore?); commit it`);
    return { version, wrapper: null, carriageReturns, reason: 'gradle-wrapper.properties says so', remember: {} };
  }
  const choice = chooseVersion(GRADLE, [], remembered['gradle']);
  return {
    version: choice.version,
    wrapper: null,
    carriageReturns,
    reason: `there is no wrapper: ${choice.reason}`,
    remember: { gradle: choice.version },
  };
};

/** Gradle itself runs on the app's Java where it can; else on the nearest that it can, which then has a toolchain beside it. */
const gradleJava = (gradle: string, java: string): string => {
  const { oldest, newest } = javaRangeOf(gradle.includes('.') ? gradle : `${gradle}.99`);
  const wanted = Number(java.split('.')[0]);
  if (wanted >= oldest && wanted <= newest) return java;
  if (wanted < oldest) return String(oldest);
  return ['21', '17', '11', '8'].find((line) => Number(line) <= newest) ?? '8';
};

const TOOLCHAIN = '/opt/java/toolchain';

const toolchainSteps = (java: string): Step[] => [
  { kind: 'copy', from: `eclipse-temurin:${java}-jdk`, sources: ['/opt/java/openjdk/'], target: `${TOOLCHAIN}/` },
];

interface CommandParts {
  project: GradleProject | undefined;
  launcher: Launcher;
  /** Java of a toolchain that Gradle itself does not run on. */
  toolchain: boolean;
  ownStart: boolean;
}

const buildCommands = (
  { workspace, projects }: GradleBuild,
  { project, launcher, toolchain, ownStart }: CommandParts,
): string[] => {
  const kind = project === undefined ? null : kindOf(project);
  // A start command of the user's own may name any of the archives.
  const tasks =
    ownStart || kind === null ? ['assemble', ...(kind?.task === 'installDist' ? ['installDist'] : [])] : [kind.task];
  const prefix = projects.length === 1 || project === undefined ? '' : `${project.path}:`;
  const folder = project === undefined ? '.' : relative(workspace, project.dir);
  const words = [
    launcher.wrapper === null ? 'gradle' : 'sh ./gradlew',
    '--no-daemon --console=plain --build-cache',
    ...(toolchain ? [`-Porg.gradle.java.installations.paths=${TOOLCHAIN}`] : []),
    ...tasks.map((task) => `${prefix}${task}`),
  ];
  return [
    ...(launcher.wrapper !== null && launcher.carriageReturns ? [`sed -i 's/\\r$//' gradlew`] : []),
    ...(project?.dir.hasDir('build') === true ? [`rm -rf ${folder === '.' ? '' : `${safePath(folder)}/`}build`] : []),
    words.join(' '),
  ];
};

type Kind = { task: string; leaves: 'jar' | 'war' | 'quarkus' | 'distribution'; reason: string };

/** What a project's plugins make of it; null for a library. */
const kindOf = ({ plugins, script }: GradleProject): Kind | null => {
  const has = (...ids: string[]): string | undefined => ids.find((id) => plugins.includes(id));
  const kind = (task: string, leaves: Kind['leaves'], id: string): Kind => ({ task, leaves, reason: `plugin ${id}` });
  if (has('io.quarkus')) return kind('quarkusBuild', 'quarkus', 'io.quarkus');
  if (has('org.springframework.boot')) {
    return has('war')
      ? kind('bootWar', 'war', 'org.springframework.boot')
      : kind('bootJar', 'jar', 'org.springframework.boot');
  }
  const application = has(
    'application',
    'io.ktor.plugin',
    'io.micronaut.application',
    'io.micronaut.minimal.application',
  );
  if (application !== undefined) return kind('installDist', 'distribution', application);
  const shadow = has('com.gradleup.shadow', 'com.github.johnrengelman.shadow');
  if (shadow !== undefined) return kind('shadowJar', 'jar', shadow);
  const manifest = script.tokens.some(({ kind: type, text }) => type === 'string' && text === 'Main-Class');
  return manifest ? { task: 'jar', leaves: 'jar', reason: 'Main-Class in its manifest' } : null;
};

const chooseProject = ({ app, serviceName, notes }: PlanContext, build: GradleBuild): GradleProject => {
  const { projects } = build;
  if (projects.some(({ plugins }) => plugins.includes('com.android.application'))) throw androidApp();
  const inside = projects.filter(
    ({ dir }) => dir.path === app.path || `${dir.path}/`.startsWith(app.path === '' ? '' : `${app.path}/`),
  );
  const found = inside.filter((project) => kindOf(project) !== null);
  const itself = found.find(({ dir }) => dir.path === app.path);
  const named = found.find(({ path }) => path.replace(/^.*:/, '') === serviceName);
  const chosen = itself ?? (found.length === 1 ? found[0] : named);
  if (chosen === undefined) throw found.length === 0 ? noApp() : severalProjects(found);
  if (chosen.dir.path !== app.path) {
    notes.decisions.push(
      `project ${chosen.path}: ${found.length === 1 ? 'the only one that can be run' : 'it has the name of the service'}`,
    );
  }
  return chosen;
};

const outcomeOf = ({ workspace }: GradleBuild, project: GradleProject): Outcome | null => {
  const kind = kindOf(project);
  if (kind === null) return null;
  const framework = frameworkOf([...project.plugins, ...project.script.libraries], project.script.mainClass);
  const folder = relative(workspace, project.dir);
  const output = folder === '.' ? 'build' : `${safePath(folder)}/build`;
  const given = { framework, reason: kind.reason };
  if (kind.leaves === 'quarkus') return quarkusOutcome(output, given);
  if (kind.leaves === 'war') return warOutcome(`${output}/libs`, given);
  if (kind.leaves === 'jar') return jarOutcome(`${output}/libs`, given);
  return distributionOutcome(`${output}/install/*`, `${output}/libs`, given);
};

const noApp = (): Error =>
  noStartCommand(
    'a Gradle project',
    'the plugins application, Spring Boot, Quarkus, Micronaut, Ktor and shadow, and a Main-Class',
    'apply the application plugin and set its mainClass',
  );

const androidApp = (): Error =>
  invalidInput(
    'this is an Android app, which no server can run',
    'set root to the folder of its server, if it has one',
  );

const severalProjects = (found: GradleProject[]): Error =>
  invalidInput(
    `this build has several projects that can be run: ${found
      .slice(0, 20)
      .map(({ path }) => path)
      .join(', ')}`,
    `set root = "${found[0]?.dir.path ?? ''}" in the [build] table of berth.toml, or name the service after one of them`,
  );
