import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { until } from '#test/support/until.ts';
import { backupFiles, containersOf, createDatastore, leftovers, Store } from './kit.ts';

const MIB = 1024 * 1024;
const FLOOR = 32 * MIB;
/** 90 MB that cannot be compressed: more than pipes and buffers hold. */
const FILL = `
  CREATE TABLE facts AS SELECT n AS id, (
    SELECT string_agg(sha512((n || ' ' || part)::bytea), '') FROM generate_series(1, 20) part
  ) AS fact FROM generate_series(1, 70000) n`;

let berth: Berth;
let disk: SmallDisk;
const postgres = (): Store => new Store(berth, 'shop', 'postgres');

beforeAll(async () => {
  berth = await Berth.boot(['--min-free-bytes', String(FLOOR), '--min-free-percent', '0'], {
    prepare: async ({ dataDir }) => {
      disk = await SmallDisk.inMemory(dataDir, 512);
      return { cleanUp: () => disk.unmount() };
    },
  });
  await berth.project('shop');
  await createDatastore(berth, 'shop', { kind: 'postgres', memory_mb: 512 });
  await postgres().query(FILL);
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

/** What must hold after a backup that found no room. */
const expectNothingKept = async (): Promise<void> => {
  expect(backupFiles(berth)).toEqual([]);
  expect(await leftovers(berth)).toEqual([]);
  const { last_backup: last } = await postgres().show();
  expect(last).toMatchObject({ status: 'failed', verified_at: null });
  expect(await postgres().backupOf(last?.key ?? '')).toMatchObject({ status: 'failed', places: [], bytes: null });
  const events = (await berth.api('/v1/projects/shop')).body.recent_events;
  expect(events.map((event: { kind: string }) => event.kind)).toContain('backup.failed');
  expect(await postgres().query('SELECT count(*)::int FROM facts')).toEqual([[70_000]]);
};

describe('a disk without room for a backup', () => {
  test('is told with numbers before anything is dumped', async () => {
    await disk.fill(FLOOR - 8 * MIB);
    const operation = await postgres().change('backups');
    expect(operation).toMatchObject({ status: 'failed', error: { code: 'QUOTA_EXCEEDED', retryable: true } });
    expect(operation.error?.message).toMatch(/has \d+ MiB free, of which 32 MiB must stay free/);
    disk.free();
    await expectNothingKept();
  }, 60_000);

  test('is told when it fills up in mid-dump; nothing is left of it, and the datastore serves on', async () => {
    const id = await postgres().begin('backups');
    await until(() => backupFiles(berth).some((path) => path.endsWith('.part')));
    const [job = ''] = await containersOf(berth, 'datastore-job');
    await docker(['pause', job]);
    // Room for the state, not for the rest of the dump.
    await disk.fill(2 * MIB);
    await docker(['unpause', job]);
    const operation = await berth.wait(id, 60);
    expect(operation).toMatchObject({ status: 'failed', error: { code: 'INTERNAL_ERROR', retryable: true } });
    expect(operation.error?.message).toContain('the disk became full while a backup was written');
    expect(operation.error?.hint).toContain('free disk space');
    await expectNothingKept();
  }, 60_000);

  test('has one again: the next backup is made and verified', async () => {
    disk.free();
    expect(await postgres().backup()).toMatchObject({ status: 'verified', rows: 70_000 });
  }, 60_000);
});
