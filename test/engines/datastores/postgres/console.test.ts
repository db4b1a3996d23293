import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { QueryRequest, QueryResult } from '#engines/datastores/port';
import { connect, disconnect } from '#engines/datastores/postgres/connect';
import { createPostgresConsole, type PostgresConsole } from '#engines/datastores/postgres/console';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { docker } from '#test/support/docker.ts';
import { until } from '#test/support/until.ts';
import { failureOf } from './bytes.ts';
import { type ConsoleServer, startConsoleServer } from './console-server.ts';

let server: ConsoleServer;
let console: PostgresConsole;
/** Connections that the console opened. */
let opened = 0;

const log = createLog('error', (line) => process.stderr.write(line), Date.now);

beforeAll(async () => {
  server = await startConsoleServer();
  const counted: typeof connect = (instance, options) => {
    opened += 1;
    return connect(instance, options);
  };
  console = createPostgresConsole({ clock: systemClock, log, connect: counted });
}, 60_000);

afterAll(async () => {
  console.close();
  await server.remove();
});

type Options = Partial<Omit<QueryRequest, 'query'>>;

const query = (text: string, options: Options = {}): Promise<QueryResult> =>
  console.query(server.instance, {
    query: text,
    params: [],
    write: false,
    timeoutMs: 10_000,
    maxRows: 500,
    maxBytes: 1024 * 1024,
    ...options,
  });
const write = (text: string, options: Options = {}): Promise<QueryResult> => query(text, { ...options, write: true });
const invalid = (message: string | RegExp) =>
  expect.objectContaining({ kind: 'INVALID_INPUT', message: expect.stringMatching(message), hint: expect.any(String) });
const count = async (sql: string): Promise<number> => Number((await server.admin.query(sql)).rows[0]?.count);

