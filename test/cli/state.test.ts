import { afterEach, beforeEach, expect, test } from 'bun:test';
import { Database } from 'bun:sqlite';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip, gunzipSync, gzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';
import { acquireLock } from '#kernel/lock';
import { MIGRATIONS, openDatabase } from '#kernel/database';
import { CliFailure } from '#cli/failure';
import { ABOUT } from '#cli/state/archive';
import { backupState, type BackupRequest } from '#cli/state/backup';
import type { DockerCall } from '#cli/state/containers';
import { LABEL_INSTANCE, requireGone } from '#cli/state/former';
import { restoreState, type RestoreRequest } from '#cli/state/restore';
import { LABEL } from '#deploy/index';
import { fsck, importInto, rawText } from '#test/support/git.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { Home } from './support/cli.ts';

const NEWEST = MIGRATIONS.at(-1)?.version ?? 0;
const NOW = Date.parse('2026-11-21T10:00:00Z');

let home: Home;
let db: Database;
beforeEach(() => {
  home = new Home();
  mkdirSync(home.path('data/proxy/acme'), { recursive: true });
  home.write({
    'data/secret.key': 'k'.repeat(64),
    'data/berth.toml': 'http_port = 8080\n',
    'data/proxy/acme/acme.json': '{"account":1}',
    'data/logs/shop/web.log': 'line',
    'data/uploads/op_1.tar.gz': 'upload',
    'data/registry/data/blob': 'blob'.repeat(1000),
    'data/datastores/ca.pem': 'certificate',
    'data/datastores/templates/postgres/postgres-17.tar': 'made again',
    'data/backups/shop/postgres/bkp_1.dump': 'dump',
    'data/backups/shop/postgres/bkp_1.json': '{}',
    'data/backups/shop/postgres/bkp_2.dump.part': 'half',
  });
  chmodSync(home.path('data/proxy/acme/acme.json'), 0o600);
  chmodSync(home.path('data/secret.key'), 0o600);
  db = openDatabase(home.path('data/berth.db'));
  db.query('INSERT INTO meta (key, value) VALUES (?1, ?2)').run('instance', 'one');
});
afterEach(() => {
  db.close();
  home.remove();
});

const backup = (options: Partial<BackupRequest> = {}) =>
  backupState({
    dataDir: home.path('data'),
    to: home.path('backup.tar.gz'),
    withImages: false,
    withBackups: false,
    force: false,
    now: NOW,
    onFile: () => undefined,
    ...options,
  });

const restore = (options: Partial<RestoreRequest> = {}) =>
  restoreState({
    from: home.path('backup.tar.gz'),
    dataDir: home.path('new'),
    force: false,
    newestSchema: NEWEST,
    isRunning: async () => false,
    requireGone: async () => undefined,
    now: NOW,
    ...options,
  });

const failureOf = async (work: Promise<unknown>): Promise<CliFailure> => {
  const thrown: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof CliFailure) return thrown;
  throw new Error(`no CliFailure but: ${String(thrown)}`);
};

const instanceIn = (folder: string): string | undefined => {
  const copy = new Database(home.path(folder, 'berth.db'), { readonly: true });
  const row = copy.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'instance'").get();
  copy.close();
  return row?.value;
};

/** Writes an archive again, with its entries changed. */
const rewrite = async (
  change: (name: string, content: Buffer) => { name: string; content: Buffer } | undefined,
): Promise<void> => {
  const from = extract();
  const to = pack();
  Readable.from([readFileSync(home.path('backup.tar.gz'))])
    .pipe(createGunzip())
    .pipe(from);
  for await (const entry of from) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry) chunks.push(chunk as Uint8Array);
    const changed = change(entry.header.name, Buffer.concat(chunks));
    if (changed !== undefined)
      to.entry({ ...entry.header, name: changed.name, size: changed.content.length }, changed.content);
  }
  to.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of to) parts.push(part as Uint8Array);
  writeFileSync(home.path('backup.tar.gz'), gzipSync(Buffer.concat(parts)));
};

const untouched = (): void => {
  expect(existsSync(home.path('new'))).toBe(false);
  expect(readdirSync(home.dir).filter((name) => name.includes('.restore-'))).toEqual([]);
};

