import { messageOf } from '#kernel/errors';
import type { BuildCacheRow } from '#modules/services';
import {
  type BuildWindow,
  cacheScope,
  droppedWith,
  lettersOf,
  LETTING_GO_MS,
  type OwnedCache,
  type Owners,
  ownersOf,
  surplusOf,
} from './cache-owners.ts';
import type { DeployDeps } from './deps.ts';

export interface BuildWatch {
  /** What it builds. */
  dockerfile(text: string): void;
  ended(): void;
}

export interface BuildCaches {
  /** What a build's cache mounts are named within. */
  scope(project: string, service: string): string;
  /** Notes that a build of the service runs. */
  begin(project: string, service: string): BuildWatch;
  /** Counts what each service uses, and drops what exceeds the bounds. */
  tend(): Promise<void>;
  /** The same, and trims what the engine keeps of builds that nobody knows of any more. */
  trim(): Promise<void>;
  /** Drops what nobody but these services used. That it failed is logged: the nightly trim gets what stays. */
  drop(project: string, services: readonly string[]): Promise<void>;
  /** Counts after builds, until `stopping`. */
  run(stopping: AbortSignal): Promise<void>;
}

/** How often it looks whether builds have ended. */
const LOOK_EVERY_MS = 3000;
/** Older engines walk all their images and containers to tell the size of the cache: at most this share of the time. */
const COUNTING_SHARE = 0.2;
const LONGEST_PAUSE_MS = 60_000;
const DROP_ATTEMPTS = 4;
const LETTING_GO_PAUSE_MS = 300;

type CacheDeps = Pick<DeployDeps, 'config' | 'instance' | 'clock' | 'log' | 'builder' | 'services'>;

export const createBuildCaches = (deps: CacheDeps): BuildCaches => {
  const { config, clock, builder, log } = deps;
  const store = deps.services.caches;
  const scopeOf = (key: string): string => cacheScope(deps.instance, key);
  let windows: BuildWindow[] = [];
  let uncounted = false;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: each count replaces the one before. */
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };

  const count = async (): Promise<OwnedCache> => {
    const asked = clock.now();
    const records = await builder.cacheRecords();
    const owners = ownersOf(records, ownersIn(store.all()), windows, scopeOf);
    store.replaceAll(rowsOf({ records, owners }));
    windows = windows.filter(({ ended }) => ended === null || ended + LETTING_GO_MS >= asked);
    return { records, owners };
  };

  /** What exceeds the bound of a service, and then that of all together; nothing that a build may be about to use. */
  const surplus = (cache: OwnedCache): string[] => {
    const building = new Set(windows.filter(({ ended }) => ended === null).map(({ key }) => key));
    const idle = deps.services
      .all()
      .map(({ project, name }) => `${project}/${name}`)
      .filter((key) => !building.has(key));
    const own = new Set(idle.flatMap((key) => surplusOf([key], config.buildCacheBytesPerService, cache)));
    const rest = { ...cache, records: cache.records.filter(({ id }) => !own.has(id)) };
    return [...own, ...surplusOf(idle, config.buildCacheBytes, rest)];
  };

  const tend = async (): Promise<void> => {
    uncounted = false;
    const ids = surplus(await count());
    if (ids.length === 0) return;
    log.info('dropping the build cache that exceeds its bounds', { records: ids.length });
    await builder.dropCache(ids);
    await count();
  };

  /** A busy engine holds on to what a build just used: what is still there is dropped again. */
  const drop = async (project: string, services: readonly string[]): Promise<void> => {
    const keys = services.map((service) => `${project}/${service}`);
    for (let attempt = 1; attempt <= DROP_ATTEMPTS; attempt += 1) {
      if (attempt > 2) await clock.sleep(LETTING_GO_PAUSE_MS);
      const ids = droppedWith(keys, await count());
      windows = windows.filter(({ key }) => !keys.includes(key));
      if (ids.length === 0) return;
      await builder.dropCache(ids);
    }
  };

  return {
    scope: (project, service) => scopeOf(`${project}/${service}`),
    begin: (project, service) => {
      const window: BuildWindow = { key: `${project}/${service}`, begun: clock.now(), ended: null, letters: '' };
      windows.push(window);
      return {
        dockerfile: (text) => void (window.letters = lettersOf(text)),
        ended: () => {
          window.ended = clock.now();
          uncounted = true;
        },
      };
    },
    tend: () => inTurn(tend),
    trim: () =>
      inTurn(async () => {
        await tend();
        await builder.trimCache(config.buildCacheBytes);
        await count();
      }),
    drop: async (project, services) => {
      try {
        await inTurn(() => drop(project, services));
      } catch (error) {
        log.warn('cannot drop the build cache of what was deleted', { project, reason: messageOf(error) });
      }
    },
    run: async (stopping) => {
      let pause = LOOK_EVERY_MS;
      while (!stopping.aborted) {
        await clock.sleep(pause, stopping);
        pause = LOOK_EVERY_MS;
        if (!uncounted || stopping.aborted) continue;
        const begun = clock.monotonic();
        await inTurn(tend).catch((error: unknown) => {
          uncounted = true;
          log.warn('cannot count the build cache', { reason: messageOf(error) });
        });
        pause = Math.min(LONGEST_PAUSE_MS, Math.max(pause, (clock.monotonic() - begun) / COUNTING_SHARE));
      }
    },
  };
};

const ownersIn = (rows: readonly BuildCacheRow[]): Owners => {
  const owners: Owners = new Map();
  for (const { project, service, record } of rows) {
    const keys = owners.get(record) ?? new Set();
    owners.set(record, keys.add(`${project}/${service}`));
  }
  return owners;
};

const rowsOf = ({ records, owners }: OwnedCache): BuildCacheRow[] =>
  records.flatMap(({ id, bytes, shared }) =>
    [...(owners.get(id) ?? [])].map((key) => {
      const [project = '', service = ''] = key.split('/');
      return { project, service, record: id, bytes: shared ? 0 : bytes };
    }),
  );
