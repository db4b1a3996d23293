import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, BrowserContext } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit } from '#test/support/dashboard.ts';
import { TICKING_APP } from '#test/support/ticking.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;
let browser: Browser;

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  await berth.project('conf');
  expect(await berth.deploy('shop', 'web', TICKING_APP)).toMatchObject({ status: 'succeeded', error: null });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

/** Counts, in the page and without a gap, what it has open to the server's streams. */
const watchStreams = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() => {
    const counts = { open: 0, most: 0, begun: 0, foreign: 0 };
    const fetched = globalThis.fetch.bind(globalThis);
    const watched = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const address = input instanceof globalThis.Request ? input.url : String(input);
      if (!address.includes('/v1/live') && !address.includes('/stream')) return fetched(input, init);
      counts.open += 1;
      counts.begun += 1;
      counts.most = Math.max(counts.most, counts.open);
      let over = false;
      const end = (): void => {
        if (!over) counts.open -= 1;
        over = true;
      };
      init?.signal?.addEventListener('abort', end);
      try {
        return await fetched(input, init);
      } catch (thrown) {
        end();
        throw thrown;
      }
    };
    const Foreign = function refuse(): never {
      counts.foreign += 1;
      throw new Error('the page has its own stream');
    };
    Object.assign(globalThis, { streams: counts, fetch: watched, EventSource: Foreign, WebSocket: Foreign });
  });

/** As the server counts them. */
const openStreams = async (): Promise<number> => (await berth.api('/v1/admin/capacity')).body.open_streams;

test('a walk through all pages keeps one stream at most, asks no other host and breaks no rule of its policy', async () => {
  const { context, page, close, faults } = await visit(browser, berth);
  await watchStreams(context);
  const [operation] = (await berth.api('/v1/operations?project=shop')).body.operations;
  const streams = () => page.evaluate(() => (globalThis as unknown as { streams: Record<string, number> }).streams);
  await page.goto('/');
  const places = [
    '/p/shop',
    '/p/shop/s/web',
    '/p/shop/s/web/logs',
    '/p/shop/s/web/usage',
    '/p/shop/s/web/releases',
    '/p/shop/s/web/settings',
    '/p/shop/events',
    '/p/conf/env',
    '/p/shop/datastores',
    '/p/shop/repos',
    '/p/shop/settings',
    '/p/shop/new',
    '/operations',
    `/operations/${operation.operation_id}`,
    '/tokens',
    '/admin',
    '/admin/capacity',
    '/admin/versions',
    '/admin/audit',
    '/new',
    '/',
  ];
  for (const place of places) {
    // As the page's own links do it: nothing is loaded anew.
    await page.evaluate((path) => history.pushState(null, '', path), place);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await until(async () => (await streams())['open'] === 1);
  }
  const counts = await streams();
  expect(counts).toMatchObject({ open: 1, most: 1, foreign: 0 });
  expect(counts['begun']).toBeGreaterThan(5);
  expect(await openStreams()).toBe(1);
  expect(faults).toEqual([]);
  await close();
  await until(async () => (await openStreams()) === 0);
}, 60_000);

test('files of the page: each coding has its ETag, unknown ones are not the page', async () => {
  const html = await (await fetch(`${berth.url}/`)).text();
  const [, main = ''] = /src="(\/assets\/main-[^"]+)"/.exec(html) ?? [];
  const tags = new Set<string>();
  for (const coding of ['identity', 'gzip', 'br']) {
    const headers = { 'accept-encoding': coding };
    const reply = await fetch(`${berth.url}${main}`, { headers });
    const etag = reply.headers.get('etag') ?? '';
    tags.add(etag);
    const head = await fetch(`${berth.url}${main}`, { method: 'HEAD', headers });
    expect([head.status, head.headers.get('etag')]).toEqual([200, etag]);
    const known = await fetch(`${berth.url}${main}`, { headers: { ...headers, 'if-none-match': etag } });
    expect([known.status, await known.text()]).toEqual([304, '']);
  }
  expect(tags.size).toBe(3);
  for (const path of ['/assets/none.js', '/assets/', '/assets/main-.js']) {
    const reply = await fetch(`${berth.url}${path}`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([404, expect.stringContaining('json')]);
  }
});
