import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProject, addRelease, addService } from '#test/modules/support/rig.ts';
import { addDatastore } from '#test/modules/support/datastores.ts';
import { createWorld } from './world.ts';

test('disk is told by project, the largest first', async () => {
  const world = createWorld();
  for (const project of ['shop', 'blog']) addProject(world.rig, project);
  addRelease(world.rig, addService(world.rig, 'shop', 'web'), 'rel_1', { size_bytes: 5_000_000 });
  addDatastore(world.rig, 'blog', 'bkp_blog');
  const row = world.rig.datastores.requireRow({ project: 'blog', name: 'postgres' });
  world.rig.datastoreStore.update(row.id, { used_bytes: 9_000_000 });
  const folder = join(world.rig.dataDir, 'logs', 'shop', 'web');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '000000000001.jsonl'), 'x'.repeat(1234));
  const { status, body } = await world.call('GET /v1/admin/disk');
  expect(status).toBe(200);
  expect(body.projects).toMatchObject([
    { project: 'blog', datastore_bytes: 9_000_000 },
    { project: 'shop', image_bytes: 5_000_000, log_bytes: 1234, total_bytes: 5_001_234 },
  ]);
});

test('checks name what is wrong, and what to do about it', async () => {
  const world = createWorld();
  const well = (await world.call('GET /v1/admin/checks')).body;
  const found = (body: { checks: { id: string; status: string }[] }, id: string) =>
    body.checks.find((check) => check.id === id);
  expect(found(well, 'engine')).toMatchObject({ status: 'ok', next: null });
  const broken = createWorld({
    system: {
      runtime: { info: () => Promise.reject(new Error('away')) },
      problem: () => 'the network pool is taken',
      lostLines: () => 7,
    },
  });
  const { body } = await broken.call('GET /v1/admin/checks');
  expect(body.status).toBe('fail');
  expect(found(body, 'engine')).toMatchObject({ status: 'fail', next: expect.stringContaining('systemctl') });
  expect(found(body, 'platform')).toMatchObject({ status: 'fail', detail: 'the network pool is taken' });
  expect(found(body, 'logs')).toMatchObject({ status: 'warn', detail: expect.stringContaining('7') });
});
