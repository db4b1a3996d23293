import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import { BerthError } from '#kernel/errors';
import type { DatastoreInstance } from '#engines/datastores/port';
import { connect, type ConnectOptions, destroy, disconnect } from '#engines/datastores/postgres/connect';
import { certificate, type CoreRig, CREDENTIAL, fromApp, openCoreRig, SETTLE_MS } from './core-rig.ts';
import { until } from '#test/support/until.ts';
import { docker } from '#test/support/docker.ts';

setDefaultTimeout(120_000);

let rig: CoreRig;
let instance: DatastoreInstance;
let containerId: string;

beforeAll(async () => {
  rig = await openCoreRig();
  instance = await rig.instance('main');
  containerId = await rig.up(instance);
});
afterAll(() => rig.close());

const asApp = { as: CREDENTIAL };

/** The SQLSTATE with which a statement is refused. */
const refusal = (who: ConnectOptions, sql: string): Promise<string | undefined> =>
  rig.on(instance, who, async (client) => {
    try {
      await client.query(sql);
    } catch (thrown) {
      return thrown instanceof DatabaseError ? thrown.code : String(thrown);
    }
    return 'done';
  });

const kindOf = (thrown: unknown): string => (thrown instanceof BerthError ? thrown.kind : String(thrown));

describe('what apps may do', () => {
  test('they own their database and what they make, whichever credential made it', async () => {
    const { rows } = await rig.on(instance, asApp, async (client) => {
      await client.query('CREATE SCHEMA IF NOT EXISTS sales; CREATE TABLE sales.orders (id int)');
      return await client.query(
        `SELECT current_user, session_user, current_database(), pg_get_userbyid(relowner) AS owner,
           getdatabaseencoding() AS encoding, current_setting('lc_collate', true) AS old,
           (SELECT datcollate FROM pg_database WHERE datname = current_database()) AS collation
         FROM pg_class WHERE oid = 'sales.orders'::regclass`,
      );
    });
    expect(rows).toEqual([
      {
        current_user: 'app',
        session_user: CREDENTIAL.user,
        current_database: 'app',
        owner: 'app',
        encoding: 'UTF8',
        old: null,
        collation: 'en_US.utf8',
      },
    ]);
  });

  test('trusted extensions can be created', async () => {
    for (const extension of ['pgcrypto', 'citext', 'pg_trgm', 'uuid-ossp', 'hstore']) {
      expect([extension, await refusal(asApp, `CREATE EXTENSION IF NOT EXISTS "${extension}"`)]).toEqual([
        extension,
        'done',
      ]);
    }
  });

  test('a parallel query has the shared memory that it needs', async () => {
    const rows = await rig.on(instance, asApp, async (client) => {
      await client.query(
        'CREATE TABLE big AS SELECT g AS id, repeat(md5(g::text), 4) AS text FROM generate_series(1, 60000) g',
      );
      await client.query(
        'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0',
      );
      await client.query("SET min_parallel_table_scan_size = 0; SET debug_parallel_query = on; SET work_mem = '64MB'");
      return (await client.query('SELECT count(*)::int AS n FROM big a JOIN big b USING (text)')).rows;
    });
    expect(rows).toEqual([{ n: 60_000 }]);
  });

  test('they see and cancel what their own sessions run', async () => {
    const busy = await connect(instance, asApp);
    const sleeping = busy.query('SELECT pg_sleep(60)').catch((error: unknown) => (error as DatabaseError).code);
    await rig.on(instance, asApp, async (client) => {
      const find = "SELECT pid, pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'";
      await until(async () => (await client.query(find)).rows.length === 1);
    });
    expect(await sleeping).toBe('57014');
    await disconnect(busy);
  });
});

