import type { BackupName, OpenRequest } from '#engines/backups/port';
import type { Bytes } from '#engines/datastores/port';
import { BerthError } from '#kernel/errors';
import type { BackupRow } from '#modules/datastores';
import type { Run } from '#modules/operations';
import type { DatastoreDeps } from './deps.ts';

type Storage = Pick<DatastoreDeps, 'storage'>;

export const storedName = (row: Pick<BackupRow, 'project' | 'datastore' | 'key'>): BackupName => ({
  project: row.project,
  datastore: row.datastore,
  key: row.key,
});

/** A stored backup in clear; damage is noticed before its last byte, against what was recorded when it was made. */
export const openStored = ({ storage }: Storage, row: BackupRow, signal: AbortSignal): Promise<Bytes> =>
  storage.open(storedName(row), requestOf(row, signal));

/**
 * Hands a stored backup to `work`; once more from the bucket when the copy on disk turns out to be damaged. `work` must leave
 * nothing when it fails.
 */
export const useStored = async <T>(
  deps: Storage,
  { row, run }: { row: BackupRow; run: Pick<Run, 'signal' | 'log'> },
  work: (bytes: Bytes) => Promise<T>,
): Promise<T> => {
  try {
    return await work(await openStored(deps, row, run.signal));
  } catch (thrown) {
    if (run.signal.aborted) throw thrown;
    // Whatever failed may have choked on the damage before its checksum told.
    const damage = await damageOnDisk(deps, row, run.signal);
    if (damage === undefined) throw thrown;
    run.log('berth', `${damage.message}: taking the copy in the bucket`);
    return work(await openCopy(deps, row, { damage, signal: run.signal }));
  }
};

/** As `openStored`, for a reader who cannot begin again: what is on the disk is read twice when there is another copy. */
export const openWhole = async (deps: Storage, row: BackupRow, signal: AbortSignal): Promise<Bytes> => {
  const damage = await damageOnDisk(deps, row, signal);
  return damage === undefined ? openStored(deps, row, signal) : openCopy(deps, row, { damage, signal });
};

/** The one in the bucket; when it is gone too, the damage is what is wrong. */
const openCopy = async (
  { storage }: Storage,
  row: BackupRow,
  { damage, signal }: { damage: BerthError; signal: AbortSignal },
): Promise<Bytes> => {
  try {
    return await storage.open(storedName(row), { ...requestOf(row, signal), from: 's3' });
  } catch (thrown) {
    throw thrown instanceof BerthError && thrown.kind === 'NOT_FOUND' ? damage : thrown;
  }
};

/** What is wrong with the copy on disk, if anything is and there is another one. */
const damageOnDisk = async (
  { storage }: Storage,
  row: BackupRow,
  signal: AbortSignal,
): Promise<BerthError | undefined> => {
  if (!row.places.includes('s3') || !storage.places.includes('s3')) return undefined;
  try {
    await storage.check(storedName(row), { ...requestOf(row, signal), from: 'disk' });
    return undefined;
  } catch (thrown) {
    return thrown instanceof BerthError && thrown.kind === 'CONFLICT' ? thrown : undefined;
  }
};

const requestOf = (row: BackupRow, signal: AbortSignal): OpenRequest => ({
  expected: row.sha256 === null || row.bytes === null ? undefined : { sha256: row.sha256, bytes: row.bytes },
  signal,
});

export const removeStored = ({ storage }: Storage, row: BackupRow): Promise<void> => storage.remove(storedName(row));

/** Of a backup that was never verified, and so never copied: a bucket that does not answer is no obstacle. */
export const removeUnverified = ({ storage }: Storage, row: BackupRow): Promise<void> =>
  storage.remove(storedName(row), 'disk');
