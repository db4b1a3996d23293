import { invalidInput } from '#kernel/errors';
import type { Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import type { VersionRequest } from '../../versions.ts';
import { type PlanContext, noStartCommand } from '../provider.ts';
import { shellQuote } from '../support/shell.ts';
import { type JvmBuild, type Outcome, distributionOutcome, jarOutcome } from './build.ts';
import { frameworkOf } from './frameworks.ts';
import { joined } from './pom.ts';
import { type ScriptToken, closing, scriptTokens } from './tokens.ts';
import { chooseJava, readProperties } from './version.ts';

/** The launcher fetches the sbt that project/build.properties names; without one, its own. */
const LAUNCHER = '1.12.14';
const LAUNCHER_JAR = '/opt/sbt-launch.jar';
const PACKAGED = new Set([
  'JavaAppPackaging',
  'JavaServerAppPackaging',
  'PlayScala',
  'PlayJava',
  'PlayService',
  'PlayWeb',
]);

/** How an sbt project is built. */
export const sbtBuild = (context: PlanContext, ownStart: boolean): JvmBuild => {
  const { app } = context;
  const tokens = scriptTokens(app.read('build.sbt'));
  const version = readProperties(app, 'project/build.properties')['sbt.version'] ?? null;
  const packaging = packagingOf(context, tokens, ownStart);
  const java = chooseJava(context, [], javaLimit(version)).version;
  return {
    tool: {
      name: 'sbt',
      version: version ?? LAUNCHER,
      lockFile: null,
      reason: version === null ? 'there is a build.sbt' : 'project/build.properties says so',
    },
    workspace: app,
    image: `eclipse-temurin:${java}-jdk`,
    java,
    remember: version === null ? { sbt: LAUNCHER } : {},
    setup: [launcherStep()],
    env: { SBT_OPTS: '-Xss4m' },
    caches: [
      { name: 'coursier', target: '/root/.cache/coursier', locked: true },
      { name: 'sbt', target: '/root/.sbt', locked: true },
      { name: 'ivy', target: '/root/.ivy2', locked: true },
    ],
    build: [`java ${jvmOptions(app)} -jar ${LAUNCHER_JAR} ${packaging.task}`],
    outcome: ownStart ? null : packaging.outcome,
  };
};

const launcherStep = (): Step => ({
  kind: 'run',
  command: `curl -fsSL -o ${LAUNCHER_JAR} https://repo1.maven.org/maven2/org/scala-sbt/sbt-launch/${LAUNCHER}/sbt-launch-${LAUNCHER}.jar`,
});

/** What sbt's own script would read: the options of .jvmopts, one on each line. */
const jvmOptions = (app: Dir): string => {
  const own = (app.read('.jvmopts') ?? '').split(/\r?\n/).map((line) => line.trim());
  const options = own.filter((line) => /^-[XD]/.test(line)).map(shellQuote);
  return ['$SBT_OPTS', ...options, '-Dsbt.supershell=false -Dsbt.color=false'].join(' ');
};

/** Old versions of sbt do not run on new versions of Java. */
const javaLimit = (sbt: string | null): VersionRequest | null => {
  const [, major = 1, minor = 99] = (/^(\d+)\.(\d+)/.exec(sbt ?? '') ?? []).map(Number);
  const limit = major < 1 || (major === 1 && minor < 6) ? '<=11' : major === 1 && minor < 9 ? '<=17' : null;
  return limit === null
    ? null
    : { range: limit, written: `Java ${limit}`, source: `sbt ${sbt ?? ''} in project/build.properties` };
};

interface Packaging {
  task: string;
  outcome: Outcome;
}

const packagingOf = (context: PlanContext, tokens: ScriptToken[], ownStart: boolean): Packaging => {
  const { app, notes } = context;
  const plugins = projectPlugins(app);
  const libraries = organisations(tokens);
  const framework = frameworkOf([...plugins, ...libraries], undefined);
  const native = plugins.some((id) => /^(sbt-native-packager|org\.playframework|com\.typesafe\.play)$/.test(id));
  const projects = sbtProjects(tokens).filter(({ packaged }) => packaged);
  if (native && projects.length > 0) {
    const { id, reason } = chooseProject(context, projects);
    if (id !== '') notes.decisions.push(`project ${id}: ${reason}`);
    return {
      task: id === '' ? 'stage' : `${id}/stage`,
      outcome: staged(distributionOutcome('"$stage"', null, { framework, reason: 'sbt-native-packager' })),
    };
  }
  if (plugins.includes('sbt-assembly')) {
    return { task: 'assembly', outcome: assembled(jarOutcome('$jars', { framework, reason: 'sbt-assembly' })) };
  }
  if (!ownStart) throw noPackager();
  return { task: 'package', outcome: jarOutcome('target', { framework, reason: '' }) };
};

/** Where it lies depends on the version of sbt. */
const staged = (outcome: Outcome): Outcome => ({
  ...outcome,
  collect: [
    `stage="$(find . -type d -path '*/universal/stage' | head -n 1)"`,
    ': "${stage:?the build staged nothing}"',
    ...outcome.collect,
  ],
});

const assembled = (outcome: Outcome): Outcome => ({
  ...outcome,
  collect: [
    `jars="$(dirname "$(find . -path '*/target/*' -name '*.jar' -size +100k -exec ls -S {} + | head -n 1)")"`,
    ...outcome.collect,
  ],
});

const noPackager = (): Error =>
  noStartCommand(
    'an sbt project',
    'sbt-native-packager with enablePlugins(JavaAppPackaging), Play, and sbt-assembly',
    'add addSbtPlugin("com.github.sbt" % "sbt-native-packager" % "1.11.7") to project/plugins.sbt and enablePlugins(JavaAppPackaging) to build.sbt',
  );

/** Names and organisations of the plugins in project/*.sbt. */
const projectPlugins = (app: Dir): string[] =>
  app
    .files()
    .filter((file) => /^project\/[^/]+\.sbt$/.test(file))
    .flatMap((file) => scriptTokens(app.read(file)))
    .filter(({ kind }) => kind === 'string')
    .map(({ text }) => text);

/** `"org" %% "name"` as `org:name`. */
const organisations = (tokens: readonly ScriptToken[]): string[] =>
  tokens.flatMap((token, index) => {
    if (token.kind !== 'string' || tokens[index + 1]?.text !== '%') return [];
    const next = tokens.slice(index + 1, index + 5).find(({ kind }) => kind === 'string');
    return next === undefined ? [] : [`${token.text}:${next.text}`];
  });

interface SbtProject {
  /** What it is called in tasks; empty for the root project. */
  id: string;
  folder: string;
  packaged: boolean;
}

/** `lazy val api = (project in file("api")).enablePlugins(JavaAppPackaging)`, and what stands outside of any. */
const sbtProjects = (tokens: readonly ScriptToken[]): SbtProject[] => {
  const starts = tokens.flatMap(({ text }, index) =>
    text === 'val' && tokens[index - 1]?.text === 'lazy' ? [index] : [],
  );
  const named = starts.map((start, at): SbtProject => {
    const body = tokens.slice(start + 1, starts[at + 1] ?? tokens.length);
    const file = body.findIndex(({ text }) => text === 'file');
    return {
      id: body[0]?.text ?? '',
      folder:
        body[file + 2]?.kind === 'string' ? (joined('', body[file + 2]?.text ?? '') ?? '') : (body[0]?.text ?? ''),
      packaged: enabled(body, true) && body.some(({ kind, text }) => kind === 'name' && text === 'project'),
    };
  });
  const root: SbtProject = { id: '', folder: '', packaged: enabled(tokens, false) };
  return [root, ...named.filter(({ id }) => /^\w+$/.test(id))];
};

const enabled = (tokens: readonly ScriptToken[], chained: boolean): boolean =>
  tokens.some((token, index) => {
    if (token.text !== 'enablePlugins' || (tokens[index - 1]?.text === '.') !== chained) return false;
    return tokens.slice(index, closing(tokens, index + 1)).some(({ text }) => PACKAGED.has(text));
  });

const chooseProject = ({ serviceName }: PlanContext, found: SbtProject[]): SbtProject & { reason: string } => {
  const only = found.length === 1 ? found[0] : undefined;
  const named = found.find(({ id, folder }) => id === serviceName || folder === serviceName);
  if (only) return { ...only, reason: 'the only one that can be run' };
  if (named) return { ...named, reason: 'it has the name of the service' };
  throw invalidInput(
    `this build has several projects that can be run: ${found.map(({ id }) => (id === '' ? 'root' : id)).join(', ')}`,
    'name the service after one of them, or set build and start in the [build] table of berth.toml',
  );
};
