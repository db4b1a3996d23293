import type { Client } from 'pg';
import type { DatastoreInstance } from '../port.ts';
import { countRows } from './counts.ts';
import { addressOf, APP_DATABASE, APP_ROLE, loginOf, POSTGRES_PORT, type ConnectOptions } from './connect.ts';
import { imageOf } from './server.ts';

/** The database of an instance that is dumped and restored, and the roles that do it: never the superuser. */
export interface DumpTarget {
  instance: DatastoreInstance;
  /** Role of the container that Postgres runs in. */
  unit: string;
  /** Image with the `pg_dump` and `pg_restore` of that server's version. */
  image: string;
  major: number;
  database: string;
  /** Reads everything, and writes nothing. */
  reader: ConnectOptions['as'];
  /** Acts as `ownerRole`, which everything that is restored belongs to. */
  owner: ConnectOptions['as'];
  ownerRole: string;
  /** How long a change of the schema that is under way is waited for. */
  lockTimeoutMs: number;
  /** Counts what the database holds, in the transaction and with the role (`reader`) of `client`. */
  count(client: Client): Promise<Record<string, number>>;
}

const LOCK_TIMEOUT_MS = 30_000;

/** The database of apps in a datastore of kind `postgres`. */
export const appTarget = (instance: DatastoreInstance): DumpTarget => ({
  instance,
  unit: 'main',
  image: imageOf(instance.version),
  major: Number.parseInt(instance.version, 10),
  database: APP_DATABASE,
  reader: 'reader',
  owner: 'writer',
  ownerRole: APP_ROLE,
  lockTimeoutMs: LOCK_TIMEOUT_MS,
  count: countRows,
});

/** Options of a session that must outlast whatever limits the owner has set for all sessions of the database. */
export const lastingSession = ({ major }: DumpTarget): string =>
  ['idle_session_timeout', 'idle_in_transaction_session_timeout', ...(major >= 17 ? ['transaction_timeout'] : [])]
    .map((name) => `-c ${name}=0`)
    .join(' ');

/** Where a job's libpq connects to, and as whom. Passwords are in the environment: argv can be read by others. */
export const jobEnvironment = (
  target: DumpTarget,
  how: { as: ConnectOptions['as']; database: string; settings: Record<string, string> },
): Record<string, string> => {
  const { user, password } = loginOf(target.instance, how.as);
  return {
    PGHOST: addressOf(target.instance, target.unit),
    PGPORT: String(POSTGRES_PORT),
    PGUSER: user,
    PGPASSWORD: password,
    PGDATABASE: how.database,
    // On the network that only this project has; encrypting a gigabyte would cost more than dumping it.
    PGSSLMODE: 'disable',
    PGGSSENCMODE: 'disable',
    PGCONNECT_TIMEOUT: '10',
    PGAPPNAME: 'berth',
    PGOPTIONS: Object.entries(how.settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  };
};
