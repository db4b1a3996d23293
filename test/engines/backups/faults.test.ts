import { afterEach, beforeEach, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createBackups } from '#engines/backups/backups';
import { createDiskPlace } from '#engines/backups/disk';
import { createVault } from '#engines/backups/vault';
import type { Backups, Bytes } from '#engines/backups/port';
import { ABOUT, chunks, failureOf, putOf } from '#test/contracts/backups.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { diskVault, newDir, NO_FLOOR, removeDir } from './support.ts';

const MIB = 1024 * 1024;
const NAME = { project: 'shop', datastore: 'db', key: 'nightly-1' };
const signal = new AbortController().signal;

let dir = '';
beforeEach(async () => {
  dir = await newDir();
});
afterEach(() => removeDir(dir));

const backupsWith = (floor: { bytes: number; percent: number }): Backups => {
  const place = createDiskPlace({ dir, floor });
  return createBackups({
    disk: createVault({ place, keys: undefined, leftOverMs: 0, now: Date.now }),
    recipient: null,
  });
};
const files = async (): Promise<string[]> => (await readdir(join(dir, 'shop', 'db'))).sort();

const megabytes = async function* (count: number): Bytes {
  for (let i = 0; i < count; i += 1) yield randomBytes(MIB);
};

test('a disk that becomes full leaves nothing behind, says so with numbers, and works again with room', async () => {
  const disk = await SmallDisk.inMemory(dir, 24);
  try {
    const backups = backupsWith(NO_FLOOR);
    await backups.put({ ...NAME, key: 'before' }, putOf(randomBytes(MIB)));
    const failure = await failureOf(backups.put(NAME, { ...putOf(Buffer.from('')), bytes: megabytes(40) }));
    expect(failure).toMatchObject({ kind: 'INTERNAL_ERROR', httpStatus: 507, retryable: true });
    expect(failure.message).toMatch(/has 2[23] MiB free/);
    expect(await files()).toEqual(['before.dump', 'before.json']);
    expect(disk.freeBytes).toBeGreaterThan(22 * MIB);
    await backups.put(NAME, { ...putOf(Buffer.from('')), bytes: megabytes(4) });
    await backups.check(NAME, { signal });
  } finally {
    await disk.unmount();
  }
});

test('a disk without room for the manifest keeps no file without one', async () => {
  const disk = await SmallDisk.inMemory(dir, 24);
  try {
    const backups = backupsWith(NO_FLOOR);
    // The manifest of this many tables needs more than what is left.
    const objects = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`public.table_${i}`, i]));
    const failure = await failureOf(
      backups.put(NAME, { ...putOf(Buffer.from('')), bytes: megabytes(23), about: () => ({ ...ABOUT, objects }) }),
    );
    expect(failure.httpStatus).toBe(507);
    expect(await files()).toEqual([]);
  } finally {
    await disk.unmount();
  }
});

test('a backup that would take the disk below its floor is not begun: its source is not read', async () => {
  const disk = await SmallDisk.inMemory(dir, 32);
  try {
    let read = 0;
    const source = async function* (): Bytes {
      read += 1;
      yield randomBytes(10);
    };
    const request = () => ({ ...putOf(Buffer.from('')), bytes: source() });
    const failure = await failureOf(
      backupsWith({ bytes: 20 * MIB, percent: 5 }).put(NAME, { ...request(), estimate: 16 * MIB }),
    );
    expect(failure).toMatchObject({ kind: 'QUOTA_EXCEEDED', httpStatus: 507, retryable: true });
    expect(failure.message).toContain('of about 16 MiB');
    expect(failure.message).toContain('20 MiB must stay free');
    expect(
      await failureOf(backupsWith({ bytes: 0, percent: 100 }).put(NAME, { ...request(), estimate: 1 })),
    ).toMatchObject({
      httpStatus: 507,
    });
    expect(read).toBe(0);
    expect(await files()).toEqual([]);
  } finally {
    await disk.unmount();
  }
});

