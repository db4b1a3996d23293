import { Cron } from 'croner';
import type { Config } from '#kernel/config';
import type { BackupRow, DatastoreRow } from '#modules/datastores';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Between attempts of one night, when the first failed. */
const RETRY_MS = 2 * HOUR_MS;
/** A backup from further ahead was made while the clock was wrong. */
const AHEAD_MS = DAY_MS;
/** How long after the newest verified backup older ones go on to expire: until the next night is over. */
const FRESH_MS = 36 * HOUR_MS;
/** Nightly backups at once: after a night that was missed, all datastores are due together. */
const NIGHTLY_AT_ONCE = 2;

type Times = Pick<Config, 'backupHour' | 'backupDays'>;

/** Where in the hour a datastore's backup begins, always the same: all at once would be too much for the machine. Pure. */
const offsetOf = (id: string): number => Number(Bun.hash.xxHash64(id) % BigInt(HOUR_MS));

/**
 * When the next nightly backup of a datastore begins, in milliseconds since the epoch; in the past when it is due, which it
 * stays until it is made: a night in which berth did not run is made up for. Pure.
 */
export const nextNightly = (
  { backupHour }: Times,
  row: Pick<DatastoreRow, 'id' | 'created_at'>,
  backups: readonly Pick<BackupRow, 'datastore_id' | 'cause' | 'status' | 'started_at'>[],
  now: number,
): number => {
  const own = backups.filter((backup) => backup.datastore_id === row.id && backup.cause === 'nightly');
  // Without this, one wrong clock would end the backups until the time that it showed.
  const latest = (times: number[]): number => Math.max(0, ...times.filter((at) => at <= now + AHEAD_MS));
  const tried = latest(own.map((backup) => backup.started_at));
  const done = latest([row.created_at, ...own.filter(isGood).map((backup) => backup.started_at)]);
  const offset = offsetOf(row.id);
  const after = new Cron(`0 0 ${backupHour} * * *`, { timezone: 'UTC' }).nextRun(new Date(done - offset));
  const wanted = (after?.getTime() ?? done + DAY_MS) + offset;
  // One that failed is tried again, but not at once.
  return tried > done ? Math.max(wanted, tried + RETRY_MS) : wanted;
};

const isGood = ({ status }: Pick<BackupRow, 'status'>): boolean => status !== 'failed';

/** How many nightly backups may begin now, beside those that are being made. Pure. */
export const nightlyRoom = (backups: readonly Pick<BackupRow, 'cause' | 'status'>[]): number =>
  Math.max(0, NIGHTLY_AT_ONCE - backups.filter((backup) => backup.cause === 'nightly' && isBeingMade(backup)).length);

const isBeingMade = ({ status }: Pick<BackupRow, 'status'>): boolean => status === 'running' || status === 'verifying';

/** What else there is of a backup's datastore. */
export interface Siblings {
  backups: readonly Pick<BackupRow, 'key' | 'status' | 'datastore_id' | 'started_at'>[];
  /** Whether the datastore is still there. */
  exists: boolean;
  /** When its data was found missing, and not restored since; milliseconds since the epoch. */
  lostAt: number | null;
}

type Aged = Pick<BackupRow, 'key' | 'status' | 'started_at' | 'datastore_id'>;

/**
 * When a backup is let go of, in milliseconds since the epoch; the same for nightly ones, those on demand, and the final one
 * of a deleted datastore. Null while it is the newest verified one of a datastore that is there: that one stays, however old,
 * until another takes its place or someone deletes it. Null too after a loss of data, for those from before it. Pure.
 */
export const expiryOf = ({ backupDays }: Times, backup: Aged, { backups, exists, lostAt }: Siblings): number | null => {
  if (isBeingMade(backup)) return null;
  // Newer ones are of what it began with after the loss.
  if (lostAt !== null && backup.status === 'verified' && backup.started_at < lostAt) return null;
  const expiry = backup.started_at + backupDays * DAY_MS;
  return exists && newestVerified(backup, backups)?.key === backup.key ? null : expiry;
};

/**
 * Whether a backup is let go of now. Those of a datastore that is there only expire as new ones are verified: neither nights
 * that fail nor a clock that is far ahead for a while leave less behind. Pure.
 */
export const isExpired = (times: Times, backup: Aged, siblings: Siblings, now: number): boolean => {
  const expiry = expiryOf(times, backup, siblings);
  if (expiry === null || expiry > now) return false;
  const newest = newestVerified(backup, siblings.backups);
  if (!siblings.exists || backup.status === 'failed' || newest === undefined) return true;
  return expiry <= newest.started_at + FRESH_MS;
};

const newestVerified = (backup: Aged, backups: Siblings['backups']): Siblings['backups'][number] | undefined =>
  backups
    .filter((other) => other.datastore_id === backup.datastore_id && other.status === 'verified')
    .sort((a, b) => (a.key < b.key ? 1 : -1))[0];
