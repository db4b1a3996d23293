import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { MongoClient } from 'mongodb';
import type { DatastoreInstance, DumpReport } from '#engines/datastores/port';
import { connect } from '#engines/datastores/postgres/connect';
import { failureOf, type MongoLab, openMongoLab } from './lab.ts';

// A busy machine may take its time.
setDefaultTimeout(180_000);

let lab: MongoLab;
let docs: DatastoreInstance;
let client: MongoClient;
beforeAll(async () => {
  lab = await openMongoLab();
  docs = lab.instance('docs');
  await lab.provision(docs);
  client = new MongoClient(lab.urlOf(docs));
  await client
    .db()
    .collection('users')
    .insertMany(Array.from({ length: 300 }, (_, n) => ({ n, at: new Date() })));
  await client.db().collection('users').createIndex({ n: 1 }, { unique: true });
  await client.db().createCollection('log', { capped: true, size: 4096 });
  await client.db().collection('empty').insertOne({});
  await client.db().collection('empty').deleteMany({});
  await client
    .db('Shop-1')
    .collection('Weird. "näme"')
    .insertMany([{ a: 1 }, { a: 2 }]);
});
afterAll(async () => {
  await client.close();
  await lab.cleanUp();
});

const signal = (): AbortSignal => AbortSignal.timeout(120_000);

async function* from(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 4096) yield bytes.subarray(at, at + 4096);
}

const dumped = async (): Promise<{ bytes: Buffer; report: DumpReport }> => {
  const dump = await lab.engine.dump(docs, signal());
  const chunks: Uint8Array[] = [];
  for await (const chunk of dump.bytes) chunks.push(new Uint8Array(chunk));
  return { bytes: Buffer.concat(chunks), report: await dump.report };
};

test('a dump counts documents by collection, and a rehearsal in a Postgres alone counts the same', async () => {
  const writing = new AbortController();
  const busy = (async () => {
    for (let n = 1000; !writing.signal.aborted; n += 1) await client.db().collection('busy').insertOne({ n });
  })();
  const { bytes, report } = await dumped();
  writing.abort();
  await busy;
  expect(report).toMatchObject({
    server: expect.stringMatching(/^17\./),
    objects: { 'app.users': 300, 'app.log': 0, 'app.empty': 0, 'Shop-1.Weird. "näme"': 2 },
  });
  expect(report.rows).toBe(Object.values(report.objects).reduce((sum, rows) => sum + rows, 0));
  expect(await lab.engine.rehearse(docs, from(bytes), signal())).toEqual(report);
  expect(lab.rehearsals.at(-1)).toMatchObject({ kind: 'postgres', version: '17' });
});

test('a dump that was cut off or damaged does not pass', async () => {
  const { bytes } = await dumped();
  await failureOf(lab.engine.rehearse(docs, from(bytes.subarray(0, bytes.length - 100)), signal()));
  await failureOf(lab.engine.rehearse(docs, from(Buffer.from('no dump')), signal()));
});

test('a collection that is dropped meanwhile is refused, instead of holding up everything else', async () => {
  const storage = { ...docs, version: '17', addresses: { main: docs.addresses['storage'] ?? '' } };
  const holder = await connect(storage, { as: 'reader' });
  try {
    const { rows } = await holder.query(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE tablename LIKE 'users%'",
    );
    await holder.query(`BEGIN; LOCK TABLE ${rows[0].name} IN ACCESS SHARE MODE`);
    const dropped = failureOf(client.db().collection('users').drop());
    await client.db().collection('busy').insertOne({ n: 0 });
    expect((await dropped).message).toContain('lock timeout');
    expect(await client.db().collection('users').countDocuments({})).toBe(300);
    await client.db().collection('users').createIndex({ at: 1 });
  } finally {
    await holder.end();
  }
});
