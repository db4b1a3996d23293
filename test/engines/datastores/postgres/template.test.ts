import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import type { DatastoreInstance } from '#engines/datastores/port';
import { archiveOf } from '#engines/datastores/postgres/archive';
import { connect } from '#engines/datastores/postgres/connect';
import { createPostgresCore, type PostgresCore } from '#engines/datastores/postgres/core';
import { homeOf, OWN } from '#engines/datastores/postgres/server';
import { createTemplates, type Templates } from '#engines/datastores/postgres/template';
import type { Runtime } from '#engines/runtime/port';
import { quiet } from '#test/engines/runtime/support.ts';
import { type CoreRig, CREDENTIAL, openCoreRig, SETTLE_MS } from './core-rig.ts';

setDefaultTimeout(120_000);

const HOME = homeOf('17');

let rig: CoreRig;
/** Containers that were started, without those of servers. */
let made: string[] = [];

beforeAll(async () => {
  rig = await openCoreRig();
});
afterAll(() => rig.close());
beforeEach(() => {
  made = [];
});

const watched = (over: Partial<Runtime> = {}): Runtime => ({
  ...rig.lab.runtime,
  create: (spec) => {
    if (spec.name.startsWith('berth-template-')) made.push(spec.name);
    return rig.lab.runtime.create(spec);
  },
  ...over,
});

/** A berth process of its own on the same templates, whose engine can be made to fail. */
const coreWith = (over: Partial<Runtime> = {}): PostgresCore =>
  createPostgresCore({
    runtime: watched(over),
    clock: systemClock,
    log: quiet,
    connect,
    templateDir: rig.templateDir,
    templateLabels: {},
  });

const templatesWith = (over: Partial<Runtime> = {}): Templates =>
  createTemplates({ runtime: watched(over), dir: rig.templateDir, labels: {} });

const soon = (): AbortSignal => AbortSignal.timeout(SETTLE_MS);
const tars = async (): Promise<string[]> => (await readdir(rig.templateDir)).filter((name) => name.endsWith('.tar'));
const makers = async (): Promise<string[]> =>
  (await rig.lab.runtime.list({})).map(({ name }) => name).filter((name) => name.startsWith('berth-template-'));

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

const identifierOf = async (instance: DatastoreInstance): Promise<unknown> => {
  const sql = 'SELECT system_identifier AS id FROM pg_control_system()';
  return (await rig.on(instance, { as: 'admin' }, (client) => client.query(sql))).rows[0]?.id;
};

const create = async (core: PostgresCore, instance: DatastoreInstance): Promise<string> => {
  const [unit] = core.units(instance);
  if (unit === undefined) throw new Error('no unit');
  return (await rig.lab.runtime.create(unit.container)).id;
};

const putFiles = async (id: string, files: Record<string, string>): Promise<void> => {
  const all = Object.entries(files).map(([name, content]) => ({ ...OWN, path: `${HOME}/${name}`, content }));
  await rig.lab.runtime.putArchive(id, HOME, await archiveOf(HOME, all));
};

const placeIn = async (core: PostgresCore, instance: DatastoreInstance, containerId: string, fresh = true) => {
  const { rest } = await core.place(instance, { role: 'main', containerId, fresh });
  await rest;
};

test('without a template a server makes its own cluster, and nobody waits for a template', async () => {
  const [first, second] = [await rig.instance('first'), await rig.instance('second')];
  await rig.up(first, coreWith());
  await rig.up(second, coreWith());
  expect([made, await tars()]).toEqual([[], []]);
  for (const instance of [first, second]) await worksAndIsWhole(instance);
  expect(await identifierOf(first)).not.toEqual(await identifierOf(second));
});

test('the password that a cluster is made with does not stay in its volume', async () => {
  const instance = await rig.instance('tidy');
  const id = await rig.up(instance, coreWith());
  for (const name of ['new-password', 'unsynced'])
    expect(
      await rig.lab.runtime.getArchive(id, `${HOME}/berth/${name}`).then(
        () => 'there',
        () => 'gone',
      ),
    ).toBe('gone');
});

test('a cluster whose making was cut short is made from the beginning', async () => {
  const instance = await rig.instance('cut');
  const core = coreWith();
  const id = await create(core, instance);
  await placeIn(core, instance, id);
  await putFiles(id, { 'pgdata.new/PG_VERSION': '17\n', 'pgdata.new/base/1/2601': 'half a file' });
  await rig.lab.runtime.start(id);
  await core.settle(instance, soon());
  await worksAndIsWhole(instance);
});