test('a backup that no estimate was given for stops at the floor', async () => {
  const disk = await SmallDisk.inMemory(dir, 160);
  try {
    const failure = await failureOf(
      backupsWith({ bytes: 100 * MIB, percent: 0 }).put(NAME, { ...putOf(Buffer.from('')), bytes: megabytes(150) }),
    );
    expect(failure).toMatchObject({ kind: 'QUOTA_EXCEEDED', httpStatus: 507 });
    expect(await files()).toEqual([]);
  } finally {
    await disk.unmount();
  }
});

test('a process killed in the middle leaves a part that is no backup, and that removeParts removes', async () => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'processes/endless-put.ts'), dir], {
    stdout: 'pipe',
  });
  // It says so after the first megabytes were taken.
  await child.stdout.getReader().read();
  child.kill('SIGKILL');
  await child.exited;
  const backups = createBackups({ disk: diskVault(dir), recipient: null });
  expect(await files()).toEqual(['nightly-1.dump.part']);
  expect(await backups.list()).toEqual({ backups: [], unreadable: [] });
  expect(await backups.find(NAME)).toBeUndefined();
  expect(await backups.removeParts()).toBe(1);
  expect(await files()).toEqual([]);
  await backups.put(NAME, putOf(Buffer.from('again')));
});

test('a part that was left is no obstacle to the same backup', async () => {
  const backups = createBackups({ disk: diskVault(dir), recipient: null });
  await backups.put(NAME, putOf(Buffer.from('x')));
  await Bun.write(join(dir, 'shop/db/nightly-2.dump.part'), 'left');
  await backups.put({ ...NAME, key: 'nightly-2' }, putOf(Buffer.from('y')));
  await backups.check({ ...NAME, key: 'nightly-2' }, { signal });
  expect((await files()).length).toBe(4);
});

test('removeParts removes files without manifest, and nothing of what is being written or was not berth’s', async () => {
  const backups = createBackups({ disk: diskVault(dir), recipient: null });
  await backups.put(NAME, putOf(Buffer.from('x')));
  await Bun.write(join(dir, 'shop/db/orphan.dump'), 'without manifest');
  await Bun.write(join(dir, 'shop/db/notes of mine.txt'), 'not a backup');
  await Bun.write(join(dir, 'README'), 'not a backup');
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = async function* (): Bytes {
    yield randomBytes(10);
    begun.resolve();
    await goOn.promise;
    yield randomBytes(10);
  };
  const writing = backups.put({ ...NAME, key: 'writing' }, { ...putOf(Buffer.from('')), bytes: slow() });
  await begun.promise;
  expect(await backups.removeParts()).toBe(1);
  goOn.resolve();
  await writing;
  await backups.check({ ...NAME, key: 'writing' }, { signal });
  expect(await files()).toEqual([
    'nightly-1.dump',
    'nightly-1.json',
    'notes of mine.txt',
    'writing.dump',
    'writing.json',
  ]);
});

test.each(['plain', 'sealed'])('memory does not grow with the backup: %s', async (mode) => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'processes/flow.ts'), dir, mode], {
    stdout: 'pipe',
  });
  const grown = Number(await new Response(child.stdout).text());
  expect(await child.exited).toBe(0);
  expect(grown).toBeGreaterThan(0);
  // 256 MiB went through.
  expect(grown / MIB).toBeLessThan(110);
});

test('a source with chunks of any size is stored byte by byte', async () => {
  const backups = createBackups({ disk: diskVault(dir), recipient: null });
  for (const size of [1, 7, MIB - 1, MIB, 3 * MIB]) {
    const bytes = randomBytes(size * 2 + 3);
    const name = { ...NAME, key: `size-${size}` };
    const manifest = await backups.put(name, { ...putOf(bytes), bytes: chunks(bytes, size) });
    expect(manifest.bytes).toBe(bytes.byteLength);
    await backups.check(name, { signal });
  }
});
