import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit } from '#test/support/dashboard.ts';
import { openRelay } from '#test/support/relay.ts';
import { until } from '#test/support/until.ts';

/** Counts aloud, whether berth runs or not. */
const APP = nodeApp(`(() => {
  let count = 0;
  setInterval(() => console.log('tick ' + (count += 1) + ' is here'), 100);
  return (request, response) => response.end('ok');
})()`);

let berth: Berth;
let browser: Browser;

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  await berth.project('conf');
  expect(await berth.deploy('shop', 'web', APP)).toMatchObject({ status: 'succeeded', error: null });
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

/** A connection that broke is no fault of the page. */
const others = (faults: readonly string[]): string[] =>
  faults.filter((fault) => !/net::ERR_|dynamically imported/.test(fault));

const connection = (page: Page, state: string) => page.locator('.connection').filter({ hasText: state, visible: true });

/** The numbers that the log shows, in its order; the window is high enough for all of them. */
const ticks = async (page: Page): Promise<number[]> =>
  page.locator('.journal-row').evaluateAll((rows) =>
    // Rows are used again: their order is where they stand.
    rows
      .map((row) => ({
        top: row.getBoundingClientRect().top,
        tick: /tick (\d+) is here/.exec(row.textContent ?? '')?.[1],
      }))
      .filter(({ tick }) => tick !== undefined)
      .sort((a, b) => a.top - b.top)
      .map(({ tick }) => Number(tick)),
  );

const expectNoGap = (numbers: readonly number[]): void => {
  const [first = 0] = numbers;
  expect(numbers).toEqual(numbers.map((_number, index) => first + index));
};

const setEnv = (env: Record<string, string | null>): Promise<unknown> =>
  berth.api('/v1/projects/conf/env', { method: 'PUT', body: { env } });

test('without a network the page says so, keeps what it shows, and catches up at once', async () => {
  const relay = await openRelay(berth);
  const seen = await visit(browser, relay.berth, { path: '/p/conf/env' });
  const { page } = seen;
  await page.getByText('No variables are set').waitFor();
  relay.cut();
  await connection(page, 'Offline').waitFor();
  await setEnv({ WHILE_AWAY: '1' });
  await page.getByText('No variables are set').waitFor();
  relay.mend();
  // The browser says so when its network is there again.
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.getByRole('cell', { name: 'WHILE_AWAY', exact: true }).waitFor();
  await connection(page, 'Live').waitFor();

  // A page opened without a network mends itself too.
  relay.cut();
  await connection(page, 'Offline').waitFor();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tokens' }).click();
  await page.getByRole('alert').first().waitFor();
  relay.mend();
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await connection(page, 'Live').waitFor();
  await setEnv({ WHILE_AWAY: null });
  expect(others(seen.faults)).toEqual([]);
  await seen.close();
  relay.close();
}, 60_000);

