import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { until } from '#test/support/until.ts';
import { createDatastore, mainContainer, rowOf, Store, volumesOf } from './kit.ts';

let berth: Berth;
let store: Store;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  await createDatastore(berth, 'shop', { kind: 'redis' });
  store = new Store(berth, 'shop', 'redis');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const missing = async (): Promise<unknown[]> => {
  const events: { kind: string; data: unknown }[] = (await berth.api('/v1/projects/shop')).body.recent_events;
  return events.filter(({ kind }) => kind === 'datastore.data_missing').map(({ data }) => data);
};

test('a datastore whose container is gone has its data, and nothing is missing', async () => {
  await store.query('SET greeting hello');
  await berth.stop();
  await docker(['rm', '-f', await mainContainer(berth, rowOf(berth, 'shop', 'redis'))]);
  await berth.start();
  await until(async () => (await store.show()).answering === true, 30);
  expect(await store.query('GET greeting')).toEqual([['hello']]);
  expect(await missing()).toEqual([]);
}, 60_000);

test('a datastore whose volume is gone begins empty, which is said once, with the backup to restore', async () => {
  const { key } = await store.backup();
  await berth.stop();
  await docker(['rm', '-f', await mainContainer(berth, rowOf(berth, 'shop', 'redis'))]);
  for (const volume of await volumesOf(berth)) await docker(['volume', 'rm', volume]);
  await berth.start();
  await until(async () => (await missing()).length > 0, 30);
  expect(await store.query('GET greeting')).toEqual([[null]]);
  await berth.stop();
  await berth.start();
  await until(async () => (await store.show()).answering === true, 30);
  expect(await missing()).toEqual([{ datastore: 'redis', last_verified_backup: key }]);
}, 90_000);
