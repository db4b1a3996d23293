import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Backups as BackupStorage } from '#engines/backups/port';
import { createJobs } from '#engines/datastores/jobs';
import { createMongoEngine } from '#engines/datastores/mongo/index';
import type { DatastoreInstance } from '#engines/datastores/port';
import { createPostgresEngine } from '#engines/datastores/postgres/index';
import type { Keeper } from '#engines/datastores/postgres/keeper';
import { createRedisEngine } from '#engines/datastores/redis/index';
import type { Runtime } from '#engines/runtime/port';
import {
  createPlaces,
  firstAddress,
  requireDisk,
  type DatastorePresence,
  type NetworksDeps,
  type Places,
} from '#deploy/index';
import { openAuthority, type Authority } from '#datastores/authority';
import { createDatastoreContainers, type DatastoreContainers } from '#datastores/containers';
import { expiryOf, nextNightly } from '#datastores/calendar';
import { datastoreLabels, JOB_LABELS, templateLabels } from '#datastores/labels';
import { openWhole, removeStored } from '#datastores/stored';
import { createScratch } from '#datastores/scratch';
import {
  createDatastoreModule,
  createDatastoreStore,
  newPassword,
  type BackupFiles,
  type DatastoreModule,
  type DatastoreModuleDeps,
  type BackupStore,
  type DatastoreRow,
  type DatastoreStore,
  type Engines,
  type Seal,
} from '#modules/datastores';
import type { ProjectStore } from '#modules/projects';
import type { Base } from './base.ts';

/** Where apps find the certificate that vouches for datastores. */
const CA_IN_REPLICAS = '/etc/berth/datastores-ca.pem';

export type DatastoreAssemblyDeps = Base &
  Omit<NetworksDeps, 'datastores'> &
  Pick<DatastoreModuleDeps, 'operations' | 'events' | 'requireActive' | 'requireExists'> & {
    vault: Seal;
    storage: BackupStorage;
  };

/** The module of datastores with all that it stands on. `env` is looked up at each call: it is made of this in its turn. */
export const assembleDatastores = (deps: DatastoreAssemblyDeps, env: DatastoreModuleDeps['env']) => {
  const shared = createDatastorePlaces(deps);
  const kinds = createDatastoreEngines({ ...deps, ...shared });
  const { store, authority, places, presence } = shared;
  const checkDisk = requireDisk(deps);
  const module: DatastoreModule = createDatastoreModule({
    ...deps,
    store,
    engines: kinds.engines,
    files: datastoreFiles({ ...deps, store, backups: () => module.backupStore }),
    env,
    projectOf: (project) => deps.projects.require(project),
    gatewayOf: firstAddress,
    labelsOf: kinds.labelsOf,
    requireDisk: checkDisk,
  });
  return {
    module,
    presence,
    places,
    /** What operations on datastores need besides. */
    parts: {
      store,
      authority,
      places,
      engines: kinds.engines,
      containers: kinds.containers,
      backups: module.backupStore,
      instanceOf: module.instanceOf,
      requireDisk: checkDisk,
      keepPrepared: kinds.keepPrepared,
    },
    /** Ends what the engines keep open. */
    close: kinds.close,
  };
};

interface DatastorePlaces {
  store: DatastoreStore;
  authority: Authority;
  presence: DatastorePresence;
  places: Places;
}

/** What deploys and datastores share: the rows, the certificates, and the places in the networks of projects. */
const createDatastorePlaces = (deps: Base & Omit<NetworksDeps, 'datastores'> & { vault: Seal }): DatastorePlaces => {
  const store = createDatastoreStore(deps.db, deps.vault);
  const authority = openAuthority({ ...deps, path: join(deps.config.dataDir, 'datastores', 'ca.pem') });
  const presence: DatastorePresence = {
    addresses: (project) => store.addresses(project),
    attachments: (project) => {
      const file = authority.file();
      const used = store.list(project).some((row) => row.kind === 'postgres' && row.status === 'ready');
      if (!used || file === null) return { env: {}, mounts: [] };
      return {
        // Node is the one runtime that verifies whatever the URL says, and takes further CAs beside its own.
        env: { NODE_EXTRA_CA_CERTS: CA_IN_REPLICAS },
        mounts: [{ hostPath: file, target: CA_IN_REPLICAS, readOnly: true }],
      };
    },
  };
  return { store, authority, presence, places: createPlaces({ ...deps, datastores: presence }) };
};

interface DatastoreKinds {
  engines: Engines;
  containers: DatastoreContainers;
  labelsOf(row: DatastoreRow): Record<string, string>;
  /** Prepares what new datastores begin with. */
  keepPrepared: Keeper['run'];
  /** Ends what the engines keep open. */
  close(): void;
}

/** The engines of all kinds, with what they run on. */
const createDatastoreEngines = (
  deps: Base & DatastorePlaces & { runtime: Runtime; projects: ProjectStore },
): DatastoreKinds => {
  const { runtime, clock, log, config, instance, newId, places } = deps;
  const addresses = {
    reserve: (at: DatastoreInstance) => places.addresses.reserve(deps.projects.require(at.project)),
    release: (at: DatastoreInstance, ip: string) => places.addresses.release(at.project, ip),
  };
  const newName = (): string => newId('req').slice('req_'.length);
  const pipesDir = join(config.dataDir, 'datastores', 'pipes');
  // Of jobs that this server did not see the end of.
  rmSync(pipesDir, { recursive: true, force: true });
  const jobs = createJobs({ runtime, clock, log, addresses, labels: JOB_LABELS, newName, pipesDir });
  const parts = { runtime, log, networks: places.networks };
  const containers = createDatastoreContainers(parts);
  const scratch = createScratch({
    ...parts,
    addresses,
    engineOf: (kind) => engines[kind],
    issue: deps.authority.issue,
    newName,
    newPassword,
  });
  const templateDir = join(config.dataDir, 'datastores', 'templates');
  const common = { runtime, clock, log, jobs, scratch, templateDir, templateLabels: templateLabels(instance) };
  const postgres = createPostgresEngine(common);
  const engines: Engines = {
    postgres,
    redis: createRedisEngine(common),
    mongo: createMongoEngine(common),
  };
  return {
    engines,
    containers,
    labelsOf: (row) => datastoreLabels(instance, row),
    keepPrepared: config.prepareDatastores ? postgres.keeper.run : () => Promise.resolve(),
    close: postgres.close,
  };
};

/** What the module asks of stored backups. */
const datastoreFiles = (
  deps: Base & { storage: BackupStorage; store: DatastoreStore; backups: () => BackupStore },
): BackupFiles => ({
  open: (row, signal) => openWhole(deps, row, signal),
  remove: (row) => removeStored(deps, row),
  expiresAt: (row) => {
    const datastore = deps.store.byId(row.datastore_id);
    return expiryOf(deps.config, row, {
      backups: deps.backups().list(row.project, row.datastore),
      exists: datastore !== undefined,
      lostAt: datastore?.lost_at ?? null,
    });
  },
  nextBackupAt: (row) => nextNightly(deps.config, row, deps.backups().list(row.project, row.name), deps.clock.now()),
});
