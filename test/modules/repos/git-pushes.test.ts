import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { commit, git, newWork, tempDir, tryGit } from '#test/support/git-client.ts';
import { openPush, postPush, pushBytes } from '#test/support/git-push.ts';
import { hostedOn, startGitServer, type GitServerOptions } from '#test/support/git-server.ts';
import { until } from '#test/support/until.ts';

const ZERO = '0'.repeat(40);

const furnished = async (options: GitServerOptions = {}) => {
  const server = startGitServer(options);
  const hosted = await hostedOn(server);
  const work = await newWork();
  const id = await git(work, 'rev-parse', 'HEAD');
  const push = (...args: string[]) => tryGit(work, ['push', hosted.url, 'main', ...args]);
  return { server, hosted, work, id, push, path: server.pathOf('site') };
};

/** What a broken push might leave in a repository. */
const leftIn = (path: string): string[] =>
  readdirSync(path, { recursive: true })
    .map(String)
    .filter((name) => /incoming|tmp_|\.lock$|\.keep$/.test(name));

const gitsOn = (path: string): string[] =>
  Bun.spawnSync(['ps', '-eo', 'args'])
    .stdout.toString()
    .split('\n')
    .filter((line) => line.includes(`receive-pack --stateless-rpc ${path}`));

test('what follows a push is told line by line, before the push ends', async () => {
  const gate = Promise.withResolvers<void>();
  const { work, hosted, server, id } = await furnished({
    onPushed: async function* (outcome) {
      yield `operation op_1 of ${outcome.updates.length}`;
      yield 'building: \x1b[31mred\x1b[0m\nsecond line';
      await gate.promise;
      yield 'live at http://web--shop.localhost';
    },
  });
  const child = Bun.spawn(['git', '-C', work, 'push', '-o', 'x=1', hosted.url, 'main'], { stderr: 'pipe' });
  let seen = '';
  const read = (async () => {
    for await (const chunk of child.stderr) seen += Buffer.from(chunk).toString();
  })();
  await until(() => seen.includes('second line'));
  // The refs have moved already.
  expect(await hosted.refs()).toEqual([`${id} refs/heads/main`]);
  gate.resolve();
  expect(await child.exited).toBe(0);
  await read;
  expect(seen.replaceAll(/ +$/gm, '').split('\n').slice(0, 4)).toEqual([
    'remote: operation op_1 of 1',
    'remote: building: red',
    'remote: second line',
    'remote: live at http://web--shop.localhost',
  ]);
  expect(server.pushes).toEqual([
    { options: ['x=1'], updates: [{ ref: 'refs/heads/main', before: ZERO, after: id, refused: null }] },
  ]);
});

test('what follows a push runs to its end when the client goes away', async () => {
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const { hosted, work, id } = await furnished({
    onPushed: async function* (_outcome, listening) {
      listening.addEventListener('abort', () => left.resolve());
      yield 'begun';
      await gate.promise;
      seen.push(`left: ${listening.aborted}`);
      yield 'unheard';
      seen.push('ended');
    },
  });
  const argv = ['git', '-C', work, 'push', hosted.url, 'main'];
  const child = Bun.spawn(argv, { stderr: 'pipe', detached: true });
  for await (const chunk of child.stderr) if (Buffer.from(chunk).toString().includes('begun')) break;
  process.kill(-child.pid, 'SIGKILL');
  await child.exited;
  expect(await hosted.refs()).toEqual([`${id} refs/heads/main`]);
  await left.promise;
  gate.resolve();
  await until(() => seen.includes('ended'));
  expect(seen).toEqual(['left: true', 'ended']);
});

test('what follows a push may fail without failing the push', async () => {
  const { push, server, hosted } = await furnished({
    // oxlint-disable-next-line require-yield -- it fails first
    onPushed: async function* () {
      throw new Error('a secret detail');
    },
  });
  const { code, text } = await push();
  expect(code).toBe(0);
  expect(text).toContain('remote: berth: the push is stored, but what follows it failed');
  expect(text).not.toContain('secret detail');
  expect(server.lines.join('')).toContain('a secret detail');
  expect((await hosted.refs()).length).toBe(1);
});