describe('a result', () => {
  test('has real types, under the names that Postgres gives them', async () => {
    await write("CREATE TYPE mood AS ENUM ('sad', 'happy')");
    await write('CREATE DOMAIN cents AS int8 CHECK (value >= 0)');
    await write('CREATE SCHEMA "Other shop"');
    await write('CREATE TYPE "Other shop".pair AS (a int, b text)');
    const expressions: [sql: string, type: string, cell: unknown][] = [
      ['true', 'boolean', true],
      ['7::int2', 'smallint', 7],
      ['-7', 'integer', -7],
      ['9007199254740991::int8', 'bigint', 9_007_199_254_740_991],
      ['9007199254740992::int8', 'bigint', '9007199254740992'],
      ['1.5::float4', 'real', 1.5],
      ["'-Infinity'::float8", 'double precision', '-Infinity'],
      ['1.50::numeric(10,2)', 'numeric(10,2)', '1.50'],
      ["'NaN'::numeric", 'numeric', 'NaN'],
      ["'$12.50'::money", 'money', '$12.50'],
      ["'ä'::varchar(20)", 'character varying(20)', 'ä'],
      ["'a'::char(3)", 'character(3)', 'a  '],
      ["'\\x00ff'::bytea", 'bytea', 'AP8='],
      ['\'{"a": [1, 12345678901234567890]}\'::jsonb', 'jsonb', { a: [1, '12345678901234567890'] }],
      ["'null'::json", 'json', null],
      ["'2024-01-02 03:04:05.678901+02'::timestamptz", 'timestamp with time zone', '2024-01-02T01:04:05.678901Z'],
      ["'2024-01-02 03:04:05'::timestamp(0)", 'timestamp(0) without time zone', '2024-01-02T03:04:05'],
      ["'2024-01-02'::date", 'date', '2024-01-02'],
      ["'3 days 4 hours'::interval", 'interval', '3 days 04:00:00'],
      ["'0b8f2c1e-0000-4000-8000-000000000000'::uuid", 'uuid', '0b8f2c1e-0000-4000-8000-000000000000'],
      ["'[1,5)'::int4range", 'int4range', '[1,5)'],
      ["'10.0.0.0/8'::inet", 'inet', '10.0.0.0/8'],
      ['NULL::int', 'integer', null],
      [
        'ARRAY[[1,2],[3,NULL]]',
        'integer[]',
        [
          [1, 2],
          [3, null],
        ],
      ],
      ["ARRAY['a\"b', NULL, '{}']::varchar(5)[]", 'character varying(5)[]', ['a"b', null, '{}']],
      ["ARRAY['2024-01-02 00:00+00']::timestamptz[]", 'timestamp with time zone[]', ['2024-01-02T00:00:00Z']],
      ["'{(1,1),(0,0);(3,3),(2,2)}'::box[]", 'box[]', ['(1,1),(0,0)', '(3,3),(2,2)']],
      ["'happy'::mood", 'mood', 'happy'],
      ["ARRAY['sad']::mood[]", 'mood[]', ['sad']],
      ['5::cents', 'bigint', 5],
      ['ARRAY[5]::cents[]', 'cents[]', [5]],
      ['ROW(1,\'x\')::"Other shop".pair', '"Other shop".pair', '(1,x)'],
      ["'1 2'::int2vector", 'int2vector', '1 2'],
    ];
    const result = await query(`SELECT ${expressions.map(([sql]) => sql).join(', ')}`);
    expect(result.columns.map(({ type }) => type)).toEqual(expressions.map(([, type]) => type));
    expect(result.rows).toEqual([expressions.map(([, , cell]) => cell)] as typeof result.rows);
  });

  test('names a type anew after it was renamed', async () => {
    await write("CREATE TYPE before AS ENUM ('x')");
    expect((await query("SELECT 'x'::before")).columns[0]?.type).toBe('before');
    await write('ALTER TYPE before RENAME TO after');
    expect((await query("SELECT 'x'::after")).columns[0]?.type).toBe('after');
  });

  test('does not depend on what the owner set for everyone', async () => {
    const settings = [
      "TimeZone = 'Asia/Tokyo'",
      "DateStyle = 'German'",
      "bytea_output = 'escape'",
      'extra_float_digits = -15',
    ];
    for (const setting of settings) await write(`ALTER DATABASE app SET ${setting}`);
    const alone = createPostgresConsole({ clock: systemClock, log, connect });
    const shown = await alone.query(server.instance, {
      query: "SELECT '2024-01-02 03:04:05+00'::timestamptz, '\\x61'::bytea, 0.1::float8",
      params: [],
      write: false,
      timeoutMs: 5000,
      maxRows: 1,
      maxBytes: 10_000,
    });
    expect(shown.rows).toEqual([['2024-01-02T03:04:05Z', 'YQ==', 0.1]]);
    alone.close();
    for (const setting of settings) await write(`ALTER DATABASE app RESET ${setting.split(' ')[0]}`);
  });

  test('keeps columns of the same name, none, and none at all', async () => {
    const twice = await query('SELECT 1 AS a, 2 AS a');
    expect(twice).toMatchObject({ columns: [{ name: 'a' }, { name: 'a' }], rows: [[1, 2]] });
    expect(await query('SELECT FROM generate_series(1, 2)')).toMatchObject({
      columns: [],
      rows: [[], []],
      row_count: 2,
    });
    expect(await query('SELECT 1 AS a WHERE false')).toMatchObject({
      columns: [{ name: 'a' }],
      rows: [],
      row_count: 0,
    });
  });

  test('is of any statement that has one', async () => {
    expect((await query('SHOW server_version_num')).rows[0]?.[0]).toMatch(/^17/);
    expect((await query('VALUES (1), (2)')).rows).toEqual([[1], [2]]);
    expect((await query('WITH a AS (SELECT 1) SELECT * FROM a')).rows).toEqual([[1]]);
    expect((await query('EXPLAIN SELECT 1')).columns).toEqual([{ name: 'QUERY PLAN', type: 'text' }]);
    expect((await query('EXPLAIN (FORMAT json) SELECT 1')).rows[0]?.[0]).toMatchObject([{ Plan: {} }]);
    expect(await query('DO $$ BEGIN PERFORM 1; END $$')).toMatchObject({ columns: [], rows: [], row_count: 0 });
  });
});