describe('what nobody but berth may do', () => {
  const REFUSED: Record<string, string> = {
    'a program of the server': "COPY (SELECT 1) TO PROGRAM 'id'",
    'a program as a source': "CREATE TEMP TABLE t (x text); COPY t FROM PROGRAM 'id'",
    'a file of the server': "SELECT pg_read_file('/etc/passwd')",
    'a file of the data directory': "SELECT pg_read_binary_file('pg_hba.conf')",
    'a directory': "SELECT pg_ls_dir('/')",
    'a file as a large object': "SELECT lo_import('/etc/passwd')",
    'a large object as a file': "SELECT lo_export(1, '/tmp/x')",
    'a file into a table': "CREATE TEMP TABLE t (x text); COPY t FROM '/etc/passwd'",
    'the superuser': 'SET ROLE postgres',
    'the session of the superuser': 'SET SESSION AUTHORIZATION postgres',
    roles: 'CREATE ROLE friend',
    databases: 'CREATE DATABASE other',
    'a language of C': "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'libc.so.6', 'getpid'",
    'an extension that is not trusted': 'CREATE EXTENSION dblink',
    'the reader': 'SET ROLE berth_reader',
    'the password of another': "ALTER ROLE postgres PASSWORD 'x'",
    passwords: 'SELECT rolpassword FROM pg_authid',
    'membership for others': 'GRANT app TO berth_reader',
    'event triggers':
      "CREATE FUNCTION pg_temp.e() RETURNS event_trigger LANGUAGE plpgsql AS 'begin end'; CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION pg_temp.e()",
    'the sessions of berth': 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $$postgres$$',
  };

  for (const [what, sql] of Object.entries(REFUSED)) {
    test(`an app is refused ${what}`, async () => {
      await rig.on(instance, { as: 'admin' }, async () => {
        expect(await refusal(asApp, sql)).toBe('42501');
        if (what !== 'the reader') expect(await refusal({ as: 'writer' }, sql)).toBe('42501');
      });
    });
  }

  test('nobody changes settings of the server, which follow from the instance', async () => {
    const sql = "ALTER SYSTEM SET log_statement = 'all'";
    expect(await refusal(asApp, sql)).toBe('0A000');
    expect(await refusal({ as: 'writer' }, sql)).toBe('0A000');
    expect(await refusal({ as: 'admin' }, sql)).toBe('0A000');
  });

  test('the reader cannot write, whatever it sets', async () => {
    await rig.on(instance, asApp, (client) => client.query('CREATE TABLE IF NOT EXISTS guarded (id int)'));
    expect(await refusal({ as: 'reader' }, 'SELECT * FROM guarded')).toBe('done');
    expect(await refusal({ as: 'reader' }, 'INSERT INTO guarded VALUES (1)')).toBe('25006');
    const lifted = 'SET default_transaction_read_only = off; COMMIT;';
    expect(await refusal({ as: 'reader' }, `${lifted} INSERT INTO guarded VALUES (1)`)).toBe('42501');
    expect(await refusal({ as: 'reader' }, `${lifted} CREATE TABLE more (id int)`)).toBe('42501');
    expect(await refusal({ as: 'reader' }, `${lifted} CREATE TEMP TABLE more (id int)`)).toBe('42501');
    expect(await refusal({ as: 'reader' }, "COPY (SELECT 1) TO PROGRAM 'id'")).toBe('42501');
    expect(await refusal({ as: 'reader' }, 'SET ROLE app')).toBe('42501');
  });

  test('the database is given back to apps when something broke off while it was not theirs', async () => {
    await rig.on(instance, { as: 'admin' }, (client) => client.query('ALTER DATABASE app OWNER TO postgres'));
    expect(await rig.on(instance, asApp, () => Promise.resolve('let in')).catch(() => 'refused')).toBe('refused');
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
    expect(await refusal(asApp, 'ALTER DATABASE app SET work_mem TO DEFAULT')).toBe('done');
  });

  test('no role but the superuser gets into the database of the superuser', async () => {
    for (const as of ['reader', 'writer', CREDENTIAL] as const) {
      for (const database of ['postgres', 'template1']) {
        const thrown = await connect(instance, { as, database }).catch((error: unknown) => error);
        expect([as, database, kindOf(thrown)]).toEqual([as, database, 'INTERNAL_ERROR']);
      }
    }
  });

  test('apps get into no database but their own', async () => {
    await rig.on(instance, { as: 'admin' }, (client) => client.query('CREATE DATABASE beside OWNER app'));
    const app = await connect(instance, { ...asApp, database: 'beside' }).catch((error: unknown) => error);
    expect(String(app)).toContain('pg_hba.conf rejects');
    expect(
      await rig.on(
        instance,
        { as: 'writer', database: 'beside' },
        async (client) => (await client.query('SELECT 1')).rowCount,
      ),
    ).toBe(1);
    await rig.on(instance, { as: 'admin' }, (client) => client.query('DROP DATABASE beside'));
  });

  test('the superuser is refused to whoever is not berth, with the right password too', async () => {
    const { out, failed } = await fromApp(rig, {
      image: 'postgres:17',
      argv: ['psql', '-h', instance.host, '-U', 'postgres', '-c', 'SELECT 1', 'postgres'],
      env: { PGPASSWORD: instance.adminPassword },
    });
    expect([out.includes('pg_hba.conf rejects connection'), failed]).toEqual([true, true]);
  });

  test('nobody can replicate', async () => {
    const argv = ['pg_basebackup', '-h', instance.host, '-U', CREDENTIAL.user, '-D', '/tmp/copy'];
    const { failed } = await fromApp(rig, { image: 'postgres:17', argv, env: { PGPASSWORD: CREDENTIAL.password } });
    expect(failed).toBe(true);
  });

  test('a setting or function of the owner does not reach the superuser', async () => {
    await rig.on(instance, asApp, async (client) => {
      await client.query("CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql AS $$SELECT 'caught'$$");
      await client.query('ALTER DATABASE app SET search_path = public, pg_catalog');
      await client.query("ALTER DATABASE app SET statement_timeout = '1ms'; ALTER DATABASE app SET role = 'app'");
      await client.query('ALTER DATABASE app SET default_transaction_read_only = on');
    });
    const { rows } = await rig.on(instance, { as: 'admin', database: 'app' }, async (client) => {
      await client.query('SELECT pg_sleep(0.01)');
      await client.query('CREATE TEMP TABLE writable (id int)');
      return await client.query("SELECT lower('A') AS lower, current_user, current_setting('search_path') AS path");
    });
    expect(rows).toEqual([{ lower: 'a', current_user: 'postgres', path: 'pg_catalog,pg_temp' }]);
    await rig.on(instance, { as: 'admin' }, (client) => client.query('ALTER DATABASE app RESET ALL'));
  });
});

