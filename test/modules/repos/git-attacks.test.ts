import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { packet } from '#engines/git/pkt-line';
import { commit, git, newWork, tempDir, tryGit } from '#test/support/git-client.ts';
import { postPush, pushBytes } from '#test/support/git-push.ts';
import { hostedOn, startGitServer } from '#test/support/git-server.ts';

const furnished = async () => {
  const server = startGitServer();
  const hosted = await hostedOn(server);
  const work = await newWork();
  const push = (...args: string[]) => tryGit(work, ['push', hosted.url, ...args]);
  await push('main');
  return { server, hosted, work, push, path: server.pathOf('site'), id: await git(work, 'rev-parse', 'HEAD') };
};

const object = async (work: string, type: string, input: string | Uint8Array): Promise<string> => {
  const { code, text } = await tryGit(work, ['hash-object', '-t', type, '-w', '--stdin', '--literally'], { input });
  if (code !== 0) throw new Error(text);
  return text.trim();
};

/** A commit of a tree that no git would make. */
const commitOf = async (work: string, entries: [mode: string, name: string, id: string][]): Promise<string> => {
  const tree = await object(
    work,
    'tree',
    Buffer.concat(
      entries.map(([mode, name, id]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])),
    ),
  );
  return git(work, 'commit-tree', '-m', 'evil', tree);
};

test.each([
  ['a tree with .git', '.git', '40000', 'hasDotgit'],
  ['a tree with .GIT', '.GIT', '40000', 'hasDotgit'],
  ['a tree with git~1', 'git~1', '40000', 'hasDotgit'],
  ['a tree with ..', '..', '40000', 'hasDotdot'],
  ['a tree with a slash in a name', '../x', '100644', 'fullPathname'],
  ['a linked .gitmodules', '.gitmodules', '120000', 'gitmodulesSymlink'],
])('%s is refused', async (_name, file, mode, finding) => {
  const { work, push, hosted } = await furnished();
  const blob = await object(work, 'blob', '/etc/passwd');
  const inner = await git(work, 'rev-parse', 'HEAD^{tree}');
  const evil = await commitOf(work, [[mode, file, mode === '40000' ? inner : blob]]);
  const { code, text } = await push(`${evil}:refs/heads/evil`);
  expect(code).toBe(1);
  expect(text).toContain(finding);
  expect((await hosted.refs()).length).toBe(1);
});

const EVIDENCE = join(tempDir(), 'ran');

test.each([`--upload-pack=touch ${EVIDENCE}`, '-u./payload', `ext::touch ${EVIDENCE}`, 'http://x/\n[core]'])(
  'a submodule at %p is never fetched',
  async (url) => {
    const { work, push, hosted } = await furnished();
    await commit(work, { '.gitmodules': `[submodule "a"]\n\tpath = a\n\turl = ${JSON.stringify(url)}\n` });
    const { code } = await push('main:evil');
    const clone = join(tempDir(), 'clone');
    if (code === 0) await git('/', 'clone', '--quiet', '--no-recurse-submodules', '-b', 'evil', hosted.url, clone);
    else expect((await hosted.refs()).length).toBe(1);
    expect(existsSync(EVIDENCE)).toBe(false);
  },
);

test('names of refs that are none are refused, and write nothing anywhere', async () => {
  const { server, work, id, path } = await furnished();
  const before = readdirSync(path, { recursive: true }).map(String).sort();
  for (const ref of [
    'refs/../../x',
    'refs/heads/../../config',
    'config',
    'refs/heads/a..b',
    'refs/heads/.x',
    'refs/heads/x.lock',
    '--upload-pack=x',
    'refs/heads/a b',
    'refs/heads/',
    '/etc/passwd',
    'refs',
  ]) {
    const { text, status } = await postPush(server, await pushBytes(work, { after: id, ref }));
    expect([200, 400]).toContain(status);
    expect(text).not.toContain(`ok ${ref}`);
  }
  const after = readdirSync(path, { recursive: true }).map(String);
  expect(after.filter((name) => !name.startsWith('objects')).sort()).toEqual(
    before.filter((name) => !name.startsWith('objects')),
  );
  expect(server.pushes.length).toBe(1);
});

