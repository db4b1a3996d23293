import type { Clock } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { BrowsePage, BrowseRequest, DatastoreInstance, QueryRequest, QueryResult } from '../port.ts';
import { APP_DATABASE, type Connect, loginOf, withConnection } from '../postgres/connect.ts';
import { browseCollections } from './documents.ts';
import { openFerretdb } from './ferretdb.ts';
import { runQuery } from './query.ts';
import { storageOf } from './spec.ts';

/** By so much later than the command itself its first statement may begin. */
const BEGIN_MS = 250;

export interface ConsoleDeps {
  clock: Clock;
  log: Log;
  connect: Connect;
}

/** One command, as a role that may do no more than the request says: FerretDB passes on to Postgres who asks. */
export const query = (deps: ConsoleDeps, instance: DatastoreInstance, request: QueryRequest): Promise<QueryResult> => {
  const login = loginOf(instance, request.write ? 'writer' : 'reader');
  return runQuery(
    {
      clock: deps.clock,
      open: (signal) => openFerretdb(instance, login, signal),
      cancel: (elapsedMs) => cancel(deps, instance, { user: login.user, elapsedMs }),
    },
    request,
  );
};

/** From the catalogue of the storage: FerretDB would ask it once for each collection. */
export const browse = (
  { connect }: ConsoleDeps,
  instance: DatastoreInstance,
  request: BrowseRequest,
): Promise<BrowsePage> =>
  withConnection(
    { connect, instance: storageOf(instance), what: 'list the collections', options: { as: 'reader' } },
    (client) => browseCollections(client, request),
  );

/** Statements of FerretDB for a console's role that are as old as the command; younger ones belong to others. */
const CANCEL = `
  SELECT pg_cancel_backend(pid) FROM pg_stat_activity
  WHERE usename = $1 AND datname = '${APP_DATABASE}' AND application_name = 'FerretDB' AND state = 'active'
    AND query_start <= clock_timestamp() - make_interval(secs => $2)`;

const cancel = async (
  { connect, log }: ConsoleDeps,
  instance: DatastoreInstance,
  { user, elapsedMs }: { user: string; elapsedMs: number },
): Promise<void> => {
  try {
    await withConnection(
      { connect, instance: storageOf(instance), what: 'cancel a command', options: { as: 'admin' } },
      (client) => client.query(CANCEL, [user, Math.max(0, elapsedMs - BEGIN_MS) / 1000]),
    );
  } catch (thrown) {
    // The command is given up either way; it then ends when it ends.
    log.warn('a command could not be cancelled', { datastore: instance.id, error: messageOf(thrown) });
  }
};
