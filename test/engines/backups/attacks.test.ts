import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmod, link, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBackups } from '#engines/backups/backups';
import type { Backups } from '#engines/backups/port';
import { collect, failureOf, putOf } from '#test/contracts/backups.ts';
import { diskVault, newDir, removeDir } from './support.ts';

const NAME = { project: 'shop', datastore: 'db', key: 'nightly-1' };
const signal = new AbortController().signal;

let outside = '';
let dir = '';
let backups: Backups;
beforeEach(async () => {
  outside = await newDir();
  dir = join(outside, 'backups');
  backups = createBackups({ disk: diskVault(dir), recipient: null });
  await writeFile(join(outside, 'secret'), 'top secret');
});
afterEach(() => removeDir(outside));

test('files and folders are for berth alone', async () => {
  await backups.put(NAME, putOf(Buffer.from('x')));
  for (const folder of ['', 'shop', 'shop/db']) expect((await stat(join(dir, folder))).mode & 0o777).toBe(0o700);
  for (const file of await readdir(join(dir, 'shop/db')))
    expect((await stat(join(dir, 'shop/db', file))).mode & 0o777).toBe(0o600);
});

test('a link in place of a backup’s file is not read, and what it names is neither written nor removed', async () => {
  const manifest = await backups.put(NAME, putOf(Buffer.from('top secret')));
  await rename(join(dir, 'shop/db/nightly-1.dump'), join(dir, 'shop/db/moved'));
  await symlink(join(outside, 'secret'), join(dir, 'shop/db/nightly-1.dump'));
  // Same bytes, same checksum: still refused.
  const reading = backups.open(NAME, { expected: manifest, signal }).then(collect);
  expect((await failureOf(reading)).kind).toBe('CONFLICT');
  await backups.remove(NAME);
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('top secret');
});

test('a link in place of a manifest is not followed', async () => {
  const manifest = await backups.put(NAME, putOf(Buffer.from('x')));
  await writeFile(join(outside, 'forged.json'), JSON.stringify({ ...manifest, key: 'forged' }));
  await symlink(join(outside, 'forged.json'), join(dir, 'shop/db/forged.json'));
  const listing = await backups.list();
  expect(listing.backups.map((each) => each.manifest.key)).toEqual(['nightly-1']);
  expect(listing.unreadable).toEqual([
    expect.objectContaining({ place: 'disk', file: 'shop/db/forged.json', reason: expect.stringContaining('link') }),
  ]);
  expect((await failureOf(backups.open({ ...NAME, key: 'forged' }, { signal }))).kind).toBe('CONFLICT');
});

test('a link in place of a project’s or a datastore’s folder leads nowhere', async () => {
  await mkdir(join(outside, 'elsewhere/db'), { recursive: true });
  await writeFile(join(outside, 'elsewhere/db/nightly-1.dump'), 'theirs');
  await mkdir(dir);
  await symlink(join(outside, 'elsewhere'), join(dir, 'shop'));
  const calls = [
    () => backups.put(NAME, putOf(Buffer.from('x'))),
    () => backups.open(NAME, { signal }),
    () => backups.find(NAME),
    () => backups.remove(NAME),
    () => backups.usedBytes('shop'),
  ];
  for (const call of calls) expect((await failureOf(call())).kind).toBe('CONFLICT');
  expect(await backups.removeParts()).toBe(0);
  expect(await readdir(join(outside, 'elsewhere/db'))).toEqual(['nightly-1.dump']);
  expect((await backups.list()).backups).toEqual([]);
});

test('a link laid in wait for the part or the file is replaced, not written through', async () => {
  await mkdir(join(dir, 'shop/db'), { recursive: true });
  await symlink(join(outside, 'secret'), join(dir, 'shop/db/nightly-1.dump.part'));
  await symlink(join(outside, 'secret'), join(dir, 'shop/db/nightly-1.dump'));
  await backups.put(NAME, putOf(Buffer.from('mine')));
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('top secret');
  expect((await collect(await backups.open(NAME, { signal }))).toString()).toBe('mine');
});

test('a hard link in place of the file does not let a backup write to what it names', async () => {
  await mkdir(join(dir, 'shop/db'), { recursive: true });
  await link(join(outside, 'secret'), join(dir, 'shop/db/nightly-1.dump.part'));
  await backups.put(NAME, putOf(Buffer.from('mine')));
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('top secret');
});

test('a pipe in place of a manifest or a file is refused, not waited for', async () => {
  const manifest = await backups.put(NAME, putOf(Buffer.from('')));
  await backups.put({ ...NAME, key: 'nightly-2' }, putOf(Buffer.from('x')));
  const file = join(dir, 'shop/db/nightly-1.dump');
  await rename(file, `${file}.moved`);
  for (const path of [file, join(dir, 'shop/db/pipe.json')]) expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0);
  expect((await failureOf(backups.check(NAME, { expected: manifest, signal }))).kind).toBe('CONFLICT');
  const listing = await backups.list();
  expect(listing.unreadable.map((each) => each.file)).toEqual(['shop/db/pipe.json']);
  expect(listing.backups.length).toBe(2);
});

test('a sidecar that is missing or names a larger file than there is opens nothing', async () => {
  const manifest = await backups.put(NAME, putOf(Buffer.from('abc')));
  const sidecar = join(dir, 'shop/db/nightly-1.json');
  await writeFile(sidecar, JSON.stringify({ ...manifest, bytes: 1_000_000 }));
  expect((await failureOf(backups.open(NAME, { signal }))).message).toContain('has 3 bytes instead of 1000000');
  await rename(sidecar, `${sidecar}.gone`);
  expect((await failureOf(backups.open(NAME, { signal }))).kind).toBe('NOT_FOUND');
});

test('a sidecar that calls an encrypted file plain does not get it handed out as it is', async () => {
  const manifest = await backups.put(NAME, putOf(Buffer.from('abc')));
  const forged = { ...manifest, encrypted: `age1${'q'.repeat(58)}` };
  await writeFile(join(dir, 'shop/db/nightly-1.json'), JSON.stringify(forged));
  expect((await failureOf(backups.open(NAME, { signal }))).message).toContain('missing');
});

test('a huge manifest is not read', async () => {
  await backups.put(NAME, putOf(Buffer.from('abc')));
  await writeFile(join(dir, 'shop/db/huge.json'), Buffer.alloc(20 * 1024 * 1024, ' '));
  const { unreadable, backups: found } = await backups.list();
  expect(found.length).toBe(1);
  expect(unreadable.map((each) => each.reason)).toEqual([expect.stringContaining('too large')]);
});

test('what lies where no backup can be is listed as such, or not at all', async () => {
  await backups.put(NAME, putOf(Buffer.from('abc')));
  await mkdir(join(dir, 'shop/db/deeper'));
  await writeFile(join(dir, 'shop/db/deeper/nightly-9.json'), '{}');
  await writeFile(join(dir, 'shop/db/two.parts.json'), '{}');
  await writeFile(join(dir, 'stray.json'), '{}');
  await chmod(join(dir, 'stray.json'), 0o644);
  const { unreadable } = await backups.list();
  expect(unreadable.map((each) => each.file).sort()).toEqual([
    'shop/db/deeper/nightly-9.json',
    'shop/db/two.parts.json',
    'stray.json',
  ]);
});
