import { expect, test } from 'bun:test';
import { systemClock } from '#kernel/clock';
import { createIdempotency } from '#http/idempotency';
import { addProject, addService } from '#test/modules/support/rig.ts';
import { createWorld, type World } from './world.ts';

const withService = (): World => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  addService(world.rig, 'shop', 'web', { live_release: 'rel_1' });
  return world;
};

const RESTART = 'POST /v1/projects/shop/services/web/restart';
const DEPLOY = 'POST /v1/projects/shop/services/web/deploys';
const key = (text: string) => ({ headers: { 'idempotency-key': text } });
const upload = (text: string, idempotencyKey: string) => ({
  body: new TextEncoder().encode(text),
  headers: { 'content-type': 'application/gzip', 'idempotency-key': idempotencyKey },
});

test('the same key gets the same operation, and another key another one', async () => {
  const world = withService();
  const first = await world.call(RESTART, key('a'));
  const again = await world.call(RESTART, key('a'));
  const other = await world.call(RESTART, key('b'));
  expect([first.status, again.status, other.status]).toEqual([202, 202, 202]);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(first.headers.get('idempotency-replayed')).toBeNull();
  expect(other.body.operation_id).not.toBe(first.body.operation_id);
});

test('a deploy that is sent again with its key deploys once, whatever the bytes', async () => {
  const world = withService();
  const first = await world.call(DEPLOY, upload('packed at ten', 'deploy-1'));
  const again = await world.call(DEPLOY, upload('packed at eleven', 'deploy-1'));
  expect(first.status).toBe(202);
  expect(again.body).toEqual(first.body);
  expect(world.deploys).toHaveLength(1);
});

test('a second request while the first is under way is told to wait, and then gets the reply', async () => {
  const world = withService();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const slow = new ReadableStream<Uint8Array>({
    start: async (controller) => {
      controller.enqueue(new Uint8Array([31, 139]));
      await promise;
      controller.close();
    },
  });
  const headers = { 'content-type': 'application/gzip', 'idempotency-key': 'slow' };
  const first = world.call(DEPLOY, { body: slow, headers });
  const early = await world.call(DEPLOY, { body: new Uint8Array([1]), headers });
  expect([early.status, early.body.code, early.body.retryable]).toEqual([409, 'CONFLICT', true]);
  expect(early.headers.get('retry-after')).toBe('1');
  resolve(undefined);
  const done = await first;
  expect(done.status).toBe(202);
  expect((await world.call(DEPLOY, { body: new Uint8Array([1]), headers })).body).toEqual(done.body);
  expect(world.deploys).toHaveLength(1);
});

test('a key that was used for another path, query or body is a conflict', async () => {
  const world = withService();
  await world.call('POST /v1/projects', { body: { name: 'one' }, ...key('k') });
  for (const [what, ask] of [
    ['POST /v1/projects', { body: { name: 'two' } }],
    [RESTART, {}],
    ['PUT /v1/projects/shop/env', { body: { A: 'b' } }],
  ] as const) {
    const answer = await world.call(what, { ...ask, ...key('k') });
    expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([409, 'CONFLICT', false]);
  }
});

test('keys of two tokens have nothing to do with each other', async () => {
  const world = withService();
  const { secret } = await world.mint(['deploy']);
  const first = await world.call(RESTART, key('same'));
  const other = await world.call(RESTART, { ...key('same'), token: secret });
  expect(other.status).toBe(202);
  expect(other.body.operation_id).not.toBe(first.body.operation_id);
});

test('a refusal by the state is kept, a malformed request is not', async () => {
  const world = withService();
  const body = { body: { release: 'rel_none' } };
  const what = 'POST /v1/projects/shop/services/web/rollback';
  const first = await world.call(what, { ...body, ...key('r') });
  const again = await world.call(what, { ...body, ...key('r') });
  expect([first.status, again.status]).toEqual([404, 404]);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect((await world.call('POST /v1/projects', { body: '{', ...key('m') })).status).toBe(400);
  expect((await world.call('POST /v1/projects', { body: { name: 'fine' }, ...key('m') })).status).toBe(201);
});

test('a fault of the server is not kept', async () => {
  const world = withService();
  world.rig.db.exec('ALTER TABLE env RENAME TO env_away');
  const what = 'PUT /v1/projects/shop/env';
  const ask = { body: { A: 'b' }, ...key('f') };
  expect((await world.call(what, ask)).status).toBe(500);
  world.rig.db.exec('ALTER TABLE env_away RENAME TO env');
  expect((await world.call(what, ask)).status).toBe(200);
});

test('a dry run does not use up its key', async () => {
  const world = withService();
  const dry = await world.call(`${RESTART}?dry_run=true`, key('d'));
  expect([dry.status, dry.body.dry_run]).toEqual([200, true]);
  expect((await world.call(RESTART, key('d'))).status).toBe(202);
});

test('the secret of a token is neither kept nor given twice', async () => {
  const world = withService();
  const ask = { body: { principal: 'ci', capabilities: ['read'], projects: ['shop'] }, ...key('t') };
  const first = await world.call('POST /v1/tokens', ask);
  expect(first.status).toBe(201);
  const again = await world.call('POST /v1/tokens', ask);
  expect([again.status, again.body.code]).toEqual([409, 'CONFLICT']);
  expect(again.body.message).toContain(first.body.id);
  const stored = JSON.stringify(world.rig.db.query('SELECT * FROM idempotency').all());
  expect(stored).not.toContain(first.body.secret.split('_')[2]);
  expect((await world.call('GET /v1/tokens')).body.tokens).toHaveLength(2);
});

test('a key is kept for a day, and freed when berth ended in the middle', async () => {
  const clock = { ...systemClock, offset: 0, now: () => Date.now() + clock.offset };
  const world = createWorld({ clock });
  addProject(world.rig, 'shop');
  addService(world.rig, 'shop', 'web', { live_release: 'rel_1' });
  const first = await world.call(RESTART, key('day'));
  clock.offset = 23 * 3_600_000;
  expect((await world.call(RESTART, key('day'))).body).toEqual(first.body);
  clock.offset = 25 * 3_600_000;
  expect((await world.call(RESTART, key('day'))).body.operation_id).not.toBe(first.body.operation_id);
  world.rig.db.exec("INSERT INTO idempotency (token_id, key, request, created_at) VALUES ('tok_x', 'cut', 'r', 1)");
  createIdempotency(world.rig.db, clock);
  expect(world.rig.db.query("SELECT * FROM idempotency WHERE key = 'cut'").all()).toEqual([]);
});

test.each(['', ' ', 'with space', 'x'.repeat(256), 'ü'])('the key %p is refused', async (bad) => {
  const world = withService();
  const answer = await world.call(RESTART, {
    headers: { 'idempotency-key': bad },
  });
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT']);
});
