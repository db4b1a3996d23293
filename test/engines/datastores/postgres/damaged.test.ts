import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Bytes, DumpReport } from '#engines/datastores/port';
import { collect, failureOf, inChunks } from './bytes.ts';
import { openDumpRig, type DumpRig } from './dump-rig.ts';

setDefaultTimeout(180_000);

const never = new AbortController().signal;

/** Of the checksum after the archive itself. */
const SEAL_BYTES = 21;

let rig: DumpRig;
let backup: Buffer;
let report: DumpReport;

const load = (bytes: Bytes) => rig.dumps.loadBeside(rig.instance, 'app_restore_1', bytes, never);

beforeAll(async () => {
  rig = await openDumpRig();
  const app = await rig.app();
  await app.query(
    'CREATE TABLE a (id int PRIMARY KEY, t text); INSERT INTO a SELECT g, md5(g::text) FROM generate_series(1, 20000) g',
  );
  await app.query(
    "CREATE TABLE b (id int PRIMARY KEY, t text); INSERT INTO b SELECT g, 'row ' || g FROM generate_series(1, 20000) g",
  );
  await app.end();
  const dump = await rig.dumps.dump(rig.instance, never);
  backup = await collect(dump.bytes);
  report = await dump.report;
});

afterAll(() => rig.close());

test('an archive that was cut off anywhere fails, and nothing of it is left', async () => {
  const places = [0, 3, 60, 500, 2000, Math.floor(backup.length / 2), backup.length - SEAL_BYTES - 1];
  for (const length of places) {
    const failure = await failureOf(load(inChunks(backup.subarray(0, length))));
    expect(failure).toMatchObject({ kind: 'INVALID_INPUT' });
    expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);
  }
});

test('what is no archive at all is refused in words, before pg_restore sees it', async () => {
  const texts = [
    'SELECT 1;',
    'PGDMP',
    `PGDMP${'\u0001'.repeat(500)}`,
    '\u001F\u008B gzip',
    `PGDMP\u0001\u000E\u0000\u0004\u0008\u0003${'x'.repeat(99)}`,
  ];
  for (const text of texts) {
    const failure = await failureOf(load(inChunks(Buffer.from(text, 'latin1'))));
    expect(failure.message).toContain('no backup of Postgres');
    expect(failure).toMatchObject({ kind: 'INVALID_INPUT', retryable: false });
  }
});

test('a source that fails at its very end, as one whose checksum is wrong does, fails the restore', async () => {
  const failing = (async function* () {
    yield* inChunks(backup);
    throw new TypeError('the checksum is not that of the backup');
  })();
  expect((await failureOf(load(failing))).message).toContain('the checksum is not that of the backup');
  expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);

  // pg_restore has what it needs long before: what follows is read all the same.
  const longer = (async function* () {
    yield* inChunks(backup);
    yield* inChunks(Buffer.alloc(3_000_000));
    throw new TypeError('the length is not that of the backup');
  })();
  expect((await failureOf(load(longer))).message).toContain('the length is not that of the backup');
  expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);
});

test('a bit flipped in the table of contents or in the rows is always noticed', async () => {
  const rounds = 8;
  let noticed = 0;
  for (let round = 0; round < rounds; round += 1) {
    const damaged = Buffer.from(backup);
    const at = Math.floor(((round + 0.5) / rounds) * damaged.length);
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (round % 8));
    const rows = await rowsAfter(damaged);
    if (rows === undefined) noticed += 1;
  }
  expect(noticed).toBe(rounds);
});

/** Undefined when the restore failed or counted other rows. */
const rowsAfter = async (bytes: Buffer): Promise<DumpReport | undefined> => {
  let restored: DumpReport;
  try {
    restored = (await load(inChunks(bytes))).report;
  } catch {
    expect(await rig.dumps.listBeside(rig.instance)).toEqual([]);
    return undefined;
  }
  await rig.dumps.dropBeside(rig.instance, 'app_restore_1');
  return Bun.deepEquals(restored, report) ? restored : undefined;
};

test('an archive without a seal, as pg_dump itself writes it, restores too', async () => {
  const plain = backup.subarray(0, backup.length - SEAL_BYTES);
  expect(backup.subarray(plain.length).toString()).toMatch(/^berth-crc32 [0-9a-f]{8}\n$/);
  expect((await load(inChunks(plain))).report).toEqual(report);
  await rig.dumps.dropBeside(rig.instance, 'app_restore_1');
});

test('after all of that the backup itself restores', async () => {
  expect((await load(inChunks(backup, 7))).report).toEqual(report);
  await rig.dumps.dropBeside(rig.instance, 'app_restore_1');
});

test('a rehearsal counts in an instance of its own, which is gone afterwards', async () => {
  expect(await rig.dumps.rehearse(rig.instance, inChunks(backup), never)).toEqual(report);
  const failure = await failureOf(rig.dumps.rehearse(rig.instance, inChunks(backup.subarray(0, 9000)), never));
  expect(failure).toMatchObject({ kind: 'INVALID_INPUT' });
  expect(await rig.core.lab.runtime.list({})).toHaveLength(1);
});
