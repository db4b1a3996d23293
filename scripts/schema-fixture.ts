#!/usr/bin/env bun
/**
 * Writes test/fixtures/schema/v<N>.sql: the state of a server of schema N with rows in every table, as its code wrote them.
 *   bun scripts/schema-fixture.ts <data directory of a stopped server> [N]
 * With an older N, the rows are those that fit into its tables and columns: for schemas that no release ever had.
 */
import { Database } from 'bun:sqlite';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS, openDatabase } from '../src/kernel/database.ts';

const [dataDir = '', wanted = String(MIGRATIONS.at(-1)?.version)] = process.argv.slice(2);
const version = Number(wanted);
/** Enough of each form; a table of events would fill a book. */
const MOST_ROWS = 40;

type Row = Record<string, string | number | null | Uint8Array>;

const literal = (value: Row[string] | undefined): string => {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`;
  return `X'${Buffer.from(value).toString('hex')}'`;
};

const from = new Database(join(dataDir, 'berth.db'), { readonly: true });
const shape = openDatabase(':memory:', { migrations: MIGRATIONS.slice(0, version) });
const tables = shape
  .query<{ name: string; sql: string }, []>(
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  )
  .all();
const others = shape
  .query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL")
  .all();

const inserts = tables.map(({ name }) => {
  const columns = shape
    .query<{ name: string }, []>(`PRAGMA table_info("${name}")`)
    .all()
    .map((column) => column.name);
  const rows = from
    .query<Row, []>(`SELECT ${columns.map((column) => `"${column}"`).join(', ')} FROM "${name}" LIMIT ${MOST_ROWS}`)
    .all();
  if (rows.length === 0) throw new Error(`${name} has no rows: let the server write some`);
  return rows
    .map(
      (row) =>
        `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map((column) => literal(row[column])).join(', ')});`,
    )
    .join('\n');
});

const text = [...tables, ...others].map(({ sql }) => `${sql};`).concat(inserts, `PRAGMA user_version = ${version};`);
writeFileSync(join(import.meta.dir, `../test/fixtures/schema/v${version}.sql`), `${text.join('\n\n')}\n`);
