import { isoTime } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { conflict, invalidInput } from '#kernel/errors';
import { dryRun, type DryRun } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Accepted } from '#modules/operations';
import type { BackupLookup } from './backup-lookup.ts';
import type { BackupRow, BackupStore } from './backup-store.ts';
import type { BackupsDeps } from './backups.ts';
import type { CreatedDatastore, ForkRequest, RestoreRequest } from './model.ts';
import type { DatastorePath } from './service.ts';
import type { DatastoreRow } from './store.ts';

/** Bringing data back. */
export interface Restores {
  restoreBackup(ctx: Ctx, path: DatastorePath, body: RestoreRequest): Accepted | DryRun;
  /** Swaps back what the last restore replaced. */
  undoRestore(ctx: Ctx, path: DatastorePath): Accepted | DryRun;
  /** Makes another datastore from a backup; the newest verified one unless `key` names another. */
  forkDatastore(ctx: Ctx, path: DatastorePath, body: ForkRequest): Promise<CreatedDatastore | DryRun>;
}

const KEEP_HOURS = 24;

export const createRestores = (deps: BackupsDeps, lookup: BackupLookup): Restores => {
  const { db, store, engines, datastores } = deps;
  const { requireVerified, change, enqueue } = lookup;

  const requireRestorable = (row: Pick<DatastoreRow, 'kind' | 'name'>): void => {
    if (engines[row.kind].restorable) return;
    throw invalidInput(
      `backups of ${row.kind} cannot be restored by berth: "${row.name}" is backup-only`,
      `download it (berth db download ${row.name} KEY FILE) and copy the data into a datastore; docs/datastores.md shows how`,
    );
  };

  return {
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
        fromAny: body.key === undefined,
      });
    },
  };
};

const newestVerified = (store: BackupStore, { project, name }: DatastorePath): BackupRow | undefined =>
  store.list(project, name).find((row) => row.status === 'verified');

const restorePlan = (row: DatastoreRow, backup: BackupRow, keepHours: number): DryRun =>
  dryRun(
    `restore datastore ${row.name} to ${isoTime(backup.started_at)}: beside the live data, checked, then swapped; the data of now is kept for ${keepHours} h`,
    [
      { action: 'update', resource: 'datastore', name: row.name, backup: backup.key, rows: backup.rows },
      ...(row.kept === null ? [] : [{ action: 'delete', resource: 'kept data', name: row.name }]),
    ],
  );
