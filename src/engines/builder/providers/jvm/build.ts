import type { CacheMount, PackageManagerChoice, Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { type Framework, type Launch, launchCommand } from './frameworks.ts';

/** How one build tool builds an app: what the layout of the image is made from. */
export interface JvmBuild {
  tool: PackageManagerChoice;
  /** The folder of the source that is built: the app's own, or the workspace that it is part of. */
  workspace: Dir;
  image: string;
  /** Versions to keep for the service, beside Java's. */
  remember: Record<string, string>;
  java: string;
  /** Steps before the source is there: toolchains, launchers. */
  setup: Step[];
  env: Record<string, string>;
  caches: CacheMount[];
  build: string[];
  /** Null where the user's own start command says what runs. */
  outcome: Outcome | null;
}

/** What a build leaves, and how it is run. */
export interface Outcome {
  framework: Framework | null;
  /** Commands that put what runs into /out/app, and its libraries into /out/lib where `libraries` says so. */
  collect: string[];
  libraries: boolean;
  start: string[];
  reason: string;
}

/** The path of a folder inside another, for commands: `.` for the same one. */
export const relative = (from: Dir, to: Dir): string =>
  to.path === from.path ? '.' : to.path.slice(from.path === '' ? 0 : from.path.length + 1);

const jarIn = (folder: string): string =>
  `jar="$(ls -S ${folder}/*.jar | grep -Ev '(-sources|-javadoc|-tests|-plain)[.]jar$' | head -n 1)" && : "\${jar:?the build left no jar in ${folder}}"`;

interface OutcomeOptions {
  framework: Framework | null;
  reason: string;
}

/** A jar with everything in it: the largest one, where the build leaves several. */
export const jarOutcome = (folder: string, { framework, reason }: OutcomeOptions): Outcome => ({
  framework,
  collect: [jarIn(folder), 'mkdir -p /out/app', 'cp "$jar" /out/app/app.jar'],
  libraries: false,
  start: launchCommand({ kind: 'jar', file: 'app.jar' }, framework),
  reason,
});

/** An archive of Spring Boot's with servlet classes: it starts like a jar. */
export const warOutcome = (folder: string, { framework, reason }: OutcomeOptions): Outcome => ({
  framework,
  collect: ['mkdir -p /out/app', `cp ${folder}/*.war /out/app/app.war`],
  libraries: false,
  start: launchCommand({ kind: 'jar', file: 'app.war' }, framework),
  reason,
});

/** Quarkus' own layout, or its one big jar. */
export const quarkusOutcome = (folder: string, { framework, reason }: OutcomeOptions): Outcome => ({
  framework,
  collect: [
    `if [ -d ${folder}/quarkus-app ]; then mkdir -p /out && cp -r ${folder}/quarkus-app /out/app && mv /out/app/lib /out/lib; else mkdir -p /out/app /out/lib && cp ${folder}/*-runner.jar /out/app/quarkus-run.jar; fi`,
  ],
  libraries: true,
  start: launchCommand({ kind: 'jar', file: 'quarkus-run.jar' }, framework),
  reason,
});

/** The module's plain jar beside the jars it needs. */
export const classPathOutcome = (folder: string, mainClass: string, { framework, reason }: OutcomeOptions): Outcome => {
  const launch: Launch = { kind: 'class', name: mainClass };
  return {
    framework,
    collect: [
      jarIn(folder),
      `mkdir -p ${folder}/dependency /out/app`,
      `cp -r ${folder}/dependency /out/lib`,
      'cp "$jar" /out/app/app.jar',
    ],
    libraries: true,
    start: launchCommand(launch, framework),
    reason,
  };
};

/** A distribution of start scripts and libraries; the app's own jars, those in `own`, stay out of the libraries' layer. */
export const distributionOutcome = (
  folder: string,
  own: string | null,
  { framework, reason }: OutcomeOptions,
): Outcome => ({
  framework,
  collect: [
    'mkdir -p /out/lib',
    `cp -r ${folder} /out/app`,
    ...(own === null
      ? []
      : [`for jar in /out/app/lib/*.jar; do [ -e "${own}/\${jar##*/}" ] || mv "$jar" /out/lib/; done`]),
    `ln -s "$(ls /out/app/bin | grep -v '[.]bat$' | head -n 1)" /out/app/bin/start`,
    // Some tools let nobody but the owner run the scripts.
    'chmod -R a+rX /out/app',
  ],
  libraries: own !== null,
  start: launchCommand({ kind: 'script' }, framework),
  reason,
});
