import { expect, test } from 'bun:test';
import { addProject } from '#test/modules/support/rig.ts';
import { createWorld } from './world.ts';

/** That of the first token. */
const FIRST = '* token.created';

const furnish = () => {
  const world = createWorld();
  for (const project of ['shop', 'blog']) addProject(world.rig, project);
  const emit = (project: string, kind: 'deploy.failed' | 'deploy.succeeded' | 'env.changed', actor: string): void =>
    world.rig.events.emit({ project, kind, actor, data: {} });
  emit('shop', 'deploy.failed', 'ci');
  emit('shop', 'deploy.succeeded', 'ci');
  emit('blog', 'env.changed', 'ada');
  const list = async (query: string, token?: string): Promise<string[]> => {
    const { body } = await world.call(`GET /v1/events${query}`, token === undefined ? {} : { token });
    return body.events.map((event: { project: string; kind: string }) => `${event.project} ${event.kind}`);
  };
  return { world, list };
};

test('events of all projects are listed newest first, and found by project, kind, group and actor', async () => {
  const { list } = furnish();
  expect(await list('')).toEqual(['blog env.changed', 'shop deploy.succeeded', 'shop deploy.failed', FIRST]);
  expect(await list('?kind=deploy')).toEqual(['shop deploy.succeeded', 'shop deploy.failed']);
  expect(await list('?kind=deploy.failed')).toEqual(['shop deploy.failed']);
  expect(await list('?kind=dep')).toEqual([]);
  expect(await list('?project=blog')).toEqual(['blog env.changed']);
  expect(await list('?actor=ada')).toEqual(['blog env.changed']);
  expect(await list('?since=1h')).toHaveLength(4);
  expect(await list('?until=1h')).toEqual([]);
});

test('pages follow each other without gap or repetition', async () => {
  const { world } = furnish();
  const first = (await world.call('GET /v1/events?limit=2')).body;
  const second = (await world.call(`GET /v1/events?limit=2&cursor=${first.next_cursor}`)).body;
  expect([...first.events, ...second.events].map(({ seq }: { seq: number }) => seq)).toEqual([4, 3, 2, 1]);
  expect(second.next_cursor).toBeNull();
});

test('what concerns the server is for admins of all projects only', async () => {
  const { world, list } = furnish();
  const { secret } = await world.mint(['read'], ['*']);
  const { secret: scoped } = await world.mint(['admin'], ['shop']);
  expect(await list('?project=*')).toEqual([FIRST, FIRST]);
  for (const token of [secret, scoped]) expect(await list('?project=*', token)).toEqual([]);
  expect(await list('', secret)).toHaveLength(4);
  expect((await list('', scoped)).every((line) => line.startsWith('shop '))).toBe(true);
  expect((await world.call('GET /v1/events?project=blog', { token: scoped })).status).toBe(404);
});

test.each(['?kind=Deploy', '?kind=a.b.c', '?since=soon', '?until=x', '?project=Shop', '?who=ci'])(
  '%s is wrong input',
  async (query) => {
    const { world } = furnish();
    expect((await world.call(`GET /v1/events${query}`)).body.code).toBe('INVALID_INPUT');
  },
);
