import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { QueryResult } from '#engines/datastores/port';
import { connect, disconnect } from '#engines/datastores/postgres/connect';
import { createPostgresConsole, type PostgresConsole } from '#engines/datastores/postgres/console';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { until } from '#test/support/until.ts';
import { failureOf } from './bytes.ts';
import { type ConsoleServer, startConsoleServer } from './console-server.ts';

let server: ConsoleServer;
let console: PostgresConsole;

const send = (text: string, write: boolean): Promise<QueryResult> =>
  console.query(server.instance, {
    query: text,
    params: [],
    write,
    timeoutMs: 5000,
    maxRows: 500,
    maxBytes: 1024 * 1024,
  });
const read = (text: string): Promise<QueryResult> => send(text, false);
const write = (text: string): Promise<QueryResult> => send(text, true);
/** A reader that would need to be a writer lacks a capability; what nobody may do is wrong input. */
const refused = (message: string) =>
  expect.objectContaining({
    kind:
      message === ''
        ? expect.stringMatching(/^(?:CAPABILITY_MISSING|INVALID_INPUT)$/)
        : message === 'read-only transaction'
          ? 'CAPABILITY_MISSING'
          : 'INVALID_INPUT',
    message: expect.stringContaining(message),
    hint: expect.any(String),
  });
const valueOf = async (sql: string): Promise<unknown> =>
  Object.values((await server.admin.query(sql)).rows[0] ?? {})[0];

beforeAll(async () => {
  server = await startConsoleServer();
  console = createPostgresConsole({
    clock: systemClock,
    log: createLog('error', process.stderr.write, Date.now),
    connect,
  });
  const app = await server.app();
  await app.query(`
    CREATE TABLE stock (id int PRIMARY KEY, amount int);
    INSERT INTO stock VALUES (1, 10);
    CREATE SEQUENCE numbers;
    CREATE FUNCTION spoil() RETURNS int LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS
      $$ BEGIN UPDATE stock SET amount = 0; RETURN 1; END $$;
    CREATE FUNCTION spoil_after_all() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
      $$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); UPDATE stock SET amount = 0; RETURN 1; END $$;
    CREATE PROCEDURE spoil_later() LANGUAGE plpgsql AS
      $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; UPDATE stock SET amount = 0; COMMIT; END $$;
    CREATE TABLE secrets (id int);
    INSERT INTO secrets VALUES (1);
    ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
    ALTER TABLE secrets FORCE ROW LEVEL SECURITY;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC`);
  await disconnect(app);
}, 60_000);

afterAll(async () => {
  console.close();
  await server.remove();
});