test('what is backed up while the database is in use comes back as it was, modes included', async () => {
  db.query('INSERT INTO meta (key, value) VALUES (?1, ?2)').run('proxy_secret', 'in the write-ahead log');
  const manifest = await backup();
  expect(manifest).toMatchObject({
    format: 1,
    schema: NEWEST,
    created_at: '2026-11-21T10:00:00.000Z',
    with_images: false,
    with_backups: false,
  });
  expect(manifest.files.map(({ path }) => path)).toEqual([
    'berth.db',
    'berth.toml',
    'datastores/ca.pem',
    'proxy/acme/acme.json',
    'secret.key',
  ]);
  expect(statSync(home.path('backup.tar.gz')).mode & 0o777).toBe(0o600);
  expect(readdirSync(home.dir).sort()).toEqual(['backup.tar.gz', 'data']);
  const { kept } = await restore();
  expect(kept).toBeNull();
  expect(instanceIn('new')).toBe('one');
  expect(readFileSync(home.path('new/proxy/acme/acme.json'), 'utf8')).toBe('{"account":1}');
  expect(statSync(home.path('new/proxy/acme/acme.json')).mode & 0o777).toBe(0o600);
  expect(statSync(home.path('new')).mode & 0o777).toBe(0o700);
  expect(existsSync(home.path('new/logs'))).toBe(false);
  openDatabase(home.path('new/berth.db')).close();
});

test('with images, the registry comes along', async () => {
  await backup({ withImages: true });
  await restore();
  expect(readFileSync(home.path('new/registry/data/blob'), 'utf8')).toBe('blob'.repeat(1000));
});

test('with backups, those of datastores come along, but for one that is being written', async () => {
  const { files } = await backup({ withBackups: true });
  expect(files.map(({ path }) => path).filter((path) => path.startsWith('backups/'))).toEqual([
    'backups/shop/postgres/bkp_1.dump',
    'backups/shop/postgres/bkp_1.json',
  ]);
  await restore();
  expect(readFileSync(home.path('new/backups/shop/postgres/bkp_1.dump'), 'utf8')).toBe('dump');
});

test('a backup of a datastore that is let go of meanwhile is no failure', async () => {
  const manifest = await backup({
    withBackups: true,
    onFile: () => rmSync(home.path('data/backups'), { recursive: true, force: true }),
  });
  expect(manifest.files.some(({ path }) => path.startsWith('backups/'))).toBe(false);
  await restore();
});

test('git repositories come back with all refs, whatever their names, and without what was half written', async () => {
  const repo = home.path('data/repos/repo_1.git');
  mkdirSync(repo, { recursive: true });
  rawText(repo, ['init', '--quiet', '--bare', '--initial-branch=main']);
  importInto(repo, (stream) => {
    stream.commit({ files: { a: '1' } });
    stream.commit({ branch: 'packed', files: { a: '2' } });
  });
  rawText(repo, ['pack-refs', '--all']);
  const [main = '', packed = ''] = rawText(repo, ['for-each-ref', '--format=%(objectname)']).split('\n');
  rawText(repo, ['update-ref', 'refs/heads/packed', main]);
  writeFileSync(Buffer.from(`${repo}/refs/heads/caf\xE9`, 'latin1'), `${packed}\n`);
  const refs = rawText(repo, ['for-each-ref']);
  home.write({
    'data/repos/repo_1.git/refs/heads/main.lock': '',
    'data/repos/repo_1.git/objects/tmp_objdir-incoming-x/pack/tmp_pack_1': 'half',
    'data/repos/repo_1.git/mirror.tmp/HEAD': 'ref: refs/heads/main',
    'data/repos/.gone-repo_2.git/HEAD': 'ref: refs/heads/main',
  });
  await backup();
  await restore();
  const restored = home.path('new/repos/repo_1.git');
  expect(rawText(restored, ['for-each-ref'])).toBe(refs);
  expect(fsck(restored)).toBe('');
  expect(readdirSync(restored).sort()).toEqual(['HEAD', 'config', 'objects', 'packed-refs', 'refs']);
  expect(readdirSync(`${restored}/refs`)).toEqual([]);
  expect(readdirSync(`${restored}/objects`).filter((name) => name.startsWith('tmp'))).toEqual([]);
  expect(readdirSync(home.path('new/repos'))).toEqual(['repo_1.git']);
});

test('a file that exists is replaced with force only, and never by half a backup', async () => {
  home.write({ 'backup.tar.gz': 'precious' });
  expect((await failureOf(backup())).body.hint).toContain('--force');
  expect(readFileSync(home.path('backup.tar.gz'), 'utf8')).toBe('precious');
  await backup({ force: true });
  await restore();
});

test('a folder that is no data directory is refused', async () => {
  mkdirSync(home.path('empty'));
  const failure = await failureOf(
    backupState({
      dataDir: home.path('empty'),
      to: home.path('x'),
      withImages: false,
      withBackups: false,
      force: false,
      now: NOW,
      onFile: () => undefined,
    }),
  );
  expect(failure.body.message).toContain('holds no state of berth');
});