test('a tab in the background misses nothing, whatever the browser withholds from it', async () => {
  const { context, page, close, faults } = await visit(browser, berth);
  await context.addInitScript(() => {
    // As browsers do it: no frames while hidden.
    const frames = globalThis.requestAnimationFrame.bind(globalThis);
    const held: FrameRequestCallback[] = [];
    let hidden = false;
    Object.defineProperty(document, 'hidden', { get: () => hidden });
    globalThis.requestAnimationFrame = (callback) => (hidden ? held.push(callback) : frames(callback));
    Object.assign(globalThis, {
      hide: (now: boolean) => {
        hidden = now;
        document.dispatchEvent(new Event('visibilitychange'));
        if (!now) for (const callback of held.splice(0)) frames(callback);
      },
    });
  });
  const hide = (now: boolean): Promise<void> =>
    page.evaluate((hidden) => (globalThis as unknown as { hide: (now: boolean) => void }).hide(hidden), now);
  await page.setViewportSize({ width: 1280, height: 12_000 });
  await page.goto('/p/shop/s/web/logs');
  await until(async () => (await ticks(page)).length > 3);
  await hide(true);
  const last = (await ticks(page)).at(-1) ?? 0;
  await until(async () => ((await ticks(page)).at(-1) ?? 0) > last + 10);
  await hide(false);
  await until(async () => ((await ticks(page)).at(-1) ?? 0) > last + 20);
  expectNoGap(await ticks(page));
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('a token that loses rights while it is used: the page shows only what is left, without a reload', async () => {
  await berth.project('blog');
  const { body: minted } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: 'ci', capabilities: ['read', 'deploy', 'manage_env'], projects: ['shop', 'conf', 'blog'] },
  });
  const narrow = (rights: object) => berth.api(`/v1/tokens/${minted.id}`, { method: 'PATCH', body: rights });
  await setEnv({ SEEN: '1' });
  const { page, close, faults, go } = await visit(browser, berth, { token: minted.secret, path: '/p/conf/env' });
  await page.getByRole('button', { name: 'Add variable' }).waitFor();
  await narrow({ capabilities: ['read', 'deploy'] });
  await page.getByRole('button', { name: 'Add variable' }).waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: 'SEEN', exact: true }).waitFor();

  await go('/');
  await page.getByRole('link', { name: 'blog', exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'Deploy', exact: true }).waitFor();
  await narrow({ capabilities: ['read'], projects: ['shop'] });
  await page.getByRole('link', { name: 'blog', exact: true }).first().waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Deploy', exact: true }).waitFor({ state: 'detached' });

  await go('/p/shop');
  await narrow({ projects: ['blog'] });
  await page.getByRole('alert').first().waitFor();
  expect(await page.getByRole('table').count()).toBe(0);

  await narrow({ capabilities: ['deploy'], projects: ['blog', 'shop'] });
  await go('/');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.getByRole('link', { name: 'shop', exact: true }).count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('an answer that was overtaken does not replace what is newer', async () => {
  await setEnv({ SEEN: '1', WHILE_AWAY: null, ONCE: null, SECOND: null });
  const { page, close, faults } = await visit(browser, berth, { path: '/p/conf' });
  await page
    .getByText(/\d variables?/)
    .first()
    .waitFor();
  // Read before the change, answered after it.
  const answered = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await page.route('**/v1/projects/conf', async (route) => {
    const old = await route.fetch();
    asked.resolve();
    await answered.promise;
    await route.fulfill({ response: old }).catch(() => undefined);
  });
  await page.goto('/p/conf');
  await asked.promise;
  await page
    .getByText(/1 variable$/)
    .first()
    .waitFor();
  await setEnv({ SECOND: '2' });
  await page
    .getByText(/2 variables$/)
    .first()
    .waitFor();
  const late = page.waitForResponse('**/v1/projects/conf', { timeout: 1000 }).catch(() => undefined);
  answered.resolve();
  await late;
  expect(await page.getByText(/2 variables$/).count()).toBe(1);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('on a slow network a place shows what it will be, and nothing is sent twice', async () => {
  const { page, context, close, faults } = await visit(browser, berth, { path: '/p/conf/env' });
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 20_000,
  });
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tokens' }).click();
  await page.locator('.skeleton').first().waitFor();
  await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
  await page.goBack();
  const sent: string[] = [];
  page.on('request', (request: Request) => {
    if (request.method() !== 'GET' && !request.url().includes('dry_run')) sent.push(request.method());
  });
  await page.getByRole('button', { name: 'Add variable' }).click();
  await page.getByLabel('Name').fill('ONCE');
  await page.getByLabel('Value', { exact: true }).fill('1');
  await page.getByRole('button', { name: 'Preview' }).dblclick();
  await page.getByRole('button', { name: 'Apply' }).dblclick();
  await page.getByRole('cell', { name: 'ONCE', exact: true }).waitFor();
  expect(sent).toEqual(['PUT']);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('two tabs agree: a change, a deletion, a sign-out, and signing in again', async () => {
  await setEnv({ SEEN: '1' });
  await berth.project('gone');
  const one = await visit(browser, berth, { path: '/p/gone/env' });
  const { context, page: first } = one;
  const second = await context.newPage();
  await second.goto('/p/gone');
  await second.getByText(/0 variables/).waitFor();
  await first.getByRole('button', { name: 'Add variable' }).click();
  await first.getByLabel('Name').fill('BOTH');
  await first.getByLabel('Value', { exact: true }).fill('1');
  await first.getByRole('button', { name: 'Preview' }).click();
  await first.getByRole('button', { name: 'Apply' }).click();
  await second.getByText(/1 variable$/).waitFor();

  await berth.api('/v1/projects/gone?confirm=true', { method: 'DELETE' });
  await second.getByText('No project named "gone"').waitFor();
  expect(await second.getByText(/1 variable$/).count()).toBe(0);

  await second.goto('/p/conf/env?x=1#y');
  await second.getByRole('cell', { name: 'SEEN', exact: true }).waitFor();
  await first.evaluate(() =>
    fetch('/v1/session', { method: 'DELETE', headers: { 'x-berth-request': '1' } }).then((reply) => reply.status),
  );
  await second.getByText('Your session has ended').waitFor();
  await first.waitForURL('**/sign-in*');
  await first.getByLabel('Token').fill(berth.token);
  await first.getByRole('button', { name: 'Sign in' }).click();
  await first.getByRole('navigation', { name: 'Main' }).first().waitFor();
  await second.getByRole('cell', { name: 'SEEN', exact: true }).waitFor();
  expect(second.url()).toEndWith('/p/conf/env?x=1#y');
  await one.close();
}, 60_000);

/** Counts, in the page and without a gap, what it has open to the server's streams. */
const watchStreams = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() => {
    const counts = { open: 0, most: 0, begun: 0, foreign: 0 };
    const fetched = globalThis.fetch.bind(globalThis);
    globalThis.fetch = async (input, init) => {
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
    Object.assign(globalThis, { streams: counts, EventSource: Foreign, WebSocket: Foreign });
  });

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
  expect(faults).toEqual([]);
  await close();
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

test('a server that restarts under open pages is shown as lost, and then no line is missing or doubled', async () => {
  const log = await visit(browser, berth, { path: '/p/shop/s/web/logs', height: 12_000 });
  const overview = await visit(browser, berth, { path: '/' });
  await until(async () => (await ticks(log.page)).length > 5);
  await berth.stop();
  await connection(log.page, 'Offline').waitFor();
  await connection(overview.page, 'Offline').waitFor();
  // What was there stays to be read.
  const before = await ticks(log.page);
  expect(before.length).toBeGreaterThan(5);
  await overview.page.getByRole('link', { name: 'shop', exact: true }).first().waitFor();
  expect(await overview.accessible()).toEqual([]);
  await berth.start();
  await connection(log.page, 'Live').waitFor({ timeout: 20_000 });
  await connection(overview.page, 'Live').waitFor({ timeout: 20_000 });
  const last = before.at(-1) ?? 0;
  await until(async () => ((await ticks(log.page)).at(-1) ?? 0) > last + 20);
  const after = await ticks(log.page);
  expect(after).toContain(last);
  expectNoGap(after);
  expect([...others(log.faults), ...others(overview.faults)]).toEqual([]);
  await Promise.all([log.close(), overview.close()]);
}, 90_000);