describe('a write', () => {
  test('is committed, belongs to the owner, and tells how many rows it changed', async () => {
    await write('CREATE TABLE notes (id int PRIMARY KEY, body text)');
    expect(await write("INSERT INTO notes SELECT g, 'n' FROM generate_series(1, 5) g")).toMatchObject({
      columns: [],
      row_count: 5,
    });
    expect((await write('UPDATE notes SET body = NULL WHERE id > 2')).row_count).toBe(3);
    expect((await write('DELETE FROM notes WHERE id = 1')).row_count).toBe(1);
    expect(await count('SELECT count(*) FROM notes')).toBe(4);
    const app = await server.app();
    await app.query('ALTER TABLE notes ADD COLUMN late int');
    await disconnect(app);
  });

  test('happens as a whole even when fewer of its rows are returned', async () => {
    await write('CREATE TABLE many (id int, body text)');
    const returned = await write("INSERT INTO many SELECT g, 'x' FROM generate_series(1, 1000) g RETURNING id", {
      maxRows: 3,
    });
    expect(returned).toMatchObject({ rows: [[1], [2], [3]], row_count: 3, truncated: true });
    const large = await write("UPDATE many SET body = repeat('x', 1000) RETURNING body", { maxBytes: 20_000 });
    expect(large.truncated).toBe(true);
    expect(large.rows.length).toBeGreaterThan(5);
    expect(await count("SELECT count(*) FROM many WHERE body <> 'x'")).toBe(1000);
    const nested = await write('WITH gone AS (DELETE FROM many RETURNING id) SELECT * FROM gone', { maxRows: 1 });
    expect(nested).toMatchObject({ row_count: 1, truncated: true });
    expect(await count('SELECT count(*) FROM many')).toBe(0);
  });

  test('whose returned row is beyond all bounds changes nothing, and says so', async () => {
    await write('CREATE TABLE vast (body text)');
    const text = "INSERT INTO vast SELECT repeat('x', 50000000) RETURNING body";
    expect(await failureOf(write(text, { maxBytes: 100_000 }))).toEqual(invalid('exceed 100000 bytes'));
    expect(await count('SELECT count(*) FROM vast')).toBe(0);
  });

  test('that fails at its commit is refused with the reason', async () => {
    await write('CREATE TABLE parent (id int PRIMARY KEY)');
    await write('CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)');
    expect(await failureOf(write('INSERT INTO child VALUES (1)'))).toEqual(invalid('violates foreign key constraint'));
    expect(await count('SELECT count(*) FROM child')).toBe(0);
  });

  test('that cannot be part of a transaction runs on its own', async () => {
    await write('CREATE TABLE worn (id int)');
    for (const statement of [
      'VACUUM worn',
      'CREATE INDEX CONCURRENTLY worn_id ON worn (id)',
      'REINDEX TABLE CONCURRENTLY worn',
    ]) {
      expect(await write(statement)).toMatchObject({ columns: [], row_count: 0 });
    }
    expect(await count("SELECT count(*) FROM pg_indexes WHERE indexname = 'worn_id'")).toBe(1);
    expect(await failureOf(query('VACUUM worn'))).toEqual(
      expect.objectContaining({ kind: 'INVALID_INPUT', hint: expect.stringContaining('manage_datastores') }),
    );
    await write(
      'CREATE PROCEDURE steps() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO worn VALUES (1); COMMIT; INSERT INTO worn VALUES (2); END $$',
    );
    await write('CALL steps()');
    expect(await count('SELECT count(*) FROM worn')).toBe(2);
  });

  test('as CREATE TABLE, CALL and INSERT … RETURNING of typed columns', async () => {
    expect((await write('CREATE TABLE copied AS SELECT g FROM generate_series(1, 4) g')).row_count).toBe(4);
    await write('CREATE PROCEDURE doubled(INOUT n int) LANGUAGE plpgsql AS $$ BEGIN n := n * 2; END $$');
    expect((await write('CALL doubled($1)', { params: [21] })).rows).toEqual([[42]]);
    expect((await write('INSERT INTO copied VALUES (9) RETURNING g AS "the id"')).columns).toEqual([
      { name: 'the id', type: 'integer' },
    ]);
  });
});

