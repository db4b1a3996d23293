import { expect, test } from 'bun:test';
import { addProject, addRelease, addService, call, createRig } from '../support/rig.ts';

test('releases come newest first, page by page, and one is live', async () => {
  const rig = createRig();
  addProject(rig, 'shop');
  const web = addService(rig, 'shop', 'web', { live_release: 'rel_b' });
  // Two of the same millisecond: the cursor must not lose one of them.
  for (const [id, created_at] of [
    ['rel_a', 1000],
    ['rel_b', 2000],
    ['rel_c', 2000],
    ['rel_d', 3000],
  ] as const)
    addRelease(rig, web, id, { created_at });
  const path = 'GET /v1/projects/shop/services/web/releases';
  const all = await call(rig, path);
  expect(all.body.releases.map((release: { id: string }) => release.id)).toEqual(['rel_d', 'rel_c', 'rel_b', 'rel_a']);
  expect(all.body.releases.filter((release: { live: boolean }) => release.live)).toMatchObject([
    { id: 'rel_b', commit: null },
  ]);
  const seen: string[] = [];
  for (let cursor = ''; ;) {
    const page = await call(rig, `${path}?limit=1${cursor}`);
    seen.push(...page.body.releases.map((release: { id: string }) => release.id));
    if (page.body.next_cursor === null) break;
    cursor = `&cursor=${page.body.next_cursor}`;
  }
  expect(seen).toEqual(['rel_d', 'rel_c', 'rel_b', 'rel_a']);
});

test('a release tells its start command where its build has decided one', async () => {
  const rig = createRig();
  addProject(rig, 'shop');
  const web = addService(rig, 'shop', 'web', {});
  const builds = { planned: '{"start":["node","server.js"]}', image: '{"start":[]}', old: null };
  for (const [name, build] of Object.entries(builds)) addRelease(rig, web, `rel_${name}`, { build });
  const { body } = await call(rig, 'GET /v1/projects/shop/services/web/releases');
  const starts = body.releases.map((one: { id: string; start_command: unknown }) => [one.id, one.start_command]);
  expect(Object.fromEntries(starts)).toEqual({
    rel_planned: ['node', 'server.js'],
    rel_image: null,
    rel_old: null,
  });
});

test('a missing service is NOT_FOUND', async () => {
  const rig = createRig();
  addProject(rig, 'shop');
  expect(await call(rig, 'GET /v1/projects/shop/services/web/releases')).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND' },
  });
});
