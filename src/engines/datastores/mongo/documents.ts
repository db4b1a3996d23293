import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { invalidInput } from '#kernel/errors';
import type { BrowseEntry, BrowsePage, BrowseRequest } from '../port.ts';

/**
 * How FerretDB 1.24 keeps documents: a schema for each database, in it a table for each collection and one table that names
 * them (`internal/backends/postgresql/metadata` of its source). Its tables carry no names that a user chose.
 */
const METADATA = '_ferretdb_database_metadata';

/** Schemas, as databases of FerretDB. */
const DATABASES = `
  SELECT n.nspname AS name
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relname = '${METADATA}' AND c.relkind = 'r'
  ORDER BY n.nspname COLLATE "C"`;

interface Collection {
  database: string;
  name: string;
  /** Table of the collection. */
  table: string;
  documents: string;
  bytes: string;
}

/** Databases that FerretDB has to know; it reads them once, with its first client. */
export const listDatabases = async (client: Client): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(DATABASES);
  return rows.map(({ name }) => name);
};

/** Exact number of documents, by `database.collection`. */
export const countDocuments = async (client: Client): Promise<Record<string, number>> => {
  await client.query('SET search_path TO pg_catalog, pg_temp');
  const counts: [string, number][] = [];
  for (const { database, name, table } of await listCollections(client, 'TRUE', [])) {
    const from = `${escapeIdentifier(database)}.${escapeIdentifier(table)}`;
    const { rows } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${from}`);
    counts.push([`${database}.${name}`, Number(rows[0]?.n ?? 0)]);
  }
  return Object.fromEntries(counts);
};

/** A page of the collections of all databases, with what the catalogue of Postgres knows of their sizes. */
export const browseCollections = async (client: Client, request: BrowseRequest): Promise<BrowsePage> => {
  await client.query('SET search_path TO pg_catalog, pg_temp');
  const [database, name] = request.cursor === undefined ? ['', ''] : decodeCursor(request.cursor);
  const found = await listCollections(
    client,
    `position(lower($1) IN lower(m.name)) > 0 AND (m.database, m.name) > ($2 COLLATE "C", $3 COLLATE "C")
     ORDER BY m.database, m.name LIMIT $4`,
    [request.match ?? '', database, name, request.limit + 1],
  );
  const page = found.slice(0, request.limit);
  const last = page.at(-1);
  return {
    entries: page.map(entryOf),
    next: found.length > page.length && last !== undefined ? encodeCursor(last) : null,
  };
};

/** A crash of FerretDB can leave a name without its table, so only what has both counts. */
const listCollections = async (client: Client, where: string, values: unknown[]): Promise<Collection[]> => {
  const databases = await listDatabases(client);
  if (databases.length === 0) return [];
  const names = databases.map(
    (database) =>
      `SELECT ${escapeLiteral(database)} COLLATE "C" AS database, (_jsonb->>'_id') COLLATE "C" AS name,
         _jsonb->>'table' AS relname FROM ${escapeIdentifier(database)}.${METADATA}`,
  );
  const { rows } = await client.query<Collection>(
    `SELECT m.database, m.name, c.relname AS table, pg_total_relation_size(c.oid) AS bytes,
       CASE WHEN c.reltuples < 0 THEN pg_stat_get_live_tuples(c.oid) ELSE c.reltuples::bigint END AS documents
     FROM (${names.join(' UNION ALL ')}) m
     JOIN pg_namespace n ON n.nspname = m.database
     JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = m.relname AND c.relkind = 'r'
     WHERE ${where}`,
    values,
  );
  return rows;
};

const entryOf = ({ database, name, documents, bytes }: Collection): BrowseEntry => ({
  name,
  type: 'collection',
  schema: database,
  row_estimate: Number(documents),
  size_bytes: Number(bytes),
});

const encodeCursor = ({ database, name }: Collection): string =>
  Buffer.from(JSON.stringify([database, name])).toString('base64url');

const decodeCursor = (cursor: string): [string, string] => {
  const wrong = () => invalidInput('the cursor is not one of a page before', 'leave the cursor out to begin anew');
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw wrong();
  }
  const [database, name]: unknown[] = Array.isArray(parsed) ? parsed : [];
  if (typeof database !== 'string' || typeof name !== 'string' || `${database}${name}`.includes('\0')) throw wrong();
  return [database, name];
};
