import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { removeByLabel } from '#test/support/docker.ts';
import { commit, git, newWork } from '#test/support/git-client.ts';
import { LABEL } from '#deploy/index';
import { createDatastore, Store } from './datastores/kit.ts';
import { createRepo, newToken, urlWith } from './git/kit.ts';

const EXECUTABLE = join(import.meta.dir, '../../dist/berth');
const folder = mkdtempSync(join(tmpdir(), 'berth-move-'));
const archive = join(folder, 'server.tar.gz.age');
const key = join(folder, 'key.txt');

let berth: Berth;
let moved: Berth | undefined;

beforeAll(async () => {
  berth = await Berth.boot();
}, 60_000);

afterAll(async () => {
  await moved?.destroy();
  await berth.destroy();
  rmSync(folder, { recursive: true, force: true });
}, 90_000);

const run = async (...args: string[]) => {
  const child = Bun.spawn([EXECUTABLE, ...args, '--json'], {
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return {
    code,
    out: stdout === '' ? undefined : JSON.parse(stdout),
    error: stderr.split('\n').findLast((line) => line !== '') ?? '',
  };
};

const app = nodeApp(`(request, response) => response.end('made before the move, says ' + process.env.GREETING)`);

test('a whole server comes up on another one: services without a build, rows, repositories, variables, tokens', async () => {
  await berth.project('shop');
  await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { GREETING: 'hello' } });
  await createDatastore(berth, 'shop', { kind: 'postgres', name: 'main' });
  const before = new Store(berth, 'shop', 'main');
  await before.query('CREATE TABLE orders (id int PRIMARY KEY, what text)');
  await before.query("INSERT INTO orders SELECT n, 'order ' || n FROM generate_series(1, 500) n");
  expect((await berth.deploy('shop', 'web', app)).status).toBe('succeeded');
  expect(await berth.appText('shop', 'web')).toBe('made before the move, says hello');
  const { secret } = await newToken(berth, ['shop'], ['read']);
  const repo = await createRepo(berth, 'shop', { name: 'site' });
  const work = await newWork();
  const head = await commit(work, { 'index.html': 'pushed' });
  await git(work, 'push', '--quiet', urlWith(repo.clone_url, berth.token), 'main');

  const token = ['--endpoint', berth.url, '--token', berth.token];
  const made = await run(
    'state',
    'backup',
    archive,
    '--data-dir',
    berth.dataDir,
    '--fresh',
    '--key-file',
    key,
    ...token,
  );
  expect(made).toMatchObject({ code: 0, out: { with_images: true, with_backups: true, encrypted: true } });
  expect(statSync(archive).mode & 0o777).toBe(0o600);
  expect(readFileSync(archive).includes(Buffer.from(berth.token))).toBe(false);
  expect(await run('state', 'verify', archive, '--key-file', key)).toMatchObject({
    code: 0,
    out: { files: made.out.files },
  });

  // The machine of before is gone, with its containers, volumes and images.
  const instance = berth.instance();
  await berth.stop('SIGKILL');
  await removeByLabel(`${LABEL.instance}=${instance}`);
  moved = await Berth.boot([], {
    prepare: async (other) => {
      const restored = await run(
        'state',
        'restore',
        archive,
        '--data-dir',
        other.dataDir,
        '--key-file',
        key,
        '--force',
      );
      expect(restored).toMatchObject({ code: 0, out: { data_dir: other.dataDir } });
      return { cleanUp: async () => undefined };
    },
  });
  moved.token = berth.token;
  const here = moved;
  expect(here.instance()).toBe(instance);
  const deadline = performance.now() + 90_000;
  const come = async (): Promise<string> => (await here.app('shop', 'web')).text().catch(String);
  while ((await come()) !== 'made before the move, says hello' && performance.now() < deadline) await Bun.sleep(100);
  expect(await come()).toBe('made before the move, says hello');
  const { body: operations } = await here.api('/v1/operations?project=shop&limit=200');
  expect(operations.operations.filter((operation: { kind: string }) => operation.kind === 'deploy')).toHaveLength(1);

  const after = new Store(here, 'shop', 'main');
  const rows = (): Promise<unknown> =>
    after.query('SELECT count(*)::int, max(what) FROM orders').catch((thrown: unknown) => String(thrown));
  while (JSON.stringify(await rows()) !== '[[500,"order 99"]]' && performance.now() < deadline) await Bun.sleep(200);
  expect(await rows()).toEqual([[500, 'order 99']]);

  const clone = join(folder, 'clone');
  const { body } = await here.api('/v1/projects/shop/repos/site');
  await git('/', 'clone', '--quiet', urlWith(body.clone_url, here.token), clone);
  expect((await git(clone, 'rev-parse', 'HEAD')).trim()).toBe(head);
  expect((await here.api('/v1/projects/shop', { token: secret })).status).toBe(200);
  expect((await here.api('/v1/projects/shop', { token: `${secret}x` })).status).toBe(401);
  // It lives: what was made before is changed and deployed again.
  expect((await here.deploy('shop', 'web', nodeApp(`(request, response) => response.end('after')`))).status).toBe(
    'succeeded',
  );
  expect(await here.appText('shop', 'web')).toBe('after');
  const back = await here.api('/v1/projects/shop/services/web/rollback', { method: 'POST', body: {} });
  expect(back.status).toBe(202);
  expect((await here.wait(back.body.operation_id)).status).toBe('succeeded');
  expect(await here.appText('shop', 'web')).toBe('made before the move, says hello');
}, 300_000);

