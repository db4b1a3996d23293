import { messageOf } from '#kernel/errors';
import type { DatastoreDeps } from './deps.ts';

/** Brings datastores, backups and Docker back in step after a start of berth. Data is never removed by it. */
export const recoverDatastores = async (deps: DatastoreDeps): Promise<void> => {
  const { store, backups, containers, log, operations } = deps;
  const known = new Set(store.all().map((row) => row.id));
  await containers.clear();
  for (const container of (await containers.find()).containers) {
    if (known.has(container.datastore)) continue;
    // The volume of a datastore that the state does not know stays: the state may be an old one that was put back.
    log.warn('removing containers of a datastore that the state does not know', { datastore: container.datastore });
    await containers.lower({ id: container.datastore }, { data: false });
  }
  const open = new Set(operations.open().map((row) => row.id));
  for (const backup of backups.all()) {
    if (backup.status !== 'running' && backup.status !== 'verifying') continue;
    if (open.has(backup.operation_id)) continue;
    backups.update(backup.key, { status: 'failed', error: INTERRUPTED, finished_at: deps.clock.now() });
  }
  for (const row of store.all()) {
    // Its operation was forgotten with the crash of a state that was put back: creating it again makes it anew.
    const changing = operations.openOf(row.project).some((operation) => operation.datastore === row.name);
    if (row.status === 'provisioning' && !changing) store.update(row.id, { status: 'failed' });
  }
  try {
    const removed = await deps.storage.removeParts();
    if (removed > 0) log.info('removed what interrupted backups had left', { files: removed });
  } catch (error) {
    log.warn('cannot look for what interrupted backups have left', { reason: messageOf(error) });
  }
};

const INTERRUPTED = {
  code: 'INTERNAL_ERROR',
  message: 'the backup was interrupted',
  hint: 'make another one',
  retryable: true,
} as const;
