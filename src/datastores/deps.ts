import type { Database } from 'bun:sqlite';
import type { Backups as BackupStorage } from '#engines/backups/port';
import type { DatastoreInstance } from '#engines/datastores/port';
import type { Places } from '#deploy/index';
import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import type { NewId } from '#kernel/ids';
import type { Log } from '#kernel/log';
import type { BackupStore, DatastoreRow, DatastoreStore, Engines } from '#modules/datastores';
import type { Env } from '#modules/env';
import type { Events } from '#modules/events';
import type { OperationStore } from '#modules/operations';
import type { ProjectStore } from '#modules/projects';
import type { ServiceStore } from '#modules/services';
import type { Authority } from './authority.ts';
import type { DatastoreContainers } from './containers.ts';

/** What the operations on datastores work with. */
export interface DatastoreDeps {
  config: Config;
  db: Database;
  clock: Clock;
  log: Log;
  newId: NewId;
  store: DatastoreStore;
  backups: BackupStore;
  storage: BackupStorage;
  engines: Engines;
  containers: DatastoreContainers;
  authority: Authority;
  places: Places;
  instanceOf: (row: DatastoreRow) => DatastoreInstance;
  /** Fails when the disks have no room for more. */
  requireDisk: () => Promise<void>;
  projects: ProjectStore;
  services: ServiceStore;
  operations: OperationStore;
  env: Pick<Env, 'restartAffected' | 'injectionChanged'>;
  events: Pick<Events, 'emit'>;
}