test('HEAD is not a ref that a push writes through', async () => {
  const { server, work, id, hosted } = await furnished();
  const other = await commit(work, { a: '1' });
  const { text } = await postPush(server, await pushBytes(work, { before: id, after: other, ref: 'HEAD' }));
  expect(text).not.toContain('ok HEAD\n');
  expect(await hosted.refs()).toEqual([`${id} refs/heads/main`]);
});

test('no hook and no program of a changed repository runs', async () => {
  const { server, work, push, path, hosted } = await furnished();
  const mark = join(tempDir(), 'ran');
  const script = join(path, 'evil.sh');
  writeFileSync(script, `#!/bin/sh\necho "$0" >> ${mark}\nexec cat\n`, { mode: 0o755 });
  mkdirSync(join(path, 'hooks'), { recursive: true });
  for (const hook of [
    'pre-receive',
    'update',
    'post-receive',
    'post-update',
    'reference-transaction',
    'proc-receive',
    'push-to-checkout',
    'pre-auto-gc',
    'post-checkout',
  ])
    symlinkSync(script, join(path, 'hooks', hook));
  const settings = {
    'core.hooksPath': join(path, 'hooks'),
    'core.fsmonitor': script,
    'core.sshCommand': script,
    'core.alternateRefsCommand': script,
    'uploadpack.packObjectsHook': script,
    'gc.auto': '1',
  };
  for (const [key, value] of Object.entries(settings)) await git(path, 'config', key, value);
  await commit(work, { a: '1' });
  expect((await push('main')).code).toBe(0);
  expect(await git('/', 'clone', '--quiet', hosted.url, join(tempDir(), 'clone'))).toBe('');
  await server.git.maintain('site', new AbortController().signal);
  expect(existsSync(mark)).toBe(false);
});

test('a replaced object is what it was to everyone who reads', async () => {
  const { work, push, hosted, id } = await furnished();
  const fake = await git(work, 'commit-tree', '-m', 'fake', 'HEAD^{tree}');
  expect((await push(`${fake}:refs/replace/${id}`)).code).toBe(0);
  const clone = join(tempDir(), 'clone');
  await git('/', 'clone', '--quiet', hosted.url, clone);
  expect(await git(clone, 'log', '-1', '--format=%s')).toBe('change');
});

test.each([
  '--upload-pack=x',
  '-x',
  '..',
  '../site',
  'a;id',
  '$(id)',
  '%2e%2e%2fsite',
  'site%00',
  'site%0a',
  '__proto__',
])('the repository %p is none', async (name) => {
  const { server } = await furnished();
  const response = await fetch(`${server.origin}/git/shop/${name}.git/info/refs?service=git-upload-pack`, {
    headers: { authorization: `Basic ${btoa('a:right')}` },
  });
  expect([400, 404]).toContain(response.status);
  expect(await response.text()).not.toContain('refs/heads');
});

/** A pack of one object, whose header claims `claimed` bytes. */
const packOf = (type: number, claimed: number, deflated: Uint8Array): Buffer => {
  const size: number[] = [];
  let rest = Math.floor(claimed / 16);
  size.push((type << 4) | (claimed % 16) | (rest > 0 ? 128 : 0));
  while (rest > 0) {
    const next = Math.floor(rest / 128);
    size.push((rest % 128) | (next > 0 ? 128 : 0));
    rest = next;
  }
  const body = Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1'), Buffer.from(size), deflated]);
  return Buffer.concat([body, new Bun.CryptoHasher('sha1').update(body).digest()]);
};

test.each([
  ['commit', 1, 3 * 1024 ** 3],
  ['tree', 2, 50 * 1024 ** 3],
  ['blob', 3, 50 * 1024 ** 3],
])('a %s that claims to be huge takes neither memory nor disk', async (_name, type, claimed) => {
  const { server, id, hosted } = await furnished();
  const head = Buffer.concat([
    packet(`${'0'.repeat(40)} ${id} refs/heads/bomb\0report-status side-band-64k`),
    Buffer.from('0000'),
  ]);
  const before = await server.git.sizeBytes('site');
  const { text } = await postPush(
    server,
    Buffer.concat([head, packOf(type, claimed, deflateSync(Buffer.alloc(1024 ** 2)))]),
  );
  expect(text).toContain('unpack index-pack abnormal exit');
  expect((await hosted.refs()).length).toBe(1);
  expect(await server.git.sizeBytes('site')).toBeLessThan(before + 100_000);
});
