import type { BackupName } from '#engines/backups/port';
import type { Bytes } from '#engines/datastores/port';
import type { BackupRow } from '#modules/datastores';
import type { DatastoreDeps } from './deps.ts';

type Storage = Pick<DatastoreDeps, 'storage'>;

export const storedName = (row: Pick<BackupRow, 'project' | 'datastore' | 'key'>): BackupName => ({
  project: row.project,
  datastore: row.datastore,
  key: row.key,
});

/** A stored backup in clear; damage is noticed before its last byte, against what was recorded when it was made. */
export const openStored = ({ storage }: Storage, row: BackupRow, signal: AbortSignal): Promise<Bytes> => {
  const expected = row.sha256 === null || row.bytes === null ? undefined : { sha256: row.sha256, bytes: row.bytes };
  return storage.open(storedName(row), { expected, signal });
};

export const removeStored = ({ storage }: Storage, row: BackupRow): Promise<void> => storage.remove(storedName(row));

/** Of a backup that was never verified, and so never copied: a bucket that does not answer is no obstacle. */
export const removeUnverified = ({ storage }: Storage, row: BackupRow): Promise<void> =>
  storage.remove(storedName(row), 'disk');
