import { describe, expect, test } from 'bun:test';
import { deflateSync } from 'node:zlib';
import { berth, failureOf, outsideRefs, type Options } from './mirror-kit.ts';
import { gitHere, serveOutside, type Answer } from './outside-server.ts';

describe('a mirror that fails leaves the repository as it was', () => {
  const ready = async (answer: (request: Request, url: URL) => Answer, options?: Options) => {
    let broken = false;
    const outside = await serveOutside({ answer: (request, url) => (broken ? answer(request, url) : undefined) });
    await outside.push('one');
    const here = berth(options);
    await here.update(outside.url());
    const before = here.refs();
    await outside.push('two', crypto.getRandomValues(new Uint8Array(300_000)));
    broken = true;
    return { outside, here, before, mend: () => (broken = false) };
  };
  const onFetch =
    (answer: () => Answer) =>
    (request: Request): Answer =>
      request.method === 'POST' ? answer() : undefined;

  test.each([
    ['404', 'NOT_FOUND', () => new Response('gone', { status: 404 })],
    ['410', 'NOT_FOUND', () => new Response('gone', { status: 410 })],
    ['403', 'INVALID_INPUT', () => new Response('no', { status: 403 })],
    ['500', 'INTERNAL_ERROR', () => new Response('x', { status: 500 })],
    ['429', 'INTERNAL_ERROR', () => new Response('x', { status: 429 })],
    ['a page', 'NOT_FOUND', () => new Response('<html>', { headers: { 'content-type': 'text/html' } })],
    [
      'files without git',
      'NOT_FOUND',
      () => new Response('abc\trefs/heads/main\n', { headers: { 'content-type': 'text/plain' } }),
    ],
    [
      'nonsense of the right type',
      'NOT_FOUND',
      () => new Response('nonsense', { headers: { 'content-type': 'application/x-git-upload-pack-advertisement' } }),
    ],
  ])('when the address answers with %s', async (_what, kind, answer) => {
    const { outside, here, before, mend } = await ready(answer);
    expect((await failureOf(here.update(outside.url()))).kind as string).toBe(kind);
    expect(here.refs()).toBe(before);
    mend();
    await here.update(outside.url());
    expect(here.refs()).toBe(outsideRefs(outside));
    here.expectSound();
  });

  test.each([
    ['an error', 500, 'INTERNAL_ERROR'],
    ['a refusal', 403, 'INVALID_INPUT'],
    ['a disappearance', 404, 'NOT_FOUND'],
  ])('when %s comes in the middle', async (_what, status, kind) => {
    const { outside, here, before } = await ready(onFetch(() => new Response('x', { status })));
    expect((await failureOf(here.update(outside.url()))).kind as string).toBe(kind);
    expect(here.refs()).toBe(before);
    here.expectSound();
  });

  test('when the pack is cut off', async () => {
    const { outside, here, before } = await ready(() => undefined);
    const cut = await serveOutside({
      answer: async (request, url) => {
        const reply = await fetch(`http://127.0.0.1:${outside.port}${url.pathname}${url.search}`, {
          method: request.method,
          headers: request.headers,
          ...(request.method === 'POST' ? { body: await request.arrayBuffer() } : {}),
        });
        const bytes = new Uint8Array(await reply.arrayBuffer());
        const headers = { 'content-type': reply.headers.get('content-type') ?? '' };
        return new Response(bytes.length > 100_000 ? bytes.subarray(0, 90_000) : bytes, {
          status: reply.status,
          headers,
        });
      },
    });
    const failure = await failureOf(here.update(cut.url()));
    expect([failure.kind, failure.retryable]).toEqual(['INTERNAL_ERROR', true]);
    expect(here.refs()).toBe(before);
    here.expectSound();
  });

  test('when the server falls silent', async () => {
    const silent = onFetch(() => new Promise<Response>(() => undefined));
    const { outside, here, before } = await ready(silent, { times: { deadlineMs: 30_000, silentSeconds: 1 } });
    const failure = await failureOf(here.update(outside.url()));
    expect([failure.kind, failure.retryable]).toEqual(['INTERNAL_ERROR', true]);
    expect(here.refs()).toBe(before);
    here.expectSound();
  });

  test('when it takes longer than it may', async () => {
    const silent = onFetch(() => new Promise<Response>(() => undefined));
    const { outside, here, before } = await ready(silent);
    const slow = berth({ times: { deadlineMs: 600, silentSeconds: 60 } });
    expect((await failureOf(slow.update(outside.url()))).kind).toBe('TIMEOUT');
    expect(here.refs()).toBe(before);
    slow.expectSound();
  });

  test('when the caller gives up', async () => {
    const silent = onFetch(() => new Promise<Response>(() => undefined));
    const { outside, here, before } = await ready(silent);
    const reason = new Error('the server stops');
    const stop = new AbortController();
    const update = here.update(outside.url(), { signal: stop.signal });
    setTimeout(() => stop.abort(reason), 300);
    expect(await update.catch((thrown: unknown) => thrown)).toBe(reason);
    expect(here.refs()).toBe(before);
    here.expectSound();
  });

  test('when it is larger than it may be', async () => {
    const { outside, here, before } = await ready(() => undefined);
    const failure = await failureOf(here.update(outside.url(), { maxBytes: 100_000 }));
    expect([failure.kind, failure.retryable]).toEqual(['SOURCE_TOO_LARGE', false]);
    expect(here.refs()).toBe(before);
    here.expectSound();
  });

  test('when its objects are broken', async () => {
    const outside = await serveOutside();
    const head = await outside.push('one');
    const here = berth();
    await here.update(outside.url());
    const before = here.refs();
    const tree = Bun.spawnSync(
      ['git', '--git-dir', outside.bare, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin'],
      {
        stdin: Buffer.concat([
          Buffer.from('40000 .git\0'),
          Buffer.from(gitHere(outside.bare, 'rev-parse', `${head}^{tree}`), 'hex'),
        ]),
      },
    );
    const commit = gitHere(outside.bare, 'commit-tree', '-m', 'bad', tree.stdout.toString().trim());
    gitHere(outside.bare, 'update-ref', 'refs/heads/bad', commit);
    const failure = await failureOf(here.update(outside.url()));
    expect(failure.kind).toBe('INVALID_INPUT');
    expect(failure.message).toContain('.git');
    expect(here.refs()).toBe(before);
    here.expectSound();
  });

  test('and of two at once one waits its turn outside', async () => {
    const outside = await serveOutside();
    await outside.push('one');
    const here = berth();
    const results = await Promise.allSettled([here.update(outside.url()), here.update(outside.url())]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    here.expectSound();
  });

  test('and what a crash left behind is gone after the next one', async () => {
    const outside = await serveOutside();
    await outside.push('one');
    const here = berth();
    gitHere(here.bare, 'init', '--quiet', '--bare', 'mirror.tmp');
    await here.update(outside.url());
    here.expectSound();
  });
});

test('a server that sends without end is stopped while it sends', async () => {
  let sent = 0;
  let closed = false;
  const outside = await serveOutside({
    answer: async (request) => {
      if (request.method !== 'POST') return undefined;
      const wanted = Buffer.from(await request.arrayBuffer()).toString('latin1');
      if (wanted.includes('command=ls-refs')) {
        const line = `${'1'.repeat(40)} refs/heads/main\n`;
        return new Response(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`, {
          headers: { 'content-type': 'application/x-git-upload-pack-result' },
        });
      }
      return new Response(
        endlessPack(
          (bytes) => (sent += bytes),
          () => (closed = true),
        ),
        {
          headers: { 'content-type': 'application/x-git-upload-pack-result' },
        },
      );
    },
  });
  await outside.push('one');
  const here = berth();
  const failure = await failureOf(here.update(outside.url(), { maxBytes: 3_000_000 }));
  expect(failure.kind).toBe('SOURCE_TOO_LARGE');
  expect(sent).toBeGreaterThan(3_000_000);
  expect(sent).toBeLessThan(1e9);
  expect(closed).toBe(true);
  here.expectSound();
});

/** A pack that says it has a million objects: blobs of 60,000 random bytes, stored, in side-band packets. */
const endlessPack = (onBytes: (bytes: number) => void, onClose: () => void): ReadableStream<Uint8Array> => {
  const packet = (band: number | undefined, payload: Uint8Array): Uint8Array => {
    const length = payload.length + 4 + (band === undefined ? 0 : 1);
    const head = Buffer.from(length.toString(16).padStart(4, '0'));
    return Buffer.concat([head, Buffer.from(band === undefined ? [] : [band]), payload]);
  };
  const size = 60_000;
  let begun = false;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (!begun) {
        controller.enqueue(packet(undefined, Buffer.from('packfile\n')));
        controller.enqueue(packet(1, Buffer.from('5041434b00000002000fffff', 'hex')));
        begun = true;
      }
      // type 3, size in 4 + 7 + 7 bits (gitformat-pack(5)).
      const header = [0x80 | (3 << 4) | (size & 15), 0x80 | ((size >> 4) & 127), size >> 11];
      const blob = deflateSync(crypto.getRandomValues(new Uint8Array(size)), { level: 0 });
      controller.enqueue(packet(1, Buffer.concat([Buffer.from(header), blob])));
      onBytes(size);
      await Bun.sleep(1);
    },
    cancel: onClose,
  });
};
