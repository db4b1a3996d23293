import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Berth } from '#test/support/berth.ts';
import { TestEngine } from '#test/support/engine.ts';
import { until } from '#test/support/until.ts';
import { appSql, ask, createDatastore, probeApp, rowOf, Store } from './kit.ts';

const KINDS = ['postgres', 'redis', 'mongo'] as const;
const IMAGES = ['postgres:17', 'valkey/valkey:8', 'ghcr.io/ferretdb/ferretdb:1.24'];

let engine: TestEngine;
let berth: Berth;
let addresses: Record<string, string>[];

beforeAll(async () => {
  engine = await TestEngine.start(['traefik:v3.6', 'registry:3', 'node:24-slim', ...IMAGES]);
  berth = await Berth.boot([], { engine });
  await berth.project('shop');
  await Promise.all(KINDS.map((kind) => createDatastore(berth, 'shop', { kind })));
  expect(await berth.deploy('shop', 'web', await probeApp())).toMatchObject({ status: 'succeeded', error: null });
  await appSql(berth, ['shop', 'web'], 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n');
  await ask(berth, 'shop', 'web', ['/redis', { command: ['SET', 'kept', 'by redis'] }]);
  await mongo().query(JSON.stringify({ insert: 'kept', documents: [{ by: 'mongo' }] }));
  addresses = places();
}, 300_000);

afterAll(async () => {
  await berth.destroy();
  await engine.dispose();
}, 120_000);

const mongo = (): Store => new Store(berth, 'shop', 'mongo');
const places = (): Record<string, string>[] => KINDS.map((kind) => rowOf(berth, 'shop', kind).addresses);

/** All data is there, for the app as for consoles. */
const allThere = async (): Promise<boolean> => {
  try {
    expect(await appSql(berth, ['shop', 'web'], 'SELECT count(*)::int FROM kept')).toEqual([[1000]]);
    expect(await ask(berth, 'shop', 'web', ['/redis', { command: ['GET', 'kept'] }])).toBe('by redis');
    expect(await mongo().query(JSON.stringify({ count: 'kept' }))).not.toEqual([]);
    expect(await mongo().query(JSON.stringify({ find: 'kept', projection: { _id: 0 } }))).toEqual([['mongo']]);
    return true;
  } catch {
    return false;
  }
};

const healthy = (): Promise<boolean> =>
  berth.api('/v1/health').then(
    ({ body }) => body.status === 'ok',
    () => false,
  );

/** Without a human, at the same addresses, in one container each. */
const expectBack = async (): Promise<void> => {
  await until(allThere, 90);
  await until(healthy, 60);
  expect(places()).toEqual(addresses);
  const containers = await engine.docker(['ps', '-aq', '--filter', 'label=dev.berth.datastore-id']);
  expect(containers.split('\n').filter(Boolean)).toHaveLength(4);
};

describe('datastores', () => {
  test('serve on while the engine is away', async () => {
    await engine.kill();
    expect(await allThere()).toBe(true);
    const backup = await new Store(berth, 'shop', 'postgres').change('backups');
    expect(backup).toMatchObject({ status: 'failed', error: { code: 'INTERNAL_ERROR', retryable: true } });
    expect(backup.error?.message).toContain('Docker is not reachable');
    await engine.up();
    await expectBack();
  }, 180_000);

  test('are back with their data after a restart of the engine', async () => {
    await engine.stop();
    await engine.up();
    await expectBack();
  }, 180_000);

  test('are back with their data after a reboot, whoever starts first', async () => {
    await engine.stop();
    await berth.stop('SIGKILL');
    berth.launch();
    await engine.up();
    await berth.ready();
    await expectBack();
    await berth.stop('SIGKILL');
    await engine.stop();
    await engine.up();
    await berth.start();
    await expectBack();
  }, 240_000);

  test('that are being made when the engine dies end truthfully, and can be made again', async () => {
    const reply = await berth.api('/v1/projects/shop/datastores', {
      method: 'POST',
      body: { kind: 'postgres', name: 'late' },
    });
    const made = (): Promise<string> => engine.docker(['ps', '-aq', '--filter', 'label=dev.berth.datastore=late']);
    await until(async () => (await made()) !== '');
    await engine.kill();
    await engine.up();
    const operation = await berth.wait(reply.body.operation_id, 120);
    const late = new Store(berth, 'shop', 'late');
    if (operation.status === 'failed') {
      expect(operation.error).toMatchObject({ retryable: true });
      expect((await late.show()).status).toBe('failed');
      await until(healthy, 60);
      const again = await berth.api('/v1/projects/shop/datastores', {
        method: 'POST',
        body: { kind: 'postgres', name: 'late' },
      });
      expect(again).toMatchObject({ status: 202, body: { created: false } });
      expect(await berth.wait(again.body.operation_id, 120)).toMatchObject({ status: 'succeeded', error: null });
    }
    expect(await late.query('SELECT 1')).toEqual([[1]]);
    expect(await late.remove()).toMatchObject({ status: 'succeeded', error: null });
    await expectBack();
  }, 240_000);

  test('are backed up again after all of that', async () => {
    for (const kind of KINDS)
      expect(await new Store(berth, 'shop', kind).backup()).toMatchObject({ status: 'verified' });
  }, 120_000);
});
