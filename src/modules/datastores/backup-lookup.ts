import type { Ctx } from '#kernel/ctx';
import { conflict, notFound, type BerthError } from '#kernel/errors';
import { requireProject } from '#kernel/scope';
import { accepted, type Accepted, type OperationKind } from '#modules/operations';
import type { BackupRow } from './backup-store.ts';
import type { BackupsDeps } from './backups.ts';
import type { DatastorePath } from './service.ts';
import type { DatastoreRow } from './store.ts';

/** What the verbs on backups share. */
export interface BackupLookup {
  /** NOT_FOUND for one that is missing, or of another datastore. */
  requireBackup(path: DatastorePath, key: string): BackupRow;
  /** A backup that may be restored. */
  requireVerified(path: DatastorePath, key: string): BackupRow;
  /** What every read asks first. */
  read(ctx: Ctx, path: DatastorePath): void;
  /** What every change of a datastore asks first. */
  change(ctx: Ctx, path: DatastorePath): DatastoreRow;
  enqueue(ctx: Ctx, row: DatastoreRow, kind: OperationKind, input: Record<string, unknown>): Accepted;
}

export const createBackupLookup = (deps: BackupsDeps): BackupLookup => {
  const { store, operations, datastores } = deps;

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

  return { requireBackup, requireVerified, read, change, enqueue };
};

const backupNotFound = ({ project, name }: DatastorePath, key: string): BerthError =>
  notFound(
    `datastore "${name}" has no backup "${key}"`,
    `list them with GET /v1/projects/${project}/datastores/${name}/backups`,
  );
