/** How an app is built and run, as plain data: shown to people before anything is built, and turned into a Dockerfile. */
export interface Plan {
  provider: string;
  framework: string | null;
  /** Folder of the app inside the source; empty for the source root. */
  root: string;
  versions: VersionChoice[];
  packageManager: PackageManagerChoice | null;
  /** Shell commands of the build, in order, as people would type them. */
  install: string[];
  build: string[];
  /** What the container runs; empty for a Dockerfile of the user's own. */
  start: string[];
  /** Runs once per deploy before the new release takes traffic; null when the app names none. */
  releaseCommand: string[] | null;
  apt: { build: string[]; run: string[] };
  /** Folder of the built site that is served as files; null for apps with a server of their own. */
  staticRoot: string | null;
  /** The Dockerfile as data, in order; the last stage is what runs. Empty for a Dockerfile of the user's own. */
  stages: Stage[];
  runtime: Runtime | null;
  /** Names of the project variables that the install step sees; null means all of them. */
  installEnv: string[] | null;
  /** Generated files of the build context, below `berth/`. */
  files: ContextFile[];
  /** The user's own Dockerfile, when there is one. */
  dockerfile: OwnDockerfile | null;
  /** One line each, with its reason: what the build log shows first. */
  decisions: string[];
  warnings: string[];
  /** Versions to keep for this service, so that a new default never changes an app that did not ask for it. */
  remember: Record<string, string>;
}

export interface VersionChoice {
  tool: string;
  version: string;
  reason: string;
}

export interface PackageManagerChoice {
  name: string;
  version: string | null;
  lockFile: string | null;
  reason: string;
}

export interface Runtime {
  baseImage: string;
  user: string;
  env: Record<string, string>;
  port: number;
}

export interface OwnDockerfile {
  /** Path inside the context; the context is the folder `root` of the source, without any prefix. */
  path: string;
  /** `ARG`s it declares, whose values the caller may pass from the project's variables. */
  declaredArgs: string[];
  exposedPorts: number[];
  /** The frontend it asks for with `# syntax=`; always an official one. */
  syntax: string | null;
}

export interface ContextFile {
  path: string;
  content: string;
}

export interface Stage {
  name: string;
  from: string;
  steps: Step[];
}

export type Step = CopyStep | RunStep | EnvStep | { kind: 'workdir'; path: string } | { kind: 'user'; name: string };

export interface CopyStep {
  kind: 'copy';
  /** A stage or an image; the build context when absent. */
  from?: string;
  sources: string[];
  target: string;
  /** Gives what is copied to the app's user. */
  owned?: boolean;
}

export interface RunStep {
  kind: 'run';
  command: string;
  caches?: CacheMount[];
  /** Which of the two environment files the step sees. */
  env?: 'build' | 'install';
}

export interface EnvStep {
  kind: 'env';
  values: Record<string, string>;
}

export interface CacheMount {
  /** Last part of the cache's id; the rest names the project and service. */
  name: string;
  target: string;
  /** One build at a time may write it. */
  locked?: boolean;
}

export const APP_PORT = 8080;
/** Where the app lives in every image. */
export const APP_DIR = '/app';
/** Where the build context keeps the user's files. */
export const SOURCE_PREFIX = 'source';
/** The user every generated image runs as. */
export const APP_UID = 1000;
