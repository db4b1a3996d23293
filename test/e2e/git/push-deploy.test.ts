import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import type { Operation } from '#modules/operations';
import type { CreateRepo } from '#modules/repos';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { commit, git, newWork, tryGit, type Ran } from '#test/support/git-client.ts';
import { until } from '#test/support/until.ts';
import { createRepo, eventsOf, newToken, repoDir, urlWith } from './kit.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--rate-limit-per-minute', '0', '--quota-services', '50', '--quota-repos', '50']);
  await berth.project('shop');
}, 60_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

/** A working copy of an app that answers `text`, beside a repository that deploys it as a service of the same name. */
const furnished = async (name: string, settings: Partial<CreateRepo> = {}) => {
  const repo = await createRepo(berth, 'shop', { name, deploy_service: name, ...settings });
  const dir = await newWork();
  await commit(dir, helloApp('first'));
  const url = urlWith(repo.clone_url, berth.token);
  return {
    dir,
    url,
    push: (...args: string[]): Promise<Ran> => tryGit(dir, ['push', url, ...(args.length === 0 ? ['main'] : args)]),
    change: (text: string): Promise<string> => commit(dir, helloApp(text)),
    path: repoDir(berth, 'shop', name),
  };
};

/** What git shows of berth's words, without what differs from one run to the next. */
const remoteLines = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length).trimEnd())
    .filter((line) => line !== '');

const operationIn = (text: string): string => /operation (?<id>op_\w+)/.exec(text)?.groups?.['id'] ?? '';

const operation = async (id: string): Promise<Operation> => (await berth.api(`/v1/operations/${id}`)).body;

const deploysOf = async (service: string): Promise<Operation[]> => {
  const { body } = await berth.api(`/v1/operations?project=shop&service=${service}&limit=100`);
  return body.operations.filter((row: Operation) => row.kind === 'deploy');
};

const releasesOf = async (service: string) =>
  (await berth.api(`/v1/projects/shop/services/${service}/releases`)).body.releases;

describe('a push', () => {
  test('deploys, and says so while it happens: operation, phases, build log, address', async () => {
    const { dir, push } = await furnished('web');
    const { code, text } = await push();
    expect(code).toBe(0);
    const id = await git(dir, 'rev-parse', 'HEAD');
    const lines = remoteLines(text);
    expect(lines[0]).toBe(`deploying web from main (${id.slice(0, 8)})`);
    expect(lines[1]).toMatch(/^operation op_\w+$/);
    for (const phase of ['building', 'pushing', 'rolling_out', 'healthy'])
      expect(lines.filter((line) => line.startsWith(`${phase}: `))).toHaveLength(1);
    expect(lines.some((line) => line.startsWith('  ') && line.includes('COPY . .'))).toBe(true);
    expect(lines.at(-1)).toBe(`live at http://web--shop.localhost:${berth.ports.http}`);
    expect(text).toContain('[new branch]');
    expect(await berth.appText('shop', 'web')).toBe('first');
    expect(await operation(operationIn(text))).toMatchObject({ status: 'succeeded', service: 'web' });
  }, 120_000);

  test('is told of a build that fails with its log and what to do, and is stored all the same', async () => {
    const { dir, push, path } = await furnished('broken');
    const id = await commit(dir, { Dockerfile: 'FROM node:24-slim\nRUN echo about to fail && exit 3\n' });
    const { code, text } = await push();
    expect(code).toBe(0);
    expect(await git(path, 'rev-parse', 'main')).toBe(id);
    const lines = remoteLines(text);
    expect(lines.some((line) => line.startsWith('  | ') && line.includes('about to fail'))).toBe(true);
    expect(lines.at(-2)).toStartWith('BUILD_COMMAND_FAILED: ');
    expect(lines.at(-1)).toMatch(/^hint: ./);
  }, 120_000);

  test('is told of a commit that cannot even be built', async () => {
    const { dir, push } = await furnished('nothing');
    await git(dir, 'rm', '-q', 'Dockerfile', 'server.js');
    await git(dir, 'commit', '-qm', 'empty');
    const { code, text } = await push();
    expect(code).toBe(0);
    expect(remoteLines(text).at(-2)).toMatch(/^[A-Z_]+: /);
    expect(remoteLines(text).at(-1)).toMatch(/^hint: ./);
  }, 60_000);

  test('with -o no-wait ends right after the id, with -o skip-deploy nothing is deployed', async () => {
    const { push, change } = await furnished('options');
    const skipped = await push('-o', 'skip-deploy', 'main');
    expect(skipped.code).toBe(0);
    expect(remoteLines(skipped.text)).toEqual(['skip-deploy: options stays as it is']);
    expect((await berth.api('/v1/projects/shop/services/options')).status).toBe(404);
    const id = await change('second');
    const { code, text } = await push('-o', 'no-wait', 'main');
    expect(code).toBe(0);
    const operation = operationIn(text);
    expect(remoteLines(text)).toEqual([
      `deploying options from main (${id.slice(0, 8)})`,
      `operation ${operation}`,
      `not waiting: berth operations follow ${operation}`,
    ]);
    expect(await berth.wait(operation)).toMatchObject({ status: 'succeeded' });
    expect(await berth.appText('shop', 'options')).toBe('second');
  }, 120_000);

  test('of tags, and of branches that are not deployed, says that much', async () => {
    const { dir, push } = await furnished('tags');
    await push('-o', 'skip-deploy', 'main');
    await git(dir, 'tag', 'v1');
    const { text } = await push('v1', 'main:refs/heads/other');
    expect(remoteLines(text)).toEqual(['other is not deployed: pushes to main deploy tags']);
    expect(await deploysOf('tags')).toEqual([]);
  }, 60_000);

  test('deploys the folder that is named as root, and another branch when that is named', async () => {
    const { dir, push } = await furnished('folder', { root: 'apps/site', deploy_branch: 'live' });
    const inside = Object.fromEntries(
      Object.entries(helloApp('from the folder')).map(([name, content]) => [`apps/site/${name}`, content]),
    );
    await commit(dir, { ...inside, Dockerfile: 'FROM scratch\nnonsense\n' });
    expect(remoteLines((await push('main')).text)).toEqual(['main is not deployed: pushes to live deploy folder']);
    expect((await push('main:live')).text).toContain('live at ');
    expect(await berth.appText('shop', 'folder')).toBe('from the folder');
    await git(dir, 'rm', '-rq', 'apps');
    await git(dir, 'commit', '-qm', 'gone');
    const { code, text } = await push('main:live');
    expect(code).toBe(0);
    expect(remoteLines(text).at(-2)).toContain('apps/site');
  }, 120_000);
});

