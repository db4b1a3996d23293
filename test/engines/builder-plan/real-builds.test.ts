import { afterAll, describe, expect, test } from 'bun:test';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { RealBuilds, type Running } from './real-support.ts';

const builds = new RealBuilds();
const examples = new URL('../../../examples/', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'berth-builds-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

/** These apps are small: they listen soon. */
const start = (tag: string): Promise<Running> => builds.start(tag, { seconds: 20 });

describe('examples, built and run for real', () => {
  test.each([
    ['node-express', 'from Express', 'npm ci'],
    ['python-fastapi', 'from FastAPI', 'pip install'],
    ['go-http', 'from Go', null],
    ['bun-hono', 'from Hono', 'bun install'],
  ])(
    '%s answers, has no rights, stops in time, and an edit does not install anew',
    async (name, hello, install) => {
      const copy = join(folder, name);
      await cp(join(examples, name), copy, { recursive: true });
      const { tag } = await builds.build(copy);
      const running = await start(tag);
      expect(await running.get('/').then((response) => response.text())).toContain(hello);
      const [first = ''] = (await docker(['top', running.id, '-eo', 'uid,pid'])).split('\n').slice(1);
      expect(first.trim()).toStartWith('1000 ');
      expect(await running.stop()).toBeLessThan(5000);
      await writeFile(join(copy, 'NEW.md'), 'an edit');
      const { cached } = await builds.build(copy);
      if (install !== null) expect(cached.join('\n')).toContain(install);
    },
    240_000,
  );
});

describe('a site, served for real', () => {
  test('pretty URLs, redirects, headers, hidden files and the 404 page', async () => {
    const copy = join(folder, 'site');
    await cp(join(examples, 'static-site'), copy, { recursive: true });
    await writeFile(join(copy, '.secret'), 'secret');
    await writeFile(join(copy, 'app.3f4a5b6c.js'), 'x'.repeat(4000));
    await writeFile(join(copy, '_headers'), '/*\n  X-Literal: {env.PORT} ok\n');
    await writeFile(
      join(copy, '_redirects'),
      '/home / 301\n/old/* /new/:splat 302\n/about /404 301\n/style.css /forced 307!\n',
    );
    const { tag } = await builds.build(copy);
    const running = await start(tag);
    const seen = async (path: string, init?: RequestInit): Promise<string> => {
      const response = await running.get(path, init);
      return [response.status, response.headers.get('location')].filter((part) => part !== null).join(' ');
    };
    const paths = [
      '/',
      '/about',
      '/about.html',
      '/nope',
      '/.secret',
      '/%2esecret',
      '/_redirects',
      '/home',
      '/old/a/b',
      '/style.css',
    ];
    expect(await Promise.all(paths.map(async (path) => `${path} ${await seen(path)}`))).toEqual([
      '/ 200',
      '/about 200',
      '/about.html 200',
      '/nope 404',
      '/.secret 404',
      '/%2esecret 404',
      '/_redirects 404',
      '/home 301 /',
      '/old/a/b 302 /new/a/b',
      '/style.css 307 /forced',
    ]);
    const page = await running.get('/');
    expect([page.headers.get('x-literal'), page.headers.get('cache-control')]).toEqual(['{env.PORT} ok', 'no-cache']);
    const asset = await running.get('/app.3f4a5b6c.js', { headers: { 'accept-encoding': 'gzip' } });
    expect([asset.headers.get('cache-control'), asset.headers.get('content-encoding')]).toEqual([
      'public, max-age=31536000, immutable',
      'gzip',
    ]);
    expect(await running.get('/nope').then((response) => response.text())).toContain('Nothing here');
    expect(
      await running
        .get('/', { headers: { 'if-none-match': page.headers.get('etag') ?? '' } })
        .then((response) => response.status),
    ).toBe(304);
    await running.stop();
  }, 120_000);
});

test('the variables of a build are seen by it, and stay in no layer', async () => {
  const copy = join(folder, 'secretive');
  await cp(join(examples, 'node-express'), copy, { recursive: true });
  await writeFile(
    join(copy, 'package.json'),
    JSON.stringify({
      scripts: { build: 'test "$MARK" = "it\'s k3pt" && echo built > built.txt', start: 'node server.js' },
    }),
  );
  await writeFile(
    join(copy, 'server.js'),
    "require('http').createServer((q, s) => s.end(require('fs').readFileSync('built.txt'))).listen(process.env.PORT)",
  );
  await rm(join(copy, 'package-lock.json'));
  const { tag } = await builds.build(copy, { MARK: "it's k3pt" });
  const running = await start(tag);
  expect(await running.get('/').then((response) => response.text())).toBe('built\n');
  expect(await docker(['exec', running.id, 'env'])).not.toContain('k3pt');
  expect(await docker(['history', '--no-trunc', tag])).not.toContain('k3pt');
  const found = await docker([
    'exec',
    running.id,
    'sh',
    '-c',
    'grep -rl k3pt /app /run /etc /home 2>/dev/null | grep -v package.json; true',
  ]);
  expect(found.trim()).toBe('');
  await running.stop();
}, 120_000);
