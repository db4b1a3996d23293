import type { Dir } from '../../../source-tree.ts';
import type { Manifest } from '../manifest.ts';

/** What a framework leaves behind when it was built, and how that is served. */
export type Outcome =
  | { kind: 'static'; output: string; fallback: string | null }
  | {
      kind: 'server';
      /** Argv; null to look at the scripts as for any other app. */
      start: string[] | null;
      /** What of the build is needed at run time; null for everything. */
      outputs: Output[] | null;
      /** Whether node_modules is needed at run time. */
      modules: boolean;
    };

export interface Output {
  /** Folder of the app. */
  from: string;
  /** Its place in the app's folder of the image; empty for a folder that repeats the workspace's layout. */
  to: string;
  /** It may not be there. */
  optional?: boolean;
}

export interface Framework {
  name: string;
  outcome: Outcome;
  /** Runs when package.json has no build script. */
  build: string;
  /** Caches the framework keeps between builds, relative to the app. */
  caches: string[];
  buildEnv: Record<string, string>;
  /** Variables of the running app. */
  runEnv: Record<string, string>;
  decisions: string[];
  warnings: string[];
  /** Why the build cannot be served here, unless the user says how. */
  refusal: { message: string; hint: string } | null;
}

export interface Facts {
  app: Dir;
  manifest: Manifest;
  /** A start or release command of the user's own may need any file and package of the app. */
  whole: boolean;
}

export type Rule = (facts: Facts) => Framework | null;

export const framework = (name: string, build: string, outcome: Outcome, more: Partial<Framework> = {}): Framework => ({
  name,
  build,
  outcome,
  caches: [],
  buildEnv: {},
  runEnv: {},
  decisions: [],
  warnings: [],
  refusal: null,
  ...more,
});

export const site = (output: string, fallback: string | null = null): Outcome => ({ kind: 'static', output, fallback });

/** A server that holds everything it needs in one folder. */
export const bundled = (folder: string, entry: string): Extract<Outcome, { kind: 'server' }> => ({
  kind: 'server',
  start: ['node', `${folder}/${entry}`],
  outputs: [{ from: folder, to: folder }],
  modules: false,
});

/** A server that needs its packages; it is started by a script unless `start` says how. */
export const server = (start: string[] | null): Outcome => ({ kind: 'server', start, outputs: null, modules: true });

/** The text of `name.config.*`. */
export const config = (app: Dir, name: string): string | undefined => {
  const file = configFile(app, name);
  return file === undefined ? undefined : app.read(file);
};

export const configFile = (app: Dir, name: string): string | undefined =>
  app.firstOf(...['js', 'mjs', 'ts', 'cjs', 'mts'].map((extension) => `${name}.config.${extension}`));

/** A folder named in a config: only a plain relative path may reach the Dockerfile. */
export const plainFolder = (path: string | undefined): string | undefined => {
  const cleaned = path?.replace(/^\.\//, '').replace(/\/+$/, '');
  return cleaned !== undefined && /^[\w.@-]+(\/[\w.@-]+)*$/.test(cleaned) && !/(^|\/)\.\.?(\/|$)/.test(cleaned)
    ? cleaned
    : undefined;
};
