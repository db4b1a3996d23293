import type { Clock } from '#kernel/clock';
import { BerthError, conflict } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { ApiUnreachable, type TraefikApi } from './api.ts';
import { createHostClaims, type HostClaims, hostsIn } from './claims.ts';
import { confirmLive, type Patience } from './confirm.ts';
import type { RouteFiles } from './files.ts';
import { createLocks } from './locks.ts';
import { CONTROL_PLANE, type DynamicConfig, render } from './traefik-config-builder/index.ts';

/** Changes route files, and sees to it that Traefik follows. */
export interface RouteTable {
  apply(name: string, config: DynamicConfig): Promise<void>;
  remove(name: string): Promise<void>;
  replaceAll(wanted: NamedConfig[]): Promise<void>;
  /** Removes files from the directory that are no route's: one that Traefik can't read keeps it from loading any. */
  tidy(): Promise<void>;
  /** Waits until a proxy that has just started has read all routes on disk. */
  reread(): Promise<void>;
}

export interface NamedConfig {
  name: string;
  config: DynamicConfig;
}

export interface RouteTableOptions {
  clock: Clock;
  log: Log;
  api: TraefikApi;
  files: RouteFiles;
  patience: Patience;
}

type Context = RouteTableOptions & { claims: HostClaims };

export const createRouteTable = (options: RouteTableOptions): RouteTable => {
  const context: Context = { ...options, claims: createHostClaims() };
  const locks = createLocks();
  let loading: Promise<void> | undefined;

  /** Before the first change, learns from the disk who has which host. */
  const loaded = (): Promise<void> => {
    loading ??= loadClaims(context).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const afterLoading = async (work: () => Promise<void>): Promise<void> => {
    await loaded();
    await work();
  };
  return {
    apply: (name, config) => locks.run(name, () => afterLoading(() => applyRoute(context, name, config))),
    remove: (name) => locks.run(name, () => afterLoading(() => removeRoute(context, name))),
    replaceAll: (wanted) => locks.runAlone(() => afterLoading(() => replaceRoutes(context, wanted))),
    tidy: () => locks.runAlone(() => removeStrangers(context)),
    reread: () => locks.runAlone(() => awaitRoutes(context)),
  };
};

/** A host that two files claim, which berth never writes, stays with the first: `replaceAll` puts the other right. */
const loadClaims = async ({ files, claims, log }: Context): Promise<void> => {
  await files.prepare();
  for (const name of [CONTROL_PLANE, ...(await files.routes()).map(nameOf)]) {
    try {
      claims.add(name, hostsIn(await files.read(name)));
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
      log.warn('two routes on disk have one host name', { route: name, reason: error.message });
    }
  }
};

const applyRoute = async (context: Context, name: string, config: DynamicConfig): Promise<void> => {
  const { files, claims } = context;
  const text = render(config);
  const previous = await files.read(name);
  claims.add(name, hostsIn(text));
  try {
    if (text !== previous) await files.write(name, text);
    await confirm(context, name, config);
    claims.settle(name, hostsIn(text));
  } catch (error) {
    if (text !== previous) await restore(files, name, previous);
    claims.settle(name, hostsIn(previous));
    throw error;
  }
};

const restore = (files: RouteFiles, name: string, previous: string | undefined): Promise<void> =>
  previous === undefined ? files.remove(name) : files.write(name, previous);

const confirm = (context: Context, name: string, config: DynamicConfig): Promise<void> =>
  follow(context, `the route ${name}`, () => context.api.difference(name, config));

const follow = (
  { clock, files, patience }: Context,
  subject: string,
  probe: () => Promise<string | null>,
): Promise<void> =>
  confirmLive({ clock, patience, subject, probe, nudge: () => files.announce(), obstacle: () => strangersIn(files) });

const strangersIn = async (files: RouteFiles): Promise<string> => {
  const { files: names, directories } = await files.strangers();
  const all = [...names, ...directories].join(', ');
  return all === '' ? '' : `; what does not belong in the directory of its routes may be the reason: ${all}`;
};

const removeRoute = async (context: Context, name: string): Promise<void> => {
  await context.files.remove(name);
  await follow(context, `the removal of the route ${name}`, () => goneOrStopped(context.api, name));
  context.claims.settle(name, []);
};

/** A proxy that does not run routes nothing, and reads the directory anew when it starts. */
const goneOrStopped = async (api: TraefikApi, name: string): Promise<string | null> => {
  try {
    return (await api.isGone(name)) ? null : 'it is still live';
  } catch (error) {
    if (error instanceof ApiUnreachable) return null;
    throw error;
  }
};

const replaceRoutes = async (context: Context, wanted: NamedConfig[]): Promise<void> => {
  const { files, claims } = context;
  const rendered = wanted.map((entry) => ({ ...entry, text: render(entry.config) }));
  const controlPlane = { name: CONTROL_PLANE, text: (await files.read(CONTROL_PLANE)) ?? '' };
  assertDistinct([controlPlane, ...rendered]);
  await removeOthers(context, new Set(wanted.map(({ name }) => name)));
  for (const { name, text } of rendered) {
    if ((await files.read(name)) !== text) await files.write(name, text);
  }
  claims.clear();
  for (const { name, text } of [controlPlane, ...rendered]) claims.add(name, hostsIn(text));
  for (const { name, config } of wanted) await confirm(context, name, config);
};

const assertDistinct = (routes: { name: string; text: string }[]): void => {
  const claims = createHostClaims();
  if (new Set(routes.map(({ name }) => name)).size < routes.length) {
    throw conflict('one service has two routes', 'give every service one route, with all its host names');
  }
  for (const { name, text } of routes) claims.add(name, hostsIn(text));
};

/** Removes what Traefik would read beside the wanted routes. Directories are never deleted, only named. */
const removeOthers = async (context: Context, wanted: Set<string>): Promise<void> => {
  const { files } = context;
  for (const name of (await files.routes()).map(nameOf)) if (!wanted.has(name)) await files.remove(name);
  await removeStrangers(context);
};

const removeStrangers = async ({ files, log }: Context): Promise<void> => {
  const strangers = await files.strangers();
  for (const file of strangers.files) {
    log.warn('removing a file that is no intact route from the directory of the reverse proxy', { file });
    await files.removeStranger(file);
  }
  for (const directory of strangers.directories) {
    log.warn('the reverse proxy also reads this directory among its routes: remove it', { directory });
  }
};

const awaitRoutes = async (context: Context): Promise<void> => {
  const names = (await context.files.routes()).map(nameOf);
  await follow(context, 'the routes on disk', async () => {
    const live = await context.api.services();
    const missing = names.find((name) => !live.has(name));
    return missing === undefined ? null : `${missing} is not known yet`;
  });
};

const nameOf = ({ project, service }: { project: string; service: string }): string => `${project}.${service}`;
