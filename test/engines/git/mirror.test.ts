import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { locateRemote } from '#engines/git/locate';
import { fetchArguments, fetchSettings } from '#engines/git/mirror';
import { certificateFor } from '#test/engines/outgoing/certificate.ts';
import { berth, failureOf, outsideRefs, ZEROS } from './mirror-kit.ts';
import { gitHere, serveOutside } from './outside-server.ts';

describe('what a mirror has', () => {
  test('is all branches and tags of the outside, followed by what changes, moves back and goes away there', async () => {
    const outside = await serveOutside();
    const first = await outside.push('one');
    outside.git('branch', 'old');
    outside.git('branch', 'folder');
    outside.git('tag', 'v1');
    outside.git('tag', '--annotate', '--message', 'two', 'v2');
    await outside.push('two');
    const here = berth();
    const created = await here.update(outside.url());
    expect(here.refs()).toBe(outsideRefs(outside));
    expect(created.map(({ ref }) => ref).sort()).toEqual([
      'refs/heads/folder',
      'refs/heads/main',
      'refs/heads/old',
      'refs/tags/v1',
      'refs/tags/v2',
    ]);
    expect(created.every(({ before, refused }) => before === ZEROS && refused === null)).toBe(true);

    expect(await here.update(outside.url())).toEqual([]);

    outside.git('reset', '--quiet', '--hard', first);
    outside.git('branch', '--delete', '--force', 'old', 'folder');
    outside.git('branch', 'folder/inside');
    outside.git('tag', '--delete', 'v1');
    const forced = await outside.push('three');
    const changed = await here.update(outside.url());
    expect(here.refs()).toBe(outsideRefs(outside));
    expect(changed.map(({ ref, after }) => [ref, after === ZEROS ? 'gone' : after])).toEqual([
      ['refs/heads/folder', 'gone'],
      ['refs/heads/old', 'gone'],
      ['refs/tags/v1', 'gone'],
      ['refs/heads/folder/inside', first],
      ['refs/heads/main', forced],
    ]);
    here.expectSound();
  });

  test('is transferred once: the second time only what is new', async () => {
    const outside = await serveOutside();
    await outside.push('large', crypto.getRandomValues(new Uint8Array(60_000)));
    await outside.push('large2', crypto.getRandomValues(new Uint8Array(60_000)));
    const here = berth();
    await here.update(outside.url());
    const sizes = (): number[] =>
      readdirSync(join(here.bare, 'objects/pack'))
        .filter((name) => name.endsWith('.pack'))
        .map((name) => Bun.file(join(here.bare, 'objects/pack', name)).size);
    expect(sizes()).toHaveLength(1);
    await outside.push('small');
    await here.update(outside.url());
    expect(Math.min(...sizes())).toBeLessThan(2000);
    here.expectSound();
  });

  test('keeps names of refs byte-equal, also those that are no UTF-8', async () => {
    const outside = await serveOutside();
    const head = await outside.push('one');
    const odd = Buffer.from([...Buffer.from('refs/heads/l'), 0xe4, ...Buffer.from('tin-$(id)-\'q"-ü-–-x')]);
    const instruction = Buffer.concat([Buffer.from('create '), odd, Buffer.from(`\0${head}\0`)]);
    Bun.spawnSync(['git', '--git-dir', outside.bare, 'update-ref', '-z', '--stdin'], { stdin: instruction });
    const here = berth();
    await here.update(outside.url());
    expect(here.refs()).toBe(outsideRefs(outside));
    const raw = Bun.spawnSync(['git', '--git-dir', here.bare, 'for-each-ref', '--format=%(refname)']).stdout;
    expect(Buffer.from(raw).includes(odd)).toBe(true);
  });

  test('is nothing of other namespaces, such as pull requests', async () => {
    const outside = await serveOutside();
    const head = await outside.push('one');
    gitHere(outside.bare, 'update-ref', 'refs/pull/1/head', head);
    const here = berth();
    await here.update(outside.url());
    expect(here.refs()).toBe(`refs/heads/main ${head}`);
  });

  test('is empty for an empty repository, and goes when all of it goes', async () => {
    const outside = await serveOutside();
    const here = berth();
    expect(await here.update(outside.url())).toEqual([]);
    await outside.push('one');
    await here.update(outside.url());
    gitHere(outside.bare, 'update-ref', '-d', 'refs/heads/main');
    expect((await here.update(outside.url())).map(({ ref }) => ref)).toEqual(['refs/heads/main']);
    expect(here.refs()).toBe('');
  });

  test('tells the default branch of the outside', async () => {
    const outside = await serveOutside();
    gitHere(outside.bare, 'symbolic-ref', 'HEAD', 'refs/heads/trünk');
    const here = berth();
    const locate = () => locateRemote(here.outgoing, { url: outside.url(), credential: null });
    expect((await locate()).defaultBranch).toBeNull();
    outside.git('branch', '--move', 'trünk');
    await outside.push('one');
    expect((await locate()).defaultBranch).toBe('trünk');
  });
});

