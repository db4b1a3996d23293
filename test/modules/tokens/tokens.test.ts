import { expect, test } from 'bun:test';
import { systemClock } from '#kernel/clock';
import type { Capability } from '#kernel/scope';
import { createWorld, type World } from '#test/app/world.ts';
import { addProject } from '#test/modules/support/rig.ts';

const DAY = 86_400_000;
const body = (capabilities: string[], projects: string[], more: object = {}) => ({
  body: { principal: 'ci@shop', capabilities, projects, ...more },
});

const issuer = async (
  world: World,
  capabilities: Capability[],
  projects: string[],
  more: object = {},
): Promise<string> => (await world.mint(['manage_tokens', ...capabilities], projects, more)).secret;

test('the first start mints one admin token, later ones none', () => {
  const world = createWorld();
  expect(world.admin).toMatch(/^brt_[0-9a-z]{20}_[0-9a-f]{64}$/);
  expect(world.tokens.bootstrap()).toBeUndefined();
  expect(createWorld().admin).not.toBe(world.admin);
});

test('only a hash of the secret is stored', async () => {
  const world = createWorld();
  const { secret } = await world.mint(['read']);
  const random = secret.split('_')[2] ?? '';
  for (const { name } of world.rig.db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()) {
    expect(JSON.stringify(world.rig.db.query(`SELECT * FROM ${name}`).all())).not.toContain(random);
  }
  expect(world.rig.logged.join('')).not.toContain(random);
});

test('the secret is in the reply of its creation, and in no other', async () => {
  const world = createWorld();
  const created = await world.call('POST /v1/tokens', body(['read'], ['shop']));
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    principal: 'ci@shop',
    capabilities: ['read'],
    projects: ['shop'],
    created_by: 'admin',
    created: true,
    last_used_at: null,
    expires_at: null,
  });
  const list = await world.call('GET /v1/tokens');
  expect(list.body.tokens.map((token: { id: string }) => token.id)).toContain(created.body.id);
  expect(list.text).not.toContain('secret');
  expect(list.text).not.toContain('brt_');
});

test.each([
  ['another capability', ['deploy'], ['shop'], 403, 'CAPABILITY_MISSING'],
  ['admin', ['admin'], ['shop'], 403, 'CAPABILITY_MISSING'],
  ['another project', ['read'], ['other'], 404, 'NOT_FOUND'],
  ['a project that is missing', ['read'], ['nowhere'], 404, 'NOT_FOUND'],
  ['all projects', ['read'], ['*'], 403, 'CAPABILITY_MISSING'],
  ['one of its projects and another', ['read'], ['shop', 'other'], 404, 'NOT_FOUND'],
] as const)('nobody hands on %s that they do not have', async (...[, capabilities, projects, status, code]) => {
  const world = createWorld();
  addProject(world.rig, 'other');
  const token = await issuer(world, ['read'], ['shop']);
  const count = world.rig.db.query('SELECT count(*) AS n FROM tokens').get();
  const answer = await world.call('POST /v1/tokens', { ...body([...capabilities], [...projects]), token });
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(world.rig.db.query('SELECT count(*) AS n FROM tokens').get()).toEqual(count);
});

test('what one has, one can hand on, and it works', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  const token = await issuer(world, ['read'], ['shop']);
  const child = await world.call('POST /v1/tokens', { ...body(['read'], ['shop']), token });
  expect(child.status).toBe(201);
  expect(child.body.created_by).toBe('someone');
  expect((await world.call('GET /v1/projects/shop', { token: child.body.secret })).status).toBe(200);
});

test('manage_tokens is needed to mint, and admin to list and revoke', async () => {
  const world = createWorld();
  const { secret: reader } = await world.mint(['read']);
  expect((await world.call('POST /v1/tokens', { ...body(['read'], ['*']), token: reader })).status).toBe(403);
  const manager = await world.mint(['manage_tokens', 'read']);
  expect((await world.call('GET /v1/tokens', { token: manager.secret })).status).toBe(403);
  expect((await world.call(`DELETE /v1/tokens/${manager.id}`, { token: manager.secret })).status).toBe(403);
});

test('no token outlives the one that made it', async () => {
  const world = createWorld();
  const soon = new Date(Date.now() + DAY).toISOString();
  const later = new Date(Date.now() + 2 * DAY).toISOString();
  const token = await issuer(world, ['read'], ['*'], { expires_at: soon });
  const mint = (more: object) => world.call('POST /v1/tokens', { ...body(['read'], ['*'], more), token });
  expect((await mint({ expires_at: later })).body.message).toContain('later than the expiry');
  expect((await mint({ expires_at: null })).status).toBe(400);
  expect((await mint({})).body.expires_at).toBe(soon);
  const past = await mint({ expires_at: '2020-01-01T00:00:00Z' });
  expect([past.status, past.body.message]).toEqual([400, 'body.expires_at is in the past']);
});

test('a token stops at its expiry', async () => {
  const clock = { ...systemClock, offset: 0, now: () => Date.now() + clock.offset };
  const world = createWorld({ clock });
  const { secret } = await world.mint(['read'], ['*'], { expires_at: new Date(clock.now() + DAY).toISOString() });
  expect((await world.call('GET /v1/projects', { token: secret })).status).toBe(200);
  clock.offset = DAY + 1;
  expect((await world.call('GET /v1/projects', { token: secret })).status).toBe(401);
});

