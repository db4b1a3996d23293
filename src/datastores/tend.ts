import { messageOf } from '#kernel/errors';
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
  const tendOne = async (backup: BackupRow, signal: AbortSignal): Promise<void> => {
    if (isPast(backup)) {
      await removeStored(deps, backup);
      backups.remove(backup.key);
    } else if (backup.status === 'verified' && backup.places.length < storage.places.length) {
      await storage.copyToRemote(storedName(backup), signal);
      backups.update(backup.key, { places: ['disk', 's3'] });
    }
  };

  return async (signal) => {
    for (const backup of backups.all()) {
      if (signal.aborted) return;
      try {
        await tendOne(backup, signal);
      } catch (error) {
        const { project, datastore, key } = backup;
        log.warn('cannot remove or copy a backup', { project, datastore, backup: key, reason: messageOf(error) });
      }
    }
  };
};
