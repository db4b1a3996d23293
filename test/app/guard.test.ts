import { expect, test } from 'bun:test';
import { systemClock } from '#kernel/clock';
import { addProject } from '#test/modules/support/rig.ts';
import { createWorld } from './world.ts';

const wrong = (n: number): string => `brt_${'0'.repeat(20)}_${n.toString(16).padStart(64, '0')}`;

/** A clock that a test moves. */
const movableClock = () => {
  const clock = {
    ...systemClock,
    offset: 0,
    now: () => Date.now() + clock.offset,
    monotonic: () => performance.now() + clock.offset,
  };
  return clock;
};

test('twenty invalid tokens a minute are answered, then the address has to wait', async () => {
  const clock = movableClock();
  const world = createWorld({ clock });
  for (let i = 0; i < 20; i += 1) expect((await world.call('GET /v1/projects', { token: wrong(i) })).status).toBe(401);
  const limited = await world.call('GET /v1/projects', { token: wrong(21) });
  expect([limited.status, limited.body.code, limited.body.retryable]).toEqual([429, 'QUOTA_EXCEEDED', true]);
  const seconds = Number(limited.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  clock.offset = 61_000;
  expect((await world.call('GET /v1/projects', { token: wrong(22) })).status).toBe(401);
});

test('who guesses locks out nobody else: not other addresses, nor valid tokens of the same one', async () => {
  const world = createWorld();
  for (let i = 0; i < 30; i += 1) await world.call('GET /v1/projects', { token: wrong(i) });
  expect((await world.call('GET /v1/projects', { token: wrong(0) })).status).toBe(429);
  expect((await world.call('GET /v1/projects')).status).toBe(200);
  world.peer.of = () => '203.0.113.9';
  expect((await world.call('GET /v1/projects', { token: wrong(0) })).status).toBe(401);
});

test('requests without any token are refused without counting as guesses', async () => {
  const world = createWorld();
  for (let i = 0; i < 40; i += 1) expect((await world.call('GET /v1/projects', { token: null })).status).toBe(401);
});

test('X-Forwarded-For counts only with the secret of the proxy', async () => {
  const world = createWorld();
  const guess = (headers: Record<string, string>) => world.call('GET /v1/projects', { token: wrong(0), headers });
  for (let i = 0; i < 20; i += 1) await guess({ 'x-forwarded-for': `192.0.2.${i}` });
  expect((await guess({ 'x-forwarded-for': '192.0.2.77' })).status).toBe(429);
  expect((await guess({ 'x-forwarded-for': '192.0.2.77', 'x-berth-proxy': 'guessed' })).status).toBe(429);
  const proxied = { 'x-berth-proxy': 'proxy-secret' };
  expect((await guess({ ...proxied, 'x-forwarded-for': '192.0.2.77' })).status).toBe(401);
  for (let i = 0; i < 20; i += 1) await guess({ ...proxied, 'x-forwarded-for': `10.0.0.${i}, 192.0.2.77` });
  expect((await guess({ ...proxied, 'x-forwarded-for': '10.9.9.9, 192.0.2.77' })).status).toBe(429);
});

test('a token that sends too much gets 429 with Retry-After, and others go on', async () => {
  const clock = movableClock();
  const world = createWorld({ clock, config: { rateLimitPerMinute: 60 } });
  const { secret } = await world.mint(['read']);
  const replies = [];
  for (let i = 0; i < 62; i += 1) replies.push((await world.call('GET /v1/projects', { token: secret })).status);
  expect(replies.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60);
  const limited = await world.call('GET /v1/projects', { token: secret });
  expect([limited.status, limited.body.code, limited.body.retryable]).toEqual([429, 'QUOTA_EXCEEDED', true]);
  expect(Number(limited.headers.get('retry-after'))).toBe(1);
  expect((await world.call('GET /v1/projects')).status).toBe(200);
  clock.offset = 2000;
  expect((await world.call('GET /v1/projects', { token: secret })).status).toBe(200);
});

test('the scheme is Bearer, in any case, and nothing else', async () => {
  const world = createWorld();
  const withHeader = async (authorization: string): Promise<number> =>
    (await world.call('GET /v1/projects', { token: null, headers: { authorization } })).status;
  expect(await withHeader(`Bearer ${world.admin}`)).toBe(200);
  expect(await withHeader(`bearer ${world.admin}`)).toBe(200);
  for (const header of [
    world.admin,
    `Basic ${btoa(`x:${world.admin}`)}`,
    'Bearer',
    'Bearer ',
    `Bearer ${world.admin} x`,
    `Bearer ${'x'.repeat(9000)}`,
  ]) {
    expect(await withHeader(header)).toBe(401);
  }
  expect((await world.call(`GET /v1/projects?token=${world.admin}`, { token: null })).status).toBe(401);
});

test('authentication comes before the body is looked at, and authorization too', async () => {
  const world = createWorld();
  const { secret } = await world.mint(['read']);
  const broken = { body: '{"name":', headers: { 'content-type': 'text/plain' } };
  expect((await world.call('POST /v1/projects', { ...broken, token: null })).status).toBe(401);
  expect((await world.call('POST /v1/projects', { ...broken, token: secret })).status).toBe(403);
  expect((await world.call('POST /v1/projects', broken)).status).toBe(400);
});

test('confirm is asked for with the URL to call, and not for a dry run', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  for (const what of ['DELETE /v1/projects/shop', 'DELETE /v1/projects/shop?confirm=false']) {
    const refused = await world.call(what);
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(refused.body.hint).toContain('DELETE /v1/projects/shop?confirm=true');
  }
  const dry = await world.call('DELETE /v1/projects/shop?dry_run=true');
  expect([dry.status, dry.body.dry_run]).toEqual([200, true]);
  expect((await world.call('GET /v1/projects/shop')).body.state).toBe('active');
  expect((await world.call('DELETE /v1/projects/shop?confirm=true')).status).toBe(202);
});

test('a route that is not declared stops the start', async () => {
  const { createRouteTable } = await import('#http/route-table');
  expect(() => createRouteTable([{ method: 'GET', path: '/v1/secret', hooks: {} }])).toThrow(
    '/v1/secret is not declared',
  );
});
