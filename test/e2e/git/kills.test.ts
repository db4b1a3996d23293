import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '#modules/operations';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { commit, git, newWork, tryGit } from '#test/support/git-client.ts';
import { until } from '#test/support/until.ts';
import { createRepo, fsck, repoDir, urlWith } from './kit.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--rate-limit-per-minute', '0']);
  await berth.project('shop');
}, 60_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const furnished = async (name: string) => {
  const repo = await createRepo(berth, 'shop', { name, deploy_service: name });
  const dir = await newWork();
  await commit(dir, helloApp('before'));
  const url = urlWith(repo.clone_url, berth.token);
  const path = repoDir(berth, 'shop', name);
  expect((await tryGit(dir, ['push', url, 'main'])).text).toContain('live at ');
  return { dir, url, path };
};

const deploysOf = async (service: string): Promise<Operation[]> =>
  (await berth.api(`/v1/operations?project=shop&service=${service}`)).body.operations;

/** What is being written into a repository. */
const unfinished = (path: string): string[] =>
  readdirSync(path, { recursive: true })
    .map(String)
    .filter((name) => /incoming|tmp_pack/.test(name));

describe('kill -9 of berth', () => {
  test('in mid-push: the repository is whole, and the next push goes through', async () => {
    const { dir, url, path } = await furnished('half');
    const before = await git(path, 'rev-parse', 'main');
    const after = await commit(dir, { ...helloApp('after'), 'large.bin': randomBytes(40 * 1024 * 1024) });
    const pushing = tryGit(dir, ['push', url, 'main']);
    await until(() => unfinished(path).length > 0);
    await berth.stop('SIGKILL');
    expect((await pushing).code).not.toBe(0);
    await berth.start();
    expect(await fsck(path)).toBe('');
    expect([before, after]).toContain(await git(path, 'rev-parse', 'main'));
    expect(await berth.appText('shop', 'half')).toBe('before');
    const { code, text } = await tryGit(dir, ['push', url, 'main']);
    expect(code).toBe(0);
    expect(await git(path, 'rev-parse', 'main')).toBe(after);
    // The refs may have moved just before the kill: then the deploy was begun at the start, and there is nothing to push.
    if (!text.includes('Everything up-to-date')) expect(text).toContain('live at ');
    await until(async () => (await berth.appText('shop', 'half')) === 'after');
    expect(await fsck(path)).toBe('');
  }, 120_000);

  test.each(['building', 'rolling_out'])(
    'in mid-deploy, %s: what was pushed is live after the start',
    async (phase) => {
      const name = phase.replace('_', '-');
      const { dir, url, path } = await furnished(name);
      const id = await commit(dir, helloApp('after'));
      const child = Bun.spawn(['git', '-C', dir, 'push', url, 'main'], { stderr: 'pipe' });
      let text = '';
      for await (const chunk of child.stderr) {
        text += Buffer.from(chunk).toString();
        if (!text.includes(`remote: ${phase}: `)) continue;
        await berth.stop('SIGKILL');
        break;
      }
      await child.exited;
      await berth.start();
      expect(await git(path, 'rev-parse', 'main')).toBe(id);
      expect(await fsck(path)).toBe('');
      const operation = /operation (?<id>op_\w+)/.exec(text)?.groups?.['id'] ?? '';
      expect(await berth.wait(operation)).toMatchObject({
        status: 'succeeded',
        phase: 'healthy',
        result: { commit: id },
      });
      expect(await berth.appText('shop', name)).toBe('after');
      expect(await deploysOf(name)).toHaveLength(2);
      expect((await tryGit(dir, ['push', url, 'main'])).text).toContain('Everything up-to-date');
    },
    120_000,
  );

  test('again and again while pushes come in: nothing that was acknowledged is lost', async () => {
    const { dir, url, path } = await furnished('often');
    const acknowledged: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const id = await commit(dir, { [`file-${round}`]: randomBytes(2 * 1024 * 1024) });
      const pushing = tryGit(dir, ['push', '-o', 'no-wait', url, `main:refs/heads/round-${round}`]);
      await Bun.sleep(20 + round * 40);
      await berth.stop('SIGKILL');
      if ((await pushing).code === 0) acknowledged.push(`${id} refs/heads/round-${round}`);
      await berth.start();
      expect(await fsck(path)).toBe('');
    }
    const refs = (await git(path, 'for-each-ref', '--format=%(objectname) %(refname)')).split('\n');
    for (const ref of acknowledged) expect(refs).toContain(ref);
    expect((await tryGit(dir, ['push', url, 'main'])).text).toContain('live at ');
    const clone = join(await newWork(), 'clone');
    await git('/', 'clone', '--quiet', url, clone);
    expect(await git(clone, 'rev-parse', 'HEAD')).toBe(await git(dir, 'rev-parse', 'HEAD'));
  }, 180_000);
});
