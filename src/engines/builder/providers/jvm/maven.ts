import { invalidInput } from '#kernel/errors';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, noStartCommand } from '../provider.ts';
import {
  type JvmBuild,
  type Outcome,
  classPathOutcome,
  jarOutcome,
  quarkusOutcome,
  relative,
  warOutcome,
} from './build.ts';
import { frameworkOf } from './frameworks.ts';
import { type MavenApp, isCalled, mavenApp, mavenIds, reactorOf, workspaceOf } from './maven-modules.ts';
import { mavenWish } from './maven-version.ts';
import { type Pom, artifactOf, packagingOf, profilesOf, readPom, usesPlugin, usesTestJars } from './pom.ts';
import { chooseJava, readProperties } from './version.ts';

/** How a Maven project is built. */
export const mavenBuild = (context: PlanContext, ownStart: boolean): JvmBuild => {
  const { app, repo, notes } = context;
  const pom = readPom(repo, app.path);
  if (pom === undefined) throw invalidInput('there is no pom.xml', 'set root to the folder of the app');
  const workspace = workspaceOf(repo, pom);
  const wrapper = wrapperOf(workspace) ?? wrapperOf(app);
  if (wrapper === undefined && workspace.has('mvnw')) {
    notes.warnings.push('mvnw is not used: .mvn/wrapper/maven-wrapper.properties is missing; commit it');
  }
  const chosen = ownStart ? undefined : chooseApp(context, pom);
  const target = chosen?.pom ?? pom;
  const java = chooseJava(context, [mavenWish(target), mavenWish(pom)]).version;
  const outcome = chosen === undefined ? null : outcomeOf(chosen, relative(workspace, target.dir));
  const withLibraries = chosen?.kind === 'classpath';
  return {
    tool: {
      name: 'maven',
      version: wrapper?.version ?? null,
      lockFile: null,
      reason: wrapper === undefined ? 'there is a pom.xml' : 'the wrapper mvnw is there',
    },
    workspace,
    image: wrapper === undefined ? `maven:3-eclipse-temurin-${java}` : `eclipse-temurin:${java}-jdk`,
    java,
    remember: {},
    setup: [],
    // A build is short: the first compiler is enough for it, and starts sooner.
    env: { MAVEN_OPTS: '-XX:TieredStopAtLevel=1' },
    caches: [{ name: 'm2', target: '/root/.m2', locked: true }],
    build: buildCommands({ workspace, target, wrapper, withLibraries, repo }),
    outcome,
  };
};

interface Wrapper {
  dir: Dir;
  version: string | null;
  /** Checked out with line ends that a shell does not read. */
  carriageReturns: boolean;
}

const wrapperOf = (dir: Dir): Wrapper | undefined => {
  const file = '.mvn/wrapper/maven-wrapper.properties';
  if (!dir.has('mvnw') || !dir.has(file)) return undefined;
  const url = readProperties(dir, file)['distributionUrl'] ?? '';
  return {
    dir,
    version: /apache-maven-(\d+(?:\.\d+)*(?:-[a-z]+-\d+)?)-bin/.exec(url)?.[1] ?? null,
    carriageReturns: dir.read('mvnw')?.includes('\r\n') ?? false,
  };
};

interface CommandParts {
  workspace: Dir;
  target: Pom;
  wrapper: Wrapper | undefined;
  withLibraries: boolean;
  repo: Dir;
}

const buildCommands = ({ workspace, target, wrapper, withLibraries, repo }: CommandParts): string[] => {
  const root = readPom(repo, workspace.path);
  const reactor = root === undefined ? [target] : reactorOf(repo, root);
  const module = relative(workspace, target.dir);
  const included = root !== undefined && reactor.some(({ dir }) => dir.path === target.dir.path);
  const folder = wrapper === undefined ? '' : relative(workspace, wrapper.dir);
  const script = folder === '.' ? './mvnw' : `./${folder}/mvnw`;
  const quiet = wrapper?.version !== undefined && /^3\.([0-5]\.|6\.0)/.test(wrapper.version ?? '') ? [] : ['-ntp'];
  const words = [
    wrapper === undefined ? 'mvn' : `sh ${safePath(script)}`,
    '-B',
    ...quiet,
    reactor.some(usesTestJars) ? '-DskipTests' : '-Dmaven.test.skip=true',
    ...(reactor.some(needsGit) ? ['-Dmaven.gitcommitid.skip=true'] : []),
    ...(workspace.has('settings.xml') ? ['-s settings.xml'] : []),
    ...profileFlag(target),
    ...(module === '.' ? [] : included ? [`-pl ${safePath(module)} -am`] : [`-f ${safePath(module)}/pom.xml`]),
    'package',
    ...(withLibraries ? ['dependency:copy-dependencies -DincludeScope=runtime'] : []),
  ];
  return [
    ...(wrapper?.carriageReturns === true ? [`sed -i 's/\\r$//' ${safePath(script)}`] : []),
    // What an upload brought along must not be taken for what this build leaves.
    ...(target.dir.hasDir('target') ? [`rm -rf ${module === '.' ? '' : `${safePath(module)}/`}target`] : []),
    words.join(' '),
  ];
};

