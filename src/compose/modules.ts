import type { Database } from 'bun:sqlite';
import type { DeployDeps } from '#deploy/index';
import { takenSubnets } from '#engines/runtime/host-routes';
import { allocateSubnet } from '#engines/runtime/subnets';
import { createEnv, openVault, type Env } from '#modules/env';
import { createServiceLogs } from '#modules/logs';
import { createJournal, createOperations, createOperationStore, type Runner } from '#modules/operations';
import { createProjects, createProjectStore } from '#modules/projects';
import { createReleases, createReleaseStore } from '#modules/releases';
import { createLiveness, createReadReplicas, createServices, createServiceStore } from '#modules/services';
import { createAccess } from './access.ts';
import type { Base } from './base.ts';
import { assembleDatastores } from './datastores.ts';
import type { Engines } from './engines.ts';
import { assembleRepos } from './repos.ts';

/** What is made of the modules in its turn, and looked up at each call. */
export interface Late {
  runner: () => Runner | undefined;
  /** Asks for a mirrored repository to be fetched soon. */
  mirror: (id: string) => void;
}

/** Ties the modules together. */
export const createModules = (base: Base, engines: Engines, late: Late) => {
  const { config, clock, log, newId, db, meta, instance } = base;
  const { streams, events, tokens, sessions } = createAccess(base);
  const stores = {
    projects: createProjectStore(db),
    services: createServiceStore(db),
    releases: createReleaseStore(db),
    operations: createOperationStore(db),
  };
  const journal = createJournal(stores.operations, clock, log);
  const wake: Runner['wake'] = (id, reason) => late.runner()?.wake(id, reason);
  const operations = createOperations({ store: stores.operations, journal, clock, newId, config, wake });
  const requireExists = (project: string): void => void stores.projects.require(project);
  const requireActive = (project: string): void => void stores.projects.requireActive(project);
  const vault = openVault({ dataDir: config.dataDir, hasValues: () => hasSecrets(db), log });
  const guards = { requireActive, requireExists };

  const datastores = assembleDatastores(
    { ...base, ...engines, ...stores, ...guards, vault, operations, events },
    (): Env => env,
  );
  const env: Env = createEnv({
    db,
    clock,
    vault,
    events,
    operations,
    services: stores.services,
    injection: datastores.module.injection,
    ...guards,
  });
  const repos = assembleRepos({ ...base, ...guards, vault, events, onMirror: late.mirror });
  const logs = createServiceLogs({ runtime: engines.runtime, clock, log, config, maskerFor: env.masker });
  const liveness = createLiveness();
  const services = createServices({
    db,
    config,
    store: stores.services,
    releases: stores.releases,
    operations,
    liveness,
    readReplicas: createReadReplicas(engines.runtime, clock),
    ...guards,
  });
  const releases = createReleases({ store: stores.releases, liveRelease: services.liveRelease });
  const projects = createProjects({
    db,
    clock,
    store: stores.projects,
    events,
    operations,
    instance,
    allocateSubnet: (used) => allocateSubnet(config.networkPool, config.networkSize, used),
    foreignSubnets: async () => [...(await takenSubnets(engines.runtime)), meta.get('registry_subnet') ?? []].flat(),
    parts: {
      services: services.views,
      releases: releases.recent,
      datastores: datastores.module.datastores.views,
      envKeys: env.keys,
      recentEvents: events.recent,
      version: liveness.version,
    },
  });
  const requireService = (project: string, service: string): void => void services.liveRelease(project, service);
  const deployDeps = {
    ...base,
    ...engines,
    ...stores,
    env,
    events,
    logs,
    liveness,
    datastores: datastores.presence,
  } satisfies DeployDeps;
  const totalChanges = db.query<{ total: number }, []>('SELECT total_changes() AS total');
  return {
    stores,
    journal,
    /** What tells that the state of projects may be another one. */
    states: {
      names: projects.names,
      read: projects.peek,
      version: (): number => (totalChanges.get()?.total ?? 0) + liveness.version(),
    },
    /** What the routes are made of. */
    api: {
      streams,
      tokens,
      sessions,
      projects,
      services,
      releases,
      operations,
      env,
      events,
      logs,
      ...datastores.module,
      repos: repos.repos,
      requireExists,
      requireService,
    },
    deployDeps,
    repos,
    guards,
    places: datastores.places,
    closeDatastores: datastores.close,
    datastoreDeps: { ...deployDeps, ...datastores.parts, env, newId },
  };
};

const hasSecrets = (db: Database): boolean =>
  db.query('SELECT 1 FROM env UNION ALL SELECT 1 FROM datastores LIMIT 1').get() !== null;
