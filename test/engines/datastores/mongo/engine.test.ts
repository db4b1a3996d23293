import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { MongoClient } from 'mongodb';
import { MongoClient as MongoClient4 } from 'mongodb4';
import type { DatastoreInstance, QueryRequest, QueryResult } from '#engines/datastores/port';
import { connect } from '#engines/datastores/postgres/connect';
import { until } from '#test/support/until.ts';
import { failureOf, type MongoLab, openMongoLab, PASSWORD } from './lab.ts';

// A busy machine may take its time.
setDefaultTimeout(120_000);

let lab: MongoLab;
let docs: DatastoreInstance;
let driver: MongoClient;
beforeAll(async () => {
  lab = await openMongoLab();
  docs = lab.instance('docs');
  await lab.provision(docs);
  driver = new MongoClient(lab.urlOf(docs));
});
afterAll(async () => {
  await driver.close();
  await lab.cleanUp();
});

const ask = (command: unknown, changes: Partial<QueryRequest> = {}): Promise<QueryResult> =>
  lab.engine.query(docs, {
    query: JSON.stringify(command),
    params: [],
    write: false,
    timeoutMs: 10_000,
    maxRows: 500,
    maxBytes: 4_000_000,
    ...changes,
  });
const change = (command: unknown): Promise<QueryResult> => ask(command, { write: true });

/** The error of a driver that was refused. */
const refusalOf = async (url: string): Promise<string> => {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 });
  try {
    await client.db().collection('secrets').findOne();
    return 'let in';
  } catch (thrown) {
    return String(thrown);
  } finally {
    await client.close();
  }
};

const errorOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => '',
    (thrown: unknown) => String(thrown),
  );

describe('drivers with the URL alone', () => {
  test.each([
    ['mongodb 4', () => new MongoClient4(lab.urlOf(docs))],
    ['the newest mongodb', () => new MongoClient(lab.urlOf(docs))],
  ])('%s round-trips documents', async (name, open) => {
    const client = open() as MongoClient;
    try {
      const collection = client.db().collection<{ n: number; by?: string; done?: boolean }>('trips');
      expect(client.db().databaseName).toBe('app');
      await collection.deleteMany({ by: name });
      await collection.insertMany(Array.from({ length: 250 }, (_, n) => ({ n, by: name })));
      await collection.createIndex({ n: 1 });
      await collection.updateMany({ by: name, n: { $lt: 10 } }, { $set: { done: true } });
      await collection.deleteOne({ by: name, n: 249 });
      expect(await collection.countDocuments({ by: name })).toBe(249);
      expect(await collection.find({ by: name, done: true }).toArray()).toHaveLength(10);
      expect((await collection.find({ by: name }).sort({ n: -1 }).toArray()).map(({ n }) => n)[0]).toBe(248);
      const [sum] = await collection
        .aggregate([{ $match: { by: name } }, { $group: { _id: null, sum: { $sum: '$n' } } }])
        .toArray();
      expect(sum?.['sum']).toBe((248 * 249) / 2);
    } finally {
      await client.close();
    }
  });
});

describe('nobody comes in', () => {
  test('without a password, with a wrong one, or as a role of berth’s that has another', async () => {
    const address = `${docs.addresses['main']}:27017/app`;
    await driver.db().collection('secrets').insertOne({ secret: 'TOP' });
    expect(await refusalOf(`mongodb://${address}`)).toContain('berth_nobody');
    for (const user of ['app_one', 'postgres', 'berth_reader', 'berth_writer', 'berth_tunnel', 'nobody']) {
      const refused = await refusalOf(`mongodb://${user}:wrong@${address}?authMechanism=PLAIN`);
      expect(refused).toMatch(/password authentication failed|no pg_hba.conf entry|rejects connection/);
    }
  });

  test('as the superuser, even with its password', async () => {
    const url = `mongodb://postgres:${docs.adminPassword}@${docs.addresses['main']}:27017/app?authMechanism=PLAIN`;
    expect(await refusalOf(url)).toContain('rejects connection');
  });

  test('to the Postgres behind it from the network, with whatever credential an app may know', async () => {
    const knock = async (user: string, password: string): Promise<string> => {
      const { stderr, exitCode } = await lab.jobs.run({
        instance: docs,
        purpose: 'knock',
        image: 'postgres:17',
        argv: ['psql', '-h', docs.addresses['storage'] ?? '', '-U', user, '-c', 'SELECT 1', 'app'],
        env: { PGPASSWORD: password },
        memoryMb: 128,
        signal: AbortSignal.timeout(30_000),
      });
      return exitCode === 0 ? 'let in' : stderr;
    };
    expect(await knock('app_one', PASSWORD)).toContain('pg_hba.conf rejects connection');
    expect(await knock('postgres', docs.adminPassword)).toContain('pg_hba.conf rejects connection');
    expect(await knock('berth_writer', docs.writerPassword)).toContain('pg_hba.conf rejects connection');
  });
});