describe('parameters', () => {
  test('come back as they went in', async () => {
    const text = `SELECT $1::int, $2::text, $3::bool, $4::jsonb, $5::int[], $6::text[], $7::timestamptz, $8::bytea, $9::numeric, $10::date`;
    const params = [
      1,
      'it\'s \\ "q" $1; -- ü',
      false,
      { a: [1, { b: null }], "'": '"' },
      [
        [1, 2],
        [3, null],
      ],
      ['a"b', '\\', 'NULL', '', null],
      '2024-01-02T03:04:05.5Z',
      'AP8=',
      '1.10',
      null,
    ];
    expect((await query(text, { params })).rows).toEqual([params]);
  });

  test('of a wrong number or kind are refused', async () => {
    expect(await failureOf(query('SELECT $1::int', { params: [] }))).toEqual(
      invalid('takes 1 parameters, but 0 were given'),
    );
    expect(await failureOf(query('SELECT 1', { params: [1, 2] }))).toEqual(invalid('takes 0 parameters, but 2'));
    expect(await failureOf(query('SELECT $1::int', { params: ['x'] }))).toEqual(
      invalid('invalid input syntax for type integer'),
    );
    expect(await failureOf(query('SELECT $1::text', { params: ['a\0'] }))).toEqual(invalid('NUL'));
    expect(await failureOf(query('SELECT $2::int', { params: [1, 2] }))).toEqual(
      invalid('could not determine data type'),
    );
  });

  test('are never part of the statement', async () => {
    const evil = "'; DROP TABLE notes; --";
    expect((await query('SELECT $1 AS name', { params: [evil] })).rows).toEqual([[evil]]);
  });
});

describe('rows and bytes', () => {
  test('are capped, and only more than the cap is called truncated', async () => {
    const two = (n: number): Promise<QueryResult> => query(`SELECT * FROM generate_series(1, ${n})`, { maxRows: 2 });
    expect(await two(2)).toMatchObject({ rows: [[1], [2]], truncated: false });
    expect(await two(3)).toMatchObject({ rows: [[1], [2]], truncated: true });
    const bytes = await query("SELECT repeat('x', 1000) FROM generate_series(1, 100)", { maxBytes: 10_000 });
    expect(bytes.truncated).toBe(true);
    expect(bytes.rows).toHaveLength(9);
  });

  test('before a value that is too large are kept; if it is the first, that is an error with a way out', async () => {
    const sizes =
      'SELECT repeat(\'x\', CASE WHEN g = 60 THEN 300000000 ELSE 1 END) AS "big" FROM generate_series(1, 100) g';
    const kept = await query(sizes);
    expect(kept).toMatchObject({ truncated: true, columns: [{ name: 'big', type: 'text' }] });
    expect(kept.rows.length).toBeGreaterThan(0);
    expect(kept.rows.every(([cell]) => cell === 'x')).toBe(true);
    expect(await failureOf(query("SELECT repeat('x', 300000000)"))).toEqual(invalid('not even the first row fits'));
    expect(await failureOf(query('SELECT 1', { maxBytes: 5 }))).toEqual(invalid('not even the first row fits'));
  });

  test('beyond the caps are never held in memory', async () => {
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
    const rows = await query('SELECT g, md5(g::text) FROM generate_series(1, 10000000) g', { timeoutMs: 60_000 });
    expect(rows).toMatchObject({ row_count: 500, truncated: true });
    expect(await failureOf(query("SELECT repeat('x', 300000000)", { timeoutMs: 60_000 }))).toEqual(
      invalid('not even the first row'),
    );
    clearInterval(watch);
    expect(most - before).toBeLessThan(30 * 1024 * 1024);
  }, 60_000);
});

