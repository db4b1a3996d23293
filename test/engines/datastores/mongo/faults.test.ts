import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { MongoClient } from 'mongodb';
import type { DatastoreInstance } from '#engines/datastores/port';
import { connect } from '#engines/datastores/postgres/connect';
import { until } from '#test/support/until.ts';
import { failureOf, type MongoLab, openMongoLab } from './lab.ts';

// A busy machine may take its time.
setDefaultTimeout(180_000);

let lab: MongoLab;
let docs: DatastoreInstance;
let ids: Record<string, string>;
beforeAll(async () => {
  lab = await openMongoLab();
  docs = lab.instance('docs');
  ids = await lab.provision(docs);
});
afterAll(() => lab.cleanUp());

const settle = (): Promise<void> => lab.engine.settle(docs, AbortSignal.timeout(60_000));
const idOf = (role: string): string => ids[role] ?? '';

const killed = async (role: string): Promise<void> => {
  const state = await lab.lab.runtime.inspect(idOf(role));
  if (state?.pid === null || state === undefined) throw new Error(`${role} does not run`);
  process.kill(state.pid, 'SIGKILL');
  await until(async () => ((await lab.lab.runtime.inspect(idOf(role)))?.restartCount ?? 0) > state.restartCount);
};

/** Inserts documents until told to stop; those that were acknowledged are remembered. */
const load = (client: MongoClient) => {
  const acknowledged: number[] = [];
  let errors = 0;
  const over = new AbortController();
  const done = (async () => {
    for (let n = 0; !over.signal.aborted; n += 1) {
      try {
        await client.db().collection<{ _id: number }>('load').insertOne({ _id: n });
        acknowledged.push(n);
      } catch {
        errors += 1;
        await Bun.sleep(20);
      }
    }
  })();
  return {
    acknowledged,
    errors: () => errors,
    end: async () => {
      over.abort();
      await done;
    },
  };
};

test.each(['storage', 'main'])(
  'kill -9 of %s under load loses nothing that was acknowledged, and apps go on by themselves',
  async (role) => {
    const client = new MongoClient(lab.urlOf(docs), { serverSelectionTimeoutMS: 10_000 });
    await client.db().collection('load').drop();
    const work = load(client);
    await until(() => work.acknowledged.length > 50);
    await killed(role);
    const before = work.acknowledged.length;
    await until(() => work.acknowledged.length > before + 50, 60);
    await work.end();
    expect(work.errors()).toBeGreaterThan(0);
    const stored = new Set(
      (await client.db().collection<{ _id: number }>('load').find().toArray()).map(({ _id }) => _id),
    );
    expect(work.acknowledged.filter((n) => !stored.has(n))).toEqual([]);
    expect(await lab.engine.answers(docs)).toBe(true);
    await settle();
    await client.close();
  },
);

test('a datastore whose Postgres has stopped does not answer, and consoles say so in time', async () => {
  await lab.lab.runtime.stop(idOf('storage'), 10);
  expect(await lab.engine.answers(docs)).toBe(false);
  const asked = lab.engine.query(docs, {
    query: '{"count": "load"}',
    params: [],
    write: false,
    timeoutMs: 3000,
    maxRows: 500,
    maxBytes: 1_000_000,
  });
  expect(await failureOf(asked)).toMatchObject({ retryable: true });
  await lab.lab.runtime.start(idOf('storage'));
  await settle();
  expect(await lab.engine.answers(docs)).toBe(true);
});

test('a planned stop of both is short while clients are connected', async () => {
  const client = new MongoClient(lab.urlOf(docs));
  await client.db().command({ ping: 1 });
  await lab.engine.quiesce(docs, AbortSignal.timeout(30_000));
  const startedAt = performance.now();
  for (const role of ['main', 'storage']) await lab.lab.runtime.stop(idOf(role), 60);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  for (const role of ['storage', 'main']) await lab.lab.runtime.start(idOf(role));
  await settle();
  expect(await client.db().collection('load').countDocuments({})).toBeGreaterThan(50);
  await client.close();
});

test('data survives containers that are made anew', async () => {
  for (const role of ['main', 'storage']) await lab.lab.runtime.remove(idOf(role));
  docs = { ...docs, memoryMb: 768 };
  for (const { role, container } of lab.engine.units(docs)) {
    const { id } = await lab.lab.runtime.create(container);
    const { rest } = await lab.engine.place(docs, { role, containerId: id, fresh: false });
    await rest;
    await lab.lab.runtime.start(id);
    ids[role] = id;
  }
  await settle();
  const client = new MongoClient(lab.urlOf(docs));
  expect(await client.db().collection('load').countDocuments({})).toBeGreaterThan(50);
  await client.close();
});

test('FerretDB that does not know all that is stored is started again', async () => {
  const storage = { ...docs, version: '17', addresses: { main: docs.addresses['storage'] ?? '' } };
  const admin = await connect(storage, { as: 'admin', database: 'app' });
  // As after a failure of Postgres in the middle of FerretDB's only look at it.
  await admin.query('CREATE SCHEMA lost AUTHORIZATION app; SET ROLE app');
  await admin.query('CREATE TABLE lost._ferretdb_database_metadata (_jsonb jsonb)');
  await admin.end();
  const client = new MongoClient(lab.urlOf(docs));
  const names = async (): Promise<string[]> =>
    (await client.db().admin().listDatabases({ nameOnly: true })).databases.map(({ name }) => name);
  expect(await names()).not.toContain('lost');
  await settle();
  expect(await names()).toContain('lost');
  expect(await client.db().collection('load').countDocuments({})).toBeGreaterThan(50);
  await client.close();
});

test('two datastores of a project have nothing in common', async () => {
  const other = lab.instance('other');
  await lab.provision(other);
  const [one, two] = [new MongoClient(lab.urlOf(docs)), new MongoClient(lab.urlOf(other))];
  await one.db().collection('where').insertOne({ at: 'docs' });
  expect(await two.db().collection('where').countDocuments({})).toBe(0);
  await two.db().collection('where').insertOne({ at: 'other' });
  await one.db().collection('where').drop();
  expect(await two.db().collection('where').find().toArray()).toMatchObject([{ at: 'other' }]);
  await Promise.all([one.close(), two.close()]);
});
