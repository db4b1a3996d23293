import { expect, test } from 'bun:test';
import { brotliDecompressSync, brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import type { WebFiles, WebManifest } from '#modules/dashboard';
import { createWorld } from './world.ts';

const PAGE = '<!doctype html><title>berth</title><script type="module" src="/assets/main-1a2b.js"></script>'.repeat(20);
const SCRIPT = 'console.log("berth");'.repeat(200);
const FONT = 'not really a font';

/** What scripts/web.ts leaves: the large files in their compressed forms only. */
const built = (): WebFiles => {
  const files = new Map<string, Uint8Array>();
  const file = (path: string, type: string, text: string): WebManifest['page'] => {
    const name = path === '/' ? 'index.html' : path.slice(1);
    const bytes = Buffer.from(text);
    if (bytes.length < 100) {
      files.set(name, bytes);
      return { path, file: name, type, bytes: bytes.length, gzip: null, brotli: null };
    }
    const [gz, br] = [gzipSync(bytes), brotliCompressSync(bytes)];
    files.set(`${name}.gz`, gz).set(`${name}.br`, br);
    return { path, file: name, type, bytes: bytes.length, gzip: gz.length, brotli: br.length };
  };
  const page = file('/', 'text/html; charset=utf-8', PAGE);
  const assets = [
    file('/assets/main-1a2b.js', 'text/javascript; charset=utf-8', SCRIPT),
    file('/assets/font-1a2b.woff2', 'font/woff2', FONT),
  ];
  return { manifest: { page, assets }, read: (name) => files.get(name) };
};

const PLACES = [
  '/',
  '/sign-in',
  '/new',
  '/p',
  '/p/shop',
  '/p/shop/services/web/deploys/op_1',
  '/operations',
  '/tokens/new',
  '/admin/audit',
  '/sign-in?next=%2Fp%2Fshop&ended=1',
  '/p/shop/repos/web/file/a%25.txt?ref=feature%2Fx',
];

const open = () => createWorld({ app: { web: built() } });

test.each(PLACES)('%s answers the page, without a token, and to HEAD too', async (path) => {
  const world = open();
  const answer = await world.call(`GET ${path}`, { token: null });
  expect([answer.status, answer.text]).toEqual([200, PAGE]);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const head = await world.call(`HEAD ${path}`, { token: null });
  expect([head.status, head.text]).toEqual([200, '']);
  expect(head.headers.get('etag')).toBe(answer.headers.get('etag'));
});

test('the page runs nothing but the server’s own files, and nobody frames it', async () => {
  const { headers } = await open().call('GET /p/shop', { token: null });
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'; ");
  for (const part of [
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "connect-src 'self'",
  ])
    expect(policy).toContain(part);
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
});

test('files are sent in the best coding that the client takes, and are kept for good', async () => {
  const world = open();
  const get = (coding: string) =>
    world.fetch(world.request('GET /assets/main-1a2b.js', { token: null, headers: { 'accept-encoding': coding } }));
  const brotli = await get('gzip, deflate, br');
  expect(brotli.headers.get('content-encoding')).toBe('br');
  expect(brotliDecompressSync(await brotli.arrayBuffer()).toString()).toBe(SCRIPT);
  const gzip = await get('gzip');
  expect(gzip.headers.get('content-encoding')).toBe('gzip');
  expect(gunzipSync(await gzip.arrayBuffer()).toString()).toBe(SCRIPT);
  const plain = await get('identity');
  expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, SCRIPT]);
  for (const reply of [brotli, gzip, plain]) {
    expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(reply.headers.get('vary')).toBe('Accept-Encoding');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  }
  const font = await world.call('GET /assets/font-1a2b.woff2', { token: null, headers: { 'accept-encoding': 'br' } });
  expect([font.headers.get('content-type'), font.text]).toEqual(['font/woff2', FONT]);
});

test('a page that the browser has is not sent again, one of another version is', async () => {
  const world = open();
  const first = await world.call('GET /', { token: null });
  const etag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('no-cache');
  const again = await world.call('GET /p/shop', { token: null, headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
  expect((await world.call('GET /', { token: null, headers: { 'if-none-match': '"other"' } })).status).toBe(200);
});

test('each coding has an ETag of its own, which a request in that coding only is told to keep', async () => {
  for (const path of ['/', '/assets/main-1a2b.js']) {
    const world = open();
    const ask = (coding: string, known?: string, method = 'GET') =>
      world.fetch(
        world.request(`${method} ${path}`, {
          token: null,
          headers: { 'accept-encoding': coding, ...(known !== undefined && { 'if-none-match': known }) },
        }),
      );
    const tags: string[] = [];
    for (const coding of ['identity', 'gzip', 'br']) {
      const reply = await ask(coding);
      const etag = reply.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w.-]+"$/);
      tags.push(etag);
      const head = await ask(coding, undefined, 'HEAD');
      expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
        for (const method of ['GET', 'HEAD']) {
          const again = await ask(coding, known, method);
          expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
          expect(again.headers.get('vary')).toBe('Accept-Encoding');
        }
    }
    expect(new Set(tags).size).toBe(3);
    expect((await ask('br', tags[1])).status).toBe(200);
  }
});

test.each([
  '/assets/',
  '/assets/none.js',
  '/assets/../index.html',
  '/assets/%2e%2e/index.html',
  '/assets/main-1a2b.js.gz',
  '/assets/__proto__',
])('%s is no file of it', async (path) => {
  const world = open();
  const reply = await world.fetch(new Request(`http://berth.test${path}`));
  expect(reply.status).toBe(404);
});

test('what is no place of the page stays unknown', async () => {
  for (const path of ['/nothing', '/v2', '/index.html', '/p2'])
    expect((await open().call(`GET ${path}`, { token: null })).status).toBe(404);
  expect((await open().call('GET /v1/nothing', { token: null })).status).toBe(401);
});
