import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { generateX25519Identity } from 'age-encryption';
import { createKeys, type BackupKeys } from '#engines/backups/identity';
import type { BackupAbout, BackupName, Backups, Bytes } from '#engines/backups/port';
import { BerthError, messageOf } from '#kernel/errors';

/** The files of a place, for whoever gets at them past berth. */
export interface RawFiles {
  /** Paths below the folder or prefix, sorted. */
  list: (below: string) => Promise<string[]>;
  read: (path: string) => Promise<Uint8Array>;
  write: (path: string, bytes: Uint8Array) => Promise<void>;
  remove: (path: string) => Promise<void>;
}

export interface BackupsHarness {
  open: (keys: BackupKeys | undefined) => Backups;
  /** Of the first place. */
  files: RawFiles;
  cleanUp: () => Promise<void>;
}

export const ABOUT: BackupAbout = {
  kind: 'postgres',
  version: '17',
  server: '17.6',
  created_at: '2026-03-04T02:11:00.000Z',
  rows: 12,
  objects: { 'public.orders': 12 },
};

const never = new AbortController().signal;

export async function* chunks(bytes: Uint8Array, size = 50_000): Bytes {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

export const collect = async (bytes: Bytes): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
};

/** Reads as far as it goes: what came, and the error that ended it. */
const readOut = async (reading: Promise<Bytes>): Promise<{ bytes: number; failure: unknown }> => {
  let bytes = 0;
  try {
    for await (const part of await reading) bytes += part.byteLength;
    return { bytes, failure: undefined };
  } catch (failure) {
    return { bytes, failure };
  }
};

export const failureOf = async (outcome: Promise<unknown>): Promise<BerthError> => {
  const thrown: unknown = await outcome.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof BerthError) return thrown;
  throw new Error('it did not fail with an error of berth', { cause: thrown });
};

export const putOf = (bytes: Uint8Array, signal = never) => ({
  extension: 'dump',
  bytes: chunks(bytes),
  about: () => ABOUT,
  signal,
});

let made = 0;
/** A datastore of its own for each test. */
export const newName = (project = 'shop'): BackupName => {
  made += 1;
  return { project, datastore: `db${made}`, key: `bkp_${randomBytes(4).toString('hex')}` };
};
const folder = (name: BackupName): string => `${name.project}/${name.datastore}`;

