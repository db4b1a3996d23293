import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { docker } from '#test/support/docker.ts';
import { JOB_INPUT, JOB_OUTPUT } from '#engines/datastores/port';
import { collect, copied, failureOf, inChunks } from './bytes.ts';
import { openDumpRig, type DumpRig } from './dump-rig.ts';

setDefaultTimeout(180_000);

const never = new AbortController().signal;

/** A function that leaves a trace of who ran it, wherever it is called from. */
const SPY = `
  CREATE FUNCTION spy() RETURNS int LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO public.ran SELECT current_user, session_user, current_setting('is_superuser'), count(*) FROM public.ran;
    RETURN 1;
  END $$`;

let rig: DumpRig;

beforeAll(async () => {
  rig = await openDumpRig();
  const app = await rig.app();
  await app.query('CREATE TABLE kept (id int)');
  await app.end();
  const dump = await rig.dumps.dump(rig.instance, never);
  await rig.dumps.loadBeside(rig.instance, 'app_restore_0', copied(dump.bytes), never);
  await rig.dumps.swap(rig.instance, { database: 'app_restore_0', kept: 'app_kept' });
});

afterAll(() => rig.close());

/** A dump whose text is changed at places of the same length: what somebody makes by hand. */
const handMade = async (statement: string): Promise<Buffer> => {
  const app = await rig.app();
  const room = `-- ${'x'.repeat(2000)}`;
  await app.query('DROP TABLE IF EXISTS seed');
  await app.query('CREATE TABLE seed (id int)');
  await app.query(`COMMENT ON TABLE seed IS '${room}'`);
  await app.end();
  const dump = await rig.dumps.dump(rig.instance, never);
  const bytes = await collect(dump.bytes);
  await dump.report;
  const original = `COMMENT ON TABLE public.seed IS '${room}';`;
  const at = bytes.indexOf(original);
  expect(at).toBeGreaterThan(0);
  expect(statement.length).toBeLessThan(original.length);
  bytes.write(statement.padEnd(original.length), at, 'latin1');
  return bytes.subarray(0, bytes.length - 21);
};

describe('a dump that was made by hand', () => {
  const escalations: [string, string][] = [
    ['runs a program', "COPY seed FROM PROGRAM 'id';"],
    ['reads a file of the server', "COPY seed FROM '/etc/passwd';"],
    ['calls pg_read_file', "SELECT pg_read_file('/etc/passwd');"],
    ['imports a file as a large object', "SELECT lo_import('/etc/passwd');"],
    ['changes a setting of the server', "ALTER SYSTEM SET shared_preload_libraries = 'evil';"],
    ['becomes the superuser', 'SET ROLE postgres;'],
    ['becomes the superuser by resetting first', 'RESET ROLE; SET SESSION AUTHORIZATION postgres;'],
    ['makes itself superuser', 'RESET ROLE; ALTER ROLE berth_writer SUPERUSER;'],
    ['makes a superuser', 'CREATE ROLE evil SUPERUSER LOGIN;'],
    ['makes an event trigger', 'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION spy();'],
    ['takes an untrusted language', 'CREATE EXTENSION plpython3u;'],
    ['takes a function in C', "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/tmp/evil', 'f';"],
    ['drops the live database', 'DROP DATABASE app;'],
    ['drops the live database with force', 'DROP DATABASE app WITH (FORCE);'],
    ['drops what is kept', 'DROP DATABASE app_kept;'],
    ['makes a database', 'CREATE DATABASE evil;'],
    ['takes the rights of a monitor', 'GRANT pg_execute_server_program TO app;'],
    ['subscribes to a stranger', "CREATE SUBSCRIPTION s CONNECTION 'host=evil' PUBLICATION p;"],
    ['writes to a catalogue', "UPDATE pg_catalog.pg_authid SET rolsuper = true WHERE rolname = 'app';"],
  ];

  for (const [what, statement] of escalations) {
    test(`that ${what} fails, and nothing of it is left`, async () => {
      const failure = await failureOf(
        rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(await handMade(statement)), never),
      );
      expect(failure.message).toContain('could not restore the database');
      expect(await rig.dumps.listBeside(rig.instance)).toEqual(['app_kept']);
      const [found] = await rig.rows(
        () => rig.admin(),
        `SELECT array_agg(rolname ORDER BY 1)::text AS superusers FROM pg_roles WHERE rolsuper OR rolcreaterole OR rolcreatedb`,
      );
      expect(found).toEqual({ superusers: '{postgres}' });
    });
  }

  test('that changes the password of the restoring role is healed by the next settle', async () => {
    const bytes = await handMade("RESET ROLE; ALTER ROLE berth_writer PASSWORD 'mine';");
    await failureOf(rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(bytes), never));
    await rig.core.core.settle(rig.instance, AbortSignal.timeout(30_000));
    const good = await handMade("COMMENT ON TABLE public.seed IS 'fine';");
    await rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(good), never);
    await rig.dumps.dropBeside(rig.instance, 'app_restore_1');
  });
});