describe('the console', () => {
  test('shows documents as rows', async () => {
    await change({ drop: 'people' });
    expect(await change({ insert: 'people', documents: [{ name: 'Ada', born: 1815 }, { name: 'Bo' }] })).toMatchObject({
      row_count: 2,
      columns: [],
    });
    const { columns, rows, ...rest } = await ask({ find: 'people', sort: { name: 1 }, projection: { _id: 0 } });
    expect({ columns, rows, ...rest }).toEqual({
      columns: [
        { name: 'name', type: 'string' },
        { name: 'born', type: 'int' },
      ],
      rows: [
        ['Ada', 1815],
        ['Bo', null],
      ],
      row_count: 2,
      truncated: false,
      duration_ms: expect.any(Number),
    });
    expect((await ask({ count: 'people' })).rows).toEqual([[2]]);
    expect((await ask({ distinct: 'people', key: 'name' })).rows).toEqual([['Ada'], ['Bo']]);
    expect((await ask({ aggregate: 'people', pipeline: [{ $count: 'n' }] })).rows).toEqual([[2]]);
    expect((await ask({ listIndexes: 'people' })).row_count).toBe(1);
    expect(
      (await change({ update: 'people', updates: [{ q: { name: 'Bo' }, u: { $set: { born: 1 } } }] })).row_count,
    ).toBe(1);
    const upsert = { update: 'people', updates: [{ q: { name: 'Cy' }, u: { $set: { born: 2 } }, upsert: true }] };
    expect((await change(upsert)).row_count).toBe(1);
    const modified = await change({
      findAndModify: 'people',
      query: { name: 'Cy' },
      update: { $set: { born: 3 } },
      new: true,
    });
    expect(modified.rows[0]).toContain(3);
    expect((await change({ delete: 'people', deletes: [{ q: {}, limit: 0 }] })).row_count).toBe(3);
  });

  test('reads no further than its caps of rows and bytes', async () => {
    await change({ drop: 'many' });
    const documents = Array.from({ length: 1200 }, (_, n) => ({ _id: n, text: 'x'.repeat(2000) }));
    await change({ insert: 'many', documents });
    for (const command of [{ find: 'many' }, { aggregate: 'many', pipeline: [{ $match: {} }] }]) {
      expect(await ask(command)).toMatchObject({ row_count: 500, truncated: true });
      const few = await ask(command, { maxBytes: 100_000 });
      expect(few.truncated).toBe(true);
      expect(few.row_count).toBeGreaterThan(0);
      expect(few.row_count).toBeLessThan(50);
      expect(await ask(command, { maxRows: 1200 })).toMatchObject({ row_count: 1200, truncated: false });
    }
    expect(await ask({ find: 'many', limit: 3 })).toMatchObject({ row_count: 3, truncated: false });
    expect(await ask({ find: 'many', limit: 500 })).toMatchObject({ row_count: 500, truncated: false });
    const tooMuch = ask({ distinct: 'many', key: 'text' }, { maxBytes: 1000 });
    expect(await failureOf(tooMuch)).toMatchObject({ kind: 'INVALID_INPUT' });
  });

  test('of a reader changes nothing: Postgres itself refuses its role', async () => {
    expect(await failureOf(ask({ insert: 'people', documents: [{}] }))).toMatchObject({ kind: 'CAPABILITY_MISSING' });
    const login = `berth_reader:${docs.readerPassword}`;
    const client = new MongoClient(`mongodb://${login}@${docs.addresses['main']}:27017/app?authMechanism=PLAIN`);
    try {
      const before = await ask({ count: 'many' });
      const refused = /read-only transaction|permission denied/;
      const many = client.db().collection('many');
      expect((await failureOf(many.insertOne({ x: 1 }))).message).toMatch(refused);
      expect((await failureOf(many.updateMany({}, { $set: { x: 1 } }))).message).toMatch(refused);
      expect((await failureOf(many.deleteMany({}))).message).toMatch(refused);
      expect((await failureOf(many.createIndex({ x: 1 }))).message).toMatch(refused);
      expect((await failureOf(many.drop())).message).toMatch(refused);
      expect((await failureOf(client.db('fresh').collection('a').insertOne({ x: 1 }))).message).toMatch(refused);
      expect((await failureOf(client.db().dropDatabase())).message).toMatch(refused);
      expect((await ask({ count: 'many' })).rows).toEqual(before.rows);
    } finally {
      await client.close();
    }
  });

  test('says in FerretDB’s words what is wrong with a command', async () => {
    expect(await failureOf(ask({ find: 'many', filter: { a: { $foo: 1 } } }))).toMatchObject({
      kind: 'INVALID_INPUT',
      message: 'unknown operator: $foo (BadValue)',
    });
    expect(await failureOf(ask({ aggregate: 'people', pipeline: [{ $lookup: {} }] }))).toMatchObject({
      kind: 'INVALID_INPUT',
      hint: expect.stringContaining('FerretDB 1.24'),
    });
    expect(await ask({ find: 'people', comment: '*/ ; DROP SCHEMA app CASCADE; --' })).toMatchObject({ row_count: 0 });
    expect(await failureOf(ask({ find: 'people' }, { params: [1] }))).toMatchObject({ kind: 'INVALID_INPUT' });
    await change({ drop: 'unique' });
    await change({ insert: 'unique', documents: [{ _id: 1 }] });
    expect(await failureOf(change({ insert: 'unique', documents: [{ _id: 2 }, { _id: 1 }] }))).toMatchObject({
      kind: 'INVALID_INPUT',
      message: expect.stringContaining('E11000'),
    });
  });

  test('gives up in time, and what FerretDB began ends in Postgres too', async () => {
    await change({ insert: 'held', documents: [{ a: 1 }] });
    const storage = { ...docs, version: '17', addresses: { main: docs.addresses['storage'] ?? '' } };
    const holder = await connect(storage, { as: 'admin', database: 'app' });
    try {
      const { rows } = await holder.query(
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE tablename LIKE 'held%'",
      );
      await holder.query(`BEGIN; LOCK TABLE ${rows[0].name} IN ACCESS EXCLUSIVE MODE`);
      const waiting = async (): Promise<number> => {
        const found = await holder.query(
          "SELECT FROM pg_stat_activity WHERE usename LIKE 'berth%' AND wait_event_type = 'Lock'",
        );
        return found.rows.length;
      };
      expect(await failureOf(ask({ find: 'held' }, { timeoutMs: 200 }))).toMatchObject({ kind: 'TIMEOUT' });
      expect(await failureOf(ask({ count: 'held', query: { a: 1 } }, { timeoutMs: 100 }))).toMatchObject({
        kind: 'TIMEOUT',
      });
      expect(await waiting()).toBe(0);
      const remove = { delete: 'held', deletes: [{ q: {}, limit: 0 }] };
      expect(await failureOf(ask(remove, { timeoutMs: 100, write: true }))).toMatchObject({
        kind: 'TIMEOUT',
        message: expect.stringContaining('may have been carried out'),
      });
      const gone = new AbortController();
      setTimeout(() => gone.abort(), 300);
      expect(await failureOf(ask({ count: 'held', query: { a: 1 } }, { signal: gone.signal }))).toMatchObject({
        retryable: true,
      });
      expect(await waiting()).toBe(0);
    } finally {
      await holder.end();
    }
    expect((await ask({ count: 'held' })).rows).toEqual([[1]]);
  });
});

