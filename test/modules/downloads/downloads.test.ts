import { describe, expect, test } from 'bun:test';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { makeFolder as folderWith, openDownloads as open, sha256, VERSION } from './support.ts';

const CONTENT = Buffer.from(Array.from({ length: 50_000 }, (_none, index) => index % 251));
const makeFolder = (version = VERSION): string => folderWith(CONTENT, { version });
const GZIP = gzipSync(CONTENT);
const ZSTD = zstdCompressSync(CONTENT);

describe('a file', () => {
  test('is sent whole, without a token, with its length, its name and an ETag', async () => {
    const { get } = open({ folder: makeFolder() });
    const reply = await get('/dl/berth-linux-amd64');
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-length')).toBe('50000');
    expect(reply.headers.get('content-type')).toBe('application/octet-stream');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="berth"');
    expect(reply.headers.get('cache-control')).toBe('public, no-cache');
    expect(reply.headers.get('accept-ranges')).toBe('bytes');
    expect(reply.headers.get('vary')).toBe('Accept-Encoding');
    expect(reply.headers.get('content-encoding')).toBeNull();
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await reply.bytes()).toEqual(new Uint8Array(CONTENT));
    const again = await get('/dl/berth-linux-amd64', { 'if-none-match': reply.headers.get('etag') ?? '' });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', reply.headers.get('etag')]);
  });

  test('is sent in a coding that the client takes, under an ETag of its own', async () => {
    const { get } = open({ folder: makeFolder() });
    const plain = await get('/dl/berth-linux-amd64');
    const gzip = await get('/dl/berth-linux-amd64', { 'accept-encoding': 'gzip' });
    expect(gzip.headers.get('content-encoding')).toBe('gzip');
    expect(gzip.headers.get('content-length')).toBe(String(GZIP.length));
    expect(gzip.headers.get('content-type')).toBe('application/octet-stream');
    expect(await gzip.bytes()).toEqual(new Uint8Array(GZIP));
    const zstd = await get('/dl/berth-linux-amd64', { 'accept-encoding': 'gzip, zstd, br' });
    expect(zstd.headers.get('content-encoding')).toBe('zstd');
    expect(new Set([plain, gzip, zstd].map((reply) => reply.headers.get('etag'))).size).toBe(3);
    expect((await get('/dl/berth-linux-amd64', { 'if-none-match': gzip.headers.get('etag') ?? '' })).status).toBe(200);
  });

  test('has packed forms under names of their own, which no coding is put on', async () => {
    const { get } = open({ folder: makeFolder() });
    const reply = await get('/dl/berth-linux-amd64.gz', { 'accept-encoding': 'gzip' });
    expect(reply.headers.get('content-encoding')).toBeNull();
    expect(reply.headers.get('content-type')).toBe('application/gzip');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="berth-linux-amd64.gz"');
    expect(await reply.bytes()).toEqual(new Uint8Array(GZIP));
  });

  test('tells its checksum as sha256sum reads it', async () => {
    const { get } = open({ folder: makeFolder() });
    const text = await (await get('/dl/berth-linux-amd64.sha256')).text();
    expect(text).toBe(`${sha256(CONTENT)}  berth-linux-amd64\n`);
    expect(await (await get('/dl/berth-linux-amd64.gz.sha256')).text()).toBe(`${sha256(GZIP)}  berth-linux-amd64.gz\n`);
  });

  test('goes on from where a download broke off', async () => {
    const { get } = open({ folder: makeFolder() });
    const etag = (await get('/dl/berth-linux-amd64')).headers.get('etag') ?? '';
    const rest = await get('/dl/berth-linux-amd64', { range: 'bytes=49990-', 'if-range': etag });
    expect(rest.status).toBe(206);
    expect(rest.headers.get('content-range')).toBe('bytes 49990-49999/50000');
    expect(rest.headers.get('content-length')).toBe('10');
    expect(await rest.bytes()).toEqual(new Uint8Array(CONTENT.subarray(49_990)));
    const middle = await get('/dl/berth-linux-amd64.gz', { range: 'bytes=3-6' });
    expect(await middle.bytes()).toEqual(new Uint8Array(GZIP.subarray(3, 7)));
  });

  test('is sent whole when the rest of another one is asked for', async () => {
    const { get } = open({ folder: makeFolder() });
    const reply = await get('/dl/berth-linux-amd64', { range: 'bytes=49990-', 'if-range': '"of an older version"' });
    expect([reply.status, (await reply.bytes()).length]).toEqual([200, 50_000]);
    const several = await get('/dl/berth-linux-amd64', { range: 'bytes=0-1,4-5' });
    expect([several.status, (await several.bytes()).length]).toEqual([200, 50_000]);
  });

  test('has nothing behind its end', async () => {
    const { get } = open({ folder: makeFolder() });
    const reply = await get('/dl/berth-linux-amd64', { range: 'bytes=50000-' });
    expect(reply.status).toBe(416);
    expect(reply.headers.get('content-range')).toBe('bytes */50000');
    expect((await reply.json()).code).toBe('INVALID_INPUT');
  });

  test('answers HEAD with the same headers and no body', async () => {
    const { get } = open({ folder: makeFolder() });
    const head = await get('/dl/berth-linux-amd64', {}, 'HEAD');
    const full = await get('/dl/berth-linux-amd64');
    expect([head.status, await head.text()]).toEqual([200, '']);
    for (const name of ['content-length', 'etag', 'content-type', 'vary', 'accept-ranges', 'content-disposition'])
      expect([name, head.headers.get(name)]).toEqual([name, full.headers.get(name)]);
    expect((await get('/dl/berth-linux-amd64', {}, 'POST')).status).toBe(405);
  });

  test('waits its turn when too many are sent', async () => {
    const { get, world } = open({ folder: makeFolder(), atOnce: 1 });
    const { of } = world.peer;
    world.peer.of = () => '127.0.0.1';
    expect((await get('/dl/berth-linux-amd64')).status).toBe(200);
    const refused = await get('/dl/berth-linux-amd64');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await get('/dl/berth-linux-amd64', {}, 'HEAD')).status).toBe(200);
    expect((await get('/dl/manifest.json')).status).toBe(200);
    world.peer.of = of;
    expect((await get('/dl/berth-linux-amd64')).status).toBe(200);
  });
});

