import { beforeEach, expect, test } from 'bun:test';
import { createProvision } from '#datastores/provision';
import { BerthError } from '#kernel/errors';
import type { DatastoreRow } from '#modules/datastores';
import { failureOf } from '#test/contracts/backups.ts';
import { addReady, openExecutors, runOf, type Executors } from './support/executors.ts';

const silent = (what: string): BerthError =>
  new BerthError('INTERNAL_ERROR', `${what}: no answer`, { hint: 'wait', retryable: true });

let kit: Executors;
let row: DatastoreRow;
beforeEach(async () => {
  kit = openExecutors();
  row = await addReady(kit);
});

test('one that does not answer any more is restarted all the same', async () => {
  kit.rig.engines.postgres.quiesce = () => Promise.reject(silent('checkpoint'));
  const run = runOf(row, {});
  expect(await createProvision(kit.deps).restart(run)).toMatchObject({ phase: 'ready', error: null });
  expect(kit.containers.raised).toMatchObject([{ id: row.id }]);
  expect(run.logged.join('\n')).toContain('checkpoint: no answer');
});

test('a change that fails is undone, and its own reason is what is told', async () => {
  const { raise } = kit.containers;
  let tries = 0;
  kit.containers.raise = async (...given) => {
    tries += 1;
    if (tries === 1) throw silent('with 4096 MiB');
    return raise(...given);
  };
  const change = createProvision(kit.deps).update(runOf(row, { memory_mb: 4096 }));
  expect(await failureOf(change)).toMatchObject({ message: 'with 4096 MiB: no answer' });
  expect(kit.containers.raised).toMatchObject([{ memoryMb: 512 }]);
  expect(kit.rig.datastoreStore.byId(row.id)?.memory_mb).toBe(512);
});

test('its own reason is told also when it cannot be undone at once', async () => {
  kit.containers.raise = () => Promise.reject(silent(`try ${(tries += 1)}`));
  let tries = 0;
  const run = runOf(row, { memory_mb: 4096 });
  expect(await failureOf(createProvision(kit.deps).update(run))).toMatchObject({ message: 'try 1: no answer' });
  expect(run.logged.join('\n')).toContain('try 2: no answer');
});

test('a restart on a newer image that does not work goes back to the image of before', async () => {
  kit.containers.images = [{ name: 'postgres:17', id: 'sha256:old' }];
  kit.containers.fault = silent('on the new image');
  const run = runOf(row, {});
  expect(await failureOf(createProvision(kit.deps).restart(run))).toMatchObject({
    message: 'on the new image: no answer',
  });
  expect(kit.containers.putBack).toEqual([{ name: 'postgres:17', id: 'sha256:old' }]);
  // Once for the new one, and once more for what was there before.
  expect(kit.containers.raised).toHaveLength(2);
});

test('a change of limits that fails leaves images alone', async () => {
  kit.containers.images = [{ name: 'postgres:17', id: 'sha256:old' }];
  kit.containers.fault = silent('with 4096 MiB');
  await failureOf(createProvision(kit.deps).update(runOf(row, { memory_mb: 4096 })));
  expect(kit.containers.putBack).toEqual([]);
});
