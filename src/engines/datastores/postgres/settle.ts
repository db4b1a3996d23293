import type { Client } from 'pg';
import type { Log } from '#kernel/log';
import type { DatastoreInstance } from '../port.ts';
import { renewCollations } from './collations.ts';
import { APP_DATABASE, APP_ROLE, disconnect, destroy, READER, withConnection, WRITER } from './connect.ts';
import { isDependedOn, postgresFailure } from './failures.ts';
import { connectWhenReady, type ReadyDeps } from './ready.ts';
import {
  CREATE_APP_DATABASE,
  databaseGrants,
  disownStatements,
  type FoundRoles,
  leftOut,
  roleStatements,
  type WantedRoles,
} from './roles.ts';
import type { Server } from './server.ts';
import { scramVerifier } from './verifier.ts';

const END_SESSIONS_MS = 5000;

export interface SettleDeps extends ReadyDeps {
  log: Log;
}

export interface SettleRequest {
  server: Server;
  /** Of the superuser: its own, and those that it may still have. */
  passwords: readonly string[];
  signal: AbortSignal;
}

/**
 * Waits for a server, then brings its roles and the database of apps to what the instance says. Every step looks at what is
 * there, so it may run again after any crash.
 */
export const settleServer = async (deps: SettleDeps, request: SettleRequest): Promise<void> => {
  const { instance } = request.server;
  const [wanted, client] = await Promise.all([wantedRoles(instance), connectWhenReady(deps, request)]);
  try {
    const found = await findRoles(client);
    await client.query(roleStatements(wanted, found).join(';\n'));
    if (!(await databaseExists(client, APP_DATABASE))) await client.query(CREATE_APP_DATABASE);
    await client.query(databaseGrants(APP_DATABASE).join(';\n'));
    for (const name of leftOut(wanted, found)) await dropLogin(deps, { client, server: request.server, name });
    await renewCollations(deps, { client, server: request.server, signal: request.signal });
    await disconnect(client);
  } catch (thrown) {
    destroy(client);
    throw postgresFailure(`settle the roles of ${instance.name}`, thrown);
  }
};

const wantedRoles = async (instance: DatastoreInstance): Promise<WantedRoles> => {
  const [admin, reader, writer] = await Promise.all(
    [instance.adminPassword, instance.readerPassword, instance.writerPassword].map((password) =>
      scramVerifier(password),
    ),
  );
  if (admin === undefined || reader === undefined || writer === undefined)
    throw new TypeError('three passwords expected');
  const logins = await Promise.all(
    instance.credentials.map(async ({ user, password }) => [user, await scramVerifier(password)] as const),
  );
  return { admin, reader, writer, logins: new Map(logins) };
};

const findRoles = async (client: Client): Promise<FoundRoles> => {
  const { rows } = await client.query<{ name: string; member: boolean }>(`
    SELECT rolname AS name,
      EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
        WHERE m.member = r.oid AND g.rolname = '${APP_ROLE}') AS member
    FROM pg_roles r`);
  return {
    names: new Set(rows.map(({ name }) => name)),
    // Those that may not log in too: a drop that was broken off has taken that away already.
    logins: rows.filter(({ name, member }) => member && name !== READER && name !== WRITER).map(({ name }) => name),
  };
};

const databaseExists = async (client: Client, name: string): Promise<boolean> =>
  (await client.query('SELECT FROM pg_database WHERE datname = $1', [name])).rows.length > 0;

/** Ends the sessions of a credential, gives what it owns to `app`, in every database, and drops it. */
const dropLogin = async (
  { connect, log }: SettleDeps,
  { client, server, name }: { client: Client; server: Server; name: string },
): Promise<void> => {
  const { instance, unit } = server;
  await client.query('SELECT pg_terminate_backend(pid, $2) FROM pg_stat_activity WHERE usename = $1', [
    name,
    END_SESSIONS_MS,
  ]);
  const { rows } = await client.query<{ datname: string }>(
    "SELECT datname FROM pg_database WHERE datallowconn AND datname <> 'template1'",
  );
  const what = `drop a credential of ${instance.name}`;
  for (const { datname } of rows) {
    await withConnection({ connect, instance, what, options: { as: 'admin', unit, database: datname } }, (there) =>
      there.query(disownStatements(name).join(';\n')),
    );
  }
  try {
    await client.query(`DROP ROLE ${client.escapeIdentifier(name)}`);
  } catch (thrown) {
    if (!isDependedOn(thrown)) throw thrown;
    // Something in a database that takes no connections is still its own. It cannot log in; the next settle tries again.
    log.warn('a credential could not be dropped yet', { datastore: instance.id, role: name });
  }
};