test.each([
  ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1000)],
  [
    'of which one bit is flipped',
    (bytes: Buffer) =>
      Buffer.from(bytes).fill((bytes[bytes.length >> 1] ?? 0) ^ 1, bytes.length >> 1, (bytes.length >> 1) + 1),
  ],
])(
  'an encrypted archive that is %s is refused, and nothing is there afterwards',
  async (_, change) => {
    const damaged = join(folder, 'damaged.age');
    const target = join(folder, 'nothing');
    writeFileSync(damaged, change(readFileSync(archive)));
    expect((await run('state', 'verify', damaged, '--key-file', key)).code).toBe(1);
    const { code, error } = await run('state', 'restore', damaged, '--data-dir', target, '--key-file', key);
    expect({ code, hint: JSON.parse(error).hint }).toEqual({
      code: 1,
      hint: 'nothing was changed; use another backup',
    });
    expect(existsSync(target)).toBe(false);
  },
  60_000,
);

test('without its key, or with another one, an encrypted archive is refused with the reason', async () => {
  const target = join(folder, 'nothing');
  expect(JSON.parse((await run('state', 'restore', archive, '--data-dir', target)).error)).toMatchObject({
    message: expect.stringContaining('is encrypted'),
    hint: expect.stringContaining('--key-file'),
  });
  const other = join(folder, 'other.txt');
  await run(
    'state',
    'backup',
    join(folder, 'small.age'),
    '--data-dir',
    moved?.dataDir ?? '',
    '--no-images',
    '--no-backups',
    '--key-file',
    other,
  );
  const { code, error } = await run('state', 'restore', archive, '--data-dir', target, '--key-file', other);
  expect(code).toBe(1);
  expect(JSON.parse(error).message).toMatch(/key|identit/);
  expect(existsSync(target)).toBe(false);
}, 60_000);

test('a restore that is killed in the middle is made again', async () => {
  const target = join(folder, 'killed');
  const child = Bun.spawn([EXECUTABLE, 'state', 'restore', archive, '--data-dir', target, '--key-file', key], {
    stdout: 'ignore',
    stderr: 'ignore',
  });
  while (!existsSync(`${target}.restore/registry`) && child.exitCode === null) await Bun.sleep(1);
  child.kill('SIGKILL');
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
  expect(existsSync(target)).toBe(false);
  expect((await run('state', 'restore', archive, '--data-dir', target, '--key-file', key)).code).toBe(0);
  expect(readdirSync(dirname(target)).filter((name) => name.startsWith('killed'))).toEqual(['killed']);
}, 60_000);
