import { APP_PORT } from '../../plan.ts';

/** What is known about a framework: how it is told the port. */
export interface Framework {
  name: string;
  /** System properties, with values for a shell. */
  options: string[];
  /** Words after the main class. */
  arguments: string[];
}

const PORT = `"\${PORT:-${APP_PORT}}"`;

/** By `group:artifact` of a dependency or id of a plugin; the first that fits is what serves requests. */
const FRAMEWORKS: { name: string; id: RegExp; options?: string[] }[] = [
  {
    name: 'Quarkus',
    id: /^io\.quarkus(\.platform)?(:|$)/,
    options: ['-Dquarkus.http.host=0.0.0.0', `-Dquarkus.http.port=${PORT}`],
  },
  { name: 'Micronaut', id: /^io\.micronaut[.:]/, options: [`-Dmicronaut.server.port=${PORT}`] },
  { name: 'Spring Boot', id: /^org\.springframework\.boot(:|$)/, options: [`-Dserver.port=${PORT}`] },
  { name: 'Helidon', id: /^io\.helidon[.:]/, options: [`-Dserver.port=${PORT}`] },
  {
    name: 'Play',
    id: /^(org\.playframework|com\.typesafe\.play)(:|$)/,
    options: [`-Dhttp.port=${PORT}`, '-Dplay.server.pidfile.path=/dev/null'],
  },
  { name: 'Ktor', id: /^io\.ktor[.:]/ },
  { name: 'Dropwizard', id: /^io\.dropwizard:/ },
  { name: 'Javalin', id: /^io\.javalin:/ },
  { name: 'Vert.x', id: /^io\.vertx:/ },
  { name: 'http4k', id: /^org\.http4k:/ },
  { name: 'Spark', id: /^com\.sparkjava:/ },
  { name: 'http4s', id: /^org\.http4s:/ },
  { name: 'ZIO HTTP', id: /^dev\.zio:zio-http/ },
  { name: 'Pekko HTTP', id: /^org\.apache\.pekko:pekko-http/ },
  { name: 'Akka HTTP', id: /^com\.typesafe\.akka:akka-http/ },
];

/** The framework that dependencies and plugins speak of. */
export const frameworkOf = (ids: readonly string[], mainClass: string | undefined): Framework | null => {
  const found = FRAMEWORKS.find(({ id }) => ids.some((candidate) => id.test(candidate)));
  if (!found) return null;
  // Ktor's own main classes read the port from a file of settings unless an argument says otherwise.
  const engine = mainClass !== undefined && /^io\.ktor\.server\.\w+\.EngineMain$/.test(mainClass);
  return { name: found.name, options: found.options ?? [], arguments: engine ? [`-port=${PORT}`] : [] };
};

/** What a start command runs: a jar, a class on a class path, or the start script of a distribution. */
export type Launch = { kind: 'jar'; file: string } | { kind: 'class'; name: string } | { kind: 'script' };

/** `exec` makes the app the process that gets the signal to stop; the shell is there for PORT and JAVA_OPTS. */
export const launchCommand = (launch: Launch, framework: Framework | null): string[] => {
  const { options, arguments: words } = framework ?? { options: [], arguments: [] };
  if (launch.kind === 'script') {
    if (options.length === 0 && words.length === 0) return ['bin/start'];
    const added = options.map((option) => ` ${option.replaceAll('"', '')}`).join('');
    const environment = options.length === 0 ? '' : `env JAVA_OPTS="$JAVA_OPTS${added}" `;
    return shell([`exec ${environment}bin/start`, ...words]);
  }
  const target =
    launch.kind === 'jar' ? `-jar ${launch.file}` : `-cp 'app.jar:lib/*' ${launch.name.replaceAll('$', '\\$')}`;
  return shell(['exec java $JAVA_OPTS', ...options, target, ...words]);
};

const shell = (words: string[]): string[] => ['/bin/sh', '-c', words.join(' ')];
