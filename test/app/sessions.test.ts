import { expect, test } from 'bun:test';
import { systemClock } from '#kernel/clock';
import { addProject } from '#test/modules/support/rig.ts';
import { readSse } from '#test/modules/support/sse.ts';
import { createWorld, type Answer, type Ask, type World } from './world.ts';

const HOUR = 3_600_000;
const OWN = { 'x-forwarded-proto': 'https', 'sec-fetch-site': 'same-origin' };
const CHANGE = { ...OWN, 'x-berth-request': '1' };

const movable = () => {
  const clock = {
    ...systemClock,
    offset: 0,
    now: () => Date.now() + clock.offset,
    monotonic: () => performance.now() + clock.offset,
  };
  return clock;
};

const signIn = (world: World, token: string, headers: Record<string, string> = CHANGE): Promise<Answer> =>
  world.call('POST /v1/session', { token: null, headers, body: { token } });

const cookieOf = (answer: Answer): string => answer.headers.get('set-cookie')?.split(';')[0] ?? '';

/** What a page of the dashboard sends. */
const as = (cookie: string, ask: Ask = {}): Ask => ({
  ...ask,
  token: null,
  headers: { ...CHANGE, cookie, ...ask.headers },
});

const open = async (options: Parameters<typeof createWorld>[0] = {}) => {
  const world = createWorld(options);
  addProject(world.rig, 'shop');
  const token = await world.mint(['read', 'manage_env'], ['shop']);
  const answer = await signIn(world, token.secret);
  return { world, token, answer, cookie: cookieOf(answer) };
};

test('a cookie that only this host gets, only over TLS, out of reach of scripts and of other sites', async () => {
  const { answer, token, world } = await open();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('set-cookie')).toMatch(
    /^__Host-berth=[A-Za-z0-9_-]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  );
  expect(answer.body).toMatchObject({ token_id: token.id, capabilities: ['read', 'manage_env'], projects: ['shop'] });
  expect(answer.text).not.toContain(token.secret);
  const value = cookieOf(answer).split('=')[1] ?? '';
  const stored = JSON.stringify(world.rig.db.query('SELECT * FROM sessions').all());
  expect(stored).not.toContain(value);
});

test('the cookie counts wherever a token does, with what the token may do', async () => {
  const { world, cookie } = await open();
  expect((await world.call('GET /v1/projects', as(cookie))).body.projects).toHaveLength(1);
  expect((await world.call('PUT /v1/projects/shop/env', as(cookie, { body: { A: '1' } }))).status).toBe(200);
  expect((await world.call('GET /v1/admin/capacity', as(cookie))).body.code).toBe('CAPABILITY_MISSING');
  expect((await world.call('GET /v1/projects/other', as(cookie))).status).toBe(404);
  expect((await world.call('GET /v1/session', as(cookie))).body.projects).toEqual(['shop']);
});

test('not for git, MCP and tunnels', async () => {
  const { world, cookie } = await open();
  for (const what of [
    'GET /git/shop/web.git/info/refs?service=git-upload-pack',
    'POST /mcp',
    'GET /v1/projects/shop/datastores/db/tunnel',
  ])
    expect((await world.call(what, as(cookie))).status).toBe(401);
});

test('a token in the header goes before the cookie, the wrong one too', async () => {
  const { world, cookie } = await open();
  const both = { headers: { ...CHANGE, cookie } };
  expect((await world.call('GET /v1/whoami', { ...both, token: world.admin })).body.principal).toBe('admin');
  expect((await world.call('GET /v1/whoami', { ...both, token: 'brt_wrong' })).status).toBe(401);
});

const FOREIGN: [string, Record<string, string>][] = [
  ['an app of the same site', { 'sec-fetch-site': 'same-site' }],
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.test' }],
  ['another site, in a browser without fetch metadata', { 'sec-fetch-site': '', origin: 'https://evil.test' }],
  ['a form, which has no header of ours', { 'x-berth-request': '' }],
  ['a program that says nothing of where it comes from', { 'sec-fetch-site': '' }],
  ['the address bar', { 'sec-fetch-site': 'none' }],
  ['the same host without TLS', { 'sec-fetch-site': '', origin: 'http://berth.test' }],
];

/** Empty values stand for no header. */
const without = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));

test.each(FOREIGN)('a change that %s sends is refused, cookie or not', async (_, headers) => {
  const { world, cookie, token } = await open();
  const sent = without({ ...CHANGE, cookie, ...headers });
  const ask = { token: null, headers: sent, body: { A: '1' } };
  const answer = await world.call('PUT /v1/projects/shop/env', ask);
  expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHENTICATED']);
  expect((await world.call('GET /v1/projects/shop/env', { token: world.admin })).body.names).toEqual([]);
  expect((await signIn(world, token.secret, without({ ...CHANGE, ...headers }))).status).toBe(401);
});

test.each([
  ['same-site', 401],
  ['cross-site', 401],
  ['same-origin', 200],
  ['none', 200],
])('a read from %s is answered with %d', async (site, status) => {
  const { world, cookie } = await open();
  const headers = { cookie, 'sec-fetch-site': site };
  expect((await world.call('GET /v1/projects', { token: null, headers })).status).toBe(status);
});