describe('the collections of all databases', () => {
  test('are listed with their sizes, page by page', async () => {
    const shop = driver.db('shop-2');
    await shop.collection('Orders').insertMany(Array.from({ length: 20 }, (_, n) => ({ n })));
    await shop.collection('weird "name". ü').insertOne({ a: 1 });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await lab.engine.browse(docs, { limit: 2, cursor, match: undefined });
      expect(page.entries.length).toBeLessThanOrEqual(2);
      names.push(...page.entries.map(({ schema, name }) => `${schema}.${name}`));
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    expect(names).toContain('app.trips');
    expect(names.slice(-2)).toEqual(['shop-2.Orders', 'shop-2.weird "name". ü']);
    expect(new Set(names).size).toBe(names.length);
    const { entries, next } = await lab.engine.browse(docs, { limit: 50, cursor: undefined, match: 'order' });
    expect(entries).toEqual([
      {
        name: 'Orders',
        type: 'collection',
        schema: 'shop-2',
        row_estimate: expect.any(Number),
        size_bytes: expect.any(Number),
      },
    ]);
    expect(next).toBeNull();
    const wrong = lab.engine.browse(docs, { limit: 50, cursor: 'nonsense', match: undefined });
    expect(await failureOf(wrong)).toMatchObject({ kind: 'INVALID_INPUT' });
  });
});

