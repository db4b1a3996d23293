import { Client } from 'pg';
import type { DatastoreInstance } from '../port.ts';
import { aborted, postgresFailure } from './failures.ts';

export const POSTGRES_PORT = 5432;
/** The database of apps; their objects in it belong to the role of the same name, which nobody logs in as. */
export const APP_DATABASE = 'app';
export const APP_ROLE = 'app';
/** Where berth connects for what concerns the whole server: no user's setting or function applies there. */
export const ADMIN_DATABASE = 'postgres';
export const ADMIN = 'postgres';
export const READER = 'berth_reader';
export const WRITER = 'berth_writer';

const CONNECT_MS = 5000;
const STATEMENT_MS = 10_000;
/** How much later than the server the client gives up on a statement: only when the server hangs. */
const CLIENT_GRACE_MS = 2000;
const END_MS = 1000;

export interface Login {
  user: string;
  password: string;
}

export interface ConnectOptions {
  /** `admin` is the superuser, for statements of berth's own alone: never for anything that a user wrote. */
  as: 'admin' | 'reader' | 'writer' | Login;
  /** Default: `postgres` for `admin`, else `app`. */
  database?: string;
  /** Role of the container to connect to. Default: `main`. */
  unit?: string;
  /** Until connected, in all. Default: 5 s. */
  connectMs?: number;
  /** What a statement may take on the server. Default: 10 s; 0 for no limit, and then none on the client either. */
  statementMs?: number;
  /** Ends the connection, whatever it is doing. */
  signal?: AbortSignal | undefined;
  /** Further command-line options of the session as libpq's `options` takes them, such as `-c TimeZone=UTC`. */
  options?: string;
  /** Called before it connects: for listeners on the very first messages. */
  onClient?: (client: Client) => void;
}

/** Opens a connection as a role; fails with a BerthError, retryable when the database does not answer. */
export type Connect = (instance: DatastoreInstance, options: ConnectOptions) => Promise<Client>;

/** The one way in which berth connects to a Postgres: to its address, over TLS that its name is checked in. */
export const connect: Connect = async (instance, options) => {
  const what = `connect to ${instance.name}`;
  if (options.signal?.aborted) throw aborted(what, options.signal.reason);
  const client = new Client(clientConfig(instance, options));
  // A connection that breaks while idle has no query to reject: without a listener that would end the process.
  client.on('error', () => undefined);
  options.onClient?.(client);
  const onAbort = (): void => destroy(client);
  options.signal?.addEventListener('abort', onAbort, { once: true });
  client.once('end', () => options.signal?.removeEventListener('abort', onAbort));
  try {
    await client.connect();
    return client;
  } catch (thrown) {
    destroy(client);
    if (options.signal?.aborted) throw aborted(what, options.signal.reason);
    throw postgresFailure(what, thrown);
  }
};

/** Ends a connection: politely, and by force when the server does not react. */
export const disconnect = async (client: Client): Promise<void> => {
  const timer = setTimeout(() => destroy(client), END_MS);
  try {
    await client.end();
  } finally {
    clearTimeout(timer);
  }
};

/** Cuts a connection off at once, in the middle of a statement too; the server then ends the session. */
export const destroy = (client: Client): void => {
  client.connection.stream.destroy();
};

/** Runs `work` on a connection of its own, which is gone afterwards. Failures of Postgres become BerthErrors. */
export const withConnection = async <T>(
  how: { connect: Connect; instance: DatastoreInstance; what: string; options: ConnectOptions },
  work: (client: Client) => Promise<T>,
): Promise<T> => {
  const client = await how.connect(how.instance, how.options);
  try {
    const result = await work(client);
    await disconnect(client);
    return result;
  } catch (thrown) {
    destroy(client);
    if (how.options.signal?.aborted) throw aborted(how.what, how.options.signal.reason);
    throw postgresFailure(how.what, thrown);
  }
};

export const loginOf = (instance: DatastoreInstance, as: ConnectOptions['as']): Login => {
  if (typeof as !== 'string') return as;
  if (as === 'admin') return { user: ADMIN, password: instance.adminPassword };
  if (as === 'reader') return { user: READER, password: instance.readerPassword };
  return { user: WRITER, password: instance.writerPassword };
};

const clientConfig = (instance: DatastoreInstance, options: ConnectOptions) => {
  const statementMs = options.statementMs ?? STATEMENT_MS;
  return {
    ...loginOf(instance, options.as),
    host: addressOf(instance, options.unit ?? 'main'),
    port: POSTGRES_PORT,
    database: options.database ?? (options.as === 'admin' ? ADMIN_DATABASE : APP_DATABASE),
    ssl: { ca: instance.tls.caPem, servername: instance.host, rejectUnauthorized: true },
    application_name: 'berth',
    connectionTimeoutMillis: options.connectMs ?? CONNECT_MS,
    keepAlive: true,
    ...(statementMs === 0 ? {} : { query_timeout: statementMs + CLIENT_GRACE_MS }),
    options: `${sessionSettings(instance, options, statementMs)} ${options.options ?? ''}`.trimEnd(),
  };
};

const sessionSettings = (instance: DatastoreInstance, options: ConnectOptions, statementMs: number): string =>
  settings({
    ...(options.as === 'admin' ? ADMIN_SETTINGS : {}),
    ...(options.as === 'admin' && Number(instance.version) >= 17 ? { transaction_timeout: '0' } : {}),
    statement_timeout: String(statementMs),
  });

/**
 * What the owner of a database may have set for everyone who connects to it (ALTER DATABASE … SET): the superuser must not
 * find its functions, nor be hindered by it. Settings of a connection go before those of a database.
 */
const ADMIN_SETTINGS: Record<string, string> = {
  search_path: 'pg_catalog,pg_temp',
  role: 'none',
  default_transaction_read_only: 'off',
  default_transaction_isolation: 'read\\ committed',
  standard_conforming_strings: 'on',
  client_encoding: 'UTF8',
  lock_timeout: '5000',
  idle_in_transaction_session_timeout: '0',
};

const settings = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

export const addressOf = (instance: DatastoreInstance, unit: string): string => {
  const address = instance.addresses[unit];
  if (address === undefined) throw new TypeError(`datastore ${instance.id} has no address for ${unit}`);
  return address;
};