test('a browser without fetch metadata is known by its Origin', async () => {
  const { world, cookie } = await open();
  const headers = { ...CHANGE, cookie, 'sec-fetch-site': '', origin: 'https://berth.test' };
  const ask = { token: null, headers: without(headers), body: { A: '1' } };
  expect((await world.call('PUT /v1/projects/shop/env', ask)).status).toBe(200);
});

test('nobody signs in where the browser would not keep the cookie, and is told what to do', async () => {
  const { world, token } = await open();
  const { 'x-forwarded-proto': _, ...plain } = CHANGE;
  const answer = await signIn(world, token.secret, plain);
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT']);
  expect(answer.body.hint).toContain('ssh -L');
  expect(answer.headers.get('set-cookie')).toBeNull();
  const headers = { ...plain, 'content-type': 'application/json' };
  for (const host of ['localhost:4400', '127.0.0.1:4400', '[::1]:4400', 'berth.localhost']) {
    const body = JSON.stringify({ token: token.secret });
    const reply = await world.fetch(new Request(`http://${host}/v1/session`, { method: 'POST', headers, body }));
    expect([host, reply.status]).toEqual([host, 200]);
  }
});

test('wrong tokens are counted with all others of the address; who has a right one gets in', async () => {
  const { world, token } = await open({ clock: movable() });
  for (let i = 0; i < 19; i += 1) expect((await signIn(world, `brt_wrong${i}`)).status).toBe(401);
  expect((await world.call('GET /v1/projects', { token: 'brt_wrong' })).status).toBe(401);
  const limited = await signIn(world, 'brt_wrong');
  expect([limited.status, limited.body.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await signIn(world, token.secret)).status).toBe(200);
});

test('the cookie of a session that has ended is no guess, and is told so whatever others try', async () => {
  const { world, cookie } = await open({ clock: movable() });
  await world.call('DELETE /v1/sessions', as(cookie));
  const ask = () => world.call('GET /v1/session', as(cookie));
  for (let i = 0; i < 30; i += 1) expect((await ask()).status).toBe(401);
  // None of them counted; those that do leave the answer as it is.
  for (let i = 0; i < 20; i += 1) expect((await signIn(world, `brt_wrong${i}`)).status).toBe(401);
  expect((await signIn(world, 'brt_wrong')).status).toBe(429);
  const answer = await ask();
  expect([answer.status, answer.body.message]).toEqual([401, 'the session has ended']);
});

test('a token that is revoked ends its sessions and their streams at once', async () => {
  const { world, cookie, token } = await open();
  const server = world.listen();
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const stream = readSse(await fetch(`${server.url}/v1/projects/shop/events?tail=0`, { headers }));
  expect((await world.call('GET /v1/projects', as(cookie))).status).toBe(200);
  await world.call(`DELETE /v1/tokens/${token.id}`);
  expect(world.rig.streams.size).toBe(0);
  await stream.rest(2000);
  const answer = await world.call('GET /v1/projects', as(cookie));
  expect([answer.status, answer.body.message]).toEqual([401, 'the session has ended']);
});

test('a token that loses a capability loses it for the next request of its sessions', async () => {
  const { world, cookie, token } = await open();
  const put = () => world.call('PUT /v1/projects/shop/env', as(cookie, { body: { A: '1' } }));
  expect((await put()).status).toBe(200);
  const changed = await world.call(`PATCH /v1/tokens/${token.id}`, { body: { capabilities: ['read'] } });
  expect([changed.status, changed.body.capabilities]).toEqual([200, ['read']]);
  expect((await put()).body.code).toBe('CAPABILITY_MISSING');
  expect((await world.call('GET /v1/session', as(cookie))).body.capabilities).toEqual(['read']);
  await world.call(`PATCH /v1/tokens/${token.id}`, { body: { projects: ['other'] } });
  expect((await world.call('GET /v1/projects/shop', as(cookie))).status).toBe(404);
});

test('a session ends twelve hours after its last use, and after seven days however much it is used', async () => {
  const clock = movable();
  const { world, cookie } = await open({ clock });
  const status = async () => (await world.call('GET /v1/session', as(cookie))).status;
  clock.offset = 11 * HOUR;
  expect(await status()).toBe(200);
  clock.offset = 22 * HOUR;
  expect(await status()).toBe(200);
  clock.offset = 34 * HOUR + 60_000;
  expect(await status()).toBe(401);

  const again = cookieOf(await signIn(world, world.admin));
  const begun = clock.offset;
  for (let hours = 10; hours < 168; hours += 10) {
    clock.offset = begun + hours * HOUR;
    expect((await world.call('GET /v1/session', as(again))).status).toBe(200);
  }
  clock.offset = begun + 168 * HOUR + 1000;
  expect((await world.call('GET /v1/session', as(again))).status).toBe(401);
});