test('of ten pushes in a second the newest wins, and those that gave way say so', async () => {
  const { push, change } = await furnished('rapid');
  await push();
  const pushes: Promise<Ran>[] = [];
  const commits: string[] = [];
  for (let n = 0; n < 10; n += 1) {
    commits.push(await change(`push ${n}`));
    const stored = push(...(n % 2 === 0 ? ['main'] : ['-o', 'no-wait', 'main']));
    pushes.push(stored);
    const seen = repoDir(berth, 'shop', 'rapid');
    await until(async () => (await git(seen, 'rev-parse', 'main')) === commits.at(-1));
  }
  const results = await Promise.all(pushes);
  expect(results.map(({ code }) => code)).toEqual(commits.map(() => 0));
  const operations = await Promise.all(results.map(({ text }) => berth.wait(operationIn(text))));
  expect(new Set(operations.map(({ operation_id: id }) => id)).size).toBe(10);
  expect(operations.at(-1)).toMatchObject({ status: 'succeeded' });
  expect(await berth.appText('shop', 'rapid')).toBe('push 9');
  for (const [index, { status, error }] of operations.entries()) {
    if (status === 'succeeded') continue;
    expect(error?.message).toMatch(/^superseded by op_\w+: a newer push to main$/);
    if (index % 2 === 0)
      expect(remoteLines(results[index]?.text ?? '').slice(-2)).toEqual([
        `CONFLICT: ${error?.message}`,
        `hint: ${error?.hint}`,
      ]);
  }
  expect(operations.filter(({ status }) => status !== 'succeeded').length).toBeGreaterThan(4);
  const pushed = await eventsOf(berth, 'shop', 'repo.pushed');
  const heads = pushed.filter(({ data }) => data['repo'] === 'rapid').map(({ data }) => data['after']);
  expect(heads.slice(1)).toEqual(commits);
}, 180_000);