test('a volume that has lost its data directory is not begun anew', async () => {
  const instance = await rig.instance('emptied');
  const core = coreWith();
  const id = await create(core, instance);
  await putFiles(id, { 'berth/prepared': '' });
  await placeIn(core, instance, id, false);
  await rig.lab.runtime.start(id);
  expect(await rig.lab.runtime.wait(id, soon())).not.toBe(0);
});

test('a template is made once, is readable by berth alone, and replaces others of its version', async () => {
  await writeFile(join(rig.templateDir, 'postgres-17-old.tar'), 'of an image that is gone');
  await writeFile(join(rig.templateDir, 'postgres-17-old.tar.unfinished'), 'by a berth that was killed');
  const templates = templatesWith();
  await templates.prepare('17', soon());
  await templates.prepare('17', soon());
  expect(made).toHaveLength(1);
  expect([await tars(), await makers()]).toEqual([[expect.stringMatching(/^postgres-17-[0-9a-f]{24}\.tar$/)], []]);
  expect((await readdir(rig.templateDir)).sort()).toEqual([...(await tars()), 'postgres-password']);
  expect((await stat(rig.templateDir)).mode & 0o777).toBe(0o700);
  for (const name of await readdir(rig.templateDir))
    expect((await stat(join(rig.templateDir, name))).mode & 0o777).toBe(0o600);

  const both = [await rig.instance('left'), await rig.instance('right')] as const;
  await Promise.all(both.map((instance) => rig.up(instance, coreWith())));
  for (const instance of both) await worksAndIsWhole(instance);
  expect(await identifierOf(both[0])).toEqual(await identifierOf(both[1]));
});

test('a template has the database of apps in it', async () => {
  const file = await templatesWith().find('17');
  const names = [...(await new Bun.Archive(await readFile(file ?? '')).files()).keys()];
  // template1, template0, postgres and app.
  expect(new Set(names.map((name) => /^pgdata\/base\/(\d+)\//.exec(name)?.[1]).filter(Boolean)).size).toBe(4);
  expect(names.filter((name) => /postmaster|_(?:fsm|vm)$/.test(name))).toEqual([]);
  expect((await stat(file ?? '')).size).toBeLessThan(36 * 1024 * 1024);
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

test('one that was started but never settled is settled by the next process', async () => {
  const instance = await rig.instance('unsettled');
  const core = coreWith();
  const id = await create(core, instance);
  await placeIn(core, instance, id);
  await rig.lab.runtime.start(id);
  await coreWith().settle(instance, soon());
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

test('a template that cannot be made says why, and leaves nothing', async () => {
  for (const name of await tars()) await rm(join(rig.templateDir, name));
  const broken = templatesWith({
    create: (spec) => rig.lab.runtime.create({ ...spec, entrypoint: ['sh', '-c', 'echo no room >&2; exit 7'] }),
  });
  const failure = await broken.prepare('17', soon()).catch((thrown: unknown) => thrown);
  expect(failure).toMatchObject({ kind: 'INTERNAL_ERROR', logTail: 'no room' });
  expect([await tars(), await makers()]).toEqual([[], []]);
});

test('a template that is called off is gone at once', async () => {
  const stop = new AbortController();
  const started: string[] = [];
  const slow = templatesWith({
    create: (spec) => rig.lab.runtime.create({ ...spec, entrypoint: ['sleep', '600'] }),
    start: async (id) => {
      await rig.lab.runtime.start(id);
      started.push(id);
      stop.abort(new Error('berth stops'));
    },
  });
  expect(await slow.prepare('17', stop.signal).catch(() => 'called off')).toBe('called off');
  expect(started).toHaveLength(1);
  expect([await tars(), await makers()]).toEqual([[], []]);
});

test('nothing is prepared for an image that is not there', async () => {
  await templatesWith({ inspectImage: () => Promise.resolve(undefined) }).prepare('17', soon());
  expect(made).toEqual([]);
});

test('a lost password of the templates makes new ones', async () => {
  await templatesWith().prepare('17', soon());
  const [before] = await tars();
  await rm(join(rig.templateDir, 'postgres-password'));
  await templatesWith().prepare('17', soon());
  expect(made).toHaveLength(2);
  expect(await tars()).toEqual([expect.not.stringMatching(before ?? '')]);
});

test('two processes agree on the password of the templates', async () => {
  await rm(join(rig.templateDir, 'postgres-password'));
  const passwords = await Promise.all([templatesWith().password(), templatesWith().password()]);
  expect(new Set(passwords).size).toBe(1);
});

/** As much of a stream as went through before it broke. */
async function* firstPart(tar: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of tar) {
    yield chunk;
    bytes += chunk.byteLength;
    if (bytes > 10_000_000) throw new Error('broken off');
  }
}