test('a revoked token stops at once, however often it was used before', async () => {
  const world = createWorld();
  const { id, secret } = await world.mint(['read']);
  for (let i = 0; i < 3; i += 1) expect((await world.call('GET /v1/projects', { token: secret })).status).toBe(200);
  const revoked = await world.call(`DELETE /v1/tokens/${id}`);
  expect([revoked.status, revoked.body.id]).toEqual([200, id]);
  expect((await world.call('GET /v1/projects', { token: secret })).status).toBe(401);
  expect((await world.call(`DELETE /v1/tokens/${id}`)).body).toEqual(revoked.body);
  expect((await world.call('GET /v1/tokens')).text).not.toContain(id);
});

test('an admin of some projects sees and revokes the tokens of these projects only', async () => {
  const world = createWorld();
  const { id, secret: token } = await world.mint(['admin'], ['shop', 'blog']);
  const [own, wide, foreign, all] = [
    await world.mint(['read'], ['shop']),
    await world.mint(['read'], ['shop', 'theirs']),
    await world.mint(['read'], ['theirs']),
    await world.mint(['read'], ['*']),
  ];
  const { body } = await world.call('GET /v1/tokens', { token });
  expect(body.tokens.map((one: { id: string }) => one.id)).toEqual([own.id, id]);
  for (const beyond of [wide, foreign, all]) {
    const refused = await world.call(`DELETE /v1/tokens/${beyond.id}`, { token });
    const missing = await world.call('DELETE /v1/tokens/tok_00000000000000000000', { token });
    expect(refused.status).toBe(404);
    expect(refused.text.replace(beyond.id, 'X')).toBe(missing.text.replace('tok_00000000000000000000', 'X'));
    expect((await world.call('GET /v1/projects', { token: beyond.secret })).status).toBe(200);
  }
  expect((await world.call(`DELETE /v1/tokens/${own.id}`, { token })).status).toBe(200);
});

test('the last admin token without an expiry cannot be revoked', async () => {
  const world = createWorld();
  const own = (await world.call('GET /v1/tokens')).body.tokens[0].id;
  await world.mint(['admin'], ['*'], { expires_at: new Date(Date.now() + DAY).toISOString() });
  const refused = await world.call(`DELETE /v1/tokens/${own}`);
  expect([refused.status, refused.body.code]).toEqual([409, 'CONFLICT']);
  const second = await world.mint(['admin']);
  expect((await world.call(`DELETE /v1/tokens/${own}`)).status).toBe(200);
  expect((await world.call('GET /v1/tokens', { token: second.secret })).status).toBe(200);
});

test('dry runs of minting and revoking change nothing', async () => {
  const world = createWorld();
  const { id, secret } = await world.mint(['read']);
  const mint = await world.call('POST /v1/tokens?dry_run=true', body(['read'], ['shop']));
  expect([mint.status, mint.body.dry_run]).toEqual([200, true]);
  expect(mint.text).not.toContain('brt_');
  expect((await world.call(`DELETE /v1/tokens/${id}?dry_run=true`)).body.plan.changes).toHaveLength(1);
  expect((await world.call('GET /v1/projects', { token: secret })).status).toBe(200);
  expect((await world.call('GET /v1/tokens')).body.tokens).toHaveLength(2);
});

test('minting and revoking are events of the named projects, without the secret', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  const { id, secret } = await world.mint(['read'], ['shop']);
  await world.call(`DELETE /v1/tokens/${id}`);
  const events = world.rig.events.recent('shop', 10);
  expect(events.map(({ kind, actor }) => [kind, actor])).toEqual([
    ['token.created', 'admin'],
    ['token.revoked', 'admin'],
  ]);
  expect(JSON.stringify(events)).not.toContain(secret.split('_')[2] ?? '');
});

test('reads write nothing: the time of last use is kept in memory, shown at once, and written later', async () => {
  const world = createWorld();
  const { id, secret } = await world.mint(['read']);
  const changes = (): unknown => world.rig.db.query('SELECT total_changes() AS n').get();
  const before = changes();
  for (let i = 0; i < 5; i += 1) await world.call('GET /v1/projects', { token: secret });
  expect(changes()).toEqual(before);
  const shown = (await world.call('GET /v1/tokens')).body.tokens.find((token: { id: string }) => token.id === id);
  expect(Date.now() - Date.parse(shown.last_used_at)).toBeLessThan(5000);
  world.tokens.stop();
  const row = world.rig.db
    .query<{ last_used_at: number }, [string]>('SELECT last_used_at FROM tokens WHERE id = ?1')
    .get(id);
  expect(row?.last_used_at).toBe(Date.parse(shown.last_used_at));
});

test('tokens are listed page by page, newest first', async () => {
  const world = createWorld();
  for (let i = 0; i < 4; i += 1) await world.mint(['read']);
  const ids: string[] = [];
  let cursor = '';
  do {
    const { body: page } = await world.call(`GET /v1/tokens?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    ids.push(...page.tokens.map((token: { id: string }) => token.id));
    cursor = page.next_cursor ?? '';
  } while (cursor !== '');
  expect(ids).toHaveLength(5);
  expect(ids).toEqual([...ids].sort().reverse());
});