test('the commit is shown in releases, rollbacks and events, with who pushed it', async () => {
  const { dir, url, push, change } = await furnished('shown');
  const first = await git(dir, 'rev-parse', 'HEAD');
  await push();
  const second = await change('second');
  const { secret } = await newToken(berth, ['shop']);
  const foreign = url.replace(berth.token, secret);
  expect((await tryGit(dir, ['push', foreign, 'main'])).text).toContain('live at ');
  const releases = await releasesOf('shown');
  expect(releases.map(({ commit }: { commit: string }) => commit)).toEqual([second, first]);
  const pushed = await eventsOf(berth, 'shop', 'repo.pushed');
  expect(pushed.find(({ data }) => data['repo'] === 'shown' && data['after'] === second)).toMatchObject({
    actor: 'grace@example.org',
    data: { repo: 'shown', ref: 'refs/heads/main', before: first },
  });
  const succeeded = await eventsOf(berth, 'shop', 'deploy.succeeded');
  expect(succeeded.find(({ data }) => data['service'] === 'shown' && data['commit'] === second)).toMatchObject({
    actor: 'grace@example.org',
  });
  const back = await berth.api('/v1/projects/shop/services/shown/rollback', { method: 'POST', body: {} });
  expect(back.status).toBe(202);
  expect(await berth.wait(back.body.operation_id)).toMatchObject({ status: 'succeeded' });
  expect(await berth.appText('shop', 'shown')).toBe('first');
  const rolled = (await eventsOf(berth, 'shop', 'service.rolled_back')).at(0);
  expect(rolled?.data).toMatchObject({ service: 'shown', commit: first });
}, 120_000);

test('a commit by the API deploys as a push does', async () => {
  await createRepo(berth, 'shop', { name: 'agent', deploy_service: 'agent' });
  const files = Object.entries(helloApp('by an agent')).map(([path, content]) => ({ path, content }));
  const reply = await berth.api('/v1/projects/shop/repos/agent/commits', {
    method: 'POST',
    body: { message: 'begin', files },
  });
  expect(reply).toMatchObject({ status: 201, body: { changed: true, deploys: [{ service: 'agent', error: null }] } });
  expect(await berth.wait(reply.body.deploys[0].operation_id)).toMatchObject({ status: 'succeeded' });
  expect(await berth.appText('shop', 'agent')).toBe('by an agent');
  expect((await releasesOf('agent'))[0]).toMatchObject({ commit: reply.body.commit.id });
}, 120_000);

describe('previews', () => {
  test('are made of other branches, with addresses of their own, and go with them', async () => {
    const { dir, push } = await furnished('site', { preview: true });
    await push();
    await git(dir, 'switch', '-qc', 'feature/New_thing');
    await commit(dir, helloApp('the new thing'));
    const { code, text } = await push('HEAD');
    expect(code).toBe(0);
    expect(remoteLines(text).at(-1)).toBe(`live at http://site-feature-new-thing--shop.localhost:${berth.ports.http}`);
    expect(await berth.appText('shop', 'site-feature-new-thing')).toBe('the new thing');
    expect(await berth.appText('shop', 'site')).toBe('first');
    const gone = await push(':feature/New_thing');
    expect(remoteLines(gone.text)).toEqual([
      'preview site-feature-new-thing is being deleted with its branch feature/New_thing',
    ]);
    await until(async () => (await berth.api('/v1/projects/shop/services/site-feature-new-thing')).status === 404);
    expect(await berth.appText('shop', 'site')).toBe('first');
  }, 120_000);
});

describe('a client that goes away in mid-progress', () => {
  test('leaves a deploy that goes on', async () => {
    const { dir, url, change } = await furnished('left');
    await change('after all');
    const child = Bun.spawn(['git', '-C', dir, 'push', url, 'main'], { stderr: 'pipe', detached: true });
    let text = '';
    for await (const chunk of child.stderr) {
      text += Buffer.from(chunk).toString();
      if (/remote: building: /.test(text)) break;
    }
    process.kill(-child.pid, 'SIGKILL');
    await child.exited;
    expect(await berth.wait(operationIn(text))).toMatchObject({ status: 'succeeded' });
    expect(await berth.appText('shop', 'left')).toBe('after all');
  }, 120_000);
});

test('deleting a repository, or its project, takes the repositories off the disk, and leaves services alone', async () => {
  await berth.project('gone');
  const made = await Promise.all(['one', 'two'].map((name) => createRepo(berth, 'gone', { name })));
  const paths = made.map(({ name }) => repoDir(berth, 'gone', name));
  const dir = await newWork();
  for (const { clone_url: url } of made) await git(dir, 'push', '--quiet', urlWith(url, berth.token), 'main');
  expect(paths.map((path) => existsSync(path))).toEqual([true, true]);
  expect((await berth.api('/v1/projects/gone/repos/one', { method: 'DELETE' })).status).toBe(200);
  expect(paths.map((path) => existsSync(path))).toEqual([false, true]);
  const removal = await berth.api('/v1/projects/gone?confirm=true', { method: 'DELETE' });
  expect(removal.status).toBe(202);
  await berth.wait(removal.body.operation_id);
  expect(paths.map((path) => existsSync(path))).toEqual([false, false]);
  expect((await tryGit(dir, ['ls-remote', urlWith(made[1]?.clone_url ?? '', berth.token)])).code).not.toBe(0);
}, 60_000);
