import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { git, newWork, tempDir, tryGit } from '#test/support/git-client.ts';
import { startGitServer } from '#test/support/git-server.ts';
import { rawHttp } from '#test/support/raw-http.ts';

const basic = (token: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`anyone:${token}`).toString('base64')}`,
});
const WANTS = 'application/x-git-upload-pack-request';
const PUSHES = 'application/x-git-receive-pack-request';

/** A server with a repository that has one commit. */
const furnished = async (options: Parameters<typeof startGitServer>[0] = {}) => {
  const server = startGitServer(options);
  await server.git.create('site', 'main');
  const work = await newWork();
  await git(work, 'push', '--quiet', server.urlOf('site'), 'main');
  const at = `${server.origin}/git/shop/site.git`;
  return { server, work, at, id: await git(work, 'rev-parse', 'HEAD') };
};

test('refs are announced as the protocol says, in each of its versions', async () => {
  const { at, id } = await furnished();
  const ask = (service: string, protocol?: string) =>
    fetch(`${at}/info/refs?service=${service}`, {
      headers: { ...basic('right'), ...(protocol === undefined ? {} : { 'git-protocol': protocol }) },
    });
  const v0 = await ask('git-upload-pack');
  expect(v0.headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement');
  expect(v0.headers.get('cache-control')).toBe('no-cache, max-age=0, must-revalidate');
  expect(v0.headers.get('expires')).toBe('Fri, 01 Jan 1980 00:00:00 GMT');
  expect(v0.headers.get('pragma')).toBe('no-cache');
  expect(v0.headers.get('x-request-id')).toStartWith('req_');
  const text = await v0.text();
  expect(text).toStartWith('001e# service=git-upload-pack\n0000');
  expect(text).toContain(`${id} refs/heads/main\n`);
  expect(await (await ask('git-upload-pack', 'version=1')).text()).toMatch(
    /^001e# service=git-upload-pack\n0000000eversion 1\n/,
  );
  expect(await (await ask('git-upload-pack', 'version=2')).text()).toStartWith('000eversion 2\n');
  const push = await (await ask('git-receive-pack', 'version=2')).text();
  expect(push).toStartWith('001f# service=git-receive-pack\n0000');
  for (const capability of ['report-status-v2', 'side-band-64k', 'push-options', 'atomic', 'object-format=sha1'])
    expect(push).toContain(capability);
  // What is no protocol is none, and reaches no environment.
  expect(await (await ask('git-upload-pack', 'version=2;$(id)')).text()).toStartWith('001e# service');
});

test('HEAD, the dumb protocol, unknown services and paths each get a clear answer', async () => {
  const { at, server } = await furnished();
  const ask = async (path: string, init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {}) => {
    const response = await fetch(`${at}${path}`, { ...init, headers: { ...basic('right'), ...init.headers } });
    return [response.status, response.headers.get('content-type'), (await response.text()).split('\n')[0]];
  };
  const plain = 'text/plain; charset=utf-8';
  expect(await ask('/info/refs?service=git-upload-pack', { method: 'HEAD' })).toEqual([
    200,
    'application/x-git-upload-pack-advertisement',
    '',
  ]);
  expect(await ask('/info/refs')).toEqual([403, plain, 'this server does not speak the dumb HTTP protocol']);
  expect(await ask('/info/refs?service=git-upload-archive')).toEqual([403, plain, 'this service is not offered']);
  for (const path of ['/HEAD', '/objects/info/packs', '/objects/pack/pack-1.pack', '/config', '/hooks/update'])
    expect(await ask(path)).toEqual([404, plain, 'nothing is here for git']);
  expect(await ask('/info/refs?service=git-upload-pack&x=1')).toMatchObject([400, plain, expect.any(String)]);
  expect(await ask('/git-upload-pack', { method: 'PUT' })).toMatchObject([405, expect.any(String), expect.any(String)]);
  // A form of a page in a browser can send this type, and no other.
  expect(
    await ask('/git-receive-pack', { method: 'POST', body: '0000', headers: { 'content-type': 'text/plain' } }),
  ).toMatchObject([415, plain, expect.any(String)]);
  expect(
    await ask('/git-upload-pack', {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': WANTS, 'content-encoding': 'br' },
    }),
  ).toMatchObject([415, plain, expect.any(String)]);
  expect(await ask('/git-upload-pack', { method: 'POST', headers: { 'content-type': WANTS } })).toMatchObject([
    400,
    plain,
    expect.any(String),
  ]);
  expect(server.lines).toEqual([]);
});

test('without a valid token there is a challenge, and the right verdict with one', async () => {
  const { at, server } = await furnished();
  const ask = async (headers: Record<string, string>, path = '') => {
    const response = await fetch(`${at}${path}/info/refs?service=git-upload-pack`, { headers });
    return {
      status: response.status,
      challenge: response.headers.get('www-authenticate'),
      text: await response.text(),
    };
  };
  const challenge = 'Basic realm="berth", charset="UTF-8"';
  expect(await ask({})).toEqual({
    status: 401,
    challenge,
    text: 'no token\nuse any user name, and a token as the password; "berth clone" does it for you\n',
  });
  for (const authorization of [
    'Basic',
    'Basic !!!',
    `Basic ${btoa('nocolon')}`,
    `Basic ${btoa('a:')}`,
    `Basic ${btoa(`a:${'x'.repeat(300)}`)}`,
    'Digest x',
    'Bearer',
  ])
    expect(await ask({ authorization })).toMatchObject({ status: 401, challenge });
  expect(await ask(basic('wrong'))).toMatchObject({ status: 401, challenge });
  expect(await ask(basic('weak'))).toMatchObject({ status: 403, challenge: null });
  const foreign = await ask(basic('foreign'));
  expect(foreign.status).toBe(404);
  expect(await ask(basic('right'))).toMatchObject({ status: 200 });
  expect(await ask({ authorization: 'bearer right' })).toMatchObject({ status: 200 });
  server.revoke('right');
  expect(await ask(basic('right'))).toMatchObject({ status: 401 });
});

test('who tries many passwords has to wait', async () => {
  const { at } = await furnished();
  const statuses: number[] = [];
  for (let n = 0; n < 22; n++)
    statuses.push((await fetch(`${at}/info/refs?service=git-upload-pack`, { headers: basic(`guess${n}`) })).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 401), 429, 429]);
  // Right ones are let through.
  expect((await fetch(`${at}/info/refs?service=git-upload-pack`, { headers: basic('right') })).status).toBe(200);
});

test('git prints what berth has to say', async () => {
  const { server, work } = await furnished();
  const missing = await tryGit(work, ['push', server.urlOf('no-such'), 'main']);
  expect(missing.text).toContain('remote: no repository named "no-such"');
  expect(missing.text).toContain('remote: list them');
  const weak = await tryGit(work, ['ls-remote', server.urlOf('site', 'weak')]);
  expect(weak.text).toContain('manage_repos');
  const wrong = await tryGit(work, ['ls-remote', server.urlOf('site', 'nonsense')]);
  expect(wrong.text).toContain('remote: the bearer token is not valid');
});

test('a gzipped request is read; one that is none, is cut, or swells beyond all measure is refused', async () => {
  const { at, id, server } = await furnished();
  const wants = Buffer.from(`0032want ${id}\n00000009done\n`);
  const post = async (
    body: Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = { 'content-encoding': 'gzip' },
  ) => {
    const response = await fetch(`${at}/git-upload-pack`, {
      method: 'POST',
      body,
      headers: { ...basic('right'), 'content-type': WANTS, ...headers },
    });
    return [response.status, (await response.text()).slice(0, 12)];
  };
  expect(await post(wants, {})).toEqual([200, '0008NAK\nPACK']);
  expect(await post(gzipSync(wants))).toEqual([200, '0008NAK\nPACK']);
  expect(await post(gzipSync(wants), { 'content-encoding': 'x-gzip' })).toEqual([200, '0008NAK\nPACK']);
  expect(await post(Buffer.from('nonsense'))).toEqual([400, 'the body is ']);
  expect(await post(gzipSync(wants).subarray(0, 20))).toEqual([400, 'the body is ']);
  const before = process.memoryUsage.rss();
  const have = Buffer.from(`0032have ${'1'.repeat(40)}\n`.repeat(40_000));
  const bomb = gzipSync(
    Buffer.concat([Buffer.from(`0032want ${id}\n0000`), ...Array.from({ length: 50 }, () => have)]),
  );
  expect(bomb.length).toBeLessThan(1_000_000);
  const [status] = await post(bomb);
  expect([200, 413]).toContain(Number(status));
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
  expect(server.lines.filter((entry) => !entry.includes('"level":"info"'))).toEqual([]);
});

test('Expect: 100-continue is answered before the body is sent', async () => {
  const { server } = await furnished();
  const answer = await rawHttp(
    '127.0.0.1',
    server.port,
    [
      'POST /git/shop/site.git/git-receive-pack HTTP/1.1',
      'Host: x',
      `Authorization: ${basic('right')['authorization']}`,
      `Content-Type: ${PUSHES}`,
      'Content-Length: 4',
      'Expect: 100-continue',
      'Connection: close',
      '',
      '',
    ].join('\r\n'),
  );
  expect(answer).toStartWith('HTTP/1.1 100 Continue\r\n\r\n');
});

test('a SHA-256 repository is refused clearly', async () => {
  const { server } = await furnished();
  const work = tempDir();
  await git(work, 'init', '--quiet', '--object-format=sha256', '-b', 'main');
  await git(work, 'commit', '--quiet', '--allow-empty', '-m', 'x');
  const { code, text } = await tryGit(work, ['push', server.urlOf('site'), 'main']);
  expect(code).not.toBe(0);
  expect(text).toContain("does not support this repository's hash algorithm");
});
