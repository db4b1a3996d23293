import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import { createBackups } from '#engines/backups/backups';
import { createKeys } from '#engines/backups/identity';
import type { Backups } from '#engines/backups/port';
import { collect, failureOf, newName, putOf } from '#test/contracts/backups.ts';
import { startS3, type S3Server } from '#test/support/s3.ts';
import { diskVault, newDir, removeDir, s3Options, s3Vault } from './support.ts';

const signal = new AbortController().signal;
const verification = { verified_at: '2026-03-04T02:20:00.000Z', rows: 12, duration_ms: 81 };

let server: S3Server;
let dir = '';
let backups: Backups;
let unreachable: Backups;
beforeAll(async () => {
  server = await startS3();
});
afterAll(() => server.stop());
beforeEach(async () => {
  dir = await newDir();
  const keys = await createKeys([await generateX25519Identity()]);
  const over = (endpoint: string): Backups =>
    createBackups({
      disk: diskVault(dir, keys),
      remote: s3Vault(s3Options(server, { endpoint }), keys),
      recipient: keys.recipient,
    });
  backups = over(server.endpoint);
  unreachable = over('http://127.0.0.1:1');
});
afterEach(() => removeDir(dir));

const places = async (name: ReturnType<typeof newName>) => (await backups.find(name))?.places;

test('a backup is written to the disk first, and copied as it is stored', async () => {
  const name = newName();
  const bytes = randomBytes(700_000);
  const manifest = await backups.put(name, putOf(bytes));
  expect(await places(name)).toEqual(['disk']);
  await backups.confirm(name, verification);
  await backups.copyToRemote(name, signal);
  expect(await places(name)).toEqual(['disk', 's3']);
  const [listed] = (await backups.list({ project: name.project, datastore: name.datastore })).backups;
  expect(listed).toEqual({ manifest: { ...manifest, verification }, places: ['disk', 's3'] });
  expect(await collect(await backups.open(name, { expected: manifest, from: 's3', signal }))).toEqual(bytes);
  const path = `${name.project}/${name.datastore}/${name.key}.dump.age`;
  expect(Buffer.from(await server.client.file(`berth/${path}`).bytes())).toEqual(
    Buffer.from(await Bun.file(join(dir, path)).bytes()),
  );
});

test('copying again is fine, copying over another backup of that name is not', async () => {
  const name = newName();
  await backups.put(name, putOf(Buffer.from('one')));
  await backups.copyToRemote(name, signal);
  await backups.copyToRemote(name, signal);
  await rm(dir, { recursive: true });
  await backups.put(name, putOf(Buffer.from('another')));
  expect(await failureOf(backups.copyToRemote(name, signal))).toMatchObject({ kind: 'CONFLICT' });
  expect((await collect(await backups.open(name, { signal }))).toString()).toBe('another');
  const listing = await backups.list({ project: name.project, datastore: name.datastore });
  expect(listing.backups.map((each) => each.places)).toEqual([['disk']]);
  expect(listing.unreadable).toHaveLength(1);
});

test('what the disk has lost, or lost a part of, is read from the bucket', async () => {
  const name = newName();
  const manifest = await backups.put(name, putOf(Buffer.from('still there')));
  await backups.copyToRemote(name, signal);
  const file = join(dir, name.project, name.datastore, `${name.key}.dump.age`);
  await writeFile(file, 'cut off');
  const read = async () => (await collect(await backups.open(name, { expected: manifest, signal }))).toString();
  expect(await read()).toBe('still there');
  await rm(file);
  expect(await read()).toBe('still there');
  await rm(dir, { recursive: true });
  expect(await read()).toBe('still there');
  expect(await places(name)).toEqual(['s3']);
});

test('a damaged disk copy is an error of its own when it is asked for', async () => {
  const name = newName();
  await backups.put(name, putOf(randomBytes(1000)));
  await backups.copyToRemote(name, signal);
  const file = join(dir, name.project, name.datastore, `${name.key}.dump.age`);
  const bytes = Buffer.from(await Bun.file(file).bytes());
  bytes.writeUInt8(bytes.readUInt8(900) ^ 1, 900);
  await writeFile(file, bytes);
  expect(await failureOf(backups.check(name, { from: 'disk', signal }))).toMatchObject({ kind: 'CONFLICT' });
  await backups.check(name, { from: 's3', signal });
});

test('a damaged file is not copied', async () => {
  const name = newName();
  await backups.put(name, putOf(randomBytes(1000)));
  const file = join(dir, name.project, name.datastore, `${name.key}.dump.age`);
  const bytes = Buffer.from(await Bun.file(file).bytes());
  await writeFile(file, bytes.reverse());
  expect(await failureOf(backups.copyToRemote(name, signal))).toMatchObject({ kind: 'CONFLICT' });
  expect((await server.client.list({ prefix: `berth/${name.project}/${name.datastore}/` })).contents ?? []).toEqual([]);
});

test('verification reaches both places', async () => {
  const name = newName();
  await backups.put(name, putOf(Buffer.from('x')));
  await backups.copyToRemote(name, signal);
  await backups.confirm(name, verification);
  await rm(dir, { recursive: true });
  expect((await backups.find(name))?.manifest.verification).toEqual(verification);
});

test('removed is removed in both places', async () => {
  const name = newName();
  await backups.put(name, putOf(Buffer.from('x')));
  await backups.copyToRemote(name, signal);
  await backups.remove(name);
  expect(await backups.find(name)).toBeUndefined();
  expect((await server.client.list({ prefix: `berth/${name.project}/${name.datastore}/` })).contents ?? []).toEqual([]);
});

test('a bucket that cannot be reached does not stand in the way of what is on the disk', async () => {
  const name = newName();
  const manifest = await unreachable.put(name, putOf(Buffer.from('x')));
  expect((await collect(await unreachable.open(name, { signal }))).toString()).toBe('x');
  expect(await unreachable.find(name)).toEqual({ manifest, places: ['disk'] });
  const confirmed = await unreachable.confirm(name, verification);
  expect(confirmed).toEqual({ ...manifest, verification });
  const listing = await unreachable.list({ project: name.project, datastore: name.datastore });
  expect(listing.backups).toEqual([{ manifest: confirmed, places: ['disk'] }]);
  expect(listing.unreadable).toEqual([
    { place: 's3', file: '', reason: expect.stringContaining('http://127.0.0.1:1') },
  ]);
  // But neither is "not there" said of what may be there, nor "removed" of what may be left.
  expect(await failureOf(unreachable.open(newName(), { signal }))).toMatchObject({ retryable: true });
  expect(await failureOf(unreachable.confirm(newName(), verification))).toMatchObject({ retryable: true });
  expect(await failureOf(unreachable.copyToRemote(name, signal))).toMatchObject({ retryable: true });
  expect(await failureOf(unreachable.remove(name))).toMatchObject({ retryable: true });
  await unreachable.remove(name, 'disk');
});

test('removed from one place, it stays in the other', async () => {
  const name = newName();
  await backups.put(name, putOf(Buffer.from('x')));
  await backups.copyToRemote(name, signal);
  await backups.remove(name, 'disk');
  expect(await places(name)).toEqual(['s3']);
});

test('a place that is not in use is told', async () => {
  const alone = createBackups({ disk: diskVault(dir), recipient: null });
  const name = newName();
  await alone.put(name, putOf(Buffer.from('x')));
  expect(await failureOf(alone.open(name, { from: 's3', signal }))).toMatchObject({ kind: 'CONFLICT' });
  await alone.copyToRemote(name, signal);
  expect((await alone.find(name))?.places).toEqual(['disk']);
});
