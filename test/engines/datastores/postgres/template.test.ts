import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import type { DatastoreInstance } from '#engines/datastores/port';
import { connect } from '#engines/datastores/postgres/connect';
import { createPostgresCore, type PostgresCore } from '#engines/datastores/postgres/core';
import type { Runtime } from '#engines/runtime/port';
import { quiet } from '#test/engines/runtime/support.ts';
import { type CoreRig, CREDENTIAL, openCoreRig, SETTLE_MS } from './core-rig.ts';

setDefaultTimeout(120_000);

let rig: CoreRig;
let started: string[] = [];

beforeAll(async () => {
  rig = await openCoreRig();
});
afterAll(() => rig.close());
beforeEach(() => {
  started = [];
});

/** A berth process of its own on the same templates, whose engine can be made to fail. */
const coreWith = (over: Partial<Runtime> = {}): PostgresCore => {
  const runtime: Runtime = {
    ...rig.lab.runtime,
    create: (spec) => {
      started.push(spec.name.slice(spec.name.lastIndexOf('-') + 1));
      return rig.lab.runtime.create(spec);
    },
    ...over,
  };
  return createPostgresCore({ runtime, clock: systemClock, log: quiet, connect, templateDir: rig.templateDir });
};

const initdbs = (): number => started.filter((step) => step === 'initdb').length;

const worksAndIsWhole = async (instance: DatastoreInstance): Promise<void> => {
  const { rows } = await rig.on(instance, { as: CREDENTIAL }, async (client) => {
    await client.query('CREATE TABLE t (id int); INSERT INTO t VALUES (1)');
    return await client.query('SELECT id FROM t');
  });
  expect(rows).toEqual([{ id: 1 }]);
  const sums = await rig.on(instance, { as: 'admin' }, (client) =>
    client.query(
      "SELECT current_setting('data_checksums') AS checksums, sum(checksum_failures)::int AS failures FROM pg_stat_database",
    ),
  );
  expect(sums.rows).toEqual([{ checksums: 'on', failures: 0 }]);
};

const create = async (core: PostgresCore, instance: DatastoreInstance): Promise<string> => {
  const [unit] = core.units(instance);
  if (unit === undefined) throw new Error('no unit');
  return (await rig.lab.runtime.create(unit.container)).id;
};

const placeIn = (core: PostgresCore, instance: DatastoreInstance, containerId: string) =>
  core.place(instance, { role: 'main', containerId, fresh: true });

test('a template is made once, for two that come at the same time too, and others of its version are removed', async () => {
  await rig.up(await rig.instance('first'));
  const file = (await readdir(rig.templateDir)).find((name) => name.endsWith('.tar'));
  await rm(join(rig.templateDir, file ?? ''));
  await writeFile(join(rig.templateDir, 'postgres-17-old.tar'), 'of an image that is gone');
  await writeFile(join(rig.templateDir, 'postgres-17-old.tar.unfinished'), 'by a berth that was killed');

  const core = coreWith();
  const both = await Promise.all([rig.instance('left'), rig.instance('right')]);
  await Promise.all(both.map((instance) => rig.up(instance, core)));
  expect(initdbs()).toBe(1);
  expect((await readdir(rig.templateDir)).sort()).toEqual([file ?? '', 'postgres-password']);
  for (const instance of both) await worksAndIsWhole(instance);

  // Another process finds it.
  await rig.up(await rig.instance('later'), coreWith());
  expect(initdbs()).toBe(1);
});

test('a template is readable by berth alone', async () => {
  const files = await readdir(rig.templateDir);
  expect(files).toHaveLength(2);
  expect((await stat(rig.templateDir)).mode & 0o777).toBe(0o700);
  for (const name of files) expect((await stat(join(rig.templateDir, name))).mode & 0o777).toBe(0o600);
});

test('unpacking that was broken off is done again by the next process', async () => {
  const instance = await rig.instance('torn');
  const torn = coreWith({
    putArchive: (id, path, tar) =>
      rig.lab.runtime.putArchive(id, path, tar instanceof Uint8Array ? tar : firstPart(tar)),
  });
  const id = await create(torn, instance);
  expect(await placeIn(torn, instance, id).catch(() => 'broken off')).toBe('broken off');
  await rig.lab.runtime.remove(id);

  await rig.up(instance, coreWith());
  await worksAndIsWhole(instance);
});

test('a template whose making was broken off leaves nothing that is in the way', async () => {
  await rm(rig.templateDir, { recursive: true });
  const instance = await rig.instance('unmade');
  // Killed while the prepared server runs: its containers stay.
  const killed = coreWith({
    stop: () => Promise.reject(new Error('killed')),
    remove: () => Promise.reject(new Error('killed')),
  });
  const id = await create(killed, instance);
  expect(await placeIn(killed, instance, id).catch(String)).toContain('killed');
  expect((await readdir(rig.templateDir)).filter((name) => name.endsWith('.tar'))).toEqual([]);
  await rig.lab.runtime.remove(id);

  await rig.up(instance, coreWith());
  await worksAndIsWhole(instance);
  const left = (await rig.lab.runtime.list({})).filter(({ name }) => /-(initdb|template)$/.test(name));
  expect(left).toEqual([]);
});

test('one that was started but never settled is settled by the next process', async () => {
  const instance = await rig.instance('unsettled');
  const core = coreWith();
  const id = await create(core, instance);
  await placeIn(core, instance, id);
  await rig.lab.runtime.start(id);
  await coreWith().settle(instance, AbortSignal.timeout(SETTLE_MS));
  await worksAndIsWhole(instance);
  // The password of the template is nobody's any more.
  const password = await Bun.file(join(rig.templateDir, 'postgres-password')).text();
  for (const as of ['admin', 'reader', 'writer'] as const) {
    const shared = { ...instance, adminPassword: password, readerPassword: password, writerPassword: password };
    expect(
      await connect(shared, { as }).then(
        () => 'let in',
        () => 'refused',
      ),
    ).toBe('refused');
  }
});

test('a lost password of the templates makes new ones', async () => {
  await rm(join(rig.templateDir, 'postgres-password'));
  const instance = await rig.instance('renewed');
  await rig.up(instance, coreWith());
  expect(initdbs()).toBe(1);
  await worksAndIsWhole(instance);
});

/** As much of a stream as went through before it broke. */
async function* firstPart(tar: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of tar) {
    yield chunk;
    bytes += chunk.byteLength;
    if (bytes > 20_000_000) throw new Error('broken off');
  }
}
