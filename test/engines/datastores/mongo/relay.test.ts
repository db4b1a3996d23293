import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { MongoClient } from 'mongodb';
import type { DatastoreInstance } from '#engines/datastores/port';
import { until } from '#test/support/until.ts';
import { failureOf, type MongoLab, openMongoLab } from './lab.ts';

// A busy machine may take its time.
setDefaultTimeout(120_000);

let lab: MongoLab;
let docs: DatastoreInstance;
let server: Server;
let port: number;
/** Relays at work, and how the others ended. */
let open = 0;
let most = 0;
const failures: unknown[] = [];
const stop = new AbortController();

beforeAll(async () => {
  lab = await openMongoLab();
  docs = lab.instance('docs');
  await lab.provision(docs);
  server = createServer((client) => {
    client.on('error', () => undefined);
    most = Math.max(most, (open += 1));
    void lab.engine
      .relay(docs, client, stop.signal)
      .catch((thrown: unknown) => failures.push(thrown))
      .finally(() => (open -= 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  port = address.port;
});
afterAll(async () => {
  server.close();
  await lab.cleanUp();
});

const knock = async (): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  socket.resume();
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return socket;
};

test('a driver without credentials works through it, over several connections at once', async () => {
  const client = new MongoClient(`mongodb://localhost:${port}/app?directConnection=true`, { maxPoolSize: 8 });
  const notes = client.db().collection<{ n: number; text: string }>('notes');
  const text = 'ü'.repeat(30_000);
  await Promise.all(Array.from({ length: 40 }, (_, n) => notes.insertOne({ n, text })));
  const found = await notes.find().toArray();
  expect(found).toHaveLength(40);
  expect(found.every((note) => note.text === text)).toBe(true);
  expect(most).toBeGreaterThan(3);
  await client.close();
  await until(() => open === 0);
  expect(failures).toEqual([]);
});

test('what it writes belongs to apps', async () => {
  const app = new MongoClient(lab.urlOf(docs));
  const notes = app.db().collection<{ n: number }>('notes');
  expect(await notes.countDocuments({})).toBe(40);
  await notes.createIndex({ n: 1 });
  expect(await notes.drop()).toBe(true);
  await app.close();
});

test('a client that vanishes in mid-command ends its relay, and the caller’s signal ends the others', async () => {
  const [gone, idle] = await Promise.all([knock(), knock()]);
  gone.write('half a mess');
  await until(() => open === 2);
  gone.destroy();
  await until(() => open === 1);
  stop.abort();
  await until(() => open === 0 && idle.destroyed);
  expect(failures).toEqual([]);
});

test('it cannot begin where nothing answers', async () => {
  const nowhere = { ...docs, addresses: { ...docs.addresses, main: '127.0.0.1' } };
  const client = await knock();
  const relaying = lab.engine.relay(nowhere, client, new AbortController().signal);
  expect(await failureOf(relaying)).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  client.destroy();
});