describe('neither console role reaches beyond its database', () => {
  test.each([
    ["COPY stock TO PROGRAM 'id'", 'permission denied'],
    ["COPY stock FROM PROGRAM 'id'", ''],
    ["COPY stock TO '/tmp/stolen'", 'permission denied'],
    ["COPY stock FROM '/etc/passwd'", ''],
    ["SELECT pg_read_file('/etc/passwd')", 'permission denied'],
    ["SELECT pg_read_binary_file('/etc/passwd')", 'permission denied'],
    ["SELECT pg_ls_dir('/')", 'permission denied'],
    ["SELECT pg_stat_file('/etc/passwd')", 'permission denied'],
    ["SELECT lo_import('/etc/passwd')", ''],
    ["SELECT lo_export(1, '/tmp/stolen')", ''],
    ["ALTER SYSTEM SET work_mem = '1GB'", ''],
    ['SELECT pg_reload_conf()', 'permission denied'],
    ['SELECT pg_rotate_logfile()', 'permission denied'],
    ['SET ROLE postgres', 'permission denied'],
    ["SELECT set_config('role', 'postgres', false)", 'permission denied'],
    ['SET SESSION AUTHORIZATION postgres', 'permission denied'],
    ["ALTER ROLE berth_reader PASSWORD 'x'", ''],
    ["ALTER ROLE app_first PASSWORD 'x'", ''],
    ['ALTER ROLE app SUPERUSER', ''],
    ['CREATE ROLE other LOGIN', ''],
    ['CREATE DATABASE other', ''],
    ['ALTER DATABASE app OWNER TO berth_reader', ''],
    ['CREATE EXTENSION dblink', ''],
    ['CREATE EXTENSION file_fdw', ''],
    ["CREATE FUNCTION c() RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'getpid'", ''],
    ["LOAD '/lib/x86_64-linux-gnu/libc.so.6'", ''],
    ['SELECT * FROM pg_hba_file_rules', 'permission denied'],
    ["SELECT dblink('dbname=postgres', 'SELECT 1')", 'does not exist'],
    ["SELECT set_config('session_replication_role', 'replica', false)", 'permission denied'],
    ["SELECT set_config('log_statement', 'all', false)", 'permission denied'],
    ["CREATE SUBSCRIPTION s CONNECTION 'host=169.254.169.254' PUBLICATION p", ''],
    ["SELECT pg_create_physical_replication_slot('s')", 'permission denied'],
    ['CHECKPOINT', 'permission denied'],
  ])('%s', async (text, message) => {
    expect(await failureOf(read(text))).toEqual(refused(message));
    expect(await failureOf(write(text))).toEqual(refused(message));
  });

  test('nor ends or cancels what berth does as superuser; the reading one not what apps do either', async () => {
    const app = await server.app();
    const [ours, theirs] = await Promise.all(
      [server.admin, app].map(
        async (client) => (await client.query('SELECT pg_backend_pid()')).rows[0]?.pg_backend_pid,
      ),
    );
    for (const verb of ['pg_terminate_backend', 'pg_cancel_backend']) {
      expect(await failureOf(read(`SELECT ${verb}(${theirs})`))).toEqual(refused('permission denied'));
      expect(await failureOf(read(`SELECT ${verb}(${ours})`))).toEqual(refused('permission denied'));
      expect(await failureOf(write(`SELECT ${verb}(${ours})`))).toEqual(refused('permission denied'));
    }
    expect((await app.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await disconnect(app);
  });
});

describe('a reading query changes nothing', () => {
  test.each([
    ['an INSERT', 'INSERT INTO stock VALUES (2, 2)', 'read-only transaction'],
    ['a WITH that writes', 'WITH a AS (DELETE FROM stock RETURNING id) SELECT * FROM a', 'read-only transaction'],
    ['an EXPLAIN that runs', 'EXPLAIN ANALYZE DELETE FROM stock', 'read-only transaction'],
    ['a function of the owner', 'SELECT spoil()', 'read-only transaction'],
    [
      'a function that lifts the transaction',
      'SELECT spoil_after_all()',
      'transaction read-write mode must be set before any query',
    ],
    [
      'a function behind its setting',
      "SELECT set_config('transaction_read_only', 'off', false), spoil()",
      'before any query',
    ],
    ['a procedure that commits', 'CALL spoil_later()', 'invalid transaction termination'],
    [
      'a block that commits',
      'DO $$ BEGIN COMMIT; UPDATE stock SET amount = 0; END $$',
      'invalid transaction termination',
    ],
    ['a block that lifts', 'DO $$ BEGIN SET TRANSACTION READ WRITE; PERFORM spoil(); END $$', 'before any query'],
    ['nextval', "SELECT nextval('numbers')", 'permission denied for sequence'],
    ['setval', "SELECT setval('numbers', 5)", 'permission denied for sequence'],
    ['a table', 'CREATE TABLE t (id int)', 'read-only transaction'],
    ['a SELECT INTO', 'SELECT * INTO t FROM stock', 'read-only transaction'],
    ['a row lock', 'SELECT * FROM stock FOR UPDATE', 'read-only transaction'],
    ['a table lock', 'LOCK TABLE stock IN ACCESS EXCLUSIVE MODE', 'permission denied'],
    ['a large object', "SELECT lo_from_bytea(0, '\\x00')", 'read-only transaction'],
    ['NOTIFY', "NOTIFY news, 'x'", ''],
    ['TRUNCATE', 'TRUNCATE stock', ''],
    ['REFRESH, GRANT and the like', 'GRANT ALL ON stock TO PUBLIC', ''],
    ['the role of apps', 'SET ROLE app', 'permission denied'],
  ])('by %s', async (_what, text, message) => {
    const outcome = await Promise.allSettled([read(text)]);
    if (outcome[0].status === 'rejected') expect(outcome[0].reason).toEqual(refused(message));
    else expect(message).toBe('');
    expect(await valueOf('SELECT amount FROM stock WHERE id = 1')).toBe(10);
    expect(await valueOf('SELECT is_called FROM numbers')).toBe(false);
    expect(await valueOf("SELECT count(*) FROM pg_class WHERE relname = 't'")).toBe('0');
    expect(await valueOf('SELECT count(*) FROM pg_largeobject_metadata')).toBe('0');
  });

  test('even when it asks for writing first: the next query is a transaction of its own', async () => {
    for (const lift of [
      'SET TRANSACTION READ WRITE',
      'SET default_transaction_read_only = off',
      'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
      'RESET ROLE',
      'RESET ALL',
    ]) {
      await read(lift);
      expect(await failureOf(read('SELECT spoil()'))).toEqual(refused('read-only transaction'));
    }
  });

  test('and leaves no lock behind', async () => {
    await read('SELECT pg_advisory_lock(7), pg_try_advisory_lock_shared(8) FROM stock');
    const app = await server.app();
    await app.query('SELECT pg_advisory_lock(7)');
    await app.query('BEGIN; LOCK TABLE stock IN ACCESS EXCLUSIVE MODE; ROLLBACK');
    await disconnect(app);
    await until(async () => (await valueOf("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")) === '0');
  });

  test('but sees everything that the owner stored, whatever its row security', async () => {
    expect((await read('SELECT count(*) FROM secrets')).rows).toEqual([[1]]);
  });
});

test('functions that shadow the catalog do not change what berth asks it', async () => {
  const app = await server.app();
  await app.query(`CREATE FUNCTION public.format_type(oid, int) RETURNS text LANGUAGE sql AS $$ SELECT 'forged' $$;
    CREATE FUNCTION public.pg_total_relation_size(oid) RETURNS bigint LANGUAGE sql AS $$ SELECT 1::bigint $$;
    ALTER DATABASE app SET search_path = public, pg_catalog`);
  await disconnect(app);
  const fresh = createPostgresConsole({
    clock: systemClock,
    log: createLog('error', process.stderr.write, Date.now),
    connect,
  });
  const request = {
    query: "SELECT 'x'::varchar(7)",
    params: [],
    write: false,
    timeoutMs: 5000,
    maxRows: 1,
    maxBytes: 1000,
  };
  expect((await fresh.query(server.instance, request)).columns[0]?.type).toBe('character varying(7)');
  const { entries } = await fresh.browse(server.instance, { limit: 10, cursor: undefined, match: 'stock' });
  expect(entries[0]).toMatchObject({ columns: [{ type: 'integer' }, { type: 'integer' }] });
  expect(entries[0]?.size_bytes).toBeGreaterThan(8000);
  fresh.close();
});