test('a backup into the data directory itself is refused', async () => {
  const failure = await failureOf(
    backupState({
      dataDir: home.path('data'),
      to: home.path('data/b.tar.gz'),
      withImages: false,
      withBackups: false,
      force: false,
      now: NOW,
      onFile: () => undefined,
    }),
  );
  expect(failure.body.message).toContain('would contain itself');
});

test('a directory that is not empty is replaced with force only, and kept beside', async () => {
  await backup();
  home.write({
    'new/berth.db': 'old state',
    'new/registry/data/blob': 'image',
    'new/logs/web.log': 'line',
    'new/backups/shop/postgres/bkp_1.dump': 'dump',
    'new/secret.key': 'old',
  });
  expect((await failureOf(restore())).body.hint).toContain('--force');
  expect(readFileSync(home.path('new/berth.db'), 'utf8')).toBe('old state');
  const { kept } = await restore({ force: true });
  expect(kept).not.toBeNull();
  expect(readFileSync(`${kept}/berth.db`, 'utf8')).toBe('old state');
  expect(readFileSync(`${kept}/secret.key`, 'utf8')).toBe('old');
  expect(instanceIn('new')).toBe('one');
  // A backup without images leaves those that are there in use.
  expect(readFileSync(home.path('new/registry/data/blob'), 'utf8')).toBe('image');
  expect(readFileSync(home.path('new/logs/web.log'), 'utf8')).toBe('line');
  expect(readFileSync(home.path('new/backups/shop/postgres/bkp_1.dump'), 'utf8')).toBe('dump');
});

/** What Docker has: containers and networks with their labels. */
const dockerWith =
  (containers: object[], networks: object[]): DockerCall =>
  async (_method, path) => ({ status: 200, body: path.startsWith('/networks') ? networks : containers });

test('another installation that has containers or networks is not restored over; the same one is', async () => {
  await backup();
  mkdirSync(home.path('new'));
  const other = openDatabase(home.path('new/berth.db'));
  other.query('INSERT INTO meta (key, value) VALUES (?1, ?2)').run('instance', 'other');
  other.close();
  home.write({ 'new/registry/data/blob': 'image of another' });
  const of = (instance: string, source = '/elsewhere'): object => ({
    Labels: { [LABEL.instance]: instance },
    Mounts: [{ Source: source }],
  });
  const over = (...docker: Parameters<typeof dockerWith>) =>
    restore({
      force: true,
      requireGone: (restored) => requireGone(dockerWith(...docker), { dataDir: home.path('new'), restored }),
    });
  const { body } = await failureOf(over([of('other'), of('third')], [of('other'), of('other')]));
  expect(body.message).toContain('1 container and 2 networks of it would be in the way');
  expect(body.hint).toContain('docker ps -aq --filter label=dev.berth.instance=other | xargs -r docker rm -f;');
  expect(instanceIn('new')).toBe('other');
  // Its database may be gone, and its proxy there.
  const mounted = of('lost', home.path('new/proxy/dynamic'));
  expect((await failureOf(over([mounted], []))).body.message).toContain('1 container of it');
  const { kept } = await over([of('one'), of('third')], [of('one')]);
  expect([instanceIn('new'), existsSync(`${kept}/registry/data/blob`)]).toEqual(['one', true]);
  expect(LABEL_INSTANCE).toBe(LABEL.instance);
});

test('a disk that is too small is said before anything is written, and one that fills meanwhile leaves what was there', async () => {
  writeFileSync(
    home.path('data/registry/data/large'),
    crypto.getRandomValues(Buffer.alloc(60_000)).toString('hex').repeat(20),
  );
  await backup({ withImages: true });
  mkdirSync(home.path('disk'));
  const disk = await SmallDisk.inMemory(home.path('disk'), 2);
  try {
    home.write({ 'disk/new/secret.key': 'old' });
    const onto = { dataDir: home.path('disk/new'), force: true };
    const small = (await failureOf(restore(onto))).body;
    expect(small.message).toMatch(/^the backup needs 2\.\d MB, and [12](?:\.\d)? MB are free at /);
    expect(small.hint).toContain('nothing was changed');
    // What the archive says of its size was true when it was looked at; then somebody else wrote.
    await rewrite((name, content) => ({
      name,
      content: name === ABOUT ? Buffer.from(JSON.stringify({ ...JSON.parse(String(content)), bytes: 1 })) : content,
    }));
    const { body } = await failureOf(restore(onto));
    expect([body.message, body.hint]).toEqual([
      'the disk is full',
      'free space or use a larger disk, then run it again',
    ]);
    expect(readdirSync(home.path('disk'))).toEqual(['new']);
    expect(readFileSync(home.path('disk/new/secret.key'), 'utf8')).toBe('old');
  } finally {
    await disk.unmount();
  }
});

