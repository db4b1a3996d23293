import type { Database } from 'bun:sqlite';
import type { Clock } from '#kernel/clock';
import { isoTime } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { conflict, invalidInput, notFound, type BerthError } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import { accepted, type Accepted, type OperationKind, type Operations } from '#modules/operations';
import type { BackupRow, BackupStore } from './backup-store.ts';
import type { Backup, BackupCause, CreatedDatastore, ForkRequest, RestoreRequest } from './model.ts';
import type { DatastorePath, Datastores, Engines } from './service.ts';
import type { DatastoreRow } from './store.ts';
import { backupView } from './view.ts';

/** The verbs on backups. They outlive their datastore, until their time is over. */
export interface Backups {
  /** Newest first, at most `page.limit + 1`. Those of a deleted datastore are found under its name. */
  listBackups(ctx: Ctx, path: DatastorePath, page: Page): Backup[];
  getBackup(ctx: Ctx, path: DatastorePath, key: string): Backup;
  createBackup(ctx: Ctx, path: DatastorePath): (Accepted & { key: string }) | DryRun;
  deleteBackup(ctx: Ctx, path: DatastorePath, key: string): Promise<{ deleted: true } | DryRun>;
  restoreBackup(ctx: Ctx, path: DatastorePath, body: RestoreRequest): Accepted | DryRun;
  /** Swaps back what the last restore replaced. */
  undoRestore(ctx: Ctx, path: DatastorePath): Accepted | DryRun;
  /** Makes another datastore from a backup; the newest verified one unless `key` names another. */
  forkDatastore(ctx: Ctx, path: DatastorePath, body: ForkRequest): Promise<CreatedDatastore | DryRun>;
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

const KEEP_HOURS = 24;

export const createBackups = (deps: BackupsDeps): Backups => {
  const { db, store, operations, engines, datastores } = deps;

  const view = (row: BackupRow): Backup => backupView(row, deps.expiresAt(row));
  const requireBackup = ({ project, name }: DatastorePath, key: string): BackupRow => {
    const row = store.get(project, key);
    if (row === undefined || row.datastore !== name) throw backupNotFound({ project, name }, key);
    return row;
  };
  /** A backup that may be restored. */
  const requireVerified = (path: DatastorePath, key: string): BackupRow => {
    const row = requireBackup(path, key);
    if (row.status === 'verified') return row;
    throw conflict(
      `backup ${key} is ${row.status}: only verified backups are restored`,
      row.status === 'failed' ? 'choose another backup, or make a new one' : 'wait until it is verified',
      row.status !== 'failed',
    );
  };
  const requireRestorable = (row: Pick<DatastoreRow, 'kind' | 'name'>): void => {
    if (engines[row.kind].restorable) return;
    throw invalidInput(
      `backups of ${row.kind} cannot be restored by berth: "${row.name}" is backup-only`,
      'download the backup (berth db backups --download) and load it with the tools of the database; docs/datastores.md shows how',
    );
  };
  const change = (ctx: Ctx, path: DatastorePath): DatastoreRow => {
    requireProject(ctx.actor, path.project);
    deps.requireActive(path.project);
    const row = datastores.requireReady(path);
    if (datastores.openOf(path, ['datastore.delete']) !== undefined)
      throw conflict(`datastore "${path.name}" is being deleted`, 'wait until it is gone', true);
    return row;
  };
  const read = (ctx: Ctx, path: DatastorePath): void => {
    requireProject(ctx.actor, path.project);
    deps.requireExists(path.project);
  };
  const enqueue = (ctx: Ctx, row: DatastoreRow, kind: OperationKind, input: Record<string, unknown>): Accepted =>
    accepted(operations.enqueue(ctx, { kind, project: row.project, service: null, datastore: row.name, input }));

  const begin: Backups['begin'] = (ctx, row, cause) => {
    const key = deps.newId('bkp');
    const operation = enqueue(ctx, row, 'datastore.backup', { key });
    store.insert(newBackup(row, { key, cause, operation, at: deps.clock.now(), by: ctx.actor.principal }));
    return { ...operation, key };
  };

  return {
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
        const data = { datastore: path.name, key };
        deps.events.emit({ project: path.project, kind: 'backup.deleted', actor: ctx.actor.principal, data });
      }).immediate();
      return { deleted: true };
    },
    restoreBackup: (ctx, path, body) => {
      const row = change(ctx, path);
      requireRestorable(row);
      const backup = requireVerified(path, body.key);
      const keepHours = body.keep_hours ?? KEEP_HOURS;
      if (ctx.dryRun) return restorePlan(row, backup, keepHours);
      const input = { key: body.key, keep_hours: keepHours };
      return db.transaction(() => enqueue(ctx, row, 'datastore.restore', input)).immediate();
    },
    undoRestore: (ctx, path) => {
      const row = change(ctx, path);
      requireRestorable(row);
      if (row.kept === null)
        throw conflict(`datastore "${row.name}" keeps nothing that could be swapped back`, 'restore a backup instead');
      if (ctx.dryRun)
        return dryRun(`swap back the data of datastore ${row.name} from before ${isoTime(row.kept.restoredAt)}`, [
          { action: 'update', resource: 'datastore', name: row.name },
        ]);
      return db.transaction(() => enqueue(ctx, row, 'datastore.undo_restore', {})).immediate();
    },
    forkDatastore: async (ctx, path, body) => {
      requireProject(ctx.actor, path.project);
      deps.requireActive(path.project);
      const backup = body.key === undefined ? newestVerified(store, path) : requireVerified(path, body.key);
      if (backup === undefined) {
        datastores.requireRow(path);
        throw conflict(
          `datastore "${path.name}" has no verified backup`,
          'make one first, and wait until it is verified',
        );
      }
      requireRestorable({ kind: backup.kind, name: backup.datastore });
      return datastores.createDatastore(ctx, path.project, {
        kind: backup.kind,
        version: backup.version,
        name: body.name,
        ...(body.memory_mb === undefined ? {} : { memory_mb: body.memory_mb }),
        ...(body.cpus === undefined ? {} : { cpus: body.cpus }),
        ...(body.storage_limit_mb === undefined ? {} : { storage_limit_mb: body.storage_limit_mb }),
        from: backup,
      });
    },
    download: async (ctx, path, key, signal) => {
      read(ctx, path);
      const row = requireVerified(path, key);
      return { row, bytes: await deps.open(row, signal) };
    },
  };
};

const backupNotFound = ({ project, name }: DatastorePath, key: string): BerthError =>
  notFound(
    `datastore "${name}" has no backup "${key}"`,
    `list them with GET /v1/projects/${project}/datastores/${name}/backups`,
  );

const newestVerified = (store: BackupStore, { project, name }: DatastorePath): BackupRow | undefined =>
  store.list(project, name).find((row) => row.status === 'verified');

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

const restorePlan = (row: DatastoreRow, backup: BackupRow, keepHours: number): DryRun =>
  dryRun(
    `restore datastore ${row.name} to ${isoTime(backup.started_at)}: beside the live data, checked, then swapped; the data of now is kept for ${keepHours} h`,
    [
      { action: 'update', resource: 'datastore', name: row.name, backup: backup.key, rows: backup.rows },
      ...(row.kept === null ? [] : [{ action: 'delete', resource: 'kept data', name: row.name }]),
    ],
  );