describe('where a mirror connects to', () => {
  test('is the checked address: the name is known to nobody but the resolver of the test', async () => {
    const outside = await serveOutside();
    const head = await outside.push('one');
    const here = berth();
    await here.update(outside.url());
    expect(here.refs()).toBe(`refs/heads/main ${head}`);
    expect(outside.requests.map(({ line }) => line)).toEqual([
      'GET /app.git/info/refs?service=git-upload-pack',
      'GET /app.git/info/refs?service=git-upload-pack',
      'POST /app.git/git-upload-pack',
      'POST /app.git/git-upload-pack',
    ]);
  });

  test('stays that when the name leads elsewhere a moment later', async () => {
    const outside = await serveOutside();
    await outside.push('one');
    const hosts: Record<string, string[]> = { 'git.example': ['127.0.0.1'] };
    const here = berth({ hosts });
    const located = await locateRemote(here.outgoing, { url: outside.url(), credential: null });
    hosts['git.example'] = ['169.254.169.254'];
    const signal = AbortSignal.timeout(20_000);
    expect(await here.mirror('r1', { ...located, maxBytes: 1e9, signal })).toHaveLength(1);
    expect((await failureOf(here.update(outside.url()))).message).toContain('metadata');
  });

  test('is never this machine when the operator did not list it', async () => {
    const outside = await serveOutside();
    await outside.push('one');
    const here = berth({ allow: `public.example:${outside.port}`, hosts: { 'rebind.example': ['127.0.0.1'] } });
    for (const host of ['127.0.0.1', 'localhost', 'rebind.example', '2130706433', '[::1]']) {
      expect((await failureOf(here.update(outside.url(host)))).kind).toBe('INVALID_INPUT');
    }
    expect(outside.requests).toEqual([]);
  });

  test('over TLS is the one whose certificate fits the name', async () => {
    const certificate = await certificateFor('git.example');
    const outside = await serveOutside({ tls: certificate });
    const head = await outside.push('one');
    const pem = join(outside.work, '../ca.pem');
    writeFileSync(pem, certificate.cert);
    const git = join(outside.work, '../git-with-ca');
    writeFileSync(git, `#!/bin/sh\nGIT_SSL_CAINFO=${pem} exec git "$@"\n`, { mode: 0o755 });
    const trusting = berth({ git, ca: certificate.cert });
    await trusting.update(outside.url());
    expect(trusting.refs()).toBe(`refs/heads/main ${head}`);
    // Git trusts the machine's authorities only: what berth itself accepted does not matter.
    const strict = berth({ ca: certificate.cert });
    expect((await failureOf(strict.update(outside.url()))).message).toMatch(/certificate|SSL/i);
  });
});

