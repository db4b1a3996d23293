import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Berth } from '#test/support/berth.ts';
import { commit, git, newWork, tempDir, tryGit } from '#test/support/git-client.ts';
import { createRepo, fsck, repoDir, urlWith } from './kit.ts';

const EXECUTABLE = join(import.meta.dir, '../../../dist/berth');
const PUSHERS = 3;

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--rate-limit-per-minute', '0']);
  await berth.project('shop');
}, 60_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const state = async (...args: string[]): Promise<void> => {
  const child = Bun.spawn([EXECUTABLE, ...args], { stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  expect({ code: await child.exited, said }).toEqual({ code: 0, said: expect.any(String) });
};

const refsOf = async (dir: string): Promise<string[]> =>
  (await git(dir, 'for-each-ref', '--format=%(objectname) %(refname)')).split('\n').filter((line) => line !== '');

test('a backup of the state, made while pushes and gc go on, has whole repositories, which another server serves', async () => {
  const repo = await createRepo(berth, 'shop', { name: 'busy' });
  const empty = await createRepo(berth, 'shop', { name: 'empty' });
  const url = urlWith(repo.clone_url, berth.token);
  const path = repoDir(berth, 'shop', 'busy');
  const acknowledged: string[] = [];
  const over = new AbortController();
  const pushing = Array.from({ length: PUSHERS }, async (_, pusher) => {
    const dir = await newWork();
    for (let n = 0; !over.signal.aborted; n += 1) {
      const id = await commit(dir, { [`file-${pusher}-${n}`]: `${n}` });
      const ref = `refs/heads/branch-${pusher}-${n}`;
      if ((await tryGit(dir, ['push', '--quiet', url, `main:${ref}`])).code === 0) acknowledged.push(`${id} ${ref}`);
    }
  });
  const packing = (async () => {
    while (!over.signal.aborted) await git(path, 'gc', '--quiet');
  })();
  const archive = join(tempDir(), 'state.tar.gz');
  const into = join(tempDir(), 'restored');
  try {
    for (let round = 0; round < 6; round += 1) {
      const before = [...acknowledged];
      await state('state', 'backup', archive, '--data-dir', berth.dataDir, '--no-images', '--force');
      rmSync(into, { recursive: true, force: true });
      mkdirSync(into);
      await state('state', 'restore', archive, '--data-dir', into);
      const copy = path.replace(berth.dataDir, into);
      expect(await fsck(copy)).toBe('');
      const refs = await refsOf(copy);
      for (const ref of before) expect(refs).toContain(ref);
    }
  } finally {
    over.abort();
    await Promise.all([...pushing, packing]);
  }
  // Of the same installation one server runs at a time.
  await berth.stop();
  const prepare = async (other: Berth) => {
    await state('state', 'restore', archive, '--data-dir', other.dataDir, '--force');
    return { cleanUp: async () => undefined };
  };
  const other = await Berth.boot([], { prepare });
  try {
    const clone = join(tempDir(), 'clone');
    const { body } = await other.api('/v1/projects/shop/repos/busy');
    await git('/', 'clone', '--quiet', '--mirror', urlWith(body.clone_url, other.token), clone);
    expect(await refsOf(clone)).toEqual(await refsOf(path.replace(berth.dataDir, other.dataDir)));
    const work = await newWork();
    const there = urlWith(empty.clone_url, other.token).replace(berth.url.slice(7), other.url.slice(7));
    await git(work, 'push', '--quiet', there, 'main');
    await git(clone, 'fetch', '--quiet', there, 'main');
  } finally {
    await other.destroy();
  }
}, 180_000);
