import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput } from '#kernel/errors';
import type { BrowseEntry, BrowsePage, BrowseRequest, DatastoreInstance } from '../port.ts';
import { postgresFailure } from './failures.ts';
import { createLimit } from './limit.ts';
import { onSession, type Sessions } from './sessions.ts';

const BROWSE_MS = 10_000;
const MAX_DEFAULT_CHARACTERS = 500;

/** What `pg_class.relkind` means to people. */
const KINDS: Record<string, string> = {
  r: 'table',
  v: 'view',
  m: 'materialized view',
  p: 'partitioned table',
  f: 'foreign table',
};

/**
 * Sizes and defaults are asked of a relation under a lock, for which an ALTER TABLE or a REINDEX in progress would make one
 * wait: for such relations (`busy`) they are left out. Those of a partitioned table are the sums of its partitions.
 */
const ENTRIES = `
  WITH page AS (
    SELECT c.oid, n.nspname, c.relname, c.relkind
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f')
      AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
      AND ($1::text IS NULL OR pg_catalog.strpos(pg_catalog.lower(c.relname::text), pg_catalog.lower($1::text)) > 0)
      AND ($2::text IS NULL OR (n.nspname, c.relname) > ($2::text::name, $3::text::name))
    ORDER BY n.nspname, c.relname LIMIT $4
  ), busy AS (
    SELECT coalesce(i.indrelid, l.relation) AS oid
    FROM pg_locks l LEFT JOIN pg_index i ON i.indexrelid = l.relation
    WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock'
      AND l.database = (SELECT oid FROM pg_database WHERE datname = pg_catalog.current_database())
  )
  SELECT p.nspname, p.relname, p.relkind::text,
    CASE WHEN p.relkind <> 'v' THEN stored.rows END,
    CASE WHEN p.relkind IN ('r', 'm', 'p') THEN stored.size END,
    described.columns
  FROM page p
  CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.sum(nullif(c.reltuples, -1)), -1)::float8,
      pg_catalog.sum(CASE WHEN c.oid NOT IN (SELECT oid FROM busy) THEN pg_catalog.pg_total_relation_size(c.oid) END)::float8
    FROM (
      WITH RECURSIVE tree (oid) AS (
        SELECT p.oid
        UNION ALL
        SELECT i.inhrelid FROM tree t JOIN pg_inherits i ON i.inhparent = t.oid WHERE p.relkind = 'p'
      ) SELECT oid FROM tree
    ) part JOIN pg_class c ON c.oid = part.oid
    WHERE c.relkind <> 'p'
  ) stored (rows, size)
  CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'name', a.attname,
      'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
      'nullable', NOT a.attnotnull,
      'default', CASE
        WHEN a.attidentity <> '' THEN 'generated as identity'
        WHEN d.oid IS NULL OR p.oid IN (SELECT oid FROM busy) THEN NULL
        WHEN a.attgenerated <> '' THEN
          'generated always as (' || pg_catalog.left(pg_catalog.pg_get_expr(d.adbin, d.adrelid), $5) || ')'
        ELSE pg_catalog.left(pg_catalog.pg_get_expr(d.adbin, d.adrelid), $5) END,
      'primary_key', coalesce(a.attnum = ANY (k.indkey), false)) ORDER BY a.attnum), '[]')
    FROM pg_attribute a
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    LEFT JOIN pg_index k ON k.indrelid = a.attrelid AND k.indisprimary
    WHERE a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped
  ) described (columns)
  ORDER BY p.nspname, p.relname`;

type Row = [
  schema: string,
  name: string,
  kind: string,
  rows: number | null,
  size: number | null,
  columns: BrowseEntry['columns'],
];

/** Tables and views of all schemas but the system's own, in the order of schema and name. */
export const browse = async (
  tools: { clock: Clock; sessions: Sessions },
  instance: DatastoreInstance,
  request: BrowseRequest,
): Promise<BrowsePage> => {
  const [schema, name] = request.cursor === undefined ? [null, null] : readCursor(request.cursor);
  if (request.match?.includes('\0')) throw invalidInput('match holds a NUL character', 'leave it out');
  const limit = createLimit(tools.clock, { timeoutMs: BROWSE_MS });
  // What a user named like something of the catalog is not meant.
  const prologue = `BEGIN READ ONLY; SET LOCAL search_path = pg_catalog, public; SET LOCAL lock_timeout = 2000;
    SET LOCAL statement_timeout = ${BROWSE_MS}`;
  try {
    return await onSession(tools.sessions, instance, { as: 'reader', prologue, limit }, async (client) => {
      const values = [request.match ?? null, schema, name, request.limit + 1, MAX_DEFAULT_CHARACTERS];
      const { rows } = await client.query<Row>({ text: ENTRIES, values, rowMode: 'array' });
      const entries = rows.slice(0, request.limit).map(entryOf);
      const last = entries.at(-1);
      return { entries, next: rows.length > request.limit && last !== undefined ? cursorOf(last) : null };
    });
  } catch (thrown) {
    throw postgresFailure('list the tables', limit.signal.aborted ? limit.signal.reason : thrown);
  } finally {
    limit.end();
  }
};

const entryOf = ([schema, name, kind, rows, size, columns]: Row): BrowseEntry => ({
  schema,
  name,
  type: KINDS[kind] ?? kind,
  ...(rows === null ? {} : { row_estimate: rows }),
  ...(size === null ? {} : { size_bytes: size }),
  ...(columns === undefined ? {} : { columns }),
});

const cursorOf = ({ schema, name }: BrowseEntry): string =>
  Buffer.from(JSON.stringify([schema, name])).toString('base64url');

const readCursor = (cursor: string): [string, string] => {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [schema, name]: unknown[] = Array.isArray(value) ? value : [];
    if (typeof schema === 'string' && typeof name === 'string' && !`${schema}${name}`.includes('\0'))
      return [schema, name];
    throw new TypeError('not a pair of names');
  } catch (cause) {
    throw new BerthError('INVALID_INPUT', 'cursor is not one that an earlier page gave', {
      hint: 'leave it out to begin at the first page',
      cause,
    });
  }
};
