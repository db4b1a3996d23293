import { BerthError } from '#kernel/errors';
import type { Overrides } from '../overrides.ts';
import { APP_PORT, APP_UID, type CacheMount, type Plan, type Runtime, type Step, type VersionChoice } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { type Tool, type VersionRequest, chooseVersion, nodeRange, pythonRange } from '../versions.ts';
import { commandToArgv } from './support/shell.ts';

/** One language or kind of app. A new one is a file of its own plus a line in providers/index.ts. */
export interface Provider {
  name: string;
  /** Names of files at the app's root that this provider looks for; `*.ext` for any file of that kind. */
  markers: readonly string[];
  /** What docs/builder.md says about it. */
  doc: { title: string; detects: string; notes: string };
  /** A package.json beside the app holds its assets, which this provider builds. */
  buildsAssets?: true;
  /** Whether the app is of this kind: `weak` when it may only hold tooling for an app of another kind. */
  detect(app: Dir, repo: Dir): 'strong' | 'weak' | null;
  plan(context: PlanContext): Plan;
}

export interface PlanContext {
  /** The app's folder. */
  app: Dir;
  /** The whole upload. */
  repo: Dir;
  overrides: Overrides;
  procfile: Record<string, string>;
  projectEnv: Record<string, string>;
  remembered: Record<string, string>;
  serviceName: string;
  notes: Notes;
}

/** What the plan says about itself while it is being made. */
export interface Notes {
  decisions: string[];
  warnings: string[];
  versions: VersionChoice[];
}

/** A plan without anything in it yet, carrying the notes and the overrides that every provider shares. */
export const emptyPlan = (context: PlanContext, provider: string): Plan => {
  const { app, overrides, procfile, notes } = context;
  const release = overrides.release ?? procfile['release'];
  return {
    provider,
    framework: null,
    root: app.path,
    versions: notes.versions,
    packageManager: null,
    install: [],
    build: [],
    start: [],
    releaseCommand: release === undefined ? null : argvOf(release),
    apt: { build: aptList(overrides.build_apt, overrides.apt), run: aptList(overrides.run_apt, overrides.apt) },
    staticRoot: null,
    stages: [],
    runtime: null,
    installEnv: [],
    files: [],
    dockerfile: null,
    decisions: notes.decisions,
    warnings: notes.warnings,
    remember: {},
  };
};

export const aptList = (...lists: (readonly string[] | undefined)[]): string[] =>
  [...new Set(lists.flatMap((list) => list ?? []))].sort();

/** The start command that the user names: berth.toml and variables first, then the Procfile's `web`. */
export const chosenStart = ({ overrides, procfile, notes }: PlanContext): string[] | undefined => {
  if (overrides.start !== undefined) {
    notes.decisions.push('start command: from [build] start');
    return argvOf(overrides.start);
  }
  const web = procfile['web'];
  if (web === undefined) return undefined;
  notes.decisions.push('start command: the web process of the Procfile');
  return commandToArgv(web);
};

const argvOf = (command: string | string[]): string[] =>
  typeof command === 'string' ? commandToArgv(command) : command;

/** The resolved version of a tool: an override first, then what the source asks for, then what was remembered. */
export const versionOf = (
  context: PlanContext,
  tool: Tool,
  requests: (VersionRequest | null | undefined)[],
): VersionChoice => {
  const { overrides, remembered, notes } = context;
  const pinned = overrides.version;
  const range = tool.name === 'python' ? pythonRange(pinned ?? '') : nodeRange(pinned ?? '');
  const override = pinned === undefined ? null : { range, written: pinned, source: '[build] version', pinned: true };
  const choice = chooseVersion(tool, [override, ...requests], remembered[tool.name]);
  notes.versions.push(choice);
  notes.decisions.push(`${tool.title} ${choice.version}: ${choice.reason}`);
  return choice;
};

/** Where every app listens; frameworks read one or another of these. */
export const LISTEN_ENV = { HOST: '0.0.0.0', HOSTNAME: '0.0.0.0', PORT: String(APP_PORT) };

export const runtimeOf = (baseImage: string, user: string, env: Record<string, string>): Runtime => ({
  baseImage,
  user,
  env: { ...LISTEN_ENV, ...env },
  port: APP_PORT,
});

/** Creates the user and the folder of the app. The text never differs, so that apps on one base image share the layer. */
export const userSteps = (): Step[] => [
  {
    kind: 'run',
    command: `useradd --uid ${APP_UID} --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app`,
  },
];

const APT_CACHES: CacheMount[] = [
  { name: 'apt', target: '/var/cache/apt', locked: true },
  { name: 'apt-lists', target: '/var/lib/apt', locked: true },
];

/** Installs Debian packages; nothing at all when there are none. */
export const aptSteps = (packages: readonly string[]): Step[] =>
  packages.length === 0
    ? []
    : [
        {
          kind: 'run',
          caches: APT_CACHES,
          command: `rm -f /etc/apt/apt.conf.d/docker-clean && apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages.join(' ')}`,
        },
      ];

/** An app was recognised, but nothing says how to run it. */
export const noStartCommand = (what: string, tried: string, ways: string): BerthError =>
  new BerthError('NO_PROVIDER_DETECTED', `${what} was detected, but it has no start command (looked for ${tried})`, {
    hint: `${ways}, or set start in the [build] table of berth.toml, or write "web: <command>" into a Procfile`,
  });