describe('what is handed out', () => {
  test('is listed with versions and checksums, and is the running executable where the folder lacks it', async () => {
    const folder = makeFolder();
    const own = join(folder, 'running');
    writeFileSync(own, 'me');
    const { get } = open({ folder, own });
    const manifest = await (await get('/dl/manifest.json')).json();
    expect(manifest.version).toBe(VERSION);
    expect(manifest.executables.map((each: { name: string }) => each.name)).toEqual([
      'berth-linux-amd64',
      'berth-darwin-arm64',
      'berth-linux-arm64',
    ]);
    expect(manifest.executables.at(-1)).toEqual({
      platform: 'linux-arm64',
      name: 'berth-linux-arm64',
      bytes: 2,
      sha256: sha256(Buffer.from('me')),
      packed: [],
    });
    expect(await (await get('/dl/berth-linux-arm64')).text()).toBe('me');
    expect(
      (await get('/dl/berth-linux-arm64', { 'accept-encoding': 'gzip' })).headers.get('content-encoding'),
    ).toBeNull();
  });

  test('is for this platform what runs, when the folder is of another build of the version', async () => {
    const folder = folderWith(CONTENT, { platforms: ['linux-arm64', 'linux-amd64'] });
    const own = join(folder, 'running');
    writeFileSync(own, 'me');
    const other = await (await open({ folder, own }).get('/dl/manifest.json')).json();
    expect(other.executables.map((each: { name: string; bytes: number }) => [each.name, each.bytes])).toEqual([
      ['berth-linux-amd64', 50_000],
      ['berth-linux-arm64', 2],
    ]);
    writeFileSync(own, CONTENT);
    const same = await (await open({ folder, own }).get('/dl/manifest.json')).json();
    expect(same.executables[0].packed.length).toBe(2);
  });

  test('never is of another version', async () => {
    const { get, logged } = open({ folder: makeFolder('1.2.2') });
    const reply = await get('/dl/berth-linux-amd64');
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({
      code: 'NOT_FOUND',
      message: 'this server has no client for linux-amd64',
      hint: expect.stringContaining('bun run build'),
    });
    expect(logged).toEqual([expect.stringContaining('they are of version 1.2.2, and this server is 1.2.3')]);
  });

  test('is without what was copied in part', async () => {
    const folder = makeFolder();
    const { get } = open({ folder });
    truncateSync(join(folder, 'berth-linux-amd64.gz'), 10);
    rmSync(join(folder, 'berth-darwin-arm64'));
    const { executables } = await (await get('/dl/manifest.json')).json();
    expect(executables.map((each: { name: string }) => each.name)).toEqual(['berth-linux-amd64']);
    expect(executables[0].packed.map((each: { name: string }) => each.name)).toEqual(['berth-linux-amd64.zst']);
    expect((await get('/dl/berth-linux-amd64.gz')).status).toBe(404);
  });

  test('appears and goes without a restart', async () => {
    const folder = makeFolder();
    const { get } = open({ folder });
    expect((await get('/dl/berth-linux-amd64')).status).toBe(200);
    writeFileSync(join(folder, 'manifest.json'), 'nonsense');
    expect((await get('/dl/berth-linux-amd64')).status).toBe(404);
  });

  test.each([
    '..%2f..%2fetc%2fpasswd',
    'manifest.json%00',
    '.sha256',
    'berth-linux-amd64.sha256.sha256',
    'x'.repeat(300),
  ])('is nothing else: %s', async (name) => {
    const { get } = open({ folder: makeFolder() });
    const reply = await get(`/dl/${name}`);
    expect([400, 404]).toContain(reply.status);
    expect(Object.keys(await reply.json())).toEqual(['code', 'message', 'hint', 'retryable']);
  });
});

