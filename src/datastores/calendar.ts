import { Cron } from 'croner';
import type { Config } from '#kernel/config';
import type { BackupRow, DatastoreRow } from '#modules/datastores';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Between attempts of one night, when the first failed. */
const RETRY_MS = 2 * HOUR_MS;

type Times = Pick<Config, 'backupHour' | 'backupDays'>;

/** Where in the hour a datastore's backup begins, always the same: all at once would be too much for the machine. Pure. */
const offsetOf = (id: string): number => Number(Bun.hash.xxHash64(id) % BigInt(HOUR_MS));

/** When the next nightly backup of a datastore begins, in milliseconds since the epoch; in the past when it is due. Pure. */
export const nextNightly = (
  { backupHour }: Times,
  row: Pick<DatastoreRow, 'id' | 'created_at'>,
  backups: readonly Pick<BackupRow, 'datastore_id' | 'cause' | 'status' | 'started_at'>[],
): number => {
  const own = backups.filter((backup) => backup.datastore_id === row.id && backup.cause === 'nightly');
  const tried = Math.max(0, ...own.map((backup) => backup.started_at));
  const done = Math.max(row.created_at, ...own.filter(isGood).map((backup) => backup.started_at));
  const offset = offsetOf(row.id);
  const after = new Cron(`0 0 ${backupHour} * * *`, { timezone: 'UTC' }).nextRun(new Date(done - offset));
  const wanted = (after?.getTime() ?? done + DAY_MS) + offset;
  // One that failed is tried again, but not at once.
  return tried > done ? Math.max(wanted, tried + RETRY_MS) : wanted;
};

const isGood = ({ status }: Pick<BackupRow, 'status'>): boolean => status !== 'failed';

/** What else there is of a backup's datastore. */
export interface Siblings {
  backups: readonly Pick<BackupRow, 'key' | 'status' | 'datastore_id'>[];
  /** Whether the datastore is still there. */
  exists: boolean;
}

/**
 * When a backup is let go of, in milliseconds since the epoch. Null while it is the newest verified one of a datastore that is
 * there: that one stays, however old, until another takes its place or someone deletes it. Pure.
 */
export const expiryOf = (
  { backupDays }: Times,
  backup: Pick<BackupRow, 'key' | 'status' | 'started_at' | 'datastore_id'>,
  { backups, exists }: Siblings,
): number | null => {
  if (backup.status === 'running' || backup.status === 'verifying') return null;
  if (!exists) return backup.started_at + backupDays * DAY_MS;
  const newest = backups
    .filter((other) => other.datastore_id === backup.datastore_id && other.status === 'verified')
    .reduce((best, other) => (other.key > best ? other.key : best), '');
  return backup.key === newest ? null : backup.started_at + backupDays * DAY_MS;
};
