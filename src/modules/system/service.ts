import type { Database } from 'bun:sqlite';
import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import type { ImageBuilder } from '#engines/builder/port';
import type { Proxy, ProxyHealth } from '#engines/proxy/port';
import type { Registry } from '#engines/registry/port';
import type { Runtime, RuntimeInfo } from '#engines/runtime/port';
import type { Streams } from '#http/streams';
import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { schemaVersion, sqliteVersion } from '#kernel/database';
import { datastoreTotals } from './datastores.ts';
import { checksOf, worstOf } from './checks.ts';
import { diskByProject } from './disk.ts';
import type { Capacity, Checks, Disk, Health } from './model.ts';
import { createProbe } from './probe.ts';

/** What the server says about itself. */
export interface System {
  health(): Promise<Health>;
  capacity(): Promise<Capacity>;
  disk(): Promise<Disk>;
  checks(): Promise<Checks>;
  builds(): { running: number; queued: number; concurrency: number };
  version: string;
}

export interface SystemDeps {
  db: Database;
  clock: Clock;
  config: Config;
  runtime: Pick<Runtime, 'info'>;
  proxy: Pick<Proxy, 'health'>;
  registry: Pick<Registry, 'exists' | 'diskBytes'>;
  builder: Pick<ImageBuilder, 'cacheBytes'>;
  builds: () => { running: number; queued: number; concurrency: number };
  streams: Streams;
  /** Why the platform is not ready, or undefined when it is. */
  problem: () => string | undefined;
  /** Lines of logs that could not be stored. */
  lostLines: () => number;
  /** Of the executable. */
  version: string;
}

const HEALTH = { freshMs: 2000, patienceMs: 1000 };
/** Sizes are walked for on disk: not on every call. */
const SIZES = { freshMs: 30_000, patienceMs: 3000 };
const NO_DIGEST = `sha256:${'0'.repeat(64)}`;

export const createSystem = (deps: SystemDeps): System => {
  const { db, clock, config } = deps;
  const engine = createProbe({ ask: () => deps.runtime.info(), clock, ...HEALTH });
  const proxy = createProbe({ ask: () => deps.proxy.health(), clock, ...HEALTH });
  const registry = createProbe({ ask: () => deps.registry.exists('berth/health', NO_DIGEST), clock, ...HEALTH });
  const registryBytes = createProbe({ ask: () => deps.registry.diskBytes(), clock, ...SIZES });
  const cacheBytes = createProbe({ ask: () => deps.builder.cacheBytes(), clock, ...SIZES });

  const system: System = {
    version: deps.version,
    builds: deps.builds,
    disk: () => diskByProject(db, config.dataDir),
    checks: async () => {
      const [health, capacity] = await Promise.all([system.health(), system.capacity()]);
      const checks = checksOf({ health, capacity, lostLines: deps.lostLines(), now: clock.now() });
      return { status: worstOf(checks), checks };
    },
    health: async () => {
      const [info, proxyHealth, registryAnswer] = await Promise.all([engine.read(), proxy.read(), registry.read()]);
      const checks: Health['checks'] = {
        database: databaseAnswers(db) ? 'ok' : 'failing',
        engine: info === undefined ? 'failing' : 'ok',
        proxy: proxyHealth?.running === true ? 'ok' : 'failing',
        registry: registryAnswer === undefined ? 'failing' : 'ok',
      };
      const allWell = Object.values(checks).every((state) => state === 'ok');
      const ready = deps.problem() === undefined;
      return { status: allWell && ready ? 'ok' : 'degraded', version: deps.version, schema: schemaVersion(db), checks };
    },
    capacity: async () => {
      const [info, proxyHealth, registrySize, cacheSize] = await Promise.all([
        engine.read(),
        proxy.read(),
        registryBytes.read(),
        cacheBytes.read(),
      ]);
      return {
        ...machine(info),
        problem: deps.problem() ?? null,
        disks: await disksOf(config, info),
        ...counts(db),
        datastores: datastoreTotals(db),
        builds: deps.builds(),
        build_cache_bytes: cacheSize ?? null,
        registry_bytes: registrySize ?? null,
        open_streams: deps.streams.size,
        quotas: quotasOf(config),
        versions: versionsOf(deps, info, proxyHealth),
      };
    },
  };
  return system;
};

const databaseAnswers = (db: Database): boolean => {
  try {
    return db.query<{ one: number }, []>('SELECT 1 AS one').get()?.one === 1;
  } catch {
    // The answer to "does it answer" is no, whatever the reason.
    return false;
  }
};

const machine = (info: RuntimeInfo | undefined) => ({
  cpus: info?.cpus ?? null,
  memory_bytes: info?.memoryBytes ?? null,
  memory_available_bytes: freemem(),
  containers_running: info?.containersRunning ?? null,
});

const disksOf = async (config: Config, info: RuntimeInfo | undefined): Promise<Capacity['disks']> => {
  const places = [{ path: config.dataDir, holds: 'state, uploads, logs, registry' }];
  if (info !== undefined) places.push({ path: info.dockerRootDir, holds: 'images, build cache, containers' });
  const disks: Capacity['disks'] = [];
  for (const place of places) {
    // The engine's directory may lie on another machine, or be closed to us: then it is left out.
    const disk = await statfs(place.path).catch(() => undefined);
    if (disk === undefined) continue;
    disks.push({ ...place, total_bytes: disk.blocks * disk.bsize, free_bytes: disk.bavail * disk.bsize });
  }
  return disks;
};

interface Counts {
  projects: number;
  services: number;
  replicas: number;
}

const counts = (db: Database): Counts =>
  db
    .query<Counts, []>(
      `SELECT (SELECT count(*) FROM projects) AS projects, (SELECT count(*) FROM services) AS services,
              (SELECT count(*) FROM replicas WHERE state = 'live') AS replicas`,
    )
    .get() ?? { projects: 0, services: 0, replicas: 0 };

const quotasOf = (config: Config): Capacity['quotas'] => ({
  services_per_project: config.quotaServices,
  replicas_per_service: config.quotaReplicas,
  datastores_per_project: config.quotaDatastores,
  repos_per_project: config.quotaRepos,
  upload_bytes: config.maxUploadBytes,
  build_timeout_seconds: config.buildTimeoutSeconds,
  build_cache_bytes: config.buildCacheBytes,
  build_cache_bytes_per_service: config.buildCacheBytesPerService,
  requests_per_minute: config.rateLimitPerMinute,
});

const versionsOf = (deps: SystemDeps, info: RuntimeInfo | undefined, proxy: ProxyHealth | undefined) => ({
  berth: deps.version,
  bun: Bun.version,
  sqlite: sqliteVersion(deps.db),
  engine: info === undefined ? null : `${info.engine} ${info.version}`,
  engine_api: info?.apiVersion ?? null,
  proxy: proxy?.version ?? null,
});
