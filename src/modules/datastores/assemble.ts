import type { Database } from 'bun:sqlite';
import type { DatastoreInstance } from '#engines/datastores/port';
import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import type { NewId } from '#kernel/ids';
import { BerthError } from '#kernel/errors';
import type { Masker } from '#kernel/mask';
import type { Events } from '#modules/events';
import type { Operations } from '#modules/operations';
import { createBackupStore, type BackupRow, type BackupStore } from './backup-store.ts';
import { createBackups, type Backups } from './backups.ts';
import { createInjection, type Injection } from './injection.ts';
import { createQueries, type Queries } from './queries.ts';
import { createDatastores, type Datastores, type Engines } from './service.ts';
import type { DatastoreRow, DatastoreStore } from './store.ts';
import { createTunnels, type Tunnels } from './tunnels.ts';
import { hostOf } from './view.ts';

/** What verbs on datastores ask of the environment module, which in its turn is made of the injection. */
export interface EnvForDatastores {
  names(project: string): string[];
  affected(project: string): readonly { name: string }[];
  masker(project: string): Masker;
}

/** What verbs on backups ask of those who keep the files. */
export interface BackupFiles {
  /** Reads a stored backup, decrypted and checked. */
  open: (row: BackupRow, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** Removes what is stored of a backup; idempotent. */
  remove: (row: BackupRow) => Promise<void>;
  /** Milliseconds since the epoch; null when it is kept until further notice. */
  expiresAt: (row: BackupRow) => number | null;
  /** Milliseconds since the epoch; null when none is planned. */
  nextBackupAt: (row: DatastoreRow) => number | null;
}

export interface DatastoreModuleDeps {
  db: Database;
  config: Config;
  clock: Clock;
  newId: NewId;
  store: DatastoreStore;
  engines: Engines;
  files: BackupFiles;
  operations: Operations;
  events: Events;
  /** Looked up at each call. */
  env: () => EnvForDatastores;
  projectOf: (name: string) => { network: string; subnet: string };
  /** The host's address in a network, from its subnet in CIDR. */
  gatewayOf: (subnet: string) => string;
  labelsOf: (row: DatastoreRow) => Record<string, string>;
  requireDisk: () => Promise<void>;
  requireActive: (project: string) => void;
  requireExists: (project: string) => void;
}

export interface DatastoreModule {
  backupStore: BackupStore;
  injection: Injection;
  datastores: Datastores;
  backups: Backups;
  queries: Queries;
  tunnels: Tunnels;
  /** A datastore as its engine wants it described. */
  instanceOf: (row: DatastoreRow) => DatastoreInstance;
}

/** Ties the parts of this module together. */
export const createDatastoreModule = (deps: DatastoreModuleDeps): DatastoreModule => {
  const { db, config, clock, newId, engines, operations, events } = deps;
  const { store } = deps;
  const backupStore = createBackupStore(db);
  const instanceOf = (row: DatastoreRow): DatastoreInstance => describe(deps, row);
  const injection = createInjection({ store, engines });
  const affectedServices = (project: string): string[] =>
    deps
      .env()
      .affected(project)
      .map(({ name }) => name);
  const guards = { requireActive: deps.requireActive, requireExists: deps.requireExists };
  const datastores = createDatastores({
    db,
    config,
    clock,
    newId,
    store,
    backups: backupStore,
    engines,
    operations,
    events,
    injection,
    envNames: (project) => deps.env().names(project),
    affectedServices,
    instanceOf,
    nextBackupAt: deps.files.nextBackupAt,
    requireDisk: deps.requireDisk,
    ...guards,
  });
  const backups = createBackups({
    db,
    clock,
    newId,
    store: backupStore,
    engines,
    operations,
    events,
    datastores,
    expiresAt: deps.files.expiresAt,
    open: deps.files.open,
    removeFiles: deps.files.remove,
    ...guards,
  });
  const queries = createQueries({
    clock,
    events,
    engines,
    instanceOf,
    requireReady: datastores.requireReady,
    requireExists: deps.requireExists,
    masker: (project) => deps.env().masker(project),
  });
  const tunnels = createTunnels({
    clock,
    events,
    engines,
    instanceOf,
    requireReady: datastores.requireReady,
    requireExists: deps.requireExists,
  });
  return { backupStore, injection, datastores, backups, queries, tunnels, instanceOf };
};

const describe = (deps: DatastoreModuleDeps, row: DatastoreRow): DatastoreInstance => {
  const { network, subnet } = deps.projectOf(row.project);
  const { tls, ...secrets } = row.secrets;
  if (tls === null) {
    throw new BerthError('INTERNAL_ERROR', `datastore "${row.name}" has no certificate yet`, {
      hint: 'wait until it is ready',
      retryable: true,
    });
  }
  return {
    ...secrets,
    tls,
    id: row.id,
    kind: row.kind,
    project: row.project,
    name: row.name,
    version: row.version,
    host: hostOf(row.name),
    network,
    gateway: deps.gatewayOf(subnet),
    addresses: row.addresses,
    memoryMb: row.memory_mb,
    cpus: row.cpus,
    storageLimitMb: row.storage_limit_mb,
    labels: deps.labelsOf(row),
  };
};
