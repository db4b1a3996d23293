import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { DumpReport } from '#engines/datastores/port';
import { collect, copied, failureOf, inChunks } from './bytes.ts';
import { openDumpRig, type DumpRig } from './dump-rig.ts';

setDefaultTimeout(120_000);

const never = new AbortController().signal;

// What people have in their databases, of every kind that pg_dump treats in its own way.
const CONTENT = `
  CREATE EXTENSION pgcrypto; CREATE EXTENSION hstore; CREATE EXTENSION citext;
  CREATE SCHEMA "Odd ""schema"""; CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN positive AS int CHECK (VALUE > 0);
  CREATE TABLE "Odd ""schema"""."Table.1" (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "select" text, m mood, p positive);
  INSERT INTO "Odd ""schema"""."Table.1" ("select", m, p) SELECT md5(g::text), 'ok', g FROM generate_series(1, 500) g;
  CREATE TABLE parent (id serial PRIMARY KEY, b bytea, j jsonb, h hstore, c citext);
  INSERT INTO parent (b, j, h, c) SELECT '\\x00ff', '{"a": [1, null]}', 'k=>v', 'Ärger' FROM generate_series(1, 40);
  CREATE TABLE child (extra int) INHERITS (parent); INSERT INTO child (extra) VALUES (1), (2);
  CREATE TABLE events (at date NOT NULL, note text) PARTITION BY RANGE (at);
  CREATE TABLE events_24 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
  CREATE TABLE events_25 PARTITION OF events FOR VALUES FROM ('2025-01-01') TO ('2026-01-01') PARTITION BY LIST (note);
  CREATE TABLE events_25_a PARTITION OF events_25 DEFAULT;
  INSERT INTO events VALUES ('2024-05-05', 'x'), ('2025-05-05', 'y'), ('2025-06-06', 'z');
  CREATE TABLE moods (m mood) PARTITION BY HASH (m); CREATE TABLE moods_0 PARTITION OF moods FOR VALUES WITH (MODULUS 1, REMAINDER 0);
  INSERT INTO moods VALUES ('ok');
  CREATE TABLE secrets (owner text, body text); INSERT INTO secrets VALUES ('a', '1'), ('b', '2');
  ALTER TABLE secrets ENABLE ROW LEVEL SECURITY; ALTER TABLE secrets FORCE ROW LEVEL SECURITY;
  CREATE POLICY own ON secrets USING (owner = 'a');
  CREATE UNLOGGED TABLE cache (k text); INSERT INTO cache VALUES ('k');
  CREATE TABLE empty (id int);
  CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
  REVOKE ALL ON FUNCTION twice(int) FROM PUBLIC;
  CREATE INDEX ON parent (twice(id));
  CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
  CREATE TRIGGER touching BEFORE UPDATE ON parent FOR EACH ROW EXECUTE FUNCTION touch();
  CREATE VIEW glance AS SELECT id FROM parent; CREATE MATERIALIZED VIEW total AS SELECT count(*) FROM parent;
  CREATE SEQUENCE tickets START 7; SELECT nextval('tickets');
  CREATE PUBLICATION news FOR TABLE parent;
  CREATE STATISTICS correlated (dependencies) ON id, c FROM parent;
  COMMENT ON TABLE parent IS 'it''s a comment'; COMMENT ON COLUMN parent.b IS 'bytes'; COMMENT ON SCHEMA public IS 'ours';
  CREATE TABLE audit (line text); INSERT INTO audit VALUES ('made'); REVOKE UPDATE, DELETE ON audit FROM app;
  GRANT SELECT ON parent TO app_first; GRANT SELECT (id) ON child TO app_first WITH GRANT OPTION; GRANT SELECT ON audit TO berth_reader;
  ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC;
  ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO berth_reader;
  SELECT lo_from_bytea(4711, 'large');
  COMMENT ON DATABASE app IS 'the shop';
  ALTER DATABASE app SET search_path TO public, "Odd ""schema""";
  ALTER DATABASE app SET timezone TO 'Europe/Berlin';`;