/** Holds an implementation of the port to its contract. */
export const backupsContract = (title: string, boot: () => Promise<BackupsHarness>): void => {
  describe(`backups contract: ${title}`, () => {
    let harness: BackupsHarness;
    let plain: Backups;
    let sealed: Backups;
    let identity: string;
    beforeAll(async () => {
      harness = await boot();
      identity = await generateX25519Identity();
      plain = harness.open(undefined);
      sealed = harness.open(await createKeys([identity]));
    });
    afterAll(() => harness.cleanUp());

    const both = (): Backups[] => [plain, sealed];

    test.each([0, 1, 65_535, 65_536, 65_537, 262_144, 6_000_000])('%d bytes come out as they went in', async (size) => {
      const bytes = randomBytes(size);
      for (const backups of both()) {
        const name = newName();
        const manifest = await backups.put(name, putOf(bytes));
        expect(await collect(await backups.open(name, { expected: manifest, signal: never }))).toEqual(bytes);
        await backups.check(name, { expected: manifest, signal: never });
      }
    });

    test('the manifest says all that a restore without berth needs, and what the file is', async () => {
      const name = newName();
      const bytes = randomBytes(100_000);
      const manifest = await plain.put(name, putOf(bytes));
      expect(manifest).toEqual({
        format: 1,
        ...name,
        ...ABOUT,
        extension: 'dump',
        bytes: 100_000,
        plain_bytes: 100_000,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        encrypted: null,
        verification: null,
      });
      expect(await harness.files.list(folder(name))).toEqual([
        `${folder(name)}/${name.key}.dump`,
        `${folder(name)}/${name.key}.json`,
      ]);
      const text = Buffer.from(await harness.files.read(`${folder(name)}/${name.key}.json`)).toString();
      expect(JSON.parse(text)).toEqual(manifest);
    });

    test('with a key the file is encrypted for its recipient, and its checksum is of what is stored', async () => {
      const name = newName();
      const bytes = Buffer.from('a row that nobody else may read '.repeat(4000));
      const manifest = await sealed.put(name, putOf(bytes));
      expect(manifest).toMatchObject({ encrypted: sealed.recipient, plain_bytes: bytes.byteLength });
      const stored = await harness.files.read(`${folder(name)}/${name.key}.dump.age`);
      expect(Buffer.from(stored).includes('a row')).toBe(false);
      expect(stored.byteLength).toBe(manifest.bytes);
      expect(createHash('sha256').update(stored).digest('hex')).toBe(manifest.sha256);
    });

    test('what was stored before a key was set, and before it was replaced, can still be read', async () => {
      const [old, current] = [newName(), newName()];
      await plain.put(old, putOf(Buffer.from('plain')));
      await sealed.put(current, putOf(Buffer.from('sealed')));
      const rotated = harness.open(await createKeys([await generateX25519Identity(), identity]));
      expect((await collect(await rotated.open(old, { signal: never }))).toString()).toBe('plain');
      expect((await collect(await rotated.open(current, { signal: never }))).toString()).toBe('sealed');
      const manifest = await rotated.put(newName(), putOf(Buffer.from('new')));
      expect(manifest.encrypted).toBe(rotated.recipient);
      expect(rotated.recipient).not.toBe(sealed.recipient);
    });

    test('a missing or a wrong key is told before the first byte, with the recipient that is needed', async () => {
      const name = newName();
      await sealed.put(name, putOf(randomBytes(200_000)));
      const stranger = harness.open(await createKeys([await generateX25519Identity()]));
      for (const backups of [plain, stranger]) {
        const failure = await failureOf(backups.open(name, { signal: never }));
        expect(failure).toMatchObject({ kind: 'CONFLICT', retryable: false });
        expect(failure.message).toContain(String(sealed.recipient));
        expect(failure.hint).toContain('backup_key_file');
      }
    });

    test('a file for another recipient under a manifest that names ours is told before the first byte', async () => {
      const name = newName();
      const stranger = harness.open(await createKeys([await generateX25519Identity()]));
      const manifest = await stranger.put(name, putOf(randomBytes(200_000)));
      const forged = { ...manifest, encrypted: sealed.recipient };
      await harness.files.write(`${folder(name)}/${name.key}.json`, Buffer.from(JSON.stringify(forged)));
      expect(await failureOf(sealed.open(name, { signal: never }))).toMatchObject({ kind: 'CONFLICT' });
    });

    test.each([0, 0.5, 0.999_999])('a bit flipped at %d of the file is noticed before the last byte', async (where) => {
      for (const backups of both()) {
        const name = newName();
        const bytes = randomBytes(1_000_000);
        const manifest = await backups.put(name, putOf(bytes));
        await flip(name, where);
        const { bytes: got, failure } = await readOut(backups.open(name, { expected: manifest, signal: never }));
        expect(got).toBeLessThan(bytes.byteLength);
        expect(failure).toMatchObject({ kind: 'CONFLICT', retryable: false });
        expect(await failureOf(backups.check(name, { signal: never }))).toMatchObject({ kind: 'CONFLICT' });
      }
    });

    const dataFile = async (name: BackupName): Promise<string> => {
      const files = await harness.files.list(folder(name));
      return files.find((path) => path.includes('.dump')) ?? '';
    };

    const flip = async (name: BackupName, where: number): Promise<void> => {
      const file = await dataFile(name);
      const bytes = Buffer.from(await harness.files.read(file));
      const at = Math.floor(bytes.byteLength * where);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      await harness.files.write(file, bytes);
    };

    test('a file that was cut off or grew is refused before the first byte', async () => {
      for (const change of [(b: Buffer) => b.subarray(0, -1), (b: Buffer) => Buffer.concat([b, b])]) {
        const name = newName();
        await plain.put(name, putOf(randomBytes(1000)));
        const file = await dataFile(name);
        await harness.files.write(file, change(Buffer.from(await harness.files.read(file))));
        const failure = await failureOf(plain.open(name, { signal: never }));
        expect(failure.kind).toBe('CONFLICT');
        expect(failure.message).toContain('instead of 1000');
      }
    });

    test('a backup exchanged for another, manifest and all, is refused', async () => {
      const [mine, other] = [newName(), newName()];
      const manifest = await sealed.put(mine, putOf(Buffer.from('mine')));
      const forged = { ...(await sealed.put(other, putOf(Buffer.from('evil')))), ...mine };
      await harness.files.write(await dataFile(mine), await harness.files.read(await dataFile(other)));
      await harness.files.write(`${folder(mine)}/${mine.key}.json`, Buffer.from(JSON.stringify(forged)));
      const failure = await failureOf(sealed.open(mine, { expected: manifest, signal: never }));
      expect(failure).toMatchObject({ kind: 'CONFLICT' });
      expect(failure.message).toContain('recorded');
    });

    test('there is no backup without its manifest, and none without its file', async () => {
      const [first, second] = [newName(), newName()];
      await plain.put(first, putOf(Buffer.from('x')));
      await plain.put(second, putOf(Buffer.from('x')));
      await harness.files.remove(`${folder(first)}/${first.key}.json`);
      await harness.files.remove(await dataFile(second));
      expect(await failureOf(plain.open(first, { signal: never }))).toMatchObject({ kind: 'NOT_FOUND' });
      expect(await plain.find(first)).toBeUndefined();
      expect(await failureOf(plain.open(second, { signal: never }))).toMatchObject({ kind: 'CONFLICT' });
    });

    test('a manifest that was tampered with is listed as unreadable, and is not followed', async () => {
      const good = newName();
      const manifest = await plain.put(good, putOf(Buffer.from('good')));
      const bad: [string, string][] = [
        ['broken', '{"format":1,'],
        ['binary', '\u0000\u0001'],
        ['empty', ''],
        ['other', JSON.stringify(manifest)],
        ['escape', JSON.stringify({ ...manifest, key: '../../../etc/passwd' })],
        ['ending', JSON.stringify({ ...manifest, key: 'ending', extension: '../../x' })],
        ['count', JSON.stringify({ ...manifest, key: 'count', bytes: -1 })],
        ['proto', '{"__proto__":{"format":1}}'],
      ];
      for (const [key, text] of bad) await harness.files.write(`${folder(good)}/${key}.json`, Buffer.from(text));
      const listing = await plain.list({ project: good.project, datastore: good.datastore });
      expect(listing.backups.map((each) => each.manifest)).toEqual([manifest]);
      expect(listing.unreadable.map((each) => each.file).sort()).toEqual(
        bad.map(([key]) => `${folder(good)}/${key}.json`).sort(),
      );
      for (const [key] of bad)
        expect(await failureOf(plain.open({ ...good, key }, { signal: never }))).toMatchObject({ kind: 'CONFLICT' });
    });

    test('nothing is kept of a dump that failed, whose counts failed, or that was cancelled', async () => {
      const cancel = new AbortController();
      const failing = async function* (): Bytes {
        yield randomBytes(300_000);
        throw new Error('pg_dump died');
      };
      const silent = async function* (): Bytes {
        yield randomBytes(300_000);
        cancel.abort(new Error('cancelled'));
        await new Promise(() => undefined);
      };
      for (const backups of both()) {
        const attempts = [
          { ...putOf(randomBytes(10)), bytes: failing() },
          { ...putOf(randomBytes(300_000)), about: () => Promise.reject(new Error('pg_dump died')) },
          { ...putOf(randomBytes(10), cancel.signal), bytes: silent() },
        ];
        for (const attempt of attempts) {
          const name = newName();
          const failure = await backups.put(name, attempt).catch(messageOf);
          expect(failure).toMatch(/pg_dump died|cancelled/);
          expect(await harness.files.list(folder(name))).toEqual([]);
          expect(await backups.find(name)).toBeUndefined();
        }
      }
    });

    test('a source is given up when it is not read to its end', async () => {
      let returned = 0;
      const source = (): Bytes => ({
        [Symbol.asyncIterator]: () => ({
          next: () => Promise.resolve({ done: false as const, value: randomBytes(1000) }),
          return: () => {
            returned += 1;
            return Promise.resolve({ done: true as const, value: undefined });
          },
        }),
      });
      const name = newName();
      await plain.put(name, putOf(Buffer.from('x')));
      await failureOf(plain.put(name, { ...putOf(Buffer.from('')), bytes: source() }));
      expect(returned).toBe(1);
      await failureOf(plain.put({ ...name, key: '..' }, { ...putOf(Buffer.from('')), bytes: source() }));
      expect(returned).toBe(2);
    });

    test('an existing backup is not overwritten, and of two at once one is refused', async () => {
      const name = newName();
      const outcomes = await Promise.allSettled([
        plain.put(name, putOf(Buffer.from('one'))),
        plain.put(name, putOf(Buffer.from('two'))),
      ]);
      expect(outcomes.map((each) => each.status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(await failureOf(plain.put(name, putOf(Buffer.from('three'))))).toMatchObject({ kind: 'CONFLICT' });
      expect((await collect(await plain.open(name, { signal: never }))).toString()).toMatch(/^(one|two)$/);
    });

    test('names that could leave the folder are refused by every call', async () => {
      const good = newName();
      const evil = [
        '..',
        '../x',
        '../../etc/passwd',
        '/etc/passwd',
        'a/b',
        'a\\b',
        'a\0b',
        'a\nb',
        '.',
        '',
        '-x',
        '%2e%2e',
      ];
      const names = evil.flatMap((text) => [
        { ...good, key: text },
        { ...good, project: text },
        { ...good, datastore: text },
      ]);
      for (const name of [...names, { ...good, key: 'x'.repeat(200) }, { ...good, project: 'A' }]) {
        const calls = [
          plain.put(name, putOf(Buffer.from('x'))),
          plain.open(name, { signal: never }),
          plain.check(name, { signal: never }),
          plain.find(name),
          plain.remove(name),
          plain.copyToRemote(name, never),
          plain.confirm(name, { verified_at: '2026-03-04T02:20:00.000Z', rows: 1, duration_ms: 1 }),
        ];
        for (const call of calls) expect((await failureOf(call)).kind).toBe('INVALID_INPUT');
      }
      for (const extension of ['../x', 'json', 'part', 'age', '', 'a.b', 'a/b'])
        expect((await failureOf(plain.put(good, { ...putOf(Buffer.from('x')), extension }))).kind).toBe(
          'INVALID_INPUT',
        );
      expect((await failureOf(plain.list({ project: '../..' }))).kind).toBe('INVALID_INPUT');
      expect((await failureOf(plain.usedBytes('..'))).kind).toBe('INVALID_INPUT');
    });

    test('lists by project and datastore, oldest first, with the bytes they take', async () => {
      const [a, b] = [newName('list-one'), newName('list-two')];
      const late = { ...a, key: 'a-late' };
      const at = (created_at: string) => ({ about: () => ({ ...ABOUT, created_at }) });
      await plain.put(late, { ...putOf(randomBytes(500)), ...at('2026-03-05T00:00:00.000Z') });
      await plain.put(a, { ...putOf(randomBytes(500)), ...at('2026-03-04T00:00:00.000Z') });
      await plain.put(b, putOf(randomBytes(10)));
      const keys = async (filter: { project?: string; datastore?: string }) =>
        (await plain.list(filter)).backups.map((each) => each.manifest.key);
      expect(await keys({ project: 'list-one' })).toEqual([a.key, late.key]);
      expect(await keys({ project: 'list-two', datastore: b.datastore })).toEqual([b.key]);
      expect(await keys({ project: 'list-none' })).toEqual([]);
      expect(await keys({})).toContain(b.key);
      expect(await plain.usedBytes('list-one')).toBeGreaterThan(1000);
      expect(await plain.usedBytes('list-none')).toBe(0);
    });

    test('the name of a datastore that begins like another does not mix them up', async () => {
      const short = { ...newName('mixed'), datastore: 'db' };
      const long = { ...short, datastore: 'db-two', key: short.key };
      await plain.put(short, putOf(Buffer.from('short')));
      await plain.put(long, putOf(Buffer.from('long')));
      await plain.remove(short);
      expect((await plain.list({ project: 'mixed' })).backups.map((each) => each.manifest.datastore)).toEqual([
        'db-two',
      ]);
    });

    test('what was verified is in the manifest', async () => {
      const name = newName();
      const manifest = await sealed.put(name, putOf(Buffer.from('x')));
      const verification = { verified_at: '2026-03-04T02:20:00.000Z', rows: 12, duration_ms: 81.5 };
      expect(await sealed.confirm(name, verification)).toEqual({ ...manifest, verification });
      expect((await sealed.find(name))?.manifest).toEqual({ ...manifest, verification });
      expect(await failureOf(sealed.confirm(newName(), verification))).toMatchObject({ kind: 'NOT_FOUND' });
    });

    test('removes file and manifest, also of a backup whose manifest is broken; again is fine', async () => {
      const name = newName();
      await sealed.put(name, putOf(Buffer.from('x')));
      await harness.files.write(`${folder(name)}/${name.key}.json`, Buffer.from('broken'));
      await sealed.remove(name);
      await sealed.remove(name);
      expect(await harness.files.list(folder(name))).toEqual([]);
    });

    test('a reader that leaves early is no fault', async () => {
      for (const backups of both()) {
        const name = newName();
        await backups.put(name, putOf(randomBytes(3_000_000)));
        for await (const chunk of await backups.open(name, { signal: never })) {
          expect(chunk.byteLength).toBeGreaterThan(0);
          break;
        }
        await backups.remove(name);
      }
    });
  });
};
