import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Berth } from '#test/support/berth.ts';
import { type LoadResult, startLoad } from '#test/support/load.ts';
import { until } from '#test/support/until.ts';
import { appSql, ask, createDatastore, probeApp, rowOf, Store } from './kit.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  await Promise.all([
    createDatastore(berth, 'shop', { kind: 'postgres' }),
    createDatastore(berth, 'shop', { kind: 'redis' }),
  ]);
  expect(await berth.deploy('shop', 'web', await probeApp())).toMatchObject({ status: 'succeeded', error: null });
  const scaled = await berth.api('/v1/projects/shop/services/web', { method: 'PATCH', body: { replicas: 2 } });
  expect(await berth.wait(scaled.body.operation_id)).toMatchObject({ status: 'succeeded' });
  await sql('CREATE TABLE seen (at timestamptz DEFAULT now())');
}, 180_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const sql = (query: string): Promise<unknown[][]> => appSql(berth, ['shop', 'web'], query);

const credentialOf = (name: string): { user: string; password: string } => {
  const credential = rowOf(berth, 'shop', name).secrets.credentials.at(-1);
  return credential ?? expect.unreachable();
};

const postgresLogin = (credential: { user: string; password: string }): Promise<unknown> =>
  ask(berth, 'shop', 'web', ['/login', { ...credential, host: 'postgres.db.internal', database: 'app', ssl: true }]);

const redisLogin = ({ user, password }: { user: string; password: string }): Promise<unknown> =>
  ask(berth, 'shop', 'web', ['/redis-login', { url: `redis://${user}:${password}@redis.db.internal:6379/0` }]);

/** Does `work` while the app uses its datastores all the time: not one request may fail. */
const underLoad = async (requests: [string, unknown][], work: () => Promise<void>): Promise<LoadResult> => {
  let turn = 0;
  const request = (): Promise<Response> => {
    const [path, body] = requests[turn++ % requests.length] ?? expect.unreachable();
    return berth.app('shop', 'web', path, { method: 'POST', body: JSON.stringify(body) });
  };
  const load = startLoad({ request, perSecond: 100 });
  await work();
  const result = await load.stop();
  expect(Object.fromEntries(result.failures)).toEqual({});
  expect(result.ok).toBeGreaterThan(100);
  return result;
};

describe('while an app uses its datastore all the time, a rotation', () => {
  test('of Postgres fails not one request, and voids the old password', async () => {
    const before = credentialOf('postgres');
    expect(await postgresLogin(before)).toBe('connected');
    const requests: [string, unknown][] = [
      ['/sql', { query: 'INSERT INTO seen DEFAULT VALUES RETURNING 1' }],
      ['/sql', { query: 'SELECT count(*) FROM seen' }],
    ];
    const { ok } = await underLoad(requests, async () => {
      const operation = await new Store(berth, 'shop', 'postgres').change('rotate');
      expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready', result: { restarted_services: ['web'] } });
    });
    const [[stored]] = (await sql('SELECT count(*)::int FROM seen')) as [[number]];
    expect(Math.abs(stored - ok / 2)).toBeLessThanOrEqual(1);
    const after = credentialOf('postgres');
    expect(after.password).not.toBe(before.password);
    expect(rowOf(berth, 'shop', 'postgres').secrets.credentials).toEqual([after]);
    expect(await postgresLogin(before)).toMatch(/^28/);
    expect(await postgresLogin(after)).toBe('connected');
    expect((await new Store(berth, 'shop', 'postgres').show()).rotated_at).not.toBeNull();
  }, 120_000);

  test('of Redis fails not one request, and voids the old password', async () => {
    const before = credentialOf('redis');
    expect(await redisLogin(before)).toBe('PONG');
    const requests: [string, unknown][] = [
      ['/redis', { command: ['INCR', 'seen'] }],
      ['/redis', { command: ['GET', 'seen'] }],
    ];
    const { ok } = await underLoad(requests, async () => {
      expect(await new Store(berth, 'shop', 'redis').change('rotate')).toMatchObject({ status: 'succeeded' });
    });
    const stored = Number(await ask(berth, 'shop', 'web', ['/redis', { command: ['GET', 'seen'] }]));
    expect(Math.abs(stored - ok / 2)).toBeLessThanOrEqual(1);
    expect(await redisLogin(before)).toContain('WRONGPASS');
    expect(await redisLogin(credentialOf('redis'))).toBe('PONG');
  }, 120_000);
});

test('tables of before belong to the app still: whoever made them, it alters and drops them', async () => {
  await sql('ALTER TABLE seen ADD COLUMN note text');
  await sql('DROP TABLE seen');
});

test('a rotation that a service does not come up with says so and keeps the old password valid; the next one ends it', async () => {
  const files = await probeApp({ picky: '' });
  expect(await berth.deploy('shop', 'picky', files)).toMatchObject({ status: 'succeeded', error: null });
  await sql('CREATE TABLE stay_down ()');
  const before = credentialOf('postgres');
  const store = new Store(berth, 'shop', 'postgres');
  const failed = await store.change('rotate');
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'CONFLICT', retryable: true } });
  expect(failed.error?.message).toContain('picky');
  expect(failed.error?.message).not.toContain('web');
  expect(await postgresLogin(before)).toBe('connected');
  // The one that runs knows the old password alone, and works on.
  expect(await appSql(berth, ['shop', 'picky'], 'SELECT 1')).toEqual([[1]]);
  await sql('DROP TABLE stay_down');
  expect(await store.change('rotate')).toMatchObject({ status: 'succeeded', error: null });
  expect(rowOf(berth, 'shop', 'postgres').secrets.credentials).toHaveLength(1);
  expect(await postgresLogin(before)).toMatch(/^28/);
  await until(() => appSql(berth, ['shop', 'picky'], 'SELECT 1').then((rows) => rows.length === 1));
}, 180_000);

test('a rotation that is only planned changes nothing', async () => {
  const before = credentialOf('postgres');
  const reply = await berth.api('/v1/projects/shop/datastores/postgres/rotate?dry_run=true', { method: 'POST' });
  expect(reply.body.plan.changes).toContainEqual({ action: 'restart', resource: 'service', name: 'web' });
  expect(credentialOf('postgres')).toEqual(before);
});
