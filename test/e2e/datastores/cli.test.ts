import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { Client } from 'pg';
import { Berth } from '#test/support/berth.ts';
import { atEnd } from '#test/support/preload.ts';
import { until } from '#test/support/until.ts';
import { Store } from './kit.ts';

const EXECUTABLE = join(import.meta.dir, '../../../dist/berth');

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
}, 60_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

interface Spawn {
  stdin?: string;
  token?: string;
}

/** `berth db …` as a user without psql and the like runs it. */
const spawn = (args: string[], { stdin = '', token = berth.token }: Spawn = {}) =>
  Bun.spawn([EXECUTABLE, 'db', ...args, '--project', 'shop'], {
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: '/nowhere', HOME: berth.dataDir, SERVICE_ENDPOINT: berth.url, SERVICE_TOKEN: token },
  });

const outcome = async (args: string[], options: Spawn = {}) => {
  const child = spawn(args, options);
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, error };
};

/** What it printed as JSON: of lines, which long operations write as they go on, the last one. */
// oxlint-disable-next-line typescript/no-explicit-any -- replies of many shapes
const db = async (...args: string[]): Promise<any> => {
  const { code, out, error } = await outcome(args);
  if (code !== 0) throw new Error(`berth db ${args.join(' ')}: ${code} ${out} ${error}`);
  return JSON.parse(out.trim().split('\n').at(-1) ?? '');
};

test('berth db takes a datastore from its first day to its last', async () => {
  expect(await db('add', 'postgres')).toMatchObject({ status: 'succeeded' });
  expect((await db('ls')).datastores).toMatchObject([{ name: 'postgres', kind: 'postgres', status: 'ready' }]);
  expect(await db('info', 'postgres')).toMatchObject({ answering: true, host: 'postgres.db.internal' });
  await db('query', 'postgres', 'CREATE TABLE people (id int, name text)');
  const add = ['query', 'postgres', 'INSERT INTO people VALUES ($1, $2)', '--param', '7', '--param', 'Zoë'];
  expect(await db(...add)).toMatchObject({ row_count: 1 });
  expect(await db('query', 'postgres', 'SELECT * FROM people')).toMatchObject({
    columns: [
      { name: 'id', type: 'integer' },
      { name: 'name', type: 'text' },
    ],
    rows: [[7, 'Zoë']],
  });
  expect((await db('tables', 'postgres')).tables).toMatchObject([{ schema: 'public', name: 'people', type: 'table' }]);
  const key: string = (await db('backup', 'postgres')).result.key;
  expect((await db('backups', 'postgres')).backups).toMatchObject([{ key, status: 'verified', rows: 1 }]);
  await db('query', 'postgres', 'DELETE FROM people');
  expect(await db('restore', 'postgres', key, '--yes')).toMatchObject({ status: 'succeeded', result: { rows: 1 } });
  const count = async (name: string) => (await db('query', name, 'SELECT count(*)::int FROM people')).rows;
  expect(await count('postgres')).toEqual([[1]]);
  expect(await db('undo', 'postgres', '--yes')).toMatchObject({ status: 'succeeded' });
  expect(await count('postgres')).toEqual([[0]]);
  expect(await db('fork', 'postgres', 'copy', '--key', key)).toMatchObject({ status: 'succeeded' });
  expect(await count('copy')).toEqual([[1]]);
  expect(await db('rotate', 'postgres')).toMatchObject({ status: 'succeeded' });
  expect(await db('delete', 'copy', '--yes')).toMatchObject({ status: 'succeeded' });
  expect((await db('ls')).datastores).toHaveLength(1);
}, 120_000);

