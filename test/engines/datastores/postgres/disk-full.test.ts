import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { docker } from '#test/support/docker.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { collect, failureOf, inChunks } from './bytes.ts';
import { openDumpRig, type DumpRig } from './dump-rig.ts';

setDefaultTimeout(180_000);

const never = new AbortController().signal;
const MIB = 1024 * 1024;

let rig: DumpRig;
let disk: SmallDisk;
let folder: string;
let backup: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-pg-disk-'));
  const dir = join(folder, 'volume');
  await mkdir(dir);
  disk = await SmallDisk.inFile(dir, 700);
  // As the image has it, which Docker takes over for a volume that is empty; this one holds lost+found.
  await chmod(dir, 0o1777);
  rig = await openDumpRig({}, async (instance) => {
    const options = ['type=none', 'o=bind', `device=${dir}`].flatMap((option) => ['--opt', option]);
    await docker(['volume', 'create', ...options, `berth-${instance.id}-main`]);
  });
  const app = await rig.app();
  await app.query('CREATE TABLE t (id int PRIMARY KEY, text text)');
  await app.query('INSERT INTO t SELECT g, repeat(md5(g::text), 8) FROM generate_series(1, 300000) g');
  await app.end();
  const dump = await rig.dumps.dump(rig.instance, never);
  backup = await collect(dump.bytes);
  await dump.report;
});

afterAll(async () => {
  await rig.close();
  await docker(['volume', 'rm', '-f', `berth-${rig.instance.id}-main`]);
  await disk.unmount();
  await rm(folder, { recursive: true, force: true });
});

test('a disk that gets full in mid-restore fails the restore alone: the live database is read and written on', async () => {
  const started = (): Promise<unknown[]> =>
    rig.rows(() => rig.admin(), 'SELECT pg_postmaster_start_time() AS at, pg_is_in_recovery() AS recovering');
  const before = await started();
  await disk.fill(60 * MIB);
  const failure = await failureOf(rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(backup), never));
  expect(failure).toMatchObject({ httpStatus: 507, retryable: true });
  expect(failure.message).toContain('No space left on device');
  // The room that it took is free again, but for what the log of the server keeps for its next segments.
  expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);
  expect(disk.freeBytes).toBeGreaterThan(30 * MIB);
  expect(await rig.rows(rig.app, 'SELECT count(*)::int AS n FROM t')).toEqual([{ n: 300_000 }]);
  await rig.rows(rig.app, "INSERT INTO t VALUES (0, 'written on')");
  expect(await started()).toEqual(before);

  disk.free();
  const { report } = await rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(backup), never);
  expect(report.rows).toBe(300_000);
});