test('settings of this machine that the archive has otherwise are listed, and others are not', async () => {
  writeFileSync(
    home.path('data/berth.toml'),
    'base_domain = "apps.example.com"\nhttp_port = 8080\nlisten = "127.0.0.1:4400"\nlog_level = "debug"\n',
  );
  await backup();
  home.write({
    'new/berth.toml': 'base_domain = "new.example.com"\nhttp_port = 8080\nacme_email = "me@example.com"\n',
  });
  const ran = await home.run(['state', 'restore', 'backup.tar.gz', '--data-dir', 'new', '--force']);
  expect(JSON.parse(ran.stdout).changed_settings).toEqual([
    { setting: 'base_domain', before: 'new.example.com', now: 'apps.example.com' },
    { setting: 'acme_email', before: 'me@example.com', now: '' },
  ]);
  const again = await home.run(['state', 'restore', 'backup.tar.gz', '--data-dir', 'new', '--force']);
  expect(JSON.parse(again.stdout).changed_settings).toEqual([]);
});

test('a running server is not restored over, whatever is forced', async () => {
  await backup();
  const lock = acquireLock(home.path('data/server.lock'));
  const ran = await home.run([
    'state',
    'restore',
    home.path('backup.tar.gz'),
    '--data-dir',
    home.path('data'),
    '--force',
  ]);
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.stderr)).toMatchObject({ message: `a server runs on ${home.path('data')}` });
  lock.release();
  expect(
    (await home.run(['state', 'restore', home.path('backup.tar.gz'), '--data-dir', home.path('data'), '--force'])).code,
  ).toBe(0);
});

test.each([0.001, 0.5, 0.98])('a backup of which only %d is left changes nothing', async (share) => {
  await backup({ withImages: true });
  const whole = readFileSync(home.path('backup.tar.gz'));
  writeFileSync(home.path('backup.tar.gz'), whole.subarray(0, Math.ceil(whole.length * share)));
  const failure = await failureOf(restore());
  expect(failure.body.hint).toBe('nothing was changed; use another backup');
  untouched();
});

test('a flipped bit is noticed, wherever gzip itself would not', async () => {
  await backup();
  const plain = gunzipSync(readFileSync(home.path('backup.tar.gz')));
  const at = plain.indexOf('{"account":1}');
  expect(at).toBeGreaterThan(0);
  plain[at + 3] = (plain[at + 3] ?? 0) ^ 1;
  writeFileSync(home.path('backup.tar.gz'), gzipSync(plain));
  expect((await failureOf(restore())).body.message).toContain('proxy/acme/acme.json differs from its checksum');
  untouched();
});

test.each([
  [
    'is missing',
    (name: string, content: Buffer) => (name === 'secret.key' ? undefined : { name, content }),
    'secret.key is missing',
  ],
  [
    'is one too many',
    (name: string, content: Buffer) => ({ name: name === 'secret.key' ? 'secret.key2' : name, content }),
    'secret.key is missing',
  ],
  [
    'climbs out',
    (name: string, content: Buffer) => ({ name: name === 'secret.key' ? '../evil' : name, content }),
    '"../evil"',
  ],
  [
    'is absolute',
    (name: string, content: Buffer) => ({ name: name === 'secret.key' ? '/tmp/evil' : name, content }),
    '"/tmp/evil"',
  ],
  [
    'has no manifest',
    (name: string, content: Buffer) => (name === 'manifest.json' ? undefined : { name, content }),
    'it has no manifest',
  ],
])('an archive in which something %s is refused', async (_, change, message) => {
  await backup();
  await rewrite(change);
  expect((await failureOf(restore())).body.message).toContain(message);
  expect(existsSync(home.path('evil'))).toBe(false);
  untouched();
});

test('a backup of a newer berth is refused', async () => {
  await backup();
  expect((await failureOf(restore({ newestSchema: 0 }))).body.hint).toContain('or later');
  untouched();
});

test('the commands say what they did as JSON', async () => {
  const made = await home.run(['state', 'backup', 'b.tar.gz', '--data-dir', 'data', '--no-images', '--no-backups']);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(made.stdout)).toMatchObject({
    file: home.path('b.tar.gz'),
    files: 5,
    schema: NEWEST,
    with_images: false,
    with_backups: false,
  });
  const restored = await home.run(['state', 'restore', 'b.tar.gz', '--data-dir', 'new']);
  expect(JSON.parse(restored.stdout)).toMatchObject({ data_dir: home.path('new'), files: 5, kept: null });
});