test('berth db shell without the database’s own client sends one statement a line', async () => {
  const stdin = "SELECT 'one' AS a\nSELECT nonsense\nSELECT 'two' AS b\n";
  const { out, error } = await outcome(['shell', 'postgres'], { stdin });
  expect(JSON.parse(error)).toMatchObject({ code: 'INVALID_INPUT', hint: expect.stringMatching(/\w/) });
  const replies = out
    .trim()
    .split('\n')
    .map((line): { rows: string[][] } => JSON.parse(line));
  expect(replies.map(({ rows }) => rows)).toEqual([[['one']], [['two']]]);
}, 30_000);

/** Opens a tunnel that is closed at the end of the test. */
const tunnel = async (name: string, options: Spawn = {}): Promise<{ url: string; child: ReturnType<typeof spawn> }> => {
  const child = spawn(['tunnel', name], options);
  atEnd(async () => {
    child.kill('SIGINT');
    await child.exited;
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.endsWith('}\n')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`no tunnel: ${text} ${await new Response(child.stderr).text()}`);
    text += value;
  }
  return { url: JSON.parse(text).url, child };
};

describe('berth db tunnel gives a local port without a password', () => {
  test('to Postgres: several connections, more rows than fit into any buffer, and an end with the command', async () => {
    const { url, child } = await tunnel('postgres');
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const client = new Client({ connectionString: url });
    const other = new Client({ connectionString: url });
    for (const each of [client, other]) {
      each.on('error', () => undefined);
      await each.connect();
    }
    const { rows } = await client.query("SELECT repeat('x', 100) AS text FROM generate_series(1, 300000)");
    expect(rows).toHaveLength(300_000);
    await other.query("INSERT INTO people VALUES (8, 'by tunnel')");
    expect((await client.query('SELECT name FROM people WHERE id = 8')).rows).toEqual([{ name: 'by tunnel' }]);
    // It belongs to apps, as all that they make.
    await client.query('CREATE TABLE tunnelled ()');
    const owner = "SELECT tableowner FROM pg_tables WHERE tablename = 'tunnelled'";
    expect((await client.query(owner)).rows).toEqual([{ tableowner: 'app' }]);
    const events = (await berth.api('/v1/projects/shop')).body.recent_events;
    expect(events.map((event: { kind: string }) => event.kind)).toContain('tunnel.opened');
    const ended = new Promise((resolve) => client.once('end', resolve));
    child.kill('SIGINT');
    await ended;
    await child.exited;
    const late = new Client({ connectionString: url });
    late.on('error', () => undefined);
    expect(await late.connect().then(() => 'connected', String)).toContain('ECONNREFUSED');
    await until(async () => {
      const open = "SELECT count(*)::int FROM pg_stat_activity WHERE datname = 'app' AND pid <> pg_backend_pid()";
      const sessions = await new Store(berth, 'shop', 'postgres').query(
        `${open} AND application_name NOT LIKE 'berth%'`,
      );
      return sessions[0]?.[0] === 0;
    });
  }, 60_000);

  test('to Redis', async () => {
    await db('add', 'redis');
    const { url } = await tunnel('redis');
    const client = new Redis(url);
    expect(await client.set('by', 'tunnel')).toBe('OK');
    expect(await client.get('by')).toBe('tunnel');
    client.disconnect();
  }, 60_000);

  test('to the Mongo-compatible store', async () => {
    await db('add', 'mongo');
    const { url } = await tunnel('mongo');
    const client = await MongoClient.connect(url);
    await client.db().collection('things').insertOne({ by: 'tunnel' });
    expect(await client.db().collection('things').countDocuments()).toBe(1);
    await client.close();
  }, 60_000);

  test('to nobody whose token may only read', async () => {
    const body = { principal: 'reader', capabilities: ['read', 'query_datastores'], projects: ['shop'] };
    const { secret } = (await berth.api('/v1/tokens', { method: 'POST', body })).body;
    const { url, child } = await tunnel('postgres', { token: secret });
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    expect(await client.connect().then(() => 'connected', String)).toContain('Error');
    await client.end().catch(() => undefined);
    child.kill('SIGINT');
    expect(await new Response(child.stderr).text()).toContain('manage_datastores');
  }, 30_000);
});
