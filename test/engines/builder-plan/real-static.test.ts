import { afterAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { RealBuilds, type Running } from './real-support.ts';
import type { Files } from './support.ts';

const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-static-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

const serve = async (name: string, files: Files): Promise<Running> => {
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, name, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const { tag } = await builds.build(join(folder, name));
  return builds.start(tag);
};

/** `200 text`, `301 /target`, … for each path. */
const answers = async ({ get }: Running, paths: string[], init?: RequestInit): Promise<string[]> =>
  Promise.all(
    paths.map(async (path) => {
      const response = await get(path, init);
      const text = response.headers.get('location') ?? (await response.text()).trim();
      return `${path} ${response.status} ${text}`.trim();
    }),
  );

const LONG = 'x'.repeat(4000);

describe('a folder of files', () => {
  test('every rule, served for real', async () => {
    const site = await serve('files', {
      Staticfile: 'root: public\n',
      secret: 'not of the site',
      'public/index.html': 'home',
      'public/about.html': 'about',
      'public/docs/index.html': 'docs',
      'public/404.html': 'nothing here',
      'public/.env': 'hidden',
      'public/a/.git/config': 'hidden',
      'public/.well-known/security.txt': 'known',
      'public/assets/index-BhX3jK2a.js': LONG,
      'public/main.3f4a5b6c.css': LONG,
      'public/photo-20240101.png': 'date',
      'public/plain.js': LONG,
      'public/_redirects':
        '/old/* /new/:splat 302\n/user/:id /about?user=:id 307\n/gone /x 410\n/plain.js /forced 301!\n/about /never 301\n/rewritten /about.html 200\n/away https://example.com/x\n',
      'public/_headers': '/*\n  X-Frame-Options: DENY\n/docs/*\n  Cache-Control: max-age=60\n  X-Literal: {env.PORT}\n',
    });
    expect(
      await answers(site, ['/', '/about', '/about.html', '/docs', '/docs/', '/docs/index.html', '/nope', '/nope.js']),
    ).toEqual([
      '/ 200 home',
      '/about 200 about',
      '/about.html 200 about',
      '/docs 308 /docs/',
      '/docs/ 200 docs',
      '/docs/index.html 200 docs',
      '/nope 404 nothing here',
      '/nope.js 404 nothing here',
    ]);
    expect(
      await answers(site, [
        '/.env',
        '/%2eenv',
        '/a/.git/config',
        '/_redirects',
        '/_headers',
        '/../secret',
        '/..%2fsecret',
        '/.well-known/security.txt',
      ]),
    ).toEqual([
      '/.env 404 nothing here',
      '/%2eenv 404 nothing here',
      '/a/.git/config 404 nothing here',
      '/_redirects 404 nothing here',
      '/_headers 404 nothing here',
      '/../secret 404 nothing here',
      '/..%2fsecret 404 nothing here',
      '/.well-known/security.txt 200 known',
    ]);
    expect(await answers(site, ['/old/a/b', '/user/7', '/gone', '/plain.js', '/rewritten', '/away'])).toEqual([
      '/old/a/b 302 /new/a/b',
      '/user/7 307 /about?user=7',
      '/gone 410 410 Gone',
      '/plain.js 301 /forced',
      '/rewritten 200 about',
      '/away 301 https://example.com/x',
    ]);
    const headers = async (path: string, name: string, init?: RequestInit): Promise<string | null> =>
      (await site.get(path, init)).headers.get(name);
    const forever = 'public, max-age=31536000, immutable';
    expect([
      await headers('/', 'cache-control'),
      await headers('/assets/index-BhX3jK2a.js', 'cache-control'),
      await headers('/main.3f4a5b6c.css', 'cache-control'),
      await headers('/photo-20240101.png', 'cache-control'),
      await headers('/docs/', 'cache-control'),
      await headers('/docs/', 'x-literal'),
      await headers('/about', 'x-frame-options'),
    ]).toEqual(['no-cache', forever, forever, 'no-cache', 'max-age=60', '{env.PORT}', 'DENY']);
    const encoded = async (accepted: string): Promise<string | null> =>
      headers('/main.3f4a5b6c.css', 'content-encoding', { headers: { 'accept-encoding': accepted } });
    expect([await encoded('gzip'), await encoded('zstd, gzip'), await encoded('identity')]).toEqual([
      'gzip',
      'zstd',
      null,
    ]);
    const etag = (await headers('/about', 'etag')) ?? '';
    expect((await site.get('/about', { headers: { 'if-none-match': etag } })).status).toBe(304);
    const part = await site.get('/main.3f4a5b6c.css', {
      headers: { range: 'bytes=0-3', 'accept-encoding': 'identity' },
    });
    expect([part.status, await part.text()]).toEqual([206, 'xxxx']);
    expect((await site.get('/', { method: 'HEAD' })).status).toBe(200);
    expect(await site.stop()).toBeLessThan(5000);
  }, 120_000);

  test('pushstate: unknown paths are the app, missing assets are not', async () => {
    const site = await serve('spa', {
      Staticfile: 'root: dist\npushstate: enabled\n',
      'dist/index.html': 'app',
      'dist/assets/a.js': 'code',
    });
    expect(await answers(site, ['/', '/deep/link', '/assets/a.js', '/assets/b-BhX3jK2a.js', '/favicon.ico'])).toEqual([
      '/ 200 app',
      '/deep/link 200 app',
      '/assets/a.js 200 code',
      '/assets/b-BhX3jK2a.js 404 404 Not Found',
      '/favicon.ico 404 404 Not Found',
    ]);
    expect(await answers(site, ['/deep/link'], { method: 'POST' })).toEqual(['/deep/link 404 404 Not Found']);
    await site.stop();
  }, 120_000);

  test('a build command of the own leaves the site', async () => {
    const site = await serve('built', {
      'index.html': 'source',
      'berth.toml': '[build]\nbuild = "mkdir out && sed s/source/built/ index.html > out/index.html"\noutput = "out"\n',
    });
    expect(await answers(site, ['/', '/berth.toml'])).toEqual(['/ 200 built', '/berth.toml 404 404 Not Found']);
    await site.stop();
  }, 120_000);
});

/** A server in the Perl that every Debian has. */
const SERVER = `use IO::Socket::INET;
$| = 1;
$SIG{TERM} = sub { print "told to stop\\n"; exit 0 };
my $server = IO::Socket::INET->new(LocalPort => $ENV{PORT}, Listen => 5, ReuseAddr => 1) or die;
while (my $client = $server->accept) {
  while (my $line = <$client>) { last if $line =~ /^\\r?\\n/ }
  print $client "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 12\\r\\n\\r\\nfrom a shell";
  close $client;
}
`;

describe('start.sh and Procfile', () => {
  test.each([
    ['script', { 'start.sh': '#!/usr/bin/env bash\nset -e\necho starting\nperl server.pl\necho never\n' }],
    ['procfile', { Procfile: 'web: echo starting; perl server.pl\n' }],
  ])(
    '%s: what it starts is told to stop',
    async (name, files) => {
      const running = await serve(name, { ...files, 'server.pl': SERVER });
      expect(await running.get('/').then((response) => response.text())).toBe('from a shell');
      expect(await running.stop()).toBeLessThan(5000);
      expect(await docker(['logs', running.id])).toBe('starting\ntold to stop\n');
    },
    60_000,
  );
});
