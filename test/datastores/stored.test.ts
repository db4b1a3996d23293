import { beforeEach, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBackupMaker } from '#datastores/backup';
import { createRestore } from '#datastores/restore';
import { openWhole } from '#datastores/stored';
import { createTend } from '#datastores/tend';
import { BerthError } from '#kernel/errors';
import type { BackupRow, DatastoreRow } from '#modules/datastores';
import { failureOf } from '#test/contracts/backups.ts';
import { ctx } from '#test/modules/support/rig.ts';
import { addReady, drained, openExecutors, runOf, type Executors } from './support/executors.ts';

const NEVER = new AbortController().signal;
const REPORT = { server: '17.6', rows: 1, objects: { 'public.a': 1 } };

let kit: Executors;
let row: DatastoreRow;
/** What restores have read. */
let loaded: string[];

beforeEach(async () => {
  kit = openExecutors();
  row = await addReady(kit);
  loaded = [];
  const engine = kit.rig.engines.postgres;
  engine.dump = () => Promise.resolve({ bytes: dumped(), report: Promise.resolve(REPORT) });
  engine.rehearse = async (_instance, bytes) => {
    await drained(bytes);
    return REPORT;
  };
  engine.loadBeside = async (_instance, database, bytes) => {
    loaded.push(await drained(bytes));
    return { database, report: REPORT };
  };
});

async function* dumped(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('all the rows');
}

const makeBackup = async (): Promise<BackupRow> => {
  const { key } = kit.rig.backups.begin(ctx(), row, 'manual');
  await createBackupMaker(kit.deps).run(runOf(row, { key }));
  const made = kit.rig.backupStore.get('shop', key);
  if (made === undefined) throw new Error('the backup is gone');
  return made;
};

const restoring = (backup: BackupRow) =>
  createRestore(kit.deps).restore(runOf(row, { key: backup.key, keep_hours: 1 }));
const fileIn = (dir: string, { key }: BackupRow): string => join(dir, 'shop', 'postgres', `${key}.dump`);
const damage = async (file: string): Promise<void> => {
  const bytes = Buffer.from(await readFile(file));
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  await writeFile(file, bytes);
};

test('a restore that fills the disk is called off, and says that it was the disk', async () => {
  const backup = await makeBackup();
  let looks = 0;
  kit.deps.clock = { ...kit.deps.clock, sleep: () => Bun.sleep(1) };
  kit.deps.requireDisk = async () => {
    looks += 1;
    if (looks > 2) throw new BerthError('QUOTA_EXCEEDED', 'the disk has 1 GB left', { hint: 'free room' });
  };
  kit.rig.engines.postgres.loadBeside = (_instance, _database, _bytes, signal) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('called off')));
    });
  expect(await failureOf(restoring(backup))).toMatchObject({ message: 'the disk has 1 GB left' });
  expect(kit.rig.datastoreStore.byId(row.id)?.kept).toBeNull();
});

test('a restore takes the copy in the bucket when the one on disk is damaged, and says so', async () => {
  const backup = await makeBackup();
  expect(backup.places).toEqual(['disk', 's3']);
  await damage(fileIn(kit.disk, backup));
  const run = runOf(row, { key: backup.key, keep_hours: 1 });
  await createRestore(kit.deps).restore(run);
  expect(loaded).toEqual(['all the rows']);
  expect(run.logged.join('\n')).toContain('damaged');
});

test('damage on which the database choked before its checksum told is damage too', async () => {
  const backup = await makeBackup();
  await damage(fileIn(kit.disk, backup));
  const engine = kit.rig.engines.postgres;
  const { loadBeside } = engine;
  let tries = 0;
  engine.loadBeside = async (...given) => {
    tries += 1;
    if (tries === 1) throw new BerthError('INTERNAL_ERROR', 'pg_restore: did not find magic string', { hint: 'look' });
    return loadBeside(...given);
  };
  await createRestore(kit.deps).restore(runOf(row, { key: backup.key, keep_hours: 1 }));
  expect(loaded).toEqual(['all the rows']);
});

test('a restore that fails although the disk copy is whole is not tried again', async () => {
  const backup = await makeBackup();
  let tries = 0;
  kit.rig.engines.postgres.loadBeside = async () => {
    tries += 1;
    throw new BerthError('INTERNAL_ERROR', 'no room', { hint: 'make some' });
  };
  expect(await failureOf(restoring(backup))).toMatchObject({ message: 'no room' });
  expect(tries).toBe(1);
});

test('damaged in both places, it is not restored', async () => {
  const backup = await makeBackup();
  for (const dir of [kit.disk, kit.bucket]) await damage(fileIn(dir, backup));
  expect(await failureOf(restoring(backup))).toMatchObject({ kind: 'CONFLICT' });
});

test('a download, which cannot begin again, gets the whole copy from the start', async () => {
  const backup = await makeBackup();
  await damage(fileIn(kit.disk, backup));
  expect(await drained(await openWhole(kit.deps, backup, NEVER))).toBe('all the rows');
});

test('a backup that cannot be copied does not keep others from the bucket', async () => {
  const first = await makeBackup();
  const second = await makeBackup();
  for (const backup of [first, second]) {
    kit.rig.backupStore.update(backup.key, { places: ['disk'] });
    await kit.deps.storage.remove({ project: 'shop', datastore: 'postgres', key: backup.key }, 's3');
  }
  await damage(fileIn(kit.disk, first));
  await createTend(kit.deps)(NEVER);
  expect(kit.rig.backupStore.get('shop', first.key)?.places).toEqual(['disk']);
  expect(kit.rig.backupStore.get('shop', second.key)?.places).toEqual(['disk', 's3']);
});

test('a bucket that does not work is asked once a round, not once for every backup', async () => {
  for (let n = 0; n < 3; n += 1) kit.rig.backupStore.update((await makeBackup()).key, { places: ['disk'] });
  let asked = 0;
  const storage = {
    ...kit.deps.storage,
    copyToRemote: () => {
      asked += 1;
      return Promise.reject(new BerthError('INTERNAL_ERROR', 'no answer', { hint: 'wait', retryable: true }));
    },
  };
  await createTend({ ...kit.deps, storage })(NEVER);
  expect(asked).toBe(1);
});

test('with the bucket away, a backup counts all the same', async () => {
  await rm(kit.bucket, { recursive: true });
  await writeFile(kit.bucket, 'a file where a folder should be');
  const backup = await makeBackup();
  expect(backup).toMatchObject({ status: 'verified', places: ['disk'] });
  expect(readdirSync(join(kit.disk, 'shop', 'postgres'))).toHaveLength(2);
});
