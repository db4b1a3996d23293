import type { Database } from 'bun:sqlite';
import type { Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { conflict } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import type { Accepted, Operations } from '#modules/operations';
import { createBackupLookup } from './backup-lookup.ts';
import type { BackupRow, BackupStore } from './backup-store.ts';
import type { Backup, BackupCause } from './model.ts';
import { createRestores, type Restores } from './restores.ts';
import type { DatastorePath, Datastores, Engines } from './service.ts';
import type { DatastoreRow } from './store.ts';
import { backupView } from './view.ts';

/** The verbs on backups. They outlive their datastore, until their time is over. */
export interface Backups extends Restores {
  /** Newest first, at most `page.limit + 1`. Those of a deleted datastore are found under its name. */
  listBackups(ctx: Ctx, path: DatastorePath, page: Page): Backup[];
  getBackup(ctx: Ctx, path: DatastorePath, key: string): Backup;
  createBackup(ctx: Ctx, path: DatastorePath): (Accepted & { key: string }) | DryRun;
  deleteBackup(ctx: Ctx, path: DatastorePath, key: string): Promise<{ deleted: true } | DryRun>;
  /** The stored backup in clear, to take away. */
  download(ctx: Ctx, path: DatastorePath, key: string, signal: AbortSignal): Promise<Download>;
  /** Puts a backup into the state, to be made by its operation. Call it in a transaction. */
  begin(ctx: Ctx, row: DatastoreRow, cause: BackupCause): Accepted & { key: string };
}

export interface Download {
  row: BackupRow;
  bytes: AsyncIterable<Uint8Array>;
}

export interface BackupsDeps {
  db: Database;
  clock: Clock;
  newId: NewId;
  store: BackupStore;
  engines: Engines;
  operations: Operations;
  events: Pick<Events, 'emit'>;
  datastores: Datastores;
  /** Milliseconds since the epoch; null when it is kept until further notice. */
  expiresAt: (row: BackupRow) => number | null;
  /** Reads a stored backup, decrypted and checked. */
  open: (row: BackupRow, signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>;
  /** Removes what is stored of a backup; idempotent. */
  removeFiles: (row: BackupRow) => Promise<void>;
  requireActive: (project: string) => void;
  requireExists: (project: string) => void;
}

export const createBackups = (deps: BackupsDeps): Backups => {
  const { db, store, datastores } = deps;

  const lookup = createBackupLookup(deps);
  const { requireBackup, requireVerified, change, read, enqueue } = lookup;
  const view = (row: BackupRow): Backup => backupView(row, deps.expiresAt(row));
  const begin: Backups['begin'] = (ctx, row, cause) => {
    const key = deps.newId('bkp');
    const operation = enqueue(ctx, row, 'datastore.backup', { key });
    store.insert(newBackup(row, { key, cause, operation, at: deps.clock.now(), by: ctx.actor.principal }));
    return { ...operation, key };
  };

  const emit = (
    ctx: Ctx,
    { project, name }: DatastorePath,
    kind: 'backup.deleted' | 'backup.downloaded',
    key: string,
  ): void => deps.events.emit({ project, kind, actor: ctx.actor.principal, data: { datastore: name, key } });

  return {
    ...createRestores(deps, lookup),
    begin,
    listBackups: (ctx, path, page) => {
      read(ctx, path);
      if (store.newest(path.project, path.name) === undefined) datastores.requireRow(path);
      return store.list(path.project, path.name, page).map(view);
    },
    getBackup: (ctx, path, key) => {
      read(ctx, path);
      return view(requireBackup(path, key));
    },
    createBackup: (ctx, path) => {
      const row = change(ctx, path);
      if (ctx.dryRun) {
        return dryRun(`back up datastore ${row.name}, and restore the backup into a scratch instance to verify it`, [
          { action: 'create', resource: 'backup', name: row.name },
        ]);
      }
      return db.transaction(() => begin(ctx, row, 'manual')).immediate();
    },
    deleteBackup: async (ctx, path, key) => {
      requireProject(ctx.actor, path.project);
      deps.requireActive(path.project);
      const row = requireBackup(path, key);
      if (row.status === 'running' || row.status === 'verifying')
        throw conflict(`backup ${key} is being made`, `cancel operation ${row.operation_id} first`);
      if (ctx.dryRun)
        return dryRun(`delete backup ${key} of datastore ${path.name}`, [
          { action: 'delete', resource: 'backup', name: key },
        ]);
      await deps.removeFiles(row);
      db.transaction(() => {
        store.remove(key);
        emit(ctx, path, 'backup.deleted', key);
      }).immediate();
      return { deleted: true };
    },
    download: async (ctx, path, key, signal) => {
      read(ctx, path);
      const row = requireVerified(path, key);
      const bytes = await deps.open(row, signal);
      emit(ctx, path, 'backup.downloaded', key);
      return { row, bytes };
    },
  };
};

const newBackup = (
  row: DatastoreRow,
  facts: { key: string; cause: BackupCause; operation: Accepted; at: number; by: string },
): BackupRow => ({
  key: facts.key,
  project: row.project,
  datastore: row.name,
  datastore_id: row.id,
  kind: row.kind,
  version: row.version,
  cause: facts.cause,
  status: 'running',
  operation_id: facts.operation.operation_id,
  bytes: null,
  sha256: null,
  encrypted_to: null,
  places: [],
  rows: null,
  objects: null,
  started_at: facts.at,
  finished_at: null,
  verified_at: null,
  error: null,
  created_by: facts.by,
});
