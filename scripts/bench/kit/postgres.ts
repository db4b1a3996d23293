import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import { createLog } from '#kernel/log';
import { createDatastoreStore, type DatastoreRow } from '#modules/datastores';
import { openVault } from '#modules/env';
import type { Berth } from '#test/support/berth.ts';
import { begin, followPhases } from './operation-stream.ts';

const EVERY_MS = 10;
const LIMIT_MS = 120_000;

export const datastorePath = (project: string, name: string): string => `/v1/projects/${project}/datastores/${name}`;

/** A Postgres that is ready: made, unless it is there. */
export const ensurePostgres = async (berth: Berth, project: string, name: string): Promise<DatastoreRow> => {
  const path = datastorePath(project, name);
  if ((await berth.api(path)).status !== 200) {
    const body = { kind: 'postgres', name };
    const operation = await begin(berth, `/v1/projects/${project}/datastores`, body);
    await followPhases(berth, operation, { since: 0 });
  }
  return rowOf(berth, project, name);
};

/** A datastore as the state has it: its address and its secrets, which the API never tells. */
export const rowOf = (berth: Berth, project: string, name: string): DatastoreRow => {
  const log = createLog('error', () => undefined, Date.now);
  const db = new Database(join(berth.dataDir, 'berth.db'), { readonly: true });
  try {
    const vault = openVault({ dataDir: berth.dataDir, hasValues: () => true, log });
    const row = createDatastoreStore(db, vault).get(project, name);
    if (row === undefined) throw new Error(`the state has no datastore ${name}`);
    return row;
  } finally {
    db.close();
  }
};

/** As an app of the project connects: with the credential that it is given, and TLS as its URL demands. */
export const asApp = (row: DatastoreRow): ClientConfig => {
  const credential = row.secrets.credentials.at(-1);
  if (credential === undefined) throw new Error(`datastore ${row.name} has no credential`);
  const { user, password } = credential;
  return { host: hostOf(row), user, password, database: 'app', ssl: { rejectUnauthorized: false } };
};

/** As the superuser, who may checkpoint. */
export const asAdmin = (row: DatastoreRow): ClientConfig => ({
  host: hostOf(row),
  user: 'postgres',
  password: row.secrets.adminPassword,
  database: 'postgres',
});

export const hostOf = (row: DatastoreRow): string => {
  const host = row.addresses['main'];
  if (host === undefined) throw new Error(`datastore ${row.name} has no address`);
  return host;
};

/** Runs `work` on a connection of its own. */
export const withClient = async <T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client(config);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Connects and asks `SELECT 1` every 10 ms until that is answered; the milliseconds since `begun`. */
export const untilSelect = async (begun: number, config: ClientConfig): Promise<number> => {
  let last: unknown;
  while (performance.now() - begun < LIMIT_MS) {
    const asked = performance.now();
    try {
      await withClient({ ...config, connectionTimeoutMillis: 2000 }, (client) => client.query('SELECT 1'));
      return performance.now() - begun;
    } catch (error) {
      last = error;
    }
    await Bun.sleep(Math.max(0, EVERY_MS - (performance.now() - asked)));
  }
  throw new Error('Postgres did not answer within two minutes', { cause: last });
};