test('a session does not outlive its token', async () => {
  const clock = movable();
  const { world } = await open({ clock });
  const expires = new Date(clock.now() + HOUR).toISOString();
  const { secret } = await world.mint(['read'], ['shop'], { expires_at: expires });
  const answer = await signIn(world, secret);
  expect(answer.headers.get('set-cookie')).toContain('Max-Age=3');
  expect(answer.body).toMatchObject({ expires_at: expires, token_expires_at: expires });
  clock.offset = HOUR + 1;
  expect((await world.call('GET /v1/session', as(cookieOf(answer)))).status).toBe(401);
});

test('a page that stays open for a day stays signed in, by the streams that it opens anew', async () => {
  const clock = movable();
  const { world, cookie } = await open({ clock });
  for (let hours = 1; hours < 30; hours += 1) {
    clock.offset = hours * HOUR;
    const reply = await world.fetch(world.request('GET /v1/projects/shop/events?follow=false', as(cookie)));
    expect(reply.status).toBe(200);
    await reply.text();
  }
});

test('signing out ends this session and its streams, and no other', async () => {
  const { world, cookie, token } = await open();
  const other = cookieOf(await signIn(world, token.secret));
  const server = world.listen();
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const stream = readSse(await fetch(`${server.url}/v1/projects/shop/events?tail=0`, { headers }));
  expect(world.rig.streams.size).toBe(1);
  const answer = await world.call('DELETE /v1/session', as(cookie));
  expect([answer.status, answer.body]).toEqual([200, { ended: 1 }]);
  expect(answer.headers.get('set-cookie')).toStartWith('__Host-berth=; Max-Age=0; ');
  expect(world.rig.streams.size).toBe(0);
  await stream.rest(2000);
  expect((await world.call('GET /v1/session', as(cookie))).status).toBe(401);
  expect((await world.call('GET /v1/session', as(other))).status).toBe(200);
});

test('signing out everywhere ends the sessions of this token only', async () => {
  const { world, cookie, token } = await open();
  const other = cookieOf(await signIn(world, token.secret));
  const admin = cookieOf(await signIn(world, world.admin));
  const listed = (await world.call('GET /v1/sessions', as(cookie))).body.sessions;
  expect(listed.map((session: { current: boolean }) => session.current)).toEqual([false, true]);
  const plan = await world.call('DELETE /v1/sessions?dry_run=true', as(cookie));
  expect(plan.body.plan.changes).toHaveLength(2);
  expect((await world.call('DELETE /v1/sessions', as(cookie))).body).toEqual({ ended: 2 });
  for (const ended of [cookie, other]) expect((await world.call('GET /v1/session', as(ended))).status).toBe(401);
  expect((await world.call('GET /v1/session', as(admin))).status).toBe(200);
});

test('signing in anew takes the place of the session before, and nobody can bring a cookie of their own', async () => {
  const { world, cookie, token } = await open();
  const again = await signIn(world, token.secret, { ...CHANGE, cookie });
  expect((await world.call('GET /v1/session', as(cookie))).status).toBe(401);
  expect((await world.call('GET /v1/session', as(cookieOf(again)))).status).toBe(200);
  const brought = `__Host-berth=${'b'.repeat(43)}`;
  const answer = await signIn(world, token.secret, { ...CHANGE, cookie: brought });
  expect(cookieOf(answer)).not.toBe(brought);
});

test('a token has a hundred sessions at most: the oldest go', async () => {
  const { world, token, cookie } = await open();
  for (let i = 0; i < 100; i += 1) await signIn(world, token.secret);
  expect((await world.call('GET /v1/session', as(cookie))).status).toBe(401);
  expect((await world.call('GET /v1/sessions?limit=200', { token: token.secret })).body.sessions).toHaveLength(100);
});

test('who signed in and out is on record, without what lets them in', async () => {
  const { world, cookie, token } = await open();
  await world.call('DELETE /v1/session', as(cookie));
  const events = world.rig.events.recent('shop', 10).filter(({ kind }) => kind.startsWith('session.'));
  expect(events.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
    'session.created someone',
    'session.ended someone',
  ]);
  expect(events[0]?.data).toMatchObject({ token: token.id });
  expect(JSON.stringify(events)).not.toContain(cookie.split('=')[1] ?? '?');
});

test.each([
  ['no body', undefined],
  ['no token', {}],
  ['a token that is a number', { token: 1 }],
  ['an empty token', { token: '' }],
  ['another key', { token: 'x', password: 'y' }],
])('%s is wrong input', async (_, body) => {
  const { world } = await open();
  const ask = { token: null, headers: CHANGE, ...(body === undefined ? {} : { body }) };
  const answer = await world.call('POST /v1/session', ask);
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT']);
});

test.each(['', '__Host-berth=', '__Host-berth', `__Host-berth=${'x'.repeat(5000)}`, '__Host-berth=a b', 'berth=1'])(
  'the cookie header "%s" is none of ours',
  async (header) => {
    const { world } = await open();
    const answer = await world.call('GET /v1/session', { token: null, headers: { ...OWN, cookie: header } });
    expect([answer.status, answer.body.message]).toEqual([401, 'no bearer token']);
  },
);
