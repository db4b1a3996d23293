import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { createKeys, loadIdentity, loadOrCreateIdentity } from '#engines/backups/identity';
import { messageOf } from '#kernel/errors';
import { chunks, collect, failureOf } from '#test/contracts/backups.ts';
import { newDir, removeDir } from './support.ts';

let dir = '';
let file = '';
beforeEach(async () => {
  dir = await newDir();
  file = join(dir, 'backup.key');
});
afterEach(() => removeDir(dir));

const write = async (text: string, mode = 0o600): Promise<void> => {
  await writeFile(file, text);
  await chmod(file, mode);
};

// Made by the age tool 1.1.1 itself: age-keygen, then age -r.
const FOREIGN_IDENTITY = 'AGE-SECRET-KEY-1WEN5X9GJLDZC5PCC40M4FQ5XQ456CJUJ4ENR35E40NT6VPCZUT3QLGE3V6';
const FOREIGN_FILE =
  'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBuT1lGM1pxa1JKMmJ3bmFFRVREU2pnUHltdFNQcUJFR3lzSHBBeFZ2bGlnCnZsR25ERHM3U3JROVB1eGt2c3ZxOWR3QnRmbzR6WVNpUDh6ZWRUcVNteTgKLS0tIGhJSGNuam96Y2E3MFFlM1Ridm9raUQxaHRJUUgrQ3M3N2VZeHBuc25sWUUKEx+8cTNXR4gJjzIVZhbrLPn7gvMPyLWE1g7wE5my4WsATgekOSNVjRAxtW1NvnlZgXNfvhmuAUvtOF8vOw==';

test('makes a key file for its owner alone, in the form of age-keygen, and keeps to it', async () => {
  const made = await loadOrCreateIdentity(file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const lines = (await Bun.file(file).text()).trim().split('\n');
  expect(lines[1]).toBe(`# public key: ${made.recipient}`);
  expect(await identityToRecipient(lines[2] ?? '')).toBe(made.recipient);
  expect((await loadOrCreateIdentity(file)).recipient).toBe(made.recipient);
  expect(await readdir(dir)).toEqual(['backup.key']);
});

test('several that make it at once end up with one key', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => loadOrCreateIdentity(file)));
  expect(new Set(keys.map((each) => each.recipient)).size).toBe(1);
  expect(await readdir(dir)).toEqual(['backup.key']);
});

test('loadIdentity makes none', async () => {
  expect(await loadIdentity(file)).toBeUndefined();
  expect(await readdir(dir)).toEqual([]);
});

test('opens what the age tool has encrypted, with any identity of the file', async () => {
  await write(`# new\n${await generateX25519Identity()}\n\n# old\n${FOREIGN_IDENTITY}\n`);
  const keys = await loadOrCreateIdentity(file);
  const plain = await collect(await keys.decrypt(chunks(Buffer.from(FOREIGN_FILE, 'base64'))));
  expect(plain.toString()).toBe('select 1; -- from age itself\n');
});

test.each([
  ['AGE-SECRET-KEY-1MARKERMARKER\n', 'identity 1'],
  [`${FOREIGN_IDENTITY}\nMARKER\n`, 'identity 2'],
  [`${FOREIGN_IDENTITY.replace('WEN5', 'WEN6')}MARKER\n`, 'identity 1'],
  [`${FOREIGN_IDENTITY.slice(0, -1)}Q\n`, 'checksum'],
  ['# only a comment\n', 'no identity'],
  ['', 'no identity'],
])('a wrong key file is refused without repeating what is in it: %#', async (text, says) => {
  await write(text);
  const failure = await failureOf(loadOrCreateIdentity(file));
  expect(failure.kind).toBe('INVALID_INPUT');
  expect(failure.message).toContain(says);
  const told = Bun.inspect(failure);
  expect(told).not.toContain('MARKER');
  expect(told).not.toContain('WEN5X9GJ');
});

test.each([0o644, 0o604, 0o620, 0o666])('a key file with mode %o is refused', async (mode) => {
  await write(`${FOREIGN_IDENTITY}\n`, mode);
  expect(await failureOf(loadOrCreateIdentity(file))).toMatchObject({
    kind: 'INVALID_INPUT',
    hint: `run: chmod 600 ${file}`,
  });
});

test('a folder or a pipe in place of the key file is refused, not waited for', async () => {
  expect(await failureOf(loadOrCreateIdentity(dir))).toMatchObject({ kind: 'INVALID_INPUT' });
  Bun.spawnSync(['mkfifo', file]);
  expect(await failureOf(loadOrCreateIdentity(file))).toMatchObject({ kind: 'INVALID_INPUT' });
});

test('others have their turn while a backup is encrypted and decrypted', async () => {
  const keys = await createKeys([FOREIGN_IDENTITY]);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  // One large chunk: what a source gives at once does not matter.
  const sealed = await collect(await keys.encrypt(chunks(Buffer.alloc(8_000_000), 8_000_000)));
  const atHalf = turns;
  await collect(await keys.decrypt(chunks(sealed, sealed.byteLength)));
  clearInterval(timer);
  expect(atHalf).toBeGreaterThan(5);
  expect(turns - atHalf).toBeGreaterThan(5);
});

test('what the source has to say is not taken for a wrong key', async () => {
  const keys = await createKeys([FOREIGN_IDENTITY]);
  const sealed = await collect(await keys.encrypt(chunks(Buffer.alloc(200_000))));
  const dying = async function* () {
    yield sealed.subarray(0, 100_000);
    throw new Error('the disk is gone');
  };
  expect(await collect(await keys.decrypt(dying())).catch(messageOf)).toBe('the disk is gone');
  const dead = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the disk is gone')) }) };
  expect(await keys.decrypt(dead).catch(messageOf)).toBe('the disk is gone');
});