test('no function of a user runs as superuser, in a dump, a restore, a swap or a drop', async () => {
  const app = await rig.app();
  await app.query('DROP TABLE IF EXISTS seed');
  await app.query('CREATE TABLE ran (who text, session text, super text, n bigint)');
  await app.query(SPY);
  // Where a careless superuser would trip: functions in the search path that shadow Postgres's own, defaults, checks,
  // policies, triggers, rules, views, and settings of the database.
  await app.query(`
    CREATE TABLE bait (id int DEFAULT spy(), t text CHECK (length(t) > 0));
    ALTER TABLE bait ENABLE ROW LEVEL SECURITY; ALTER TABLE bait FORCE ROW LEVEL SECURITY;
    CREATE POLICY p ON bait USING (spy() = 1);
    CREATE VIEW trap AS SELECT spy();
    CREATE RULE r AS ON UPDATE TO bait DO ALSO SELECT spy();
    CREATE SCHEMA evil;
    CREATE FUNCTION evil.count() RETURNS bigint LANGUAGE sql AS 'SELECT public.spy()::bigint';
    CREATE FUNCTION evil.format_type(oid, int) RETURNS text LANGUAGE sql AS $$SELECT public.spy()::text$$;
    CREATE FUNCTION evil.pg_partition_root(oid) RETURNS regclass LANGUAGE sql AS $$SELECT public.spy()::regclass$$;
    CREATE FUNCTION evil.same(oid, oid) RETURNS bool LANGUAGE sql AS 'SELECT public.spy() = 1';
    CREATE OPERATOR evil.= (FUNCTION = evil.same, LEFTARG = oid, RIGHTARG = oid);
    ALTER DATABASE app SET search_path TO evil, public, pg_catalog;
    ALTER DATABASE app SET row_security TO off;
    ALTER DATABASE app SET statement_timeout TO '1ms';
    ALTER DATABASE app SET transaction_timeout TO '20ms';
    ALTER DATABASE app SET idle_session_timeout TO '20ms';
    ALTER DATABASE app SET default_transaction_read_only TO on;
    ALTER DATABASE app SET default_transaction_isolation TO serializable;
    ALTER DATABASE app SET client_encoding TO latin1`);
  await app.end();
  const dump = await rig.dumps.dump(rig.instance, never);
  const bytes = await collect(dump.bytes);
  const report = await dump.report;
  const beside = await rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(bytes), never);
  expect(beside.report).toEqual(report);
  await rig.dumps.swap(rig.instance, { database: 'app_restore_1', kept: 'app_kept_1' });
  for (const database of ['app', 'app_kept_1']) {
    expect(await rig.rows(() => rig.admin(database), 'SELECT * FROM public.ran')).toEqual([]);
  }
  await rig.dumps.dropBeside(rig.instance, 'app_kept_1');
  await rig.rows(() => rig.admin(), 'ALTER DATABASE app RESET ALL');
});

test('an app can drop neither the database it lives in nor what is kept beside it', async () => {
  const app = await rig.app();
  for (const statement of ['DROP DATABASE app_kept', 'DROP DATABASE app_kept WITH (FORCE)', 'DROP DATABASE app']) {
    expect((await failureOf(app.query(statement))).message).toMatch(/must be owner|currently open/);
  }
  await app.end();
});

test('the job of a restore sees nothing of berth or of the data directory', async () => {
  const mounts = await docker(['inspect', '-f', '{{json .Mounts}}', rig.container]);
  expect(mounts).toContain('/var/lib/postgresql');
  const bytes = await handMade('DO $$ BEGIN PERFORM pg_sleep(2); END $$;');
  const restoring = rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(bytes), never);
  const job = await runningJob();
  const inspected = JSON.parse(await docker(['inspect', job])) as {
    Mounts: { Destination: string }[];
    HostConfig: { CapAdd: string[] | null; Privileged: boolean; Memory: number; SecurityOpt: string[] };
    Args: string[];
  }[];
  const own = inspected[0]?.Mounts.filter((mount) => !isAnonymous(mount)) ?? [];
  expect(own.map(({ Destination }) => Destination).toSorted()).toEqual([JOB_INPUT, JOB_OUTPUT]);
  expect(inspected[0]?.HostConfig).toMatchObject({ Privileged: false, SecurityOpt: ['no-new-privileges:true'] });
  expect(inspected[0]?.HostConfig.CapAdd ?? []).toEqual([]);
  expect(JSON.stringify(inspected[0]?.Args)).not.toContain(rig.instance.writerPassword);
  await restoring;
  await rig.dumps.dropBeside(rig.instance, 'app_restore_1');
});

/** The volume that the image itself declares: empty, and removed with the job. */
const isAnonymous = (mount: unknown): boolean =>
  typeof mount === 'object' && mount !== null && 'Name' in mount && /^[0-9a-f]{64}$/.test(String(mount.Name));

const runningJob = async (): Promise<string> => {
  for (;;) {
    const [id = ''] = (await docker(['ps', '-q', '--filter', `name=berth-${rig.instance.id}-load`])).split('\n');
    if (id !== '') return id;
    await Bun.sleep(20);
  }
};