const COUNTED: DumpReport['objects'] = {
  '"Odd ""schema"""."Table.1"': 500,
  'public.audit': 1,
  'public.cache': 1,
  'public.child': 2,
  'public.empty': 0,
  'public.events': 3,
  'public.moods': 1,
  'public.parent': 40,
  'public.secrets': 2,
  'large objects': 1,
};

// The catalogue in words, without numbers that differ from one database to the next.
const CATALOGUE = `
  SELECT 'relation', n.nspname, c.relname, c.relkind::text, c.relrowsecurity::text, c.relforcerowsecurity::text, c.relpersistence::text,
    c.relacl::text, obj_description(c.oid, 'pg_class'), pg_get_userbyid(c.relowner)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_|information_schema'
  UNION ALL SELECT 'function', p.proname, pg_get_userbyid(p.proowner), p.proacl::text, p.prosrc, NULL, NULL, NULL, NULL, NULL
    FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'constraint', conname, pg_get_constraintdef(oid), NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_constraint
  UNION ALL SELECT 'policy', polname, pg_get_expr(polqual, polrelid), NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_policy
  UNION ALL SELECT 'trigger', pg_get_triggerdef(oid), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'extension', extname, extversion, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_extension
  UNION ALL SELECT 'publication', pubname, tablename, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_publication_tables
  UNION ALL SELECT 'default', pg_get_userbyid(defaclrole), defaclobjtype::text, defaclacl::text, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_default_acl
  UNION ALL SELECT 'schema', nspname, nspacl::text, pg_get_userbyid(nspowner), obj_description(oid, 'pg_namespace'), NULL, NULL, NULL, NULL, NULL
    FROM pg_namespace WHERE nspname !~ '^pg_'
  UNION ALL SELECT 'statistics', stxname, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_statistic_ext
  UNION ALL SELECT 'sequence', sequencename, last_value::text, start_value::text, NULL, NULL, NULL, NULL, NULL, NULL FROM pg_sequences
  UNION ALL SELECT 'column comment', col_description('public.parent'::regclass, 2), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  UNION ALL SELECT 'large', convert_from(lo_get(4711), 'UTF8'), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  UNION ALL SELECT 'column', attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attidentity::text, attacl::text, NULL, NULL, NULL, NULL
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE attnum > 0 AND c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
  ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;

const DATABASE = `
  SELECT d.datacl::text AS acl, pg_get_userbyid(d.datdba) AS owner, pg_encoding_to_char(d.encoding) AS encoding, d.datcollate, d.datctype, d.datconnlimit,
    shobj_description(d.oid, 'pg_database') AS comment,
    (SELECT string_agg(s.setconfig::text, ' ' ORDER BY s.setrole) FROM pg_db_role_setting s WHERE s.setdatabase = d.oid) AS settings
  FROM pg_database d WHERE d.datname = $1`;

let rig: DumpRig;
let backup: Buffer;

const rowsIn = (...asked: Parameters<DumpRig['rows']>): Promise<unknown[]> => rig.rows(...asked);

beforeAll(async () => {
  rig = await openDumpRig();
  const app = await rig.app();
  await app.query(CONTENT);
  await app.end();
  // Of berth's own: rights and limits of the database.
  await rowsIn(() => rig.admin(), 'ALTER DATABASE app CONNECTION LIMIT 42');
  await rowsIn(() => rig.admin(), "ALTER ROLE app_first IN DATABASE app SET work_mem TO '5MB'");
});

afterAll(() => rig.close());

test('a dump counts every table exactly, partitions and children once, whatever they are called', async () => {
  const dump = await rig.dumps.dump(rig.instance, never);
  backup = await collect(dump.bytes);
  const report = await dump.report;
  expect(report).toEqual({ server: expect.stringMatching(/^17\.\d+$/), rows: 551, objects: COUNTED });
  expect(backup.subarray(0, 5).toString()).toBe('PGDMP');
});

test('a restore beside holds what was dumped: rows, rights, policies, extensions, comments, large objects', async () => {
  const beside = await rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(backup), never);
  expect(beside).toEqual({
    database: 'app_restore_1',
    report: { server: expect.any(String), rows: 551, objects: COUNTED },
  });
  expect(await rig.dumps.listBeside(rig.instance)).toEqual(['app_restore_1']);
  const live = await rowsIn(() => rig.admin('app'), CATALOGUE);
  const restored = await rowsIn(() => rig.admin('app_restore_1'), CATALOGUE);
  expect(restored).toEqual(live);
  expect(live.length).toBeGreaterThan(60);
});

test('rows come back frozen, so that nobody who reads them has to write; but those loaded through the root of partitions', async () => {
  const unfrozen = await rowsIn(
    () => rig.admin('app_restore_1'),
    `SELECT relname FROM pg_class WHERE relkind = 'r' AND relowner = 'app'::regrole AND relallvisible < relpages ORDER BY 1`,
  );
  expect(unfrozen).toEqual([{ relname: 'moods_0' }]);
});

test('after the swap the database has the rights, settings, limit and comment that the live one had', async () => {
  const before = await rowsIn(() => rig.admin(), DATABASE, ['app']);
  await rowsIn(() => rig.app(), 'INSERT INTO audit VALUES ($1)', ['after the backup']);
  await rig.dumps.swap(rig.instance, { database: 'app_restore_1', kept: 'app_kept_1' });
  expect(await rowsIn(() => rig.admin(), DATABASE, ['app'])).toEqual(before);
  expect(await rig.dumps.listBeside(rig.instance)).toEqual(['app_kept_1']);
  expect(await rowsIn(() => rig.app(), 'SELECT line, current_user AS who FROM audit')).toEqual([
    { line: 'made', who: 'app' },
  ]);
  expect(await rowsIn(() => rig.app(), 'SHOW timezone')).toEqual([{ TimeZone: 'Europe/Berlin' }]);

  // A second call, as after a crash, changes nothing.
  await rig.dumps.swap(rig.instance, { database: 'app_restore_1', kept: 'app_kept_1' });

  await rig.dumps.swap(rig.instance, { database: 'app_kept_1', kept: 'app_kept_2' });
  expect(await rowsIn(() => rig.app(), 'SELECT count(*)::int AS n FROM audit')).toEqual([{ n: 2 }]);
  expect(await rowsIn(() => rig.admin(), DATABASE, ['app'])).toEqual(before);
  await rig.dumps.dropBeside(rig.instance, 'app_kept_2');
  await rig.dumps.dropBeside(rig.instance, 'app_kept_2');
  expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);
});

test('a dump with grants to a credential that was rotated away restores, without those grants', async () => {
  await rowsIn(() => rig.admin(), 'CREATE ROLE app_two LOGIN IN ROLE app');
  const app = await rig.app();
  await app.query('GRANT SELECT ON parent TO app_two; ALTER DEFAULT PRIVILEGES GRANT SELECT ON SEQUENCES TO app_two');
  const dump = await rig.dumps.dump(rig.instance, never);
  const bytes = await collect(dump.bytes);
  await dump.report;
  await app.end();
  await rowsIn(() => rig.admin('app'), 'DROP OWNED BY app_two');
  await rowsIn(() => rig.admin('app'), 'DROP ROLE app_two');
  await rig.dumps.loadBeside(rig.instance, 'app_restore_2', inChunks(bytes, 1000), never);
  const grants = 'SELECT relacl::text AS acl FROM pg_class WHERE oid = $1::regclass';
  const [live] = await rowsIn(() => rig.admin('app'), grants, ['public.parent']);
  expect(await rowsIn(() => rig.admin('app_restore_2'), grants, ['public.parent'])).toEqual([live]);
  await rig.dumps.dropBeside(rig.instance, 'app_restore_2');
});

test('a schema public that was dropped and made anew restores', async () => {
  const app = await rig.app();
  await app.query('CREATE SCHEMA spare; DROP SCHEMA IF EXISTS spare');
  await app.end();
  const fresh = await rig.admin();
  await fresh.query('CREATE DATABASE app_fresh OWNER app TEMPLATE template0');
  await fresh.end();
  const owner = await rig.admin('app_fresh');
  await owner.query('SET ROLE app; DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE public.t (id int)');
  await owner.query('GRANT CONNECT ON DATABASE app_fresh TO PUBLIC');
  await owner.end();
  await rig.dumps.swap(rig.instance, { database: 'app_fresh', kept: 'app_kept_3' });
  const dump = await rig.dumps.dump(rig.instance, never);
  const { report } = await rig.dumps.loadBeside(rig.instance, 'app_restore_3', copied(dump.bytes), never);
  expect(report).toEqual(await dump.report);
  await rig.dumps.dropBeside(rig.instance, 'app_restore_3');
  await rig.dumps.swap(rig.instance, { database: 'app_kept_3', kept: 'app_fresh' });
  await rig.dumps.dropBeside(rig.instance, 'app_fresh');
});

test('a fresh instance is filled with rows and settings, also when an earlier try was broken off', async () => {
  const broken = new AbortController();
  const halfway = (async function* () {
    yield backup.subarray(0, 8000);
    broken.abort(new Error('berth stops'));
    yield backup.subarray(8000);
  })();
  expect((await failureOf(rig.dumps.load(rig.instance, halfway, broken.signal))).message).toContain('cancelled');
  expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);
  await rowsIn(() => rig.admin(), 'ALTER DATABASE app RESET ALL');
  const report = await rig.dumps.load(rig.instance, inChunks(backup), never);
  expect(report.objects).toEqual(COUNTED);
  expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);
  expect(await rowsIn(() => rig.app(), 'SHOW timezone')).toEqual([{ TimeZone: 'Europe/Berlin' }]);
  expect(await rowsIn(() => rig.app(), 'SHOW search_path')).toEqual([{ search_path: 'public, "Odd ""schema"""' }]);
});

test('a database that was left half filled by a crash is filled anew; one that is whole is not touched', async () => {
  const admin = await rig.admin();
  await admin.query('CREATE DATABASE app_restore_4 OWNER app');
  await admin.query("COMMENT ON DATABASE app_restore_4 IS 'berth: being restored'");
  await admin.end();
  await rig.dumps.loadBeside(rig.instance, 'app_restore_4', inChunks(backup), never);
  expect(await failureOf(rig.dumps.loadBeside(rig.instance, 'app_restore_4', inChunks(backup), never))).toMatchObject({
    kind: 'CONFLICT',
  });
  expect(await rig.dumps.listBeside(rig.instance)).toEqual(['app_restore_4']);
  await rig.dumps.dropBeside(rig.instance, 'app_restore_4');
});

test('neither the live database nor those of Postgres itself can be dropped or swapped in', async () => {
  for (const name of ['app', 'postgres', 'template1', 'App', 'x; DROP DATABASE app', '']) {
    expect(await failureOf(rig.dumps.dropBeside(rig.instance, name))).toMatchObject({ kind: 'INVALID_INPUT' });
    expect(await failureOf(rig.dumps.swap(rig.instance, { database: name, kept: 'app_kept' }))).toMatchObject({
      kind: 'INVALID_INPUT',
    });
    expect(await failureOf(rig.dumps.loadBeside(rig.instance, name, inChunks(backup), never))).toMatchObject({
      kind: 'INVALID_INPUT',
    });
  }
  expect(await failureOf(rig.dumps.swap(rig.instance, { database: 'app_nothing', kept: 'app_kept' }))).toMatchObject({
    kind: 'NOT_FOUND',
  });
});
