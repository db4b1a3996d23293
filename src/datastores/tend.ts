import { BerthError, messageOf } from '#kernel/errors';
import type { BackupRow } from '#modules/datastores';
import { isExpired } from './calendar.ts';
import type { DatastoreDeps } from './deps.ts';
import { removeStored, storedName } from './stored.ts';

/** Lets go of backups that are past their time, and makes copies that a bucket did not take. */
export const createTend = (deps: DatastoreDeps): ((signal: AbortSignal) => Promise<void>) => {
  const { store, backups, clock, log, storage } = deps;

  const isPast = (backup: BackupRow): boolean => {
    const row = store.byId(backup.datastore_id);
    const siblings = {
      backups: backups.list(backup.project, backup.datastore),
      exists: row !== undefined,
      lostAt: row?.lost_at ?? null,
    };
    return isExpired(deps.config, backup, siblings, clock.now());
  };
  const guarded = async (what: string, backup: BackupRow, work: () => Promise<void>): Promise<unknown> => {
    try {
      await work();
      return undefined;
    } catch (error) {
      const { project, datastore, key } = backup;
      log.warn(`cannot ${what} a backup`, { project, datastore, backup: key, reason: messageOf(error) });
      return error;
    }
  };
  const letGo = async (backup: BackupRow): Promise<void> => {
    await removeStored(deps, backup);
    backups.remove(backup.key);
  };
  const copy = async (backup: BackupRow, signal: AbortSignal): Promise<void> => {
    await storage.copyToRemote(storedName(backup), signal);
    backups.update(backup.key, { places: ['disk', 's3'] });
  };
  const lacksCopy = (backup: BackupRow): boolean =>
    backup.status === 'verified' && backup.places.length < storage.places.length;

  return async (signal) => {
    // A bucket that does not work is left alone until the next time: each of them would wait for it.
    let works = true;
    for (const backup of backups.all()) {
      if (signal.aborted) return;
      if (isPast(backup)) await guarded('remove', backup, () => letGo(backup));
      else if (works && lacksCopy(backup))
        works = !isOfBucket(await guarded('copy', backup, () => copy(backup, signal)));
    }
  };
};

/** Else it is the backup itself that cannot be copied: damaged, or gone. */
const isOfBucket = (thrown: unknown): boolean => thrown instanceof BerthError && thrown.kind === 'INTERNAL_ERROR';
