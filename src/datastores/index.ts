import type { DatastoreOperations } from '#deploy/index';
import { createBackupMaker } from './backup.ts';
import type { DatastoreDeps } from './deps.ts';
import { createProvision } from './provision.ts';
import { createRemove } from './remove.ts';
import { createRestore } from './restore.ts';
import { createRotate } from './rotate.ts';

export type { DatastoreDeps } from './deps.ts';
export { createComeBack } from './come-back.ts';
export { recoverDatastores } from './recover.ts';
export { createUpkeep } from './upkeep.ts';

/** Everything that carries out operations on datastores. */
export const createDatastoreOperations = (deps: DatastoreDeps): DatastoreOperations => {
  const provision = createProvision(deps);
  const backups = createBackupMaker(deps);
  const restore = createRestore(deps);
  const remove = createRemove(deps, backups);
  return {
    executors: {
      'datastore.create': provision.create,
      'datastore.update': provision.update,
      'datastore.restart': provision.restart,
      'datastore.rotate': createRotate(deps),
      'datastore.backup': backups.run,
      'datastore.restore': restore.restore,
      'datastore.undo_restore': restore.undo,
      'datastore.delete': remove.one,
    },
    removeProject: remove.project,
  };
};
