import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatastoreRole } from '#datastores/labels';
import type { Operation, Phase } from '#modules/operations';
import { Berth } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';
import {
  appSql,
  backupFiles,
  containersOf,
  createDatastore,
  leftovers,
  probeApp,
  rowOf,
  Store,
  volumesOf,
} from './kit.ts';

/** Enough that a dump and a restore take a while: 48 MB that cannot be compressed. */
const ROWS = 40_000;
const FILL = `
  CREATE TABLE facts AS SELECT n AS id, (
    SELECT string_agg(sha512((n || ' ' || part)::bytea), '') FROM generate_series(1, 18) part
  ) AS fact FROM generate_series(1, ${ROWS}) n`;

let berth: Berth;
const postgres = (): Store => new Store(berth, 'shop', 'postgres');

beforeAll(async () => {
  berth = await Berth.boot(['--prepare-datastores']);
  await berth.project('shop');
  await createDatastore(berth, 'shop', { kind: 'postgres', memory_mb: 512 });
  expect(await berth.deploy('shop', 'web', await probeApp())).toMatchObject({ status: 'succeeded', error: null });
  await sql(FILL);
}, 240_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const sql = (query: string): Promise<unknown[][]> => appSql(berth, ['shop', 'web'], query);

const facts = async (): Promise<number> => Number((await sql('SELECT count(*) FROM facts'))[0]?.[0]);

const beside = async (): Promise<unknown[]> =>
  (await sql("SELECT datname FROM pg_database WHERE datname LIKE 'app\\_%'")).flat();

const phase = async (id: string): Promise<Phase> => (await berth.api(`/v1/operations/${id}`)).body.phase;

/** `kill -9` of berth as soon as `moment` is there, and a start; the operation as it ended. The app serves all the time. */
const killAt = async (id: string, moment: () => boolean | Promise<boolean>): Promise<Operation> => {
  await until(moment);
  await berth.stop('SIGKILL');
  expect(await facts()).toBeGreaterThan(0);
  await berth.start();
  const operation = await berth.wait(id, 120);
  expect(await eventsOf(operation, 'event: done')).toBe(1);
  return operation;
};

const eventsOf = async ({ stream_url: path }: Operation, text: string): Promise<number> =>
  String((await berth.api(path)).body).split(text).length - 1;

/** It was hit in the middle: what `phase` stands for was begun anew. */
const expectBegunTwice = async (operation: Operation, phase: Phase): Promise<void> =>
  expect(await eventsOf(operation, `"phase":"${phase}"`)).toBe(2);

/** Nothing is there that no datastore needs. */
const expectTidy = async (datastores: number): Promise<void> => {
  expect(await leftovers(berth)).toEqual([]);
  expect(await containersOf(berth, 'datastore')).toHaveLength(datastores);
  expect(await volumesOf(berth)).toHaveLength(datastores);
};

/** A new Postgres is unpacked, not made. */
const hasTemplate = (): boolean =>
  readdirSync(join(berth.dataDir, 'datastores/templates')).some((name) => name.endsWith('.tar'));

const partOfBackup = (): boolean => backupFiles(berth).some((path) => path.endsWith('.part'));
const scratchRuns = async (): Promise<boolean> => (await containersOf(berth, 'datastore-scratch')).length > 0;
const jobRuns = async (): Promise<boolean> => (await containersOf(berth, 'datastore-job')).length > 0;

describe('kill -9 of berth', () => {
  test('in mid-dump: the backup is made after all, once, and is whole', async () => {
    const operation = await killAt(await postgres().begin('backups'), partOfBackup);
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready', result: { rows: ROWS } });
    await expectBegunTwice(operation, 'dumping');
    const backups = await postgres().backups();
    expect(backups).toMatchObject([{ status: 'verified', rows: ROWS, error: null }]);
    expect(backupFiles(berth)).toHaveLength(2);
    await expectTidy(1);
  }, 120_000);

  test('in mid-verification: the backup is verified after all', async () => {
    const id = await postgres().begin('backups');
    const operation = await killAt(id, async () => (await phase(id)) === 'verifying' && (await scratchRuns()));
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready' });
    await expectBegunTwice(operation, 'verifying');
    expect((await postgres().backups())[0]).toMatchObject({ status: 'verified', rows: ROWS });
    expect(backupFiles(berth)).toHaveLength(4);
    await expectTidy(1);
  }, 120_000);

  test('in mid-restore: the live data serves on until all of the backup is there', async () => {
    const [backup] = await postgres().backups();
    await sql('DELETE FROM facts WHERE id > 100');
    const id = await postgres().begin('restore', { key: backup?.key });
    const operation = await killAt(id, async () => (await jobRuns()) && (await beside()).length > 0);
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready', result: { rows: ROWS } });
    await expectBegunTwice(operation, 'restoring');
    await until(async () => (await facts()) === ROWS);
    const { kept } = await postgres().show();
    expect(kept?.backup).toBe(backup?.key ?? '');
    expect(await beside()).toHaveLength(1);
    expect(await postgres().change('restore/undo')).toMatchObject({ status: 'succeeded' });
    await until(async () => (await facts()) === 100);
    expect(await postgres().change('restore/undo')).toMatchObject({ status: 'succeeded' });
    await until(async () => (await facts()) === ROWS);
    await expectTidy(1);
  }, 180_000);

  test('in mid-rotation: services end with one credential that is valid', async () => {
    const before = rowOf(berth, 'shop', 'postgres').secrets.credentials;
    const id = await postgres().begin('rotate');
    const operation = await killAt(id, async () => (await phase(id)) === 'rotating');
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready' });
    await expectBegunTwice(operation, 'rotating');
    const after = rowOf(berth, 'shop', 'postgres').secrets.credentials;
    expect(after).toHaveLength(1);
    expect(after[0]?.password).not.toBe(before[0]?.password);
    await until(() => facts().then((count) => count === ROWS));
    await expectTidy(1);
  }, 120_000);

  const made =
    (name: string, role: DatastoreRole = 'datastore'): (() => Promise<boolean>) =>
    async () => {
      const { id } = rowOf(berth, 'shop', name);
      return (await containersOf(berth, role, [`dev.berth.datastore-id=${id}`])).length > 0;
    };

  test.each([
    ['right after it was accepted', 'early', () => true],
    ['once its container is there', 'midway', made('midway')],
    ['while its data directory is unpacked', 'unpacking', made('unpacking', 'datastore-job')],
  ])(
    'in mid-provisioning, %s: the datastore is there, once',
    async (_, name, moment) => {
      await until(hasTemplate);
      const { body } = await berth.api('/v1/projects/shop/datastores', {
        method: 'POST',
        body: { kind: 'postgres', name },
      });
      expect(await killAt(body.operation_id, moment)).toMatchObject({
        status: 'succeeded',
        phase: 'ready',
        error: null,
      });
      const store = new Store(berth, 'shop', name);
      expect(await store.query('SELECT 1')).toEqual([[1]]);
      await expectTidy(2);
      expect(await store.remove()).toMatchObject({ status: 'succeeded' });
      await expectTidy(1);
    },
    120_000,
  );

  test('in mid-fork: the copy holds all of the backup', async () => {
    const { body } = await berth.api(`${postgres().path}/fork`, { method: 'POST', body: { name: 'copy' } });
    const operation = await killAt(body.operation_id, async () => {
      return (await phase(body.operation_id)) === 'restoring' && (await jobRuns());
    });
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready', error: null });
    await expectBegunTwice(operation, 'restoring');
    expect(await new Store(berth, 'shop', 'copy').query('SELECT count(*)::int FROM facts')).toEqual([[ROWS]]);
    await expectTidy(2);
  }, 120_000);

  test('in mid-deletion: all of it goes, and nothing else', async () => {
    const reply = await berth.api('/v1/projects/shop/datastores/copy?confirm=true', { method: 'DELETE' });
    const id: string = reply.body.operation_id;
    const operation = await killAt(id, async () => (await phase(id)) === 'deleting');
    expect(operation).toMatchObject({ status: 'succeeded' });
    await expectBegunTwice(operation, 'deleting');
    await expectTidy(1);
    expect(await facts()).toBe(ROWS);
  }, 120_000);
});
