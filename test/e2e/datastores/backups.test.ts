import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backup } from '#modules/datastores';
import { Berth } from '#test/support/berth.ts';
import { type S3Server, startS3 } from '#test/support/s3.ts';
import { until } from '#test/support/until.ts';
import { appSql, ask, backupFiles, createDatastore, editState, leftovers, probeApp, Store, storedFile } from './kit.ts';

const DAY_MS = 86_400_000;

let berth: Berth;
let s3: S3Server;
const postgres = (): Store => new Store(berth, 'shop', 'postgres');
const keyFile = (): string => join(berth.dataDir, 'backup-key.txt');

beforeAll(async () => {
  s3 = await startS3();
  berth = await Berth.boot([], {
    prepare: ({ dataDir }) => {
      const settings = {
        backup_key_file: join(dataDir, 'backup-key.txt'),
        backup_s3_endpoint: s3.endpoint,
        backup_s3_bucket: s3.bucket,
        backup_s3_access_key: s3.accessKeyId,
        backup_s3_secret_key: s3.secretAccessKey,
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
      writeFileSync(join(dataDir, 'berth.toml'), lines.join(''));
      return Promise.resolve({ cleanUp: s3.stop });
    },
  });
  await berth.project('shop');
  await Promise.all((['postgres', 'redis', 'mongo'] as const).map((kind) => createDatastore(berth, 'shop', { kind })));
  expect(await berth.deploy('shop', 'web', await probeApp())).toMatchObject({ status: 'succeeded', error: null });
  await sql('CREATE TABLE people (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL)');
  await sql("INSERT INTO people (name) SELECT 'Grüße ' || n FROM generate_series(1, 1000) n");
  await sql('CREATE VIEW short AS SELECT name FROM people WHERE id < 10');
  await ask(berth, 'shop', 'web', ['/redis', { command: ['MSET', 'a', '1', 'b', '2'] }]);
  const insert = JSON.stringify({ insert: 'things', documents: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  await new Store(berth, 'shop', 'mongo').query(insert);
}, 240_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const sql = (query: string, params: unknown[] = []): Promise<unknown[][]> =>
  appSql(berth, ['shop', 'web'], query, params);

const people = async (): Promise<number> => Number((await sql('SELECT count(*) FROM people'))[0]?.[0]);

/** Databases inside of the instance besides the live one. */
const beside = async (): Promise<unknown[]> =>
  (
    await sql("SELECT datname FROM pg_database WHERE datname NOT IN ('app', 'postgres', 'template0', 'template1')")
  ).flat();

const download = (store: Store, key: string): Promise<Response> =>
  fetch(`${berth.url}${store.path}/backups/${key}/download`, { headers: { authorization: `Bearer ${berth.token}` } });

describe('a backup', () => {
  const made: Record<string, Backup> = {};

  test.each([
    ['postgres', { 'public.people': 1000 }],
    ['redis', { keys: 2 }],
    ['mongo', { 'app.things': 3 }],
  ])(
    'of %s is restored elsewhere, counted and compared before it counts',
    async (kind, objects) => {
      const backup = await new Store(berth, 'shop', kind).backup();
      const rows = Object.values(objects).reduce((sum, each) => sum + each, 0);
      expect(backup).toMatchObject({
        status: 'verified',
        cause: 'manual',
        rows,
        objects,
        encrypted: true,
        error: null,
      });
      expect(Date.parse(backup.verified_at ?? '')).toBeGreaterThan(Date.parse(backup.started_at));
      expect(backup.duration_ms).toBeGreaterThan(0);
      const file = storedFile(berth, backup.key);
      const stored = readFileSync(file);
      expect(backup.bytes).toBe(stored.length);
      expect(backup.sha256).toBe(new Bun.CryptoHasher('sha256').update(stored).digest('hex'));
      expect(stored.subarray(0, 21).toString()).toBe('age-encryption.org/v1');
      expect(statSync(file).mode & 0o077).toBe(0);
      expect(backup.places).toEqual(['disk', 's3']);
      const show = await new Store(berth, 'shop', kind).show();
      expect(show.last_backup).toMatchObject({ key: backup.key, status: 'verified' });
      made[kind] = backup;
    },
    60_000,
  );

  test('leaves nothing behind of the instances that it was tried in', async () => {
    expect(await leftovers(berth)).toEqual([]);
  });

  test('of Postgres is downloaded as an archive that pg_restore reads', async () => {
    const response = await download(postgres(), made['postgres']?.key ?? '');
    expect(response.headers.get('content-disposition')).toContain('.dump');
    const archive = await response.bytes();
    const run = Bun.spawn(['docker', 'run', '--rm', '-i', '--network', 'none', 'postgres:17', 'pg_restore', '--list'], {
      stdin: new Blob([archive]),
      stdout: 'pipe',
    });
    const list = await new Response(run.stdout).text();
    expect(await run.exited).toBe(0);
    expect(list).toMatch(/TABLE DATA public people/);
    expect(list).toMatch(/VIEW public short/);
  }, 30_000);

  test('of Redis is downloaded as the file that Redis loads', async () => {
    const bytes = await (await download(new Store(berth, 'shop', 'redis'), made['redis']?.key ?? '')).bytes();
    expect(Buffer.from(bytes.subarray(0, 9)).toString()).toMatch(/^REDIS\d{4}$|^VALKEY/);
  });

  test.each(['redis', 'mongo'])('of %s is not restored by berth, which says what to do instead', async (kind) => {
    const body = { key: made[kind]?.key };
    const path = `/v1/projects/shop/datastores/${kind}`;
    const replies = [
      await berth.api(`${path}/restore`, { method: 'POST', body }),
      await berth.api(`${path}/fork`, { method: 'POST', body: { ...body, name: 'copy' } }),
    ];
    for (const reply of replies) {
      expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', retryable: false } });
      expect(reply.body.hint).toContain('download');
    }
  });
});

describe('a restore', () => {
  let key = '';

  test('brings back what was deleted, while the app is connected; undoing it swaps back, and again', async () => {
    key = (await postgres().backup()).key;
    await sql('DELETE FROM people WHERE id > 10');
    await sql("INSERT INTO people (name) VALUES ('after the backup')");
    expect(await people()).toBe(11);
    const restored = await postgres().change('restore', { key });
    expect(restored).toMatchObject({ status: 'succeeded', phase: 'ready', error: null, result: { key, rows: 1000 } });
    await until(async () => (await people()) === 1000);
    expect(await sql('SELECT count(*)::int FROM short')).toEqual([[9]]);
    const { kept } = await postgres().show();
    expect(kept).toMatchObject({ backup: key });
    expect(Date.parse(kept?.until ?? '') - Date.parse(kept?.restored_at ?? '')).toBe(DAY_MS);
    expect(await postgres().change('restore/undo')).toMatchObject({ status: 'succeeded', error: null });
    await until(async () => (await people()) === 11);
    expect(await postgres().change('restore/undo')).toMatchObject({ status: 'succeeded', error: null });
    await until(async () => (await people()) === 1000);
    // The identity goes on where it was: nothing collides.
    await sql("INSERT INTO people (name) VALUES ('new')");
    expect(await people()).toBe(1001);
    expect(await beside()).toHaveLength(1);
  }, 90_000);

  test('that keeps nothing leaves nothing to swap back', async () => {
    expect(await postgres().change('restore', { key, keep_hours: 0 })).toMatchObject({ status: 'succeeded' });
    await until(async () => (await people()) === 1000);
    expect(await beside()).toEqual([]);
    expect((await postgres().show()).kept).toBeNull();
    expect(await berth.api(`${postgres().path}/restore/undo`, { method: 'POST' })).toMatchObject({ status: 409 });
  }, 60_000);

  /** A restore that must fail and change nothing; resolves with the reason. */
  const failing = async (): Promise<string> => {
    await sql("INSERT INTO people (name) VALUES ('must stay')");
    const before = await people();
    const operation = await postgres().change('restore', { key });
    expect(operation).toMatchObject({
      status: 'failed',
      phase: 'failed',
      error: { hint: expect.stringMatching(/\w/) },
    });
    expect(await people()).toBe(before);
    expect(await beside()).toEqual([]);
    expect(await leftovers(berth)).toEqual([]);
    const response = await download(postgres(), key);
    const isWhole = response.ok && (await response.bytes().then(Boolean, () => false));
    expect(isWhole).toBe(false);
    expect((await postgres().show()).status).toBe('ready');
    return operation.error?.message ?? '';
  };

  const flip = (file: string): void => {
    const bytes = readFileSync(file);
    const at = Math.floor(bytes.length * 0.7);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  };

  /** Damages the stored file for a while. */
  const damaged = async (damage: (file: string) => void, work: () => Promise<void>): Promise<void> => {
    const file = storedFile(berth, key);
    copyFileSync(file, `${file}.whole`);
    try {
      damage(file);
      await work();
    } finally {
      renameSync(`${file}.whole`, file);
    }
  };

  test('of a file that is damaged or gone takes it from the bucket', async () => {
    for (const damage of [flip, (file: string) => rmSync(file)]) {
      await damaged(damage, async () => {
        const operation = await postgres().change('restore', { key, keep_hours: 0 });
        expect(operation).toMatchObject({ status: 'succeeded', error: null });
      });
      await until(async () => (await people()) === 1000);
    }
  }, 60_000);

  test('of a file in which one bit has flipped changes nothing, and says why', async () => {
    const { contents = [] } = await s3.client.list();
    const copies = contents.filter((object) => object.key.includes(key));
    expect(copies).toHaveLength(2);
    for (const copy of copies) await s3.client.delete(copy.key);
    await damaged(flip, async () => expect(await failing()).toContain('damaged'));
  }, 60_000);

  test('of a file that was cut off changes nothing, and says why', async () => {
    const cut = (file: string): void => truncateSync(file, Math.floor(statSync(file).size / 2));
    await damaged(cut, async () => expect(await failing()).toMatch(/bytes/i));
  }, 60_000);

  test('without the key that the backup is encrypted for changes nothing, and says which it needs', async () => {
    const backup = await postgres().backup();
    key = backup.key;
    const recipient = /age1\w+/.exec(readFileSync(keyFile(), 'utf8'))?.[0] ?? expect.unreachable();
    renameSync(keyFile(), `${keyFile()}.right`);
    await berth.stop('SIGTERM');
    await berth.start();
    expect(readFileSync(keyFile(), 'utf8')).not.toContain(recipient);
    expect(await failing()).toContain(recipient);
    await berth.stop('SIGTERM');
    renameSync(`${keyFile()}.right`, keyFile());
    await berth.start();
    expect(await postgres().change('restore', { key, keep_hours: 0 })).toMatchObject({ status: 'succeeded' });
    await until(async () => (await people()) === backup.rows);
  }, 90_000);
});

describe('nightly', () => {
  test('a datastore is backed up once it is due, and what is past its days goes, from everywhere', async () => {
    const kept = await postgres().backups();
    const oldest = kept.at(-1)?.key ?? expect.unreachable();
    expect((await postgres().show()).next_backup_at).not.toBeNull();
    await berth.stop('SIGTERM');
    const twoDaysAgo = Date.now() - 2 * DAY_MS;
    editState(berth, "UPDATE datastores SET created_at = ? WHERE kind <> 'mongo'", twoDaysAgo);
    editState(berth, 'UPDATE backups SET started_at = ? WHERE key = ?', Date.now() - 8 * DAY_MS, oldest);
    await berth.start();
    for (const kind of ['postgres', 'redis']) {
      const store = new Store(berth, 'shop', kind);
      await until(async () => {
        const [newest] = await store.backups();
        return newest?.cause === 'nightly' && newest.status === 'verified';
      }, 60);
      expect((await store.backups()).filter(({ cause }) => cause === 'nightly')).toHaveLength(1);
      const { next_backup_at: next } = await store.show();
      expect(Date.parse(next ?? '')).toBeGreaterThan(Date.now());
    }
    await until(async () => !(await postgres().backups()).some(({ key }) => key === oldest));
    expect(backupFiles(berth).filter((path) => path.includes(oldest))).toEqual([]);
    await until(async () => {
      const { contents = [] } = await s3.client.list();
      return contents.every(({ key }) => !key.includes(oldest));
    });
    expect((await new Store(berth, 'shop', 'mongo').backups()).map(({ cause }) => cause)).toEqual(['manual']);
    const events = (await berth.api('/v1/projects/shop')).body.recent_events;
    expect(events.map((event: { kind: string }) => event.kind)).toContain('backup.verified');
  }, 120_000);
});
