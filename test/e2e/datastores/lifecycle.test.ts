import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { startLoad } from '#test/support/load.ts';
import { untilReplicas } from '#test/support/replicas.ts';
import { until } from '#test/support/until.ts';
import { appSql, ask, createDatastore, mainContainer, probeApp, rowOf, Store, volumesOf } from './kit.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--quota-datastores', '3']);
  await berth.project('shop');
  expect(await berth.deploy('shop', 'web', await probeApp())).toMatchObject({ status: 'succeeded', error: null });
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const create = (body: unknown, query = '') =>
  berth.api(`/v1/projects/shop/datastores${query}`, { method: 'POST', body });

const names = async (): Promise<string[]> => (await ask(berth, 'shop', 'web', ['/names'])) as string[];

const sql = (query: string, params: unknown[] = []): Promise<unknown[][]> =>
  appSql(berth, ['shop', 'web'], query, params);

/** Containers and volumes of all datastores. */
const objects = async (): Promise<string[]> => {
  const label = ['--filter', `label=dev.berth.instance=${berth.instance()}`, '--filter', 'label=dev.berth.datastore'];
  const containers = await docker(['ps', '-aq', ...label]);
  return [...containers.split('\n').filter(Boolean), ...(await volumesOf(berth))];
};

const main = (): Store => new Store(berth, 'shop', 'postgres');

describe('a datastore', () => {
  test('that is only planned leaves no trace', async () => {
    const reply = await create({ kind: 'postgres' }, '?dry_run=true');
    expect(reply).toMatchObject({ status: 200, body: { dry_run: true } });
    expect(reply.body.plan.changes).toContainEqual({ action: 'restart', resource: 'service', name: 'web' });
    expect(await objects()).toEqual([]);
    expect((await berth.api('/v1/projects/shop/datastores')).body.datastores).toEqual([]);
  });

  test('is made step by step, each of them an event, and no request of an app fails when it restarts for it', async () => {
    const load = startLoad({ request: () => berth.app('shop', 'web'), perSecond: 100 });
    const reply = await create({ kind: 'postgres' });
    expect(reply).toMatchObject({
      status: 202,
      body: { name: 'postgres', status: 'provisioning', created: true, restarted_services: ['web'] },
    });
    expect(reply.body.variables).toEqual(
      expect.arrayContaining(['DATABASE_URL', 'PGHOST', 'PGPORT', 'PGUSER', 'PGPASSWORD', 'PGDATABASE']),
    );
    expect((await create({ kind: 'postgres' })).body).toMatchObject({ created: false, name: 'postgres' });
    const operation = await berth.wait(reply.body.operation_id, 60);
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready', result: { restarted_services: ['web'] } });
    for (const id of (operation.result?.['operations'] ?? []) as string[]) {
      expect(await berth.wait(id, 60)).toMatchObject({ status: 'succeeded', kind: 'env.restart' });
    }
    const { ok, failures } = await load.stop();
    expect(Object.fromEntries(failures)).toEqual({});
    expect(ok).toBeGreaterThan(100);

    const stream = String((await berth.api(operation.stream_url)).body);
    expect(stream).toContain('"phase":"provisioning"');
    expect(stream).toContain('postgres answers at postgres.db.internal:5432');
    expect(stream).toContain('event: done');
    const events = (await berth.api('/v1/projects/shop')).body.recent_events;
    const kinds: string[] = events.map((event: { kind: string }) => event.kind);
    expect(kinds).toEqual(expect.arrayContaining(['datastore.created', 'datastore.ready', 'service.restarted']));

    expect(await main().show()).toMatchObject({ status: 'ready', answering: true, operation_id: null });
    expect(await names()).toEqual(expect.arrayContaining(['DATABASE_URL', 'PGPASSWORD', 'NODE_EXTRA_CA_CERTS']));
    expect(await sql('SELECT 1')).toEqual([[1]]);
  }, 120_000);

  test('beside another of its kind has variables and data of its own', async () => {
    await createDatastore(berth, 'shop', { kind: 'postgres', name: 'main-db' });
    await until(async () => (await names()).includes('MAIN_DB_PGHOST'));
    expect(await names()).toEqual(expect.arrayContaining(['MAIN_DB_URL', 'DATABASE_URL']));
    await sql('CREATE TABLE notes (note text)');
    await sql("INSERT INTO notes VALUES ('in the first')");
    const other = { query: "SELECT to_regclass('notes') IS NULL", from: 'MAIN_DB_URL' };
    expect(await ask(berth, 'shop', 'web', ['/sql', other])).toEqual([[true]]);
  }, 90_000);

  test('whose variable the user has set is refused, and nothing is overwritten', async () => {
    const set = await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { REDIS_URL: 'redis://my-own:6379' } });
    expect(set.status).toBe(200);
    for (const { operation_id: id } of set.body.operations) await berth.wait(id);
    const before = await objects();
    const refused = await create({ kind: 'redis' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(refused.body.message).toContain('REDIS_URL');
    expect(await objects()).toEqual(before);
    const [replica = ''] = await untilReplicas(berth, { project: 'shop', service: 'web', count: 1 });
    const env = await docker(['inspect', '--format', '{{json .Config.Env}}', replica]);
    expect(JSON.parse(env)).toContain('REDIS_URL=redis://my-own:6379');
    expect((await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { REDIS_URL: null } })).status).toBe(200);
  }, 60_000);

  test('gets another memory limit without losing data, the largest values included', async () => {
    await sql("INSERT INTO notes VALUES (repeat('long', 1000000))");
    const patched = await berth.api(main().path, { method: 'PATCH', body: { memory_mb: 320 } });
    expect(await berth.wait(patched.body.operation_id)).toMatchObject({ status: 'succeeded', phase: 'ready' });
    expect(await main().show()).toMatchObject({ memory_mb: 320, status: 'ready' });
    const container = await mainContainer(berth, rowOf(berth, 'shop', 'postgres'));
    expect((await docker(['inspect', '--format', '{{.HostConfig.Memory}}', container])).trim()).toBe(
      String(320 * 1024 * 1024),
    );
    await until(() => sql('SELECT length(note) FROM notes ORDER BY 1').then((rows) => rows.length === 2));
    expect(await sql('SELECT length(note) FROM notes ORDER BY 1')).toEqual([[12], [4_000_000]]);
  }, 60_000);

  test('beyond its storage limit takes no more writes of apps, says so, and takes them again once there is room', async () => {
    const limit = async (megabytes: number): Promise<void> => {
      const reply = await berth.api(main().path, { method: 'PATCH', body: { storage_limit_mb: megabytes } });
      expect(await berth.wait(reply.body.operation_id)).toMatchObject({ status: 'succeeded', error: null });
    };
    /** At its start berth looks at once. */
    const untilReadOnly = async (readOnly: boolean): Promise<void> => {
      await berth.stop('SIGTERM');
      await berth.start();
      await until(async () => (await main().show()).read_only === readOnly);
    };
    await limit(100);
    await sql('CREATE TABLE heap AS SELECT n, md5(n::text) FROM generate_series(1, 1000000) n');
    await untilReadOnly(true);
    expect((await main().show()).used_bytes).toBeGreaterThan(100 * 1024 * 1024);
    await until(() =>
      sql("INSERT INTO notes VALUES ('more')").then(
        () => false,
        (error) => String(error).includes('25006'),
      ),
    );
    expect(await sql('SELECT count(*)::int FROM notes')).toEqual([[2]]);
    await main().query('DROP TABLE heap');
    await limit(1024);
    await untilReadOnly(false);
    await until(() => sql('CREATE TABLE again ()').then(Boolean, () => false));
    const events = (await berth.api('/v1/projects/shop')).body.recent_events;
    const kinds: string[] = events.map((event: { kind: string }) => event.kind);
    expect(kinds).toEqual(expect.arrayContaining(['datastore.read_only', 'datastore.writable']));
  }, 90_000);

  test('beyond the quota of its project is refused', async () => {
    await createDatastore(berth, 'shop', { kind: 'redis', name: 'cache' });
    expect(await create({ kind: 'mongo' })).toMatchObject({ body: { code: 'QUOTA_EXCEEDED' } });
  }, 60_000);
});

