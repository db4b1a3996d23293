import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client } from 'pg';
import type { BrowseEntry, BrowsePage, BrowseRequest } from '#engines/datastores/port';
import { connect, disconnect } from '#engines/datastores/postgres/connect';
import { createPostgresConsole, type PostgresConsole } from '#engines/datastores/postgres/console';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { failureOf } from './bytes.ts';
import { type ConsoleServer, startConsoleServer } from './console-server.ts';

let server: ConsoleServer;
let console: PostgresConsole;
let app: Client;

beforeAll(async () => {
  server = await startConsoleServer();
  console = createPostgresConsole({
    clock: systemClock,
    log: createLog('error', process.stderr.write, Date.now),
    connect,
  });
  app = await server.app();
  await app.query(`
    CREATE TYPE mood AS ENUM ('sad', 'happy');
    CREATE TABLE customers (
      id bigint GENERATED ALWAYS AS IDENTITY, region text NOT NULL DEFAULT 'eu', "Name" varchar(40), mood mood[],
      gone int, twice int GENERATED ALWAYS AS (length(region) * 2) STORED, seen timestamptz DEFAULT now(), PRIMARY KEY (id, region));
    ALTER TABLE customers DROP COLUMN gone;
    INSERT INTO customers (region) SELECT 'eu' FROM generate_series(1, 1000);
    CREATE INDEX ON customers (region);
    CREATE VIEW active AS SELECT id FROM customers;
    CREATE MATERIALIZED VIEW totals AS SELECT count(*) AS n FROM customers;
    CREATE INDEX totals_n ON totals (n);
    CREATE TABLE events (at date NOT NULL, body text) PARTITION BY RANGE (at);
    CREATE TABLE events_2024 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
    CREATE TABLE events_2025 PARTITION OF events FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
    INSERT INTO events SELECT '2024-06-01', 'x' FROM generate_series(1, 300);
    INSERT INTO events SELECT '2025-06-01', 'x' FROM generate_series(1, 200);
    CREATE SCHEMA "Odd schema";
    CREATE TABLE "Odd schema"."odd ""table""" (id int);
    CREATE TEMP TABLE passing (id int);
    ANALYZE customers; ANALYZE events; ANALYZE events_2024; ANALYZE events_2025`);
}, 60_000);

afterAll(async () => {
  console.close();
  await disconnect(app);
  await server.remove();
});

const browse = (request: Partial<BrowseRequest> = {}): Promise<BrowsePage> =>
  console.browse(server.instance, { limit: 50, cursor: undefined, match: undefined, ...request });
const entry = async (name: string): Promise<BrowseEntry | undefined> =>
  (await browse({ match: name })).entries.find((one) => one.name === name);

test('tables and views of all schemas of users are listed by schema and name', async () => {
  const { entries, next } = await browse();
  expect(next).toBeNull();
  expect(entries.map(({ schema, name, type }) => [schema, name, type])).toEqual([
    ['Odd schema', 'odd "table"', 'table'],
    ['public', 'active', 'view'],
    ['public', 'customers', 'table'],
    ['public', 'events', 'partitioned table'],
    ['public', 'events_2024', 'table'],
    ['public', 'events_2025', 'table'],
    ['public', 'totals', 'materialized view'],
  ]);
});

test('a table has its estimate, its size with indexes, and its columns in order', async () => {
  const { size_bytes, ...rest } = (await entry('customers')) ?? { size_bytes: 0 };
  expect(size_bytes).toBeGreaterThan(100_000);
  expect(rest).toEqual({
    schema: 'public',
    name: 'customers',
    type: 'table',
    row_estimate: 1000,
    columns: [
      { name: 'id', type: 'bigint', nullable: false, default: 'generated as identity', primary_key: true },
      { name: 'region', type: 'text', nullable: false, default: "'eu'::text", primary_key: true },
      { name: 'Name', type: 'character varying(40)', nullable: true, default: null, primary_key: false },
      { name: 'mood', type: 'mood[]', nullable: true, default: null, primary_key: false },
      {
        name: 'twice',
        type: 'integer',
        nullable: true,
        default: 'generated always as ((length(region) * 2))',
        primary_key: false,
      },
      { name: 'seen', type: 'timestamp with time zone', nullable: true, default: 'now()', primary_key: false },
    ],
  });
});

test('a partitioned table is the sum of its partitions, a view has neither rows nor size', async () => {
  const whole = await entry('events');
  const parts = [await entry('events_2024'), await entry('events_2025')];
  expect(whole?.row_estimate).toBe(500);
  expect(whole?.size_bytes).toBe(parts.reduce((sum, part) => sum + (part?.size_bytes ?? 0), 0));
  expect(Object.keys((await entry('active')) ?? {})).toEqual(['schema', 'name', 'type', 'columns']);
  expect((await entry('odd "table"'))?.row_estimate).toBe(-1);
});

test('a part of the name is matched as text, in any case', async () => {
  expect((await browse({ match: 'TOMERS' })).entries.map(({ name }) => name)).toEqual(['customers']);
  for (const match of ['%', '_\\_', "'; DROP TABLE customers; --", '.*']) {
    expect((await browse({ match })).entries).toEqual([]);
  }
  expect(await failureOf(browse({ match: 'a\0' }))).toMatchObject({ kind: 'INVALID_INPUT' });
});

test('a cursor that nobody gave is refused', async () => {
  for (const cursor of [
    '',
    'x',
    '####',
    Buffer.from('[1,2]').toString('base64url'),
    Buffer.from('"ab"').toString('base64url'),
  ]) {
    expect(await failureOf(browse({ cursor }))).toMatchObject({ kind: 'INVALID_INPUT' });
  }
});

test('a table that is being altered or reindexed is listed without what would have to wait', async () => {
  const other = await server.app();
  await other.query('BEGIN; LOCK TABLE customers, events_2024 IN ACCESS EXCLUSIVE MODE; REINDEX INDEX totals_n');
  const began = performance.now();
  const { entries } = await browse();
  expect(performance.now() - began).toBeLessThan(1000);
  const locked = entries.find(({ name }) => name === 'customers');
  expect(locked).not.toHaveProperty('size_bytes');
  expect(locked).toMatchObject({ row_estimate: 1000 });
  expect(entries.find(({ name }) => name === 'totals')).not.toHaveProperty('size_bytes');
  expect(entries.find(({ name }) => name === 'events')?.size_bytes).toBeGreaterThan(0);
  await other.query('ROLLBACK');
  await disconnect(other);
  expect((await entry('customers'))?.size_bytes).toBeGreaterThan(100_000);
});

test('ten thousand tables are paged through, each once, in order', async () => {
  for (let first = 1; first < 10_000; first += 1000) {
    await app.query(`DO $$ BEGIN FOR n IN ${first}..${first + 999} LOOP
      EXECUTE format('CREATE TABLE %I (id int, body text)', 'bulk_' || lpad(n::text, 5, '0')); END LOOP; END $$`);
  }
  const names: string[] = [];
  let slowest = 0;
  let cursor: string | undefined;
  do {
    const began = performance.now();
    const page = await browse({ limit: 200, cursor, match: 'bulk_' });
    slowest = Math.max(slowest, performance.now() - began);
    names.push(...page.entries.map(({ name }) => name));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  expect(names).toEqual(Array.from({ length: 10_000 }, (_, n) => `bulk_${String(n + 1).padStart(5, '0')}`));
  expect(slowest).toBeLessThan(2000);
}, 60_000);
