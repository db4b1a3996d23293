import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Berth } from '#test/support/berth.ts';
import { commit, git, newWork, tempDir } from '#test/support/git-client.ts';
import { openGitClients } from '#test/support/git-clients.ts';
import { SCENARIOS, type GitClient, type Hosted } from '#test/support/git-scenarios.ts';
import { createRepo, fsck, hostedOn, newToken, repoDir, urlWith } from './kit.ts';

const { clients, remove } = await openGitClients();
let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--quota-repos', '500', '--rate-limit-per-minute', '0']);
  await berth.project('shop');
  await berth.project('other');
}, 60_000);

afterAll(async () => {
  await berth.destroy();
  await remove();
}, 60_000);

let repos = 0;
const newHosted = (): Promise<Hosted> => {
  repos += 1;
  return hostedOn(berth, 'shop', `repo-${repos}`);
};

/** Of the server, resident, in MiB. */
const memory = (): number => Number(readFileSync(`/proc/${berth.pid}/statm`, 'utf8').split(' ')[1]) / 256;

describe.each(clients.map((client) => [client.name, client] as const))('%s', (_name, client) => {
  const scenarios = SCENARIOS.filter(({ needs }) => needs.every((feature) => client.can.has(feature)));

  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))('%s', async (_scenario, scenario) => {
    const hosted = await newHosted();
    await scenario.play(client, hosted);
    expect(await hosted.fsck()).toBe('');
  });

  test('tokens that may not are refused, with nothing told of what is there', async () => {
    const hosted = await newHosted();
    const dir = await newWork();
    expect((await client.push(dir, hosted.url, ['refs/heads/main:refs/heads/main'])).ok).toBe(true);
    const before = await hosted.refs();
    const plain = hosted.url.replace(/:\/\/[^@]+@/, '://');
    const revoked = await newToken(berth, ['shop']);
    expect(await tries(client, urlWith(plain, revoked.secret))).toEqual({ cloned: true, pushed: true });
    expect((await berth.api(`/v1/tokens/${revoked.id}`, { method: 'DELETE' })).status).toBe(200);
    const tokens = {
      revoked,
      incapable: await newToken(berth, ['shop'], ['read', 'deploy']),
      foreign: await newToken(berth, ['other']),
    };
    for (const { secret } of Object.values(tokens))
      expect(await tries(client, urlWith(plain, secret))).toEqual({ cloned: false, pushed: false });
    expect(await hosted.refs()).toEqual([...before, expect.stringContaining('refs/heads/tried')]);
  });
});

/** What a client gets done with an address. */
const tries = async (client: GitClient, url: string): Promise<{ cloned: boolean; pushed: boolean }> => {
  const dir = join(tempDir(), 'clone');
  const cloned = await client.clone(url, dir).then(
    () => existsSync(join(dir, '.git')),
    () => false,
  );
  const { ok: pushed } = await client.push(await newWork(), url, ['refs/heads/main:refs/heads/tried']);
  return { cloned, pushed };
};

describe('100 MB that no compression helps', () => {
  let dir: string;
  let sampler: ReturnType<typeof setInterval>;
  const watch = { before: 0, peak: 0 };

  beforeAll(async () => {
    dir = await newWork(join(berth.dataDir, 'large'));
    await commit(dir, { large: randomBytes(100 * 1024 * 1024) });
    watch.before = memory();
    sampler = setInterval(() => (watch.peak = Math.max(watch.peak, memory())), 20);
  }, 60_000);

  test.each(clients.map((client) => [client.name, client] as const))(
    '%s pushes and clones them',
    async (_name, client) => {
      const hosted = await newHosted();
      const { ok, text } = await client.push(dir, hosted.url, ['refs/heads/main:refs/heads/main']);
      expect({ ok, text: ok ? '' : text }).toEqual({ ok: true, text: '' });
      const copy = join(tempDir(), 'clone');
      await client.clone(hosted.url, copy);
      expect(await git(copy, 'rev-parse', 'HEAD:large')).toBe(await git(dir, 'rev-parse', 'HEAD:large'));
      expect(await hosted.fsck()).toBe('');
    },
    120_000,
  );

  test('of the 1000 MB that passed through berth, its memory holds a fraction', () => {
    clearInterval(sampler);
    expect(watch.peak - watch.before).toBeLessThan(256);
  });
});

test('names in the address lead nowhere else', async () => {
  const repo = await createRepo(berth, 'other', { name: 'secret' });
  const dir = await newWork();
  await git(dir, 'push', '--quiet', urlWith(repo.clone_url, berth.token), 'main');
  const { secret } = await newToken(berth, ['shop']);
  const base = `${urlWith(berth.url, secret)}/git`;
  const outside = ['shop/../other/secret.git', 'shop%2f..%2fother/secret.git', 'other/secret', 'shop/../../etc/passwd'];
  for (const path of outside) {
    const { cloned, pushed } = await tries(clients[0] as GitClient, `${base}/${path}`);
    expect({ path, cloned, pushed }).toEqual({ path, cloned: false, pushed: false });
  }
  expect(await fsck(repoDir(berth, 'other', 'secret'))).toBe('');
});