/** The plugin reads the repository's history, which no upload has. */
const needsGit = (pom: Pom): boolean =>
  usesPlugin(pom, 'git-commit-id-maven-plugin') || usesPlugin(pom, 'git-commit-id-plugin');

const profileFlag = (pom: Pom): string[] => {
  const ids = profilesOf(pom);
  const found = ['production', 'prod'].find((name) => ids.includes(name));
  return found === undefined ? [] : [`-P${found}`];
};

/** The module to run: the only one that can be, or the one with the name of the service. */
const chooseApp = ({ repo, app, serviceName, notes }: PlanContext, pom: Pom): MavenApp => {
  const all = reactorOf(repo, pom).flatMap((module) => mavenApp(module) ?? []);
  const certain = all.filter(({ guessed }) => !guessed);
  const found = certain.length > 0 ? certain : all;
  const itself = found.find((candidate) => candidate.pom.dir.path === app.path);
  const named = found.find((candidate) => isCalled(candidate.pom, serviceName));
  const chosen = itself ?? (found.length === 1 ? found[0] : named);
  if (chosen === undefined) throw found.length === 0 ? noApp(pom) : severalModules(app, found);
  if (chosen.pom.dir.path !== app.path) {
    const why = found.length === 1 ? 'the only one that can be run' : 'it has the name of the service';
    notes.decisions.push(`module ${relative(app, chosen.pom.dir)}: ${why}`);
  }
  return chosen;
};

const noApp = (pom: Pom): Error =>
  noStartCommand(
    packagingOf(pom) === 'pom' ? 'a Maven project of several modules' : 'a Maven project',
    'the plugins of Spring Boot, Quarkus, shade and assembly, a main class in pom.xml, and main methods in src/main',
    'set the property exec.mainClass in pom.xml',
  );

const severalModules = (app: Dir, found: MavenApp[]): Error => {
  const list = found
    .slice(0, 20)
    .map(({ pom }) => (pom.dir.path === app.path ? artifactOf(pom) : relative(app, pom.dir)));
  return invalidInput(
    `this project has several modules that can be run: ${list.join(', ')}`,
    `set root = "${found[0]?.pom.dir.path ?? ''}" in the [build] table of berth.toml, or name the service after one of them`,
  );
};

const outcomeOf = (chosen: MavenApp, module: string): Outcome => {
  const { pom, kind } = chosen;
  const [mainClass, ...others] = chosen.mainClasses;
  const framework = frameworkOf(mavenIds(pom), mainClass);
  const folder = module === '.' ? 'target' : `${safePath(module)}/target`;
  const given = { framework, reason: chosen.reason };
  if (kind === 'quarkus') return quarkusOutcome(folder, given);
  if (kind === 'spring') return packagingOf(pom) === 'war' ? warOutcome(folder, given) : jarOutcome(folder, given);
  if (kind === 'fat') return jarOutcome(folder, given);
  if (kind === 'war' || mainClass === undefined) throw noServer();
  if (others.length > 0) throw severalClasses([mainClass, ...others]);
  return classPathOutcome(folder, mainClass, given);
};

const noServer = (): Error =>
  invalidInput(
    'the packaging war needs a servlet container, which this project does not bring along',
    'use Spring Boot or another server that the app starts itself, or add a Dockerfile (FROM tomcat)',
  );

const severalClasses = (found: string[]): Error =>
  invalidInput(
    `several classes have a main method: ${found.slice(0, 20).join(', ')}`,
    'set the property exec.mainClass in pom.xml to one of them, or start in the [build] table of berth.toml',
  );
