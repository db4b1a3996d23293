import { escapeIdentifier, type Client } from 'pg';
import type { Log } from '#kernel/log';
import { APP_ROLE, type Connect, withConnection } from './connect.ts';
import type { Server } from './server.ts';

interface StaleDatabase {
  name: string;
  owner: string;
}

/**
 * After an update of the image the C library may sort text otherwise (as between two releases of Debian): indexes on text then
 * miss rows. Builds the indexes of such databases anew, as their owner, because indexes may call functions of users.
 */
export const renewCollations = async (
  { connect, log }: { connect: Connect; log: Log },
  { client, server, signal }: { client: Client; server: Server; signal: AbortSignal },
): Promise<void> => {
  const { instance, unit } = server;
  const { rows } = await client.query<StaleDatabase>(STALE);
  for (const { name, owner } of rows) {
    const quoted = escapeIdentifier(name);
    if (owner === APP_ROLE) {
      log.warn('the image sorts text otherwise than before: building indexes anew', { datastore: instance.id });
      const what = `build the indexes of ${instance.name} anew`;
      const options = { as: 'writer' as const, unit, database: name, statementMs: 0, signal };
      await withConnection({ connect, instance, what, options }, (owning) =>
        owning.query(`REINDEX DATABASE ${quoted}`),
      );
    }
    await client.query(`ALTER DATABASE ${quoted} REFRESH COLLATION VERSION`);
  }
};

const STALE = `
  SELECT datname AS name, pg_get_userbyid(datdba) AS owner FROM pg_database
    WHERE datallowconn AND datcollversion <> pg_database_collation_actual_version(oid)`;