describe('what is no single statement', () => {
  test.each([
    ['a second statement', 'SELECT 1; SELECT 2', 'multiple commands'],
    ['a second statement that writes', 'SELECT 1; DROP TABLE notes', 'multiple commands'],
    ['nothing', '', 'empty'],
    ['spaces and comments', ' /* a */ -- b\n ; ', 'empty'],
    ['a NUL character', 'SELECT 1\0', 'NUL'],
    ['half a character', "SELECT '\ud800'", 'Unicode'],
    ['BEGIN', 'BEGIN', 'no place'],
    ['COMMIT', 'COMMIT', 'no place'],
    ['COMMIT AND CHAIN', 'COMMIT AND CHAIN', 'no place'],
    ['ROLLBACK', 'ROLLBACK', 'no place'],
    ['SAVEPOINT', 'SAVEPOINT a', 'no place'],
    ['PREPARE TRANSACTION', "PREPARE TRANSACTION 'a'", 'prepared transactions are disabled'],
    ['COPY out', 'COPY (SELECT 1) TO STDOUT', 'COPY'],
    ['nonsense', 'SELEC 1', 'syntax error at or near "SELEC" at character 1'],
    ['a name that is not there', 'SELECT nope', 'column "nope" does not exist at character 8'],
  ])('%s is refused, read or written', async (_what, text, message) => {
    expect(await failureOf(query(text))).toEqual(invalid(message));
    expect(await failureOf(write(text))).toEqual(invalid(message));
  });

  test('COPY in is refused, and the next query works', async () => {
    expect(await failureOf(write('COPY notes FROM STDIN'))).toEqual(invalid('COPY'));
    expect((await write('SELECT 1')).rows).toEqual([[1]]);
  });

  test('a statement of a megabyte is one', async () => {
    expect((await query(`SELECT length('${'x'.repeat(1_000_000)}')`)).rows).toEqual([[1_000_000]]);
    expect(await failureOf(query(' '.repeat(5_000_000)))).toEqual(invalid('characters'));
  });
});

describe('time', () => {
  test('that is over ends the statement on the server, whatever it sets', async () => {
    const timeout = expect.objectContaining({ kind: 'TIMEOUT', hint: expect.any(String) });
    const began = performance.now();
    expect(await failureOf(query('SELECT pg_sleep(60)', { timeoutMs: 200 }))).toEqual(timeout);
    const lifted = "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)";
    expect(await failureOf(query(lifted, { timeoutMs: 200 }))).toEqual(timeout);
    expect(await failureOf(write(lifted, { timeoutMs: 200 }))).toEqual(timeout);
    expect(performance.now() - began).toBeLessThan(5000);
    const running =
      "SELECT count(*) FROM pg_stat_activity WHERE query ~ 'pg_sleep.60' AND pid <> pg_backend_pid() AND state = 'active'";
    await until(async () => (await count(running)) === 0, 3);
  });

  test('is counted for a write that waits for a lock of an app, and nothing is left of it', async () => {
    await write('CREATE TABLE held (id int)');
    const app = await server.app();
    await app.query('BEGIN; LOCK TABLE held IN ACCESS EXCLUSIVE MODE');
    expect(await failureOf(write('INSERT INTO held VALUES (1)', { timeoutMs: 200 }))).toMatchObject({
      kind: 'TIMEOUT',
    });
    await app.query('COMMIT');
    expect(await count('SELECT count(*) FROM held')).toBe(0);
    await disconnect(app);
  });

  test('is also given up by the client, when the server does not answer at all', async () => {
    await query('SELECT 1');
    await docker(['pause', server.containerId]);
    const began = performance.now();
    try {
      expect(await failureOf(query('SELECT 1', { timeoutMs: 300 }))).toMatchObject({ kind: 'TIMEOUT' });
    } finally {
      await docker(['unpause', server.containerId]);
    }
    expect(performance.now() - began).toBeLessThan(6000);
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  });

  test('is not waited for once the caller has gone: the server stops at once', async () => {
    const caller = new AbortController();
    const asked = query('SELECT pg_sleep(61)', { signal: caller.signal });
    const running = "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(61)' AND state = 'active'";
    await until(async () => (await count(running)) === 1);
    caller.abort();
    expect(await failureOf(asked)).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
    await until(async () => (await count(running)) === 0, 3);
    expect(await failureOf(query('SELECT 1', { signal: caller.signal }))).toMatchObject({ retryable: true });
  });
});

