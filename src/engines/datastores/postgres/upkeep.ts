import type { Client } from 'pg';
import type { DatastoreEngine, DatastoreInstance } from '../port.ts';
import { ADMIN, APP_DATABASE, type Connect, READER, withConnection, WRITER } from './connect.ts';

const ANSWER_MS = 2000;
const CHECKPOINT_MS = 120_000;
const END_SESSIONS_MS = 5000;

type Upkeep = Pick<DatastoreEngine, 'quiesce' | 'answers' | 'usedBytes' | 'setReadOnly'>;

/** What is asked of a server that runs. All of it from outside of the database of apps. */
export const createUpkeep = ({ connect }: { connect: Connect }): Upkeep => {
  const asAdmin = <T>(
    request: {
      instance: DatastoreInstance;
      what: string;
      statementMs?: number;
      connectMs?: number;
      signal?: AbortSignal;
    },
    work: (client: Client) => Promise<T>,
  ): Promise<T> => {
    const { instance, what, ...options } = request;
    return withConnection({ connect, instance, what, options: { as: 'admin', ...options } }, work);
  };

  return {
    quiesce: async (instance, signal) => {
      const request = { instance, what: `write a checkpoint of ${instance.name}`, statementMs: CHECKPOINT_MS, signal };
      await asAdmin(request, (client) => client.query('CHECKPOINT'));
    },
    answers: async (instance) => {
      try {
        const request = { instance, what: 'answer', statementMs: ANSWER_MS, connectMs: ANSWER_MS };
        await asAdmin(request, (client) => client.query('SELECT 1'));
        return true;
      } catch {
        // Whatever the reason: it does not answer, and that is what was asked.
        return false;
      }
    },
    usedBytes: async (instance) =>
      await asAdmin({ instance, what: `measure ${instance.name}`, statementMs: 60_000 }, async (client) => {
        const { rows } = await client.query<{ bytes: string }>(USED_BYTES);
        return Number(rows[0]?.bytes ?? 0);
      }),
    setReadOnly: async (instance, readOnly) => {
      await asAdmin(
        { instance, what: `make ${instance.name} ${readOnly ? 'read-only' : 'writable'}` },
        async (client) => {
          if ((await isReadOnly(client)) === readOnly) return;
          const change = readOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
          await client.query(`ALTER DATABASE ${APP_DATABASE} ${change}`);
          await endAppSessions(client);
        },
      );
    },
  };
};

/** Temporary files belong to queries that run, and count too: they are what fills a disk at once. */
const USED_BYTES = `
  SELECT (SELECT coalesce(sum(pg_database_size(oid)), 0) FROM pg_database)
    + (SELECT coalesce(sum(size), 0) FROM pg_ls_waldir())
    + (SELECT coalesce(sum(size), 0) FROM pg_ls_tmpdir()) AS bytes`;

/** Set for the database, so that it holds for credentials of the future too; for berth's own writer it is lifted. */
const isReadOnly = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query(
    `SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
      WHERE d.datname = $1 AND s.setrole = 0 AND 'default_transaction_read_only=on' = ANY (s.setconfig)`,
    [APP_DATABASE],
  );
  return rows.length > 0;
};

/** A session keeps the settings with which it began. */
const endAppSessions = async (client: Client): Promise<void> => {
  await client.query(
    `SELECT pg_terminate_backend(pid, $1) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND datname = $2 AND usename <> ALL ($3)`,
    [END_SESSIONS_MS, APP_DATABASE, [ADMIN, READER, WRITER]],
  );
};
