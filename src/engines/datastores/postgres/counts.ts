import { DatabaseError, escapeIdentifier, type Client } from 'pg';
import type { DumpReport } from '../port.ts';

/** Of the numbers in a report, the one that is no table's. */
export const LARGE_OBJECTS = 'large objects';

/** Tables come and go while they are listed: so often it is tried to lock them all. */
const LOCK_ATTEMPTS = 5;
/** Names in one statement. */
const LOCK_BATCH = 500;
const NO_SUCH_TABLE = new Set(['42P01', '3F000']);

/** A table with rows of its own, and the table that users know them by: the root of its partitions, or itself. */
interface Table {
  schema: string;
  name: string;
  root_schema: string;
  root_name: string;
}

/** What pg_dump takes the rows of: no temporary tables, and none that an extension makes itself. */
const TABLES = `
  SELECT n.nspname AS schema, c.relname AS name, rn.nspname AS root_schema, r.relname AS root_name
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_class r ON r.oid = coalesce(pg_partition_root(c.oid), c.oid)
  JOIN pg_namespace rn ON rn.oid = r.relnamespace
  WHERE c.relkind = 'r' AND c.relpersistence <> 't'
    AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
    AND NOT EXISTS (
      SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY 1, 2`;

/**
 * Begins the read-only transaction that a dump and its count share, and returns the snapshot for pg_dump. All tables are
 * locked before the snapshot is taken: one that is truncated or rewritten after it would look empty to both.
 */
export const beginSnapshot = async (client: Client, lockTimeoutMs: number): Promise<string> => {
  // Whatever the owner of the database has set for it: operators are those of Postgres.
  await client.query('SET search_path TO pg_catalog, pg_temp');
  for (let attempt = 1; ; attempt += 1) {
    const tables = await listTables(client);
    try {
      await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await client.query(`SET LOCAL lock_timeout TO ${lockTimeoutMs}`);
      await lockTables(client, tables);
      return await exportSnapshot(client);
    } catch (thrown) {
      const dropped = thrown instanceof DatabaseError && NO_SUCH_TABLE.has(thrown.code ?? '');
      if (!dropped || attempt === LOCK_ATTEMPTS) throw thrown;
      await client.query('ROLLBACK');
    }
  }
};

/** Exact rows of every table, by name; rows of partitions count for the partitioned table. */
export const countRows = async (client: Client): Promise<Record<string, number>> => {
  await client.query('SET search_path TO pg_catalog, pg_temp');
  // Better an error than a count of what policies let through.
  await client.query('SET row_security TO off');
  const rows = new Map<string, number>();
  for (const table of await listTables(client)) {
    const name = `${readable(table.root_schema)}.${readable(table.root_name)}`;
    rows.set(name, (rows.get(name) ?? 0) + (await countOf(client, `SELECT count(*) AS n FROM ONLY ${quoted(table)}`)));
  }
  const largeObjects = await countOf(client, 'SELECT count(*) AS n FROM pg_largeobject_metadata');
  if (largeObjects > 0) rows.set(LARGE_OBJECTS, largeObjects);
  return Object.fromEntries(rows);
};

/** What the server calls itself, such as `17.6`. */
export const serverVersion = async (client: Client): Promise<string> => {
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  return rows[0]?.server_version.split(' ')[0] ?? 'unknown';
};

export const reportOf = (server: string, objects: Record<string, number>): DumpReport => ({
  server,
  rows: Object.values(objects).reduce((sum, rows) => sum + rows, 0),
  objects,
});

const listTables = async (client: Client): Promise<Table[]> => (await client.query<Table>(TABLES)).rows;

const lockTables = async (client: Client, tables: Table[]): Promise<void> => {
  for (let at = 0; at < tables.length; at += LOCK_BATCH) {
    const names = tables.slice(at, at + LOCK_BATCH).map((table) => `ONLY ${quoted(table)}`);
    await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`);
  }
};

const exportSnapshot = async (client: Client): Promise<string> => {
  const { rows } = await client.query<{ id: string }>('SELECT pg_export_snapshot() AS id');
  const id = rows[0]?.id;
  if (id === undefined) throw new TypeError('Postgres exported no snapshot');
  return id;
};

const countOf = async (client: Client, statement: string): Promise<number> => {
  const { rows } = await client.query<{ n: string }>(statement);
  return Number(rows[0]?.n ?? 0);
};

const quoted = ({ schema, name }: Table): string => `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;

/** As it is, unless two different tables could then read the same. */
const readable = (name: string): string => (/[."]/.test(name) ? escapeIdentifier(name) : name);
