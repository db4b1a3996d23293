import { conflict } from '#kernel/errors';
import type { DatastoreRow } from '#modules/datastores';
import type { Run } from '#modules/operations';
import type { DatastoreDeps } from './deps.ts';

/** The datastore that an operation is about. */
export const requireRow = ({ store }: Pick<DatastoreDeps, 'store'>, run: Run): DatastoreRow => {
  const row = store.get(run.project, run.datastore);
  if (row === undefined) throw conflict(`datastore "${run.datastore}" was deleted meanwhile`, 'create it anew');
  return row;
};