describe('the deletion of a datastore', () => {
  test('without confirm=true, or only planned, changes nothing', async () => {
    const before = await objects();
    expect(await berth.api(main().path, { method: 'DELETE' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT' },
    });
    const planned = await berth.api(`${main().path}?dry_run=true`, { method: 'DELETE' });
    expect(planned.body).toMatchObject({ dry_run: true });
    expect(await objects()).toEqual(before);
    expect(await sql('SELECT count(*)::int FROM notes')).toEqual([[2]]);
  });

  test('takes its data along after a final backup, from which it can be made anew under another name', async () => {
    const before = rowOf(berth, 'shop', 'postgres');
    const load = startLoad({ request: () => berth.app('shop', 'web'), perSecond: 50 });
    const operation = await main().remove('&final_backup=true');
    expect(operation).toMatchObject({ status: 'succeeded', result: { deleted: true, restarted_services: ['web'] } });
    const { failures } = await load.stop();
    expect(Object.fromEntries(failures)).toEqual({});
    expect((await berth.api(main().path)).status).toBe(404);
    expect((await objects()).filter((name) => name.includes(before.id))).toEqual([]);
    expect(await docker(['volume', 'ls', '-q', '--filter', `label=dev.berth.datastore-id=${before.id}`])).toBe('');
    expect(await names()).not.toContain('DATABASE_URL');

    const key = String(operation.result?.['final_backup']);
    expect(await main().backupOf(key)).toMatchObject({ cause: 'final', status: 'verified', rows: 2 });
    const forked = await berth.api(`${main().path}/fork`, { method: 'POST', body: { name: 'revived', key } });
    expect(forked.status).toBe(202);
    expect(await berth.wait(forked.body.operation_id)).toMatchObject({ status: 'succeeded', error: null });
    await until(async () => (await names()).includes('REVIVED_URL'));
    const ask2 = { query: 'SELECT length(note) FROM notes ORDER BY 1', from: 'REVIVED_URL' };
    expect(await ask(berth, 'shop', 'web', ['/sql', ask2])).toEqual([[12], [4_000_000]]);
  }, 120_000);

  test('leaves nothing to the next one of its name', async () => {
    expect(await new Store(berth, 'shop', 'revived').remove()).toMatchObject({ status: 'succeeded' });
    await createDatastore(berth, 'shop', { kind: 'postgres' });
    await until(async () => (await names()).includes('DATABASE_URL'));
    expect(await sql("SELECT to_regclass('notes')")).toEqual([[null]]);
  }, 90_000);

  test('comes with that of its project', async () => {
    const reply = await berth.api('/v1/projects/shop?confirm=true', { method: 'DELETE' });
    expect(await berth.wait(reply.body.operation_id)).toMatchObject({ status: 'succeeded', error: null });
    expect(await objects()).toEqual([]);
  }, 60_000);
});