describe('the installer', () => {
  test('knows the server by the name it was asked by, and what there is to install', async () => {
    const { get } = open({ folder: makeFolder() });
    const script = await (await get('/install.sh', { host: 'berth.example.com:8443' })).text();
    expect(script).toContain("\nBASE_URL='http://berth.example.com:8443'\n");
    expect(script).toContain("\nVERSION='1.2.3'\n");
    expect(script).toContain(
      `\nCLIENTS='linux-amd64 50000 ${sha256(CONTENT)} ${ZSTD.length} ${sha256(ZSTD)} ${GZIP.length} ${sha256(GZIP)}\ndarwin-arm64 50000 `,
    );
    const behindTls = await get('/install.sh', { host: 'berth.example.com', 'x-forwarded-proto': 'https' });
    expect(await behindTls.text()).toContain("\nBASE_URL='https://berth.example.com'\n");
  });

  test.each(["a'b", 'a$(id)', 'a`id`', "a';id;'", 'a"b', 'a&b', 'a;id', 'a!b', 'a{b}', '$HOME'])(
    'holds nothing of a host named %s',
    async (host) => {
      const { world } = open({ folder: makeFolder() });
      const request = new Request(`http://${host}/install.sh`);
      const reply = await world.fetch(request);
      expect(reply.status).toBe(400);
      expect((await reply.json()).message).toBe('the Host header is no plain host name');
    },
  );

  test('is a script that shellcheck has nothing to say about', async () => {
    const { get } = open({ folder: makeFolder() });
    const script = await (await get('/install.sh')).text();
    const check = Bun.spawn(['shellcheck', '-s', 'sh', '-'], { stdin: Buffer.from(script), stdout: 'pipe' });
    expect([await new Response(check.stdout).text(), await check.exited]).toEqual(['', 0]);
  });
});