describe('redirects', () => {
  const redirecting = (target: (url: URL) => string) =>
    serveOutside({
      answer: (_request, url) => {
        if (url.pathname.startsWith('/app.git')) return undefined;
        return new Response(null, { status: 301, headers: { location: target(url) } });
      },
    });
  const tail = (url: URL): string => url.pathname.replace(/^\/[^/]+/, '') + url.search;

  test('to another path of the host are followed, with the credential', async () => {
    const outside = await redirecting((url) => `/app.git${tail(url)}`);
    const head = await outside.push('one');
    const here = berth();
    await here.update(`http://git.example:${outside.port}/renamed`, { credential: { user: 'u', password: 'p' } });
    expect(here.refs()).toBe(`refs/heads/main ${head}`);
    expect(outside.requests.map(({ authorization }) => authorization)).toEqual(
      outside.requests.map(() => `Basic ${btoa('u:p')}`),
    );
  });

  test('to another host are checked and pinned anew, without the credential', async () => {
    const other = await serveOutside();
    const head = await other.push('one');
    const outside = await redirecting((url) => `${other.url('other.example')}${tail(url)}`);
    const hosts = { 'git.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] };
    const here = berth({ allow: 'git.example, other.example', hosts });
    await here.update(`http://git.example:${outside.port}/x`, { credential: { user: 'u', password: 'p' } });
    expect(here.refs()).toBe(`refs/heads/main ${head}`);
    expect(outside.requests.map(({ authorization }) => authorization)).toEqual([`Basic ${btoa('u:p')}`]);
    expect(other.requests.map(({ authorization }) => authorization)).toEqual([null, null, null, null]);
  });

  test.each([
    ['to a loopback address', (url: URL) => `http://127.0.0.1:1/app.git${tail(url)}`],
    ['to a metadata service', (url: URL) => `http://169.254.169.254/latest${tail(url)}`],
    ['to an odd notation of it', (url: URL) => `http://0xa9fea9fe/latest${tail(url)}`],
    ['to a name that leads to it', (url: URL) => `https://meta.example/latest${tail(url)}`],
    ['to another scheme', (url: URL) => `file:///etc${tail(url)}`],
    ['with a credential', (url: URL) => `http://a:b@git.example/x${tail(url)}`],
    ['to a page for people', () => '/users/sign_in'],
    ['to nowhere', () => 'http://['],
    ['in a circle', (url: URL) => url.href],
    ['that never end', (url: URL) => `/x${Math.random()}${tail(url)}`],
  ])('%s are refused', async (_what, target) => {
    const outside = await redirecting(target);
    const here = berth({ hosts: { 'git.example': ['127.0.0.1'], 'meta.example': ['169.254.169.254'] } });
    const failure = await failureOf(here.update(`http://git.example:${outside.port}/x`));
    expect(failure.kind).toBe('INVALID_INPUT');
    expect(outside.requests.length).toBeLessThanOrEqual(4);
    expect(here.refs()).toBe('');
  });

  test('from https to http are refused', async () => {
    const certificate = await certificateFor('git.example');
    const plain = await serveOutside();
    const outside = await serveOutside({
      tls: certificate,
      answer: (_request, url) => Response.redirect(`${plain.url()}${tail(url)}`, 302),
    });
    const failure = await failureOf(berth({ ca: certificate.cert }).update(outside.url()));
    expect(failure.message).toContain('from https to http');
    expect(plain.requests).toEqual([]);
  });

  test('that come when git fetches, after the check, are not followed', async () => {
    const bait = await serveOutside();
    let asked = 0;
    const outside = await serveOutside({
      answer: (_request, url) => {
        asked += 1;
        return asked === 1 ? undefined : Response.redirect(`${bait.url('127.0.0.1')}${tail(url)}`, 302);
      },
    });
    await outside.push('one');
    const here = berth();
    expect((await failureOf(here.update(outside.url()))).kind).toBe('INTERNAL_ERROR');
    expect(bait.requests).toEqual([]);
    here.expectSound();
  });
});

describe('a credential', () => {
  const guarded = () =>
    serveOutside({
      answer: (request) =>
        request.headers.get('authorization') === `Basic ${Buffer.from('bot:s3cret-märk').toString('base64')}`
          ? undefined
          : new Response('no', { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }),
    });

  test('opens what is private', async () => {
    const outside = await guarded();
    const head = await outside.push('one');
    const here = berth();
    await here.update(outside.url(), { credential: { user: 'bot', password: 's3cret-märk' } });
    expect(here.refs()).toBe(`refs/heads/main ${head}`);
  });

  test('that is missing or wrong is the error of the user, and git never asks for one', async () => {
    const outside = await guarded();
    await outside.push('one');
    const here = berth();
    for (const credential of [null, { user: 'bot', password: 'wrong' }, { user: 'a:b', password: 'x' }]) {
      const failure = await failureOf(here.update(outside.url(), { credential }));
      expect([failure.kind, failure.retryable]).toEqual(['INVALID_INPUT', false]);
      expect(failure.hint).toMatch(/mirror_credential|user name/);
    }
  });

  test('is in no argument, no file of the repository and no message', async () => {
    const secret = 's3cret-märk';
    const seen: string[] = [];
    const outside = await serveOutside({
      answer: async (request) => {
        if (request.method !== 'POST') return undefined;
        for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
          try {
            seen.push(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
          } catch {
            // It ended in between.
          }
        }
        return new Response('broken', { status: 500 });
      },
    });
    await outside.push('one');
    const here = berth();
    const failure = await failureOf(here.update(outside.url(), { credential: { user: 'bot', password: secret } }));
    expect(failure.kind).toBe('INTERNAL_ERROR');
    expect(seen.filter((line) => line.includes('git.example')).length).toBeGreaterThanOrEqual(2);
    const encoded = Buffer.from(`bot:${secret}`).toString('base64');
    const written = Bun.spawnSync(['grep', '-rlE', `s3cret|${encoded}`, here.bare]).stdout.toString();
    expect(written).toBe('');
    for (const text of [...seen, failure.message, failure.hint, String(failure.cause)]) {
      expect(text).not.toContain('s3cret');
      expect(text).not.toContain(encoded);
    }
  });
});

test('the arguments and settings of git', () => {
  expect(fetchArguments('https://git.example/a')).toEqual([
    'fetch',
    '--quiet',
    '--force',
    '--atomic',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    '--no-recurse-submodules',
    '--',
    'https://git.example/a',
    '+refs/heads/*:refs/heads/*',
    '+refs/tags/*:refs/tags/*',
  ]);
  const pinned = { host: 'git.example', port: 443, address: '2606:4700::1' };
  expect(fetchSettings({ pinned, credential: { user: 'u', password: 'p' } }, { silentSeconds: 60 })).toEqual({
    'http.followRedirects': 'false',
    'http.sslVerify': 'true',
    'http.proxy': '',
    'http.lowSpeedLimit': '1',
    'http.lowSpeedTime': '60',
    'protocol.version': '2',
    'transfer.bundleURI': 'false',
    'fetch.uriProtocols': '',
    'core.fsync': 'pack,derived-metadata',
    'http.curloptResolve': 'git.example:443:[2606:4700::1]',
    'http.extraHeader': `Authorization: Basic ${btoa('u:p')}`,
  });
});