test('a refused ref is told with its reason, and nothing follows when nothing was done', async () => {
  const { push, work, server } = await furnished();
  await push();
  await git(work, 'commit', '--amend', '--quiet', '-m', 'other');
  const id = await git(work, 'rev-parse', 'HEAD');
  const stale = await pushBytes(work, { after: id });
  const { text } = await postPush(server, stale);
  expect(text).toContain('ng refs/heads/main');
  expect(server.pushes.length).toBe(1);
  const both = await tryGit(work, ['push', server.urlOf('site'), 'main:new', ':refs/heads/main']);
  expect(both.code).toBe(1);
  expect(server.pushes[1]?.updates.map(({ ref, refused }) => [ref, refused])).toEqual([
    ['refs/heads/main', 'deletion of the current branch prohibited'],
    ['refs/heads/new', null],
  ]);
});

test('a client without side band or report gets its plain reply, and the push is known all the same', async () => {
  const heard: boolean[] = [];
  const { server, work, id, hosted } = await furnished({
    onPushed: async function* (_outcome, listening) {
      heard.push(!listening.aborted);
      yield 'unheard';
    },
  });
  const plain = await postPush(server, await pushBytes(work, { after: id, capabilities: 'report-status' }));
  expect(plain.text).toBe('000eunpack ok\n0017ok refs/heads/main\n0000');
  const silent = await postPush(server, await pushBytes(work, { after: id, ref: 'refs/heads/b', capabilities: '' }));
  expect(silent).toEqual({ status: 200, text: '' });
  await until(() => server.pushes.length === 2);
  expect(server.pushes.map(({ updates }) => updates.map(({ refused }) => refused))).toEqual([[null], [null]]);
  expect(heard).toEqual([false, false]);
  expect(await hosted.refs()).toEqual([`${id} refs/heads/b`, `${id} refs/heads/main`]);
});

test.each([10, 60, 200, 400, 5000, 100_000])(
  'a push that breaks off after %p bytes leaves nothing behind',
  async (size) => {
    const { server, work, hosted, path } = await furnished();
    const id = await commit(work, { large: randomBytes(200_000) });
    const whole = await pushBytes(work, { after: id });
    const push = await openPush(server.port);
    await push.send(whole.subarray(0, size));
    push.socket.destroy();
    // The same, but ended in form.
    const { text } = await postPush(server, whole.subarray(0, size));
    expect(text).not.toContain('unpack ok');
    expect(await hosted.refs()).toEqual([]);
    await until(() => leftIn(path).length === 0);
    expect(await hosted.fsck()).toBe('');
    expect(server.pushes).toEqual([]);
    expect((await postPush(server, whole)).text).toContain('unpack ok');
  },
);

test('a pack with a flipped bit is refused', async () => {
  const { server, work, id, hosted, path } = await furnished();
  const whole = await pushBytes(work, { after: id });
  const at = whole.length - 30;
  whole[at] = (whole[at] ?? 0) ^ 4;
  expect((await postPush(server, whole)).text).toMatch(/unpack (?!ok)/);
  expect(await hosted.refs()).toEqual([]);
  expect(leftIn(path)).toEqual([]);
});

test('a client that sends nothing more is let go', async () => {
  const { server, work, id, hosted, path } = await furnished({ idleMs: 300 });
  const whole = await pushBytes(work, { after: id });
  const idle = await openPush(server.port);
  await idle.send(whole.subarray(0, 150));
  await until(() => idle.seen().includes('the push did not arrive whole: no byte came for'));
  expect(idle.seen()).not.toContain('unpack ok');
  const early = await openPush(server.port);
  await early.send(whole.subarray(0, 20));
  await until(() => early.seen().startsWith('HTTP/1.1 408'));
  expect(await hosted.refs()).toEqual([]);
  expect(leftIn(path)).toEqual([]);
});

test('a connection ends with its token', async () => {
  const { server, work, id, hosted, path } = await furnished();
  const whole = await pushBytes(work, { after: id });
  const closed = Promise.withResolvers<void>();
  const revoked = await openPush(server.port);
  revoked.socket.on('close', () => closed.resolve());
  await revoked.send(whole.subarray(0, 150));
  await until(() => gitsOn(path).length > 0);
  server.revoke('right');
  await closed.promise;
  await until(() => gitsOn(path).length === 0);
  expect(await hosted.refs()).toEqual([]);
  await until(() => leftIn(path).length === 0);
});

