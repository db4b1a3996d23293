import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MIGRATIONS, NEWEST_SCHEMA, openDatabase, schemaVersion } from '#kernel/database';
import { BerthError, isDiskFull } from '#kernel/errors';

/** SHA-256 of every migration that a server somewhere may have run: they are never edited. A new one is added here. */
const SEALED: Record<number, string> = {
  1: '99117368c58418f9554d4def724bcd7eb98245ec34d55f3608e0c08ca19fee5c',
  2: '5d2b258947acf5b4a577d8f2e7778516f1d1ba40de7ed23add22d40d9eaf0e65',
  3: 'afcd57ab5cf85af5a7bfb66b75e73b853a60226e0d4f1b205f614eaeebcc1dbb',
  4: '7b46311661667787dafb73173839e0b0c4a1cf1fc86e57d834621df582b8129b',
  5: '07b77382bddb1396a53a928d815b5c227d38acc82e4ea1780a6a37f13c5b93b2',
  6: '111e2409a775228857cb42eb08060f4875754250e0060343001579cddeead90f',
};

const FIXTURES = join(import.meta.dir, '../fixtures/schema');

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-migrations-'));
  file = join(folder, 'berth.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tablesOf = (db: Database): string[] =>
  db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);

const rowsOf = (db: Database, table: string): Record<string, unknown>[] =>
  db.query<Record<string, unknown>, []>(`SELECT * FROM "${table}" ORDER BY 1, 2`).all();

const schemaText = (db: Database): unknown[] =>
  db.query('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all();

/** The state of a server of that schema, every table filled. */
const load = (version: number): void => {
  const db = new Database(file, { create: true, strict: true });
  db.exec(readFileSync(join(FIXTURES, `v${version}.sql`), 'utf8'));
  expect(schemaVersion(db)).toBe(version);
  db.close();
};

const looseEnds = (db: Database): unknown[] => db.query('PRAGMA foreign_key_check').all();

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('nothing was thrown');
};

test('no migration that was released is edited, taken away, or put in between', () => {
  const found = Object.fromEntries(
    MIGRATIONS.map(({ version, sql }) => [version, createHash('sha256').update(sql).digest('hex')]),
  );
  expect(found).toEqual(SEALED);
  expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});

test('every schema has the state of a server, with rows in every table', () => {
  expect(readdirSync(FIXTURES).sort()).toEqual(MIGRATIONS.map(({ version }) => `v${version}.sql`).sort());
  for (const { version } of MIGRATIONS) {
    load(version);
    const db = new Database(file, { readonly: true });
    for (const table of tablesOf(db)) expect(`${table}: ${rowsOf(db, table).length > 0}`).toBe(`${table}: true`);
    db.close();
    rmSync(file);
  }
});

const WITH_DATA = MIGRATIONS.map(({ version }) => version);

test.each(WITH_DATA)('a state of schema %d becomes the newest with all of its rows', (version) => {
  load(version);
  const old = new Database(file, { readonly: true });
  const before = new Map(tablesOf(old).map((table) => [table, rowsOf(old, table)]));
  old.close();
  const db = openDatabase(file);
  expect(schemaVersion(db)).toBe(NEWEST_SCHEMA);
  for (const [table, rows] of before) {
    const now = rowsOf(db, table);
    expect(now).toHaveLength(rows.length);
    for (const [index, row] of rows.entries()) expect(now[index]).toMatchObject(row);
  }
  expect(looseEnds(db)).toEqual([]);
  const fresh = openDatabase(':memory:');
  expect(schemaText(db)).toEqual(schemaText(fresh));
  fresh.close();
  db.close();
  expect(existsSync(`${file}.v${version}`)).toBe(version < NEWEST_SCHEMA);
});

const failing = (sql: string) => [...MIGRATIONS, { version: NEWEST_SCHEMA + 1, sql }];

test.each([
  ['does not parse', 'CREATE TABLE later (id TEXT) STRICT; UPDATE projects SET nowhere = 1'],
  ['breaks a constraint', 'CREATE TABLE later (id TEXT) STRICT; INSERT INTO meta SELECT key, value FROM meta'],
])('a migration that %s leaves the schema and the rows as they were', (_, sql) => {
  load(NEWEST_SCHEMA);
  openDatabase(file).close();
  expect(thrownBy(() => openDatabase(file, { migrations: failing(sql) }))).toBeInstanceOf(Error);
  const db = openDatabase(file);
  expect(schemaVersion(db)).toBe(NEWEST_SCHEMA);
  expect(tablesOf(db)).not.toContain('later');
  expect(rowsOf(db, 'meta').length).toBeGreaterThan(0);
  db.close();
});

test('a disk that is full in the middle of a migration leaves the schema as it was', () => {
  load(NEWEST_SCHEMA);
  const sql = `CREATE TABLE later (bytes BLOB) STRICT;
    PRAGMA max_page_count = 1;
    INSERT INTO later WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT randomblob(8192) FROM n`;
  expect(isDiskFull(thrownBy(() => openDatabase(file, { migrations: failing(sql) })))).toBe(true);
  const db = openDatabase(file);
  expect({ schema: schemaVersion(db), tables: tablesOf(db).includes('later') }).toEqual({
    schema: NEWEST_SCHEMA,
    tables: false,
  });
  db.close();
});

test('a process that is killed in the middle of a migration leaves the schema as it was', async () => {
  load(1);
  const script = `
    import { Database } from 'bun:sqlite';
    const db = new Database(${JSON.stringify(file)}, { strict: true });
    db.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE later (bytes BLOB) STRICT; PRAGMA user_version = 99; PRAGMA cache_size = 1;');
    db.exec('INSERT INTO later WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT randomblob(8192) FROM n');
    process.kill(process.pid, 'SIGKILL');
  `;
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'inherit' });
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
  const db = openDatabase(file);
  expect({ schema: schemaVersion(db), tables: tablesOf(db).includes('later') }).toEqual({
    schema: NEWEST_SCHEMA,
    tables: false,
  });
  db.close();
});

test('a state that is newer than the executable is refused, with the way out, and not touched', () => {
  load(NEWEST_SCHEMA);
  const thrown = thrownBy(() => openDatabase(file, { migrations: MIGRATIONS.slice(0, -1) }));
  expect(thrown).toBeInstanceOf(BerthError);
  expect((thrown as BerthError).toBody()).toMatchObject({
    code: 'CONFLICT',
    message: `the state has schema ${NEWEST_SCHEMA}, this executable knows up to ${NEWEST_SCHEMA - 1}`,
    hint: expect.stringContaining('start a newer berth'),
  });
  const db = new Database(file, { readonly: true });
  expect(schemaVersion(db)).toBe(NEWEST_SCHEMA);
  db.close();
});
