import { expect, test } from 'bun:test';
import { addProject, addRelease, addService } from '#test/modules/support/rig.ts';
import { createWorld } from './world.ts';

const furnish = (live: string | null = 'rel_old') => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  const service = addService(world.rig, 'shop', 'web', { live_release: live });
  const build = (version: string) =>
    JSON.stringify({ provider: 'node', versions: [{ tool: 'node', version, reason: 'x' }], start: ['node'] });
  addRelease(world.rig, service, 'rel_old', {
    commit_id: 'a1',
    size_bytes: 100,
    env_names: '["A","B"]',
    build: build('20'),
  });
  addRelease(world.rig, service, 'rel_new', {
    commit_id: 'b2',
    size_bytes: 150,
    env_names: '["B","C"]',
    build: build('22'),
  });
  addRelease(world.rig, service, 'rel_before', {});
  const compare = (path: string, token?: string) =>
    world.call(`GET /v1/projects/shop/services/web/releases/${path}`, token === undefined ? {} : { token });
  return { world, compare };
};

test('a release is compared with the live one: commit, size, how it was built, names of the environment', async () => {
  const { compare } = furnish();
  const { status, body } = await compare('rel_new/compare');
  expect(status).toBe(200);
  expect([body.from.id, body.to.id, body.from.live]).toEqual(['rel_old', 'rel_new', true]);
  const changes = Object.fromEntries(body.changes.map((change: { what: string }) => [change.what, change]));
  expect(changes).toMatchObject({ commit: { from: 'a1', to: 'b2' }, size_bytes: { from: 100, to: 150 } });
  expect(changes['build.versions'].to).toEqual([{ tool: 'node', version: '22', reason: 'x' }]);
  expect(changes['build.start']).toBeUndefined();
  expect(changes['provider']).toBeUndefined();
  expect(body.env).toEqual({ added: ['C'], removed: ['A'] });
});

test('any two can be compared, and what an old one did not keep is left out', async () => {
  const { compare } = furnish();
  const { body } = await compare('rel_before/compare?with=rel_new');
  expect([body.from.id, body.to.id, body.env]).toEqual(['rel_new', 'rel_before', null]);
  expect(body.changes.some(({ what }: { what: string }) => what.startsWith('build.'))).toBe(false);
  expect((await compare('rel_new/compare?with=rel_new')).body.changes).toEqual([]);
});

test('what is not there is named', async () => {
  const { compare } = furnish(null);
  expect((await compare('rel_new/compare')).body.code).toBe('CONFLICT');
  expect((await compare('rel_none/compare?with=rel_new')).body.code).toBe('NOT_FOUND');
  expect((await compare('rel_new/compare?with=rel_none')).body.code).toBe('NOT_FOUND');
  expect((await compare('nothing/compare')).body.code).toBe('INVALID_INPUT');
  const { world } = furnish();
  const { secret } = await world.mint(['read'], ['blog']);
  const foreign = await world.call('GET /v1/projects/shop/services/web/releases/rel_new/compare', { token: secret });
  expect(foreign.status).toBe(404);
});