test('of pushes that race for one branch one wins, and the others are told', async () => {
  const { hosted, server, push } = await furnished();
  await push();
  const rivals = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const dir = join(tempDir(), 'rival');
      await git('/', 'clone', '--quiet', hosted.url, dir);
      return { dir, id: await commit(dir, { [`file${n}`]: `${n}` }) };
    }),
  );
  const results = await Promise.all(rivals.map(({ dir }) => tryGit(dir, ['push', hosted.url, 'main'])));
  const winner = results.findIndex(({ code }) => code === 0);
  expect(results.filter(({ code }) => code === 0).length).toBe(1);
  expect(await hosted.refs()).toEqual([`${rivals[winner]?.id} refs/heads/main`]);
  expect(server.pushes.filter(({ updates }) => updates[0]?.refused === null).length).toBe(2);
  expect(await hosted.fsck()).toBe('');
});

test('a push beyond the limit is refused in words, and costs no space', async () => {
  const { server, work, hosted, path } = await furnished({ maxPushBytes: 1024 ** 2 });
  await commit(work, { large: randomBytes(3 * 1024 ** 2) });
  const { code, text } = await tryGit(work, ['push', hosted.url, 'main']);
  expect(code).toBe(1);
  expect(text).toContain('remote: fatal: pack exceeds maximum allowed size');
  expect(text).toContain('remote: berth: a push may have at most 1 MiB');
  expect(text).toContain('remote: hint: ');
  expect(await hosted.refs()).toEqual([]);
  expect(leftIn(path)).toEqual([]);
  expect(await server.git.sizeBytes('site')).toBeLessThan(200_000);
});

test('what a killed git left is swept: at once when no git runs in the repository, else when it is old', async () => {
  const { push, path, hosted, work, server } = await furnished();
  await push();
  const lock = join(path, 'refs/heads/main.lock');
  const quarantine = join(path, 'objects/tmp_objdir-incoming-x');
  writeFileSync(lock, '');
  await Bun.write(join(quarantine, 'pack/tmp_pack_1'), 'x');
  const busy = Bun.spawn(['git', `--git-dir=${path}`, 'cat-file', '--batch'], { stdin: 'pipe' });
  await commit(work, { a: '1' });
  const refused = await push();
  expect(refused.code).toBe(1);
  expect(refused.text).toContain('failed to update ref');
  expect(leftIn(path).length).toBe(4);
  const age = (ms: number, ...names: string[]): void => {
    const at = new Date(Date.now() - ms);
    for (const name of names) utimesSync(name, at, at);
  };
  age(130_000, lock);
  expect((await push()).code).toBe(0);
  expect(leftIn(path).length).toBe(3);
  age(3_700_000, join(quarantine, 'pack/tmp_pack_1'), join(quarantine, 'pack'), quarantine);
  await server.git.maintain('site', new AbortController().signal);
  expect(leftIn(path)).toEqual([]);
  busy.kill();
  await busy.exited;
  writeFileSync(lock, '');
  await commit(work, { a: '2' });
  expect((await push()).code).toBe(0);
  expect(await hosted.fsck()).toBe('');
});

test('a client that takes nothing more of a clone is let go', async () => {
  const { server, work, path } = await furnished({ idleMs: 500 });
  const id = await commit(work, { large: randomBytes(24 * 1024 ** 2) });
  await git(work, 'push', '--quiet', server.urlOf('site'), 'main');
  const socket = connect(server.port, '127.0.0.1');
  socket.on('error', () => undefined);
  const wants = `0032want ${id}\n00000009done\n`;
  const head = [
    'POST /git/shop/site.git/git-upload-pack HTTP/1.1',
    'host: x',
    `authorization: Basic ${btoa('a:right')}`,
    'content-type: application/x-git-upload-pack-request',
    `content-length: ${wants.length}`,
  ];
  socket.once('data', () => socket.pause());
  socket.write(`${head.join('\r\n')}\r\n\r\n${wants}`);
  const serving = (): boolean =>
    Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString().includes(`upload-pack --stateless-rpc --strict ${path}`);
  await until(serving);
  await until(() => !serving());
  socket.destroy();
  expect(server.lines).toEqual([]);
});