describe('a session', () => {
  test('is used again, as if it were new', async () => {
    await query('SELECT 1');
    const before = opened;
    const leftovers = [
      "SELECT set_config('work_mem', '7MB', false), set_config('my.secret', 'x', false)",
      'SELECT pg_advisory_lock(42)',
      'PREPARE kept AS SELECT 1',
      'LISTEN anything',
      'DECLARE kept CURSOR WITH HOLD FOR SELECT 1',
      "SELECT set_config('search_path', 'nowhere', false)",
      'SET ROLE NONE',
    ];
    const idle = (): Promise<number> =>
      count(
        "SELECT count(*) FROM pg_stat_activity WHERE usename ~ '^berth_' AND query = 'RESET ROLE' AND state = 'idle'",
      );
    const left = `SELECT current_setting('work_mem') = '7MB', coalesce(current_setting('my.secret', true), '') <> '',
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), (SELECT count(*) FROM pg_prepared_statements),
        (SELECT count(*) FROM pg_listening_channels()), (SELECT count(*) FROM pg_cursors WHERE is_holdable),
        current_setting('search_path') = 'nowhere', to_regclass('pg_temp.scratch') IS NOT NULL`;
    for (const leftover of leftovers) {
      await query(leftover);
      await write(leftover);
    }
    await write('CREATE TEMP TABLE scratch (id int)');
    await until(async () => (await idle()) > 0);
    const clean = [[false, false, 0, 0, 0, 0, false, false]];
    expect((await query(left)).rows).toEqual(clean);
    expect((await write(left)).rows).toEqual(clean);
    expect((await query('SELECT current_user, session_user')).rows).toEqual([['berth_reader', 'berth_reader']]);
    expect((await write('SELECT current_user, session_user')).rows).toEqual([['app', 'berth_writer']]);
    expect(opened - before).toBeLessThan(8);
  });

  test('that the server ended in the meantime is replaced, and the query does not notice', async () => {
    for (let round = 0; round < 5; round += 1) {
      await query('SELECT 1');
      await server.admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'berth_reader'");
      expect((await query('SELECT 2')).rows).toEqual([[2]]);
    }
  });

  test('is refused beyond a number at once, which leaves the apps theirs', async () => {
    const all = await Promise.allSettled(Array.from({ length: 12 }, () => query('SELECT pg_sleep(0.3)')));
    const refused = all.filter((one) => one.status === 'rejected').map((one) => one.reason);
    // Sessions of the queries before may still be on their way back.
    expect(refused.length).toBeGreaterThanOrEqual(4);
    expect(refused.length).toBeLessThan(12);
    expect(refused[0]).toMatchObject({ kind: 'QUOTA_EXCEEDED', retryable: true, retryAfterSeconds: 1 });
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  });

  test('costs a query of one row little more than the query', async () => {
    const took: number[] = [];
    for (let round = 0; round < 30; round += 1) {
      const began = performance.now();
      await query('SELECT 1');
      took.push(performance.now() - began);
      await Bun.sleep(2);
    }
    took.sort((a, b) => a - b);
    expect(took[15] ?? Infinity).toBeLessThan(10);
  });

  test('with a server that is gone is a retryable error', async () => {
    const nowhere = { ...server.instance, id: 'ds_gone', addresses: { main: '127.0.0.1' } };
    const request = { query: 'SELECT 1', params: [], write: false, timeoutMs: 500, maxRows: 1, maxBytes: 1000 };
    expect(await failureOf(console.query(nowhere, request))).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  });
});
