import type { DatastoreRow } from '#modules/datastores';
import { ctx, finish, type Rig } from './rig.ts';

const TLS = { caPem: 'ca', certificatePem: 'certificate', keyPem: 'key' };

/** Does what the operation of a creation would do. */
export const makeReady = (rig: Rig, name: string, project = 'shop'): DatastoreRow => {
  const row = rig.datastores.requireRow({ project, name });
  rig.datastoreStore.update(row.id, {
    status: 'ready',
    addresses: { main: '10.208.0.9' },
    secrets: { ...row.secrets, tls: TLS },
  });
  const [open] = rig.operations.list(
    { projects: ['*'], project, datastore: name, status: 'queued' },
    { limit: 1, after: undefined },
  );
  if (open !== undefined) finish(rig, open.operation_id);
  return rig.datastores.requireRow({ project, name });
};

/** Does what the operation of a backup would do. */
export const verifyBackup = (rig: Rig, key: string): void =>
  rig.backupStore.update(key, {
    status: 'verified',
    bytes: 3,
    sha256: 'f'.repeat(64),
    rows: 2,
    objects: { 'public.a': 2 },
    places: ['disk'],
    finished_at: 2000,
    verified_at: 3000,
  });

/** A postgres that is ready, with a verified backup of this key and data that a restore has replaced. */
export const addDatastore = (rig: Rig, project: string, backup: string): void => {
  rig.datastores.insert(ctx(), {
    project,
    name: 'postgres',
    kind: 'postgres',
    version: '17',
    memory_mb: 512,
    cpus: 1,
    storage_limit_mb: null,
  });
  const row = makeReady(rig, 'postgres', project);
  const { operation_id: id, key } = rig.backups.begin(ctx(), row, 'manual');
  finish(rig, id);
  const made = rig.backupStore.get(project, key);
  if (made !== undefined) rig.backupStore.insert({ ...made, key: backup });
  rig.backupStore.remove(key);
  verifyBackup(rig, backup);
  rig.datastoreStore.update(row.id, { kept: { database: 'app_kept_1', backup, restoredAt: 1, until: 2 } });
};