describe('connections', () => {
  test('libpq checks the certificate against the name', async () => {
    const ca = join(rig.folder, 'main-ca.pem');
    await writeFile(ca, instance.tls.caPem, { mode: 0o644 });
    const { url } = rig.core.connection(instance, CREDENTIAL);
    const ask = (sslmode: string, root: string) =>
      fromApp(rig, {
        image: 'postgres:17',
        files: { '/ca.pem': root },
        env: { PGSSLROOTCERT: '/ca.pem' },
        argv: [
          'psql',
          '-Atc',
          'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
          url.replace('=require', `=${sslmode}`),
        ],
      });
    for (const sslmode of ['require', 'verify-ca', 'verify-full']) {
      expect([sslmode, await ask(sslmode, ca)]).toEqual([sslmode, { out: 't\n', failed: false }]);
    }
    const strange = join(rig.folder, 'strange-ca.pem');
    await writeFile(strange, (await certificate(instance.host, '10.0.0.1')).caPem, { mode: 0o644 });
    expect((await ask('require', strange)).out).toContain('certificate verify failed');
  });

  test('node-postgres connects with the URL alone once the CA is known to Node', async () => {
    const ca = join(rig.folder, 'main-ca.pem');
    await writeFile(ca, instance.tls.caPem, { mode: 0o644 });
    const script = `const { Client } = require('pg');
      const client = new Client(process.env.DATABASE_URL);
      client.connect().then(() => client.query('SELECT 40 + 2 AS n')).then(({ rows }) => { console.log(rows[0].n); return client.end(); });`;
    const run = (env: Record<string, string>) =>
      fromApp(rig, {
        image: 'node:22-slim',
        argv: ['node', '-e', script],
        files: { '/node_modules': join(process.cwd(), 'node_modules'), '/ca.pem': ca },
        env: { DATABASE_URL: rig.core.connection(instance, CREDENTIAL).url, NODE_PATH: '/node_modules', ...env },
      });
    expect(await run({ NODE_EXTRA_CA_CERTS: '/ca.pem' })).toEqual({ out: '42\n', failed: false });
    expect((await run({})).failed).toBe(true);
  });

  test('a connection without TLS is taken from the network of the project', async () => {
    const argv = [
      'psql',
      '-Atc',
      'SELECT 1',
      rig.core.connection(instance, CREDENTIAL).url.replace('=require', '=disable'),
    ];
    expect((await fromApp(rig, { image: 'postgres:17', argv })).out).toBe('1\n');
  });

  test('berth itself refuses a server whose certificate has another name or another authority', async () => {
    const otherName = await connect({ ...instance, host: 'other.db.internal' }, asApp).catch((error: unknown) => error);
    expect([kindOf(otherName), (otherName as BerthError).message]).toEqual([
      'INTERNAL_ERROR',
      expect.stringMatching(/altnames|CERT|identity/i),
    ]);
    const { caPem } = await certificate(instance.host, '10.0.0.1');
    const otherCa = await connect({ ...instance, tls: { ...instance.tls, caPem } }, asApp).catch(
      (error: unknown) => error,
    );
    expect(kindOf(otherCa)).toBe('INTERNAL_ERROR');
  });

  test('passwords and names of any characters survive the URL', async () => {
    const strange = { user: 'app_#/?@:%', password: 'p@ss:/?#[]%20&=+ "\'\\' };
    const both = { ...instance, credentials: [CREDENTIAL, strange] };
    await rig.core.settle(both, AbortSignal.timeout(SETTLE_MS));
    const url = rig.core.connection(instance, strange).url;
    const { out } = await fromApp(rig, { image: 'postgres:17', argv: ['psql', '-Atc', 'SELECT session_user', url] });
    expect(out).toBe(`${strange.user}\n`);
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
  });

  test('a server that is not there is a retryable fault, within the deadline', async () => {
    const began = performance.now();
    const nowhere = { ...instance, addresses: { main: instance.addresses.main?.replace(/\.\d+$/, '.250') ?? '' } };
    const thrown = await connect(nowhere, { ...asApp, connectMs: 500 }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(BerthError);
    expect((thrown as BerthError).retryable).toBe(true);
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe('credentials', () => {
  const second = { user: 'app_second', password: 'second-password' };

  test('two at once work on the same tables; the one that is dropped loses its session and leaves its objects', async () => {
    const other = await rig.instance('rotated');
    await rig.up(other);
    await rig.core.settle({ ...other, credentials: [CREDENTIAL, second] }, AbortSignal.timeout(SETTLE_MS));

    const old = await connect(other, asApp);
    await old.query('CREATE TABLE shared (id int); INSERT INTO shared VALUES (1)');
    await rig.on(other, { as: second }, async (client) => {
      await client.query('INSERT INTO shared VALUES (2); ALTER TABLE shared ADD COLUMN note text');
    });
    // As an app may: out of the role that it was put into, and a table of its own.
    await old.query(
      'RESET ROLE; SET ROLE NONE; CREATE SCHEMA own; CREATE TABLE own.mine (id int); GRANT SELECT ON own.mine TO PUBLIC',
    );
    await old.query('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO app');

    await rig.core.settle({ ...other, credentials: [second] }, AbortSignal.timeout(SETTLE_MS));
    expect(await old.query('SELECT 1').catch(() => 'ended')).toBe('ended');
    destroy(old);
    expect(await connect(other, asApp).catch(kindOf)).toBe('INTERNAL_ERROR');
    const { rows } = await rig.on(other, { as: second }, async (client) => {
      await client.query('INSERT INTO own.mine VALUES (1); ALTER TABLE own.mine ADD COLUMN note text');
      return await client.query(
        "SELECT relname, pg_get_userbyid(relowner) AS owner FROM pg_class WHERE relname IN ('mine', 'shared') ORDER BY 1",
      );
    });
    expect(rows).toEqual([
      { relname: 'mine', owner: 'app' },
      { relname: 'shared', owner: 'app' },
    ]);
  });

  test('settling again changes nothing for sessions that are open', async () => {
    const client = await connect(instance, asApp);
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
    await rig.restarted().settle(instance, AbortSignal.timeout(SETTLE_MS));
    expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  test('settling brings back rights that were lost and takes away those that were added', async () => {
    await rig.on(instance, { as: 'admin' }, async (client) => {
      await client.query(`ALTER ROLE app WITH CREATEDB; ALTER ROLE ${CREDENTIAL.user} WITH SUPERUSER CREATEROLE`);
      await client.query(`REVOKE app FROM ${CREDENTIAL.user}; ALTER ROLE ${CREDENTIAL.user} PASSWORD 'other'`);
      await client.query('GRANT CONNECT ON DATABASE postgres TO PUBLIC; DROP ROLE IF EXISTS berth_writer');
    });
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
    const { rows } = await rig.on(instance, asApp, (client) =>
      client.query(
        "SELECT current_user, bool_or(rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication) AS more FROM pg_roles WHERE rolname IN ('app', $1) GROUP BY 1",
        [CREDENTIAL.user],
      ),
    );
    expect(rows).toEqual([{ current_user: 'app', more: false }]);
    expect(
      await rig.on(instance, { as: 'writer' }, async (client) => (await client.query('SELECT current_user')).rows),
    ).toEqual([{ current_user: 'app' }]);
  });

  test('no password is in the log or in what the engine is told of the container', async () => {
    const inspected = await docker(['inspect', containerId]);
    const logged = await docker(['logs', containerId]);
    for (const secret of [
      instance.adminPassword,
      instance.readerPassword,
      instance.writerPassword,
      CREDENTIAL.password,
    ]) {
      expect(inspected).not.toContain(secret);
      expect(logged).not.toContain(secret);
    }
  });
});

describe('in operation', () => {
  test('data survives kill -9, and settle waits for the recovery', async () => {
    await rig.on(instance, asApp, (client) =>
      client.query('CREATE TABLE kept AS SELECT generate_series(1, 1000) AS id'),
    );
    await docker(['kill', '-s', 'KILL', containerId]);
    expect(await rig.core.answers(instance)).toBe(false);
    await rig.lab.runtime.start(containerId);
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
    const { rows } = await rig.on(instance, asApp, (client) => client.query('SELECT count(*)::int AS n FROM kept'));
    expect(rows).toEqual([{ n: 1000 }]);
    expect(await rig.core.answers(instance)).toBe(true);
  });

  test('data survives a container of another size, which has settings of that size', async () => {
    const small = await rig.instance('sized');
    const first = await rig.up(small);
    await rig.on(small, asApp, (client) => client.query('CREATE TABLE kept AS SELECT 7 AS id'));
    await rig.core.quiesce(small, AbortSignal.timeout(SETTLE_MS));
    await rig.lab.runtime.stop(first, 60);
    expect((await rig.lab.runtime.inspect(first))?.exitCode).toBe(0);
    await rig.lab.runtime.remove(first);
    const large = { ...small, memoryMb: 1024 };
    // As if it were not known whether the volume is new: what is in it decides.
    await rig.up(large, rig.restarted());
    const { rows } = await rig.on(large, asApp, (client) =>
      client.query("SELECT id, current_setting('shared_buffers') AS buffers FROM kept"),
    );
    expect(rows).toEqual([{ id: 7, buffers: '256MB' }]);
  });

  test('apps can be refused writes and be given them again, while berth can make room', async () => {
    const client = await connect(instance, asApp);
    await client.query('CREATE TABLE filling (id int)');
    await rig.core.setReadOnly(instance, true);
    await rig.core.setReadOnly(instance, true);
    expect(await client.query('SELECT 1').catch(() => 'ended')).toBe('ended');
    destroy(client);
    expect(await refusal(asApp, 'INSERT INTO filling VALUES (1)')).toBe('25006');
    expect(await refusal(asApp, 'SELECT * FROM filling')).toBe('done');
    expect(await refusal({ as: 'writer' }, 'DELETE FROM filling')).toBe('done');
    // A rotation meanwhile does not lift it.
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
    expect(await refusal(asApp, 'INSERT INTO filling VALUES (1)')).toBe('25006');
    await rig.core.setReadOnly(instance, false);
    expect(await refusal(asApp, 'INSERT INTO filling VALUES (1)')).toBe('done');
  });

  test('indexes are built anew once the image sorts text otherwise', async () => {
    const files = () =>
      rig.on(instance, asApp, async (client) => {
        const { rows } = await client.query<{ file: string }>("SELECT pg_relation_filenode('words_text') AS file");
        return rows[0]?.file;
      });
    await rig.on(instance, asApp, (client) =>
      client.query('CREATE TABLE words (text text); CREATE INDEX words_text ON words (text)'),
    );
    const before = await files();
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
    expect(await files()).toBe(before);
    await rig.on(instance, { as: 'admin' }, (client) => client.query("UPDATE pg_database SET datcollversion = '2.1'"));
    await rig.core.settle(instance, AbortSignal.timeout(SETTLE_MS));
    expect(await files()).not.toBe(before);
    const { rows } = await rig.on(instance, { as: 'admin' }, (client) =>
      client.query("SELECT datname FROM pg_database WHERE datcollversion = '2.1' AND datallowconn"),
    );
    expect(rows).toEqual([]);
  });

  test('the bytes on disk grow with the data', async () => {
    const before = await rig.core.usedBytes(instance);
    expect(before).toBeGreaterThan(20_000_000);
    await rig.on(instance, asApp, (client) =>
      client.query('CREATE TABLE heavy AS SELECT repeat(md5(g::text), 30) AS text FROM generate_series(1, 20000) g'),
    );
    expect(await rig.core.usedBytes(instance)).toBeGreaterThan(before + 15_000_000);
  });

  test('berth gets in when apps hold all connections that they can', async () => {
    const held: Client[] = [];
    const { url } = rig.core.connection({ ...instance, host: instance.addresses.main ?? '' }, CREDENTIAL);
    let full: unknown;
    while (full === undefined && held.length < 200) {
      const client = new Client(url.replace('sslmode=require', 'sslmode=disable'));
      client.on('error', () => undefined);
      held.push(client);
      full = await client.connect().then(
        () => undefined,
        (error: unknown) => error,
      );
    }
    expect((full as DatabaseError).code).toBe('53300');
    expect(held.length).toBeGreaterThan(80);
    for (const as of ['reader', 'writer', 'admin'] as const) {
      expect(await rig.on(instance, { as }, async (client) => (await client.query('SELECT 1')).rowCount)).toBe(1);
    }
    expect(await rig.core.answers(instance)).toBe(true);
    for (const client of held) destroy(client);
    await until(() =>
      rig.on(instance, asApp, async (client) => (await client.query('SELECT 1')).rowCount === 1).catch(() => false),
    );
  });

  test('a server that cannot start says why, with its log, long before the deadline', async () => {
    const broken = await rig.instance('broken');
    const id = await rig.up(broken);
    await rig.lab.runtime.stop(id, 30);
    await docker([
      'cp',
      join(import.meta.dir, 'core.test.ts'),
      `${id}:/var/lib/postgresql/data/pgdata/postgresql.conf`,
    ]);
    await rig.lab.runtime.start(id);
    const began = performance.now();
    const thrown = await rig.core.settle(broken, AbortSignal.timeout(SETTLE_MS)).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(BerthError);
    expect((thrown as BerthError).logTail).toContain('postgresql.conf');
    expect(performance.now() - began).toBeLessThan(30_000);
  });
});
