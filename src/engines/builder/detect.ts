import { BerthError, invalidInput } from '#kernel/errors';
import { appsBelow, namedApp, severalApps } from './apps-below.ts';
import { readProcfile } from './overrides-procfile.ts';
import { type Overrides, readOverrides } from './overrides.ts';
import type { Plan } from './plan.ts';
import { PROVIDERS } from './providers/index.ts';
import type { Notes, Provider } from './providers/provider.ts';
import { nearest } from './providers/support/nearest.ts';
import { safePath } from './dockerfile-text.ts';
import { Dir, type SourceTree } from './source-tree.ts';

export interface PlanOptions {
  /** The project's variables: `BERTH_*` overrides, and the names that registries' settings refer to. */
  projectEnv: Record<string, string>;
  /** What an earlier plan of this service asked to remember. */
  remembered: Record<string, string>;
  serviceName: string;
}

/** Decides how an upload is built and run. Pure: the same tree and options give the same plan. */
export const planBuild = (tree: SourceTree, options: PlanOptions): Plan => {
  const repo = new Dir(tree);
  const overrides = readOverrides(repo, options.projectEnv, options.serviceName);
  const notes: Notes = { decisions: [], warnings: [], versions: [] };
  const { app, provider } = choose(repo, appFolder(repo, overrides), { overrides, notes, ...options });
  const plan = provider.plan({ app, repo, overrides, procfile: readProcfile(app), notes, ...options });
  if (plan.staticRoot !== null && plan.releaseCommand !== null) throw nothingToRelease(plan.releaseCommand);
  return plan;
};

const nothingToRelease = (command: string[]): BerthError =>
  invalidInput(
    `this is a site: its image holds files and their server alone, in which the release command ${JSON.stringify(command.join(' '))} cannot run`,
    'remove the release command, or run it as part of build; an app with a server of its own needs a start command',
  );

const appFolder = (repo: Dir, { root }: Overrides): Dir => {
  const path = (root ?? '').replace(/^(\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
  if (path === '') return repo;
  if (repo.hasDir(path)) return repo.dir(safePath(path));
  const folders = repo.entries().filter((name) => name.endsWith('/'));
  throw invalidInput(
    `root names ${JSON.stringify(path)}, which is no folder of the source`,
    folders.length === 0
      ? 'the source has no folders: remove root'
      : `folders there: ${folders.slice(0, 20).join(' ')}`,
  );
};

interface Choice {
  app: Dir;
  provider: Provider;
}

interface Chooser extends PlanOptions {
  overrides: Overrides;
  notes: Notes;
}

/** The folder of the app and what builds it: a source without an app at its root may have some in its folders. */
const choose = (repo: Dir, app: Dir, chooser: Chooser): Choice => {
  const { overrides, notes, serviceName } = chooser;
  if (overrides.provider !== undefined) return { app, provider: namedProvider(overrides.provider, notes) };
  const found = PROVIDERS.flatMap((provider) => {
    const strength = provider.detect(app, repo);
    return strength === null ? [] : [{ provider, strength }];
  });
  const strong = found.find(({ strength }) => strength === 'strong');
  const below = strong === undefined ? appsBelow(app, repo) : [];
  if (overrides.root === undefined) {
    const named = namedApp(below, serviceName);
    if (named !== undefined) {
      notes.decisions.push(`app ${named.dir.path}: its folder has the name of the service`);
      return choose(repo, named.dir, { ...chooser, overrides: { ...overrides, root: named.dir.path } });
    }
    if (below.length > 1) throw severalApps(below);
  }
  const first = strong ?? found[0];
  if (!first) throw noProvider(app, below[0]?.dir);
  warnOfOthers(
    first.provider,
    found.map(({ provider }) => provider),
    notes,
  );
  return { app, provider: first.provider };
};

const warnOfOthers = (first: Provider, found: Provider[], notes: Notes): void => {
  const others = found.filter(
    (provider) =>
      provider !== first &&
      !['static', 'shell'].includes(provider.name) &&
      !(provider.name === 'node' && first.buildsAssets === true),
  );
  if (others.length === 0 || first.name === 'dockerfile') return;
  const names = others.map(({ name }) => name).join(', ');
  notes.warnings.push(
    `this looks like ${names} too: set provider in the [build] table of berth.toml if ${first.name} is wrong`,
  );
};

const namedProvider = (name: string, notes: Notes): Provider => {
  const provider = PROVIDERS.find(
    (candidate) => candidate.name === name || (name === 'bun' && candidate.name === 'node'),
  );
  if (provider) {
    notes.decisions.push(`provider ${name}: set by [build] provider`);
    return provider;
  }
  const names = PROVIDERS.map((candidate) => candidate.name);
  throw invalidInput(
    `there is no provider called ${JSON.stringify(name.slice(0, 60))}`,
    `providers: ${names.join(', ')}`,
  );
};

const WAYS_OUT = 'add a Dockerfile at the source root, or set provider and start in the [build] table of berth.toml';

const noProvider = (app: Dir, below: Dir | undefined): BerthError => {
  const entries = app.entries();
  const markers = [...new Set(PROVIDERS.flatMap((provider) => provider.markers))];
  const seen = entries.length === 0 ? 'the source is empty' : `seen: ${listed(entries)}`;
  const hint = `${nearMiss(app, markers, below) ?? ''}${WAYS_OUT}. ${seen}. Looked for: ${markers.join(', ')}`;
  return new BerthError('NO_PROVIDER_DETECTED', 'nothing in the source says how to build it', { hint });
};

const listed = (names: string[]): string => {
  const shown = names.slice(0, 15).map((name) => JSON.stringify(name.slice(0, 60)).slice(1, -1));
  return `${shown.join(', ')}${names.length > 15 ? `, and ${names.length - 15} more` : ''}`;
};

/** A manifest one folder down, or a name that is a slip of the pen away from a marker. */
const nearMiss = (app: Dir, markers: string[], below: Dir | undefined): string | undefined => {
  const entries = app.entries();
  const inside = below ?? firstMarked(app, markers);
  if (inside !== undefined) {
    const folder = inside.path.slice(app.path === '' ? 0 : app.path.length + 1);
    const marker = inside.entries().find((name) => markers.includes(name)) ?? '';
    const depth = folder.includes('/') ? 'lies below' : 'is one folder down';
    return `${folder}/${marker} ${depth}: set root = "${inside.path}" in the [build] table of berth.toml, or deploy that folder. Else `;
  }
  for (const name of entries) {
    const close = nearest(name, markers, 2) ?? markers.find((marker) => `${marker}.txt` === name);
    if (close !== undefined) return `did you mean ${close} instead of ${name}? Else `;
  }
  return undefined;
};

/** A folder right below with a manifest, though nothing in it can be started. */
const firstMarked = (app: Dir, markers: string[]): Dir | undefined =>
  app
    .entries()
    .filter((name) => name.endsWith('/'))
    .map((name) => app.dir(name.slice(0, -1)))
    .find((dir) => dir.entries().some((name) => markers.includes(name) && name !== 'index.html'));
