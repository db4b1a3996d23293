import { messageOf } from '#kernel/errors';
import type { BuildCacheRow } from '#modules/services';
import {
  type BuildWindow,
  cacheScope,
  droppable,
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
/** Older engines (20.10) leave mounts out of a listing while somebody else has them listed. Longer than this, they are gone. */
const MISSING_MS = 30_000;

type CacheDeps = Pick<DeployDeps, 'config' | 'instance' | 'clock' | 'log' | 'builder' | 'services'>;

export const createBuildCaches = (deps: CacheDeps): BuildCaches => {
  const { config, clock, builder, log } = deps;
  const store = deps.services.caches;
  const scopeOf = (key: string): string => cacheScope(deps.instance, key);
  let windows: BuildWindow[] = [];
  /** Since when a record that somebody used has not been listed, in ms. */
  let missing = new Map<string, number>();
  let uncounted = false;
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: each count replaces the one before. */
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };

  /** `dropped` are records that need not be there any more. */
  const count = async (dropped: ReadonlySet<string> = new Set()): Promise<OwnedCache> => {
    const asked = clock.now();
    const records = await builder.cacheRecords();
    const known = ownersIn(store.all());
    const owners = ownersOf(records, known, windows, scopeOf);
    const unlisted = [...known.keys()].filter((id) => !owners.has(id) && !dropped.has(id));
    missing = new Map(unlisted.map((id) => [id, missing.get(id) ?? asked]));
    for (const [id, since] of missing) if (asked - since < MISSING_MS) owners.set(id, known.get(id) ?? new Set());
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

  /** Drops what is chosen of what there is. The engine refuses what is in use, be it that somebody just asks for its size. */
  const drop = async (choose: (cache: OwnedCache) => string[]): Promise<void> => {
    const dropped = new Set<string>();
    for (let attempt = 1; attempt <= DROP_ATTEMPTS; attempt += 1) {
      const cache = await count(dropped);
      const ids = droppable(choose(cache), cache.records);
      if (ids.length === 0) return;
      if (attempt > 1) await clock.sleep(LETTING_GO_PAUSE_MS);
      log.info('dropping build cache', { records: ids.length, attempt });
      await builder.dropCache(ids);
      for (const id of ids) dropped.add(id);
    }
    await count(dropped);
  };

  const tend = async (): Promise<void> => {
    uncounted = false;
    await drop(surplus);
    // What was not listed may exceed a bound.
    uncounted ||= missing.size > 0;
  };

  const dropServices = async (keys: readonly string[]): Promise<void> => {
    await drop((cache) => droppedWith(keys, cache));
    windows = windows.filter(({ key }) => !keys.includes(key));
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
        await inTurn(() => dropServices(services.map((service) => `${project}/${service}`)));
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

const rowsOf = ({ records, owners }: OwnedCache): BuildCacheRow[] => {
  const bytes = new Map(records.map((record) => [record.id, record.shared ? 0 : record.bytes]));
  return [...owners].flatMap(([id, keys]) =>
    [...keys].map((key) => {
      const [project = '', service = ''] = key.split('/');
      return { project, service, record: id, bytes: bytes.get(id) ?? 0 };
    }),
  );
};