describe('credentials', () => {
  test('change without downtime, and old ones end with their sessions', async () => {
    const [first] = docs.credentials;
    const next = { user: 'app_two', password: 'w:e/i@r?d%' };
    if (first === undefined) throw new Error('no credential');
    const both = { ...docs, credentials: [first, next] };
    await lab.engine.settle(both, AbortSignal.timeout(30_000));
    const newer = new MongoClient(lab.urlOf(both));
    try {
      await driver.db().collection('turns').insertOne({ by: 'old' });
      await newer.db().collection('turns').insertOne({ by: 'new' });
      await driver
        .db()
        .collection('turns')
        .updateMany({ by: 'new' }, { $set: { seen: true } });
      await newer.db().collection('turns').createIndex({ by: 1 });

      await lab.engine.settle({ ...docs, credentials: [next] }, AbortSignal.timeout(30_000));
      await failureOf(driver.db().collection('turns').findOne());
      // A session that was ended says so once; after it there is no other.
      await until(async () => (await refusalOf(lab.urlOf(docs))).includes('rejects connection'));
      expect(await newer.db().collection('turns').countDocuments({})).toBe(2);
      expect(await lab.engine.answers(docs)).toBe(true);
    } finally {
      await newer.close();
      await lab.engine.settle(docs, AbortSignal.timeout(30_000));
    }
    expect(await driver.db().collection('turns').countDocuments({})).toBe(2);
  });
});

describe('the limit of storage', () => {
  test('keeps apps from writing, while they read and berth makes room', async () => {
    const items = driver.db().collection('items');
    await items.insertMany([{ a: 1 }, { a: 2 }]);
    expect(await lab.engine.usedBytes(docs)).toBeGreaterThan(1_000_000);
    await lab.engine.setReadOnly(docs, true);
    // Sessions that were ended say so once.
    await until(async () => (await errorOf(items.insertOne({ a: 3 }))).includes('read-only'));
    expect(await items.countDocuments({})).toBe(2);
    expect((await change({ delete: 'items', deletes: [{ q: { a: 1 }, limit: 1 }] })).row_count).toBe(1);
    await lab.engine.setReadOnly(docs, false);
    await until(async () => (await errorOf(items.insertOne({ a: 3 }))) === '');
    expect(await items.countDocuments({})).toBe(2);
  });
});
