import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { DATASTORE_LABEL } from '#datastores/labels';
import type { DatastoreEngine, DatastoreInstance } from '#engines/datastores/port';
import { createPostgresEngine } from '#engines/datastores/postgres/index';
import { createRedisEngine } from '#engines/datastores/redis/index';
import { type DatastoreKit, startDatastore } from '#test/support/datastore.ts';

// A busy machine may take its time.
setDefaultTimeout(180_000);

let kit: DatastoreKit<ReturnType<typeof createPostgresEngine>>;
let cache: DatastoreKit<DatastoreEngine>;
beforeAll(async () => {
  kit = await startDatastore(createPostgresEngine, { kind: 'postgres' });
  cache = await startDatastore(createRedisEngine, { kind: 'redis', name: 'cache', memoryMb: 64 });
});
afterAll(async () => {
  kit.engine.close();
  await kit.cleanUp();
  await cache.cleanUp();
});

const sql = (query: string, of = kit.instance): ReturnType<DatastoreEngine['query']> =>
  kit.engine.query(of, { query, params: [], write: true, timeoutMs: 10_000, maxRows: 10, maxBytes: 1e6 });

const containerIds = async (of: DatastoreInstance): Promise<string[]> =>
  (await kit.runtime.list({ [DATASTORE_LABEL.id]: of.id })).map(({ id }) => id);

test('a Postgres is raised, goes on undisturbed when raised again, and keeps its data when made anew', async () => {
  await sql('CREATE TABLE notes AS SELECT 1 AS id');
  const before = await containerIds(kit.instance);
  await kit.raise();
  expect(await containerIds(kit.instance)).toEqual(before);
  await kit.raise(kit.instance, { anew: true });
  expect(await containerIds(kit.instance)).not.toEqual(before);
  expect((await sql('SELECT id FROM notes')).rows).toEqual([[1]]);
  await kit.containers.lower(kit.instance, { data: false });
  expect(await containerIds(kit.instance)).toEqual([]);
  await kit.raise({ ...kit.instance, memoryMb: 320 });
  expect((await sql('SELECT id FROM notes')).rows).toEqual([[1]]);
});

test('a second one in the project begins empty, and leaves nothing when it is lowered with its data', async () => {
  const other = await kit.another({ name: 'other', host: 'other.db.internal' });
  await kit.raise(other);
  expect((await sql("SELECT to_regclass('notes')", other)).rows).toEqual([[null]]);
  await kit.containers.lower(other, { data: true });
  expect((await kit.containers.find()).volumes.map(({ datastore }) => datastore)).toEqual([kit.instance.id]);
  expect((await sql('SELECT id FROM notes')).rows).toEqual([[1]]);
});

test('a scratch copy answers under its own passwords, and goes with its volume', async () => {
  const { instance, remove } = await kit.scratch.start(kit.instance, AbortSignal.timeout(60_000));
  expect(await kit.engine.answers(instance)).toBe(true);
  expect((await sql('SELECT count(*)::int4 FROM pg_roles', instance)).row_count).toBe(1);
  const stolen = { ...instance, writerPassword: kit.instance.writerPassword };
  expect(await sql('SELECT 1', stolen).catch(String)).toContain('password');
  await remove();
  const { containers, volumes } = await kit.containers.find();
  expect(containers).toHaveLength(1);
  expect(volumes).toHaveLength(1);
});

test('a Valkey is raised, and keeps its data when made anew', async () => {
  const redis = (query: string): ReturnType<DatastoreEngine['query']> =>
    cache.engine.query(cache.instance, {
      query,
      params: [],
      write: true,
      timeoutMs: 5000,
      maxRows: 10,
      maxBytes: 1e6,
    });
  await redis('SET greeting hello');
  await cache.raise(cache.instance, { anew: true });
  expect((await redis('GET greeting')).rows).toEqual([['hello']]);
  await cache.containers.lower(cache.instance, { data: true });
  expect(await cache.containers.find()).toEqual({ containers: [], volumes: [] });
});
