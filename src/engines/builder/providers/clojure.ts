import type { CacheMount, Plan, Step } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { TOOLS, nodeRange } from '../versions.ts';
import { toolVersionRequest } from '../versions-files.ts';
import { type PlanContext, type Provider, noStartCommand, versionOf } from './provider.ts';
import { compiledPlan } from './support/compiled-plan.ts';

const CACHES: CacheMount[] = [
  { name: 'm2', target: '/root/.m2' },
  { name: 'gitlibs', target: '/root/.gitlibs' },
];
const JRE = '/opt/java/openjdk';

/** Apps in Clojure, packed into one jar. */
export const clojure: Provider = {
  name: 'clojure',
  markers: ['project.clj', 'deps.edn'],
  doc: {
    title: 'Clojure',
    detects: '`project.clj`, or `deps.edn`',
    notes:
      '`lein uberjar`, or the `uber` (`uberjar`, `ci`) function of `build.clj` by the `:build` alias; the jar runs on the JRE',
  },
  detect: (app) => (app.has('project.clj') || app.has('deps.edn') ? 'strong' : null),
  plan: planClojure,
};

function planClojure(context: PlanContext): Plan {
  const { app, overrides } = context;
  const lein = app.has('project.clj');
  const { version } = versionOf(context, TOOLS.java, [
    toolVersionRequest(app, {
      names: ['java'],
      files: ['.java-version'],
      range: (written) => nodeRange(written.replace(/^[a-z][a-z-]*-(?=\d)/, '')),
    }),
  ]);
  const own = overrides.build !== undefined;
  const commands = own ? { install: '', build: '' } : lein ? LEIN : toolsCommands(app);
  // The jar with everything in it is the largest, whatever it is called.
  const pick = `mkdir -p /out/jar && cp "$(find target -name '*.jar' -not -name '*-sources.jar' -printf '%s %p\\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-)" /out/jar/app.jar`;
  const copies: Step[] = [
    { kind: 'copy', from: `eclipse-temurin:${version}-jre`, sources: [`${JRE}/`], target: `${JRE}/` },
    { kind: 'copy', from: 'build', sources: [own ? '/app/' : '/out/jar/'], target: './', owned: true },
  ];
  return compiledPlan(context, {
    provider: 'clojure',
    image: `clojure:temurin-${version}-${lein ? 'lein' : 'tools-deps'}`,
    caches: CACHES,
    install: own
      ? null
      : {
          manifests: [lein ? 'project.clj' : 'deps.edn', ...(app.has('profiles.clj') ? ['profiles.clj'] : [])],
          commands: [commands.install],
        },
    build: [commands.build, pick],
    start: ['java', '-jar', 'app.jar'],
    endings: [],
    outputs: { copies, programs: null },
    runtimeEnv: {
      JAVA_HOME: JRE,
      JAVA_TOOL_OPTIONS: '-XX:MaxRAMPercentage=70 -XX:+ExitOnOutOfMemoryError',
      PATH: `${JRE}/bin:$PATH`,
    },
    remember: { java: version },
  });
}

interface Commands {
  install: string;
  build: string;
}

const LEIN: Commands = { install: 'lein deps', build: 'lein uberjar' };

const toolsCommands = (app: Dir): Commands => {
  const deps = withoutComments(app.read('deps.edn') ?? '');
  const source = withoutComments(app.read('build.clj') ?? '');
  const task = ['uber', 'uberjar', 'ci'].find((name) => new RegExp(`\\(defn\\s+${name}[\\s\\[]`).test(source));
  if (task === undefined || !/:build\s*\{/.test(deps))
    throw noStartCommand(
      'a Clojure project',
      'an :build alias in deps.edn, and uber, uberjar or ci in build.clj',
      'add a build.clj that makes an uberjar',
    );
  return { install: 'clojure -P && clojure -P -T:build', build: `clojure -T:build ${task}` };
};

/** A semicolon outside of a string begins a comment. */
const withoutComments = (text: string): string =>
  text.replaceAll(/"(?:\\[^]|[^"\\])*"|;[^\n]*/g, (part) => (part.startsWith(';') ? '' : part));
