import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commit, git, newWork, tempDir, tryGit } from '#test/support/git-client.ts';
import { hostedOn, startGitServer } from '#test/support/git-server.ts';
import { atEnd } from '#test/support/preload.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { until } from '#test/support/until.ts';

const MIB = 1024 ** 2;

const leftIn = (path: string): string[] =>
  readdirSync(path, { recursive: true })
    .map(String)
    .filter((name) => /incoming|tmp_|\.lock$|\.keep$/.test(name));

test('a full disk refuses pushes in words, breaks nothing, and heals', async () => {
  const disk = await SmallDisk.inMemory(tempDir(), 64);
  atEnd(() => disk.unmount());
  const dir = join(disk.dir, 'repos');
  mkdirSync(dir);
  const server = startGitServer({ dir });
  const hosted = await hostedOn(server);
  const work = await newWork();
  const first = await git(work, 'rev-parse', 'HEAD');
  expect((await tryGit(work, ['push', hosted.url, 'main'])).code).toBe(0);
  const second = await commit(work, { large: randomBytes(8 * MIB) });
  for (const free of [MIB, 0]) {
    await disk.fill(free);
    const { code, text } = await tryGit(work, ['push', hosted.url, 'main']);
    expect(code).toBe(1);
    expect(text).toContain('remote: berth: the disk of the server is full');
    expect(text).toContain('remote: hint: free disk space');
    expect(await hosted.refs()).toEqual([`${first} refs/heads/main`]);
    expect(leftIn(server.pathOf('site'))).toEqual([]);
    // What is there can still be read.
    await git('/', 'clone', '--quiet', hosted.url, join(tempDir(), 'clone'));
    disk.free();
    expect(await hosted.fsck()).toBe('');
  }
  expect((await tryGit(work, ['push', hosted.url, 'main'])).code).toBe(0);
  expect(await hosted.refs()).toEqual([`${second} refs/heads/main`]);
});

const startKillable = async (dir: string) => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'processes/git-server.ts'), dir], {
    stdout: 'pipe',
  });
  atEnd(() => child.kill('SIGKILL'));
  const { value } = await child.stdout.getReader().read();
  const port = Number(Buffer.from(value ?? []).toString());
  return { child, url: `http://berth:right@127.0.0.1:${port}/git/shop/site.git` };
};

const running = (path: string): boolean =>
  Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString().includes(`receive-pack --stateless-rpc ${path}`);

test.each([10, 60, 110, 125, 140, 180, 250])(
  'a server that is killed %p ms into a push leaves a whole repository, and takes the push afterwards',
  async (ms) => {
    const dir = tempDir();
    const path = join(dir, 'site.git');
    const first = await startKillable(dir);
    const work = await newWork();
    const before = await git(work, 'rev-parse', 'HEAD');
    await git(work, 'push', '--quiet', first.url, 'main');
    const after = await commit(work, { large: randomBytes(6 * MIB) });
    const pushing = tryGit(work, ['push', first.url, 'main']);
    await Bun.sleep(ms);
    first.child.kill('SIGKILL');
    await pushing;
    await until(() => !running(path));
    expect(await git(path, 'fsck', '--strict', '--no-progress', '--no-dangling')).toBe('');
    expect([before, after]).toContain(await git(path, 'rev-parse', 'main'));
    const second = await startKillable(dir);
    expect(await tryGit(work, ['push', second.url, 'main'])).toMatchObject({ code: 0 });
    expect(await git(path, 'rev-parse', 'main')).toBe(after);
    expect(leftIn(path)).toEqual([]);
  },
);
