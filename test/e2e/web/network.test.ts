import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page, Request } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit } from '#test/support/dashboard.ts';
import { openRelay } from '#test/support/relay.ts';
import { TICKING_APP, expectNoGap, ticks } from '#test/support/ticking.ts';
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

/** A connection that broke is no fault of the page. */
const others = (faults: readonly string[]): string[] =>
  faults.filter((fault) => !/net::ERR_|dynamically imported/.test(fault));

const connection = (page: Page, state: string) => page.locator('.connection').filter({ hasText: state, visible: true });

const setEnv = (env: Record<string, string | null>): Promise<unknown> =>
  berth.api('/v1/projects/conf/env', { method: 'PUT', body: { env } });

/** As the server counts them. */
const openStreams = async (): Promise<number> => (await berth.api('/v1/admin/capacity')).body.open_streams;

test('without a network the page says so, keeps what it shows, and catches up at once', async () => {
  const relay = await openRelay(berth);
  const seen = await visit(browser, relay.berth, { path: '/p/conf/env' });
  const { page } = seen;
  await page.getByText('No variables are set').waitFor();
  relay.cut();
  await connection(page, 'Offline').waitFor();
  await until(async () => (await openStreams()) === 0);
  await setEnv({ WHILE_AWAY: '1' });
  await page.getByText('No variables are set').waitFor();
  relay.mend();
  // The browser says so when its network is there again.
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await page.getByRole('cell', { name: 'WHILE_AWAY', exact: true }).waitFor();
  await connection(page, 'Live').waitFor();
  expect(await openStreams()).toBe(1);

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

test('a server that restarts under open pages is shown as lost, and then no line is missing or doubled', async () => {
  const log = await visit(browser, berth, { path: '/p/shop/s/web/logs', height: 12_000 });
  const overview = await visit(browser, berth, { path: '/' });
  const service = await visit(browser, berth, { path: '/p/shop/s/web' });
  const pages = [log, overview, service];
  const expectRunning = async (): Promise<void> => {
    await overview.page.getByRole('region', { name: 'shop' }).getByText('Running', { exact: true }).waitFor();
    await overview.page.getByText('1 of 1 service running').waitFor();
    expect(await overview.page.getByRole('region', { name: 'Needs attention' }).count()).toBe(0);
    await service.page.locator('.page-head').getByText('Running', { exact: true }).waitFor();
    await service.page.getByRole('table', { name: 'Replicas' }).getByText('Live', { exact: true }).waitFor();
  };
  await until(async () => (await ticks(log.page)).length > 5);
  await expectRunning();
  await berth.stop();
  for (const { page } of pages) await connection(page, 'Offline').waitFor();
  // What was there stays to be read.
  const before = await ticks(log.page);
  expect(before.length).toBeGreaterThan(5);
  await overview.page.getByRole('link', { name: 'shop', exact: true }).first().waitFor();
  expect(await overview.accessible()).toEqual([]);
  await berth.start();
  for (const { page } of pages) await connection(page, 'Live').waitFor({ timeout: 20_000 });
  await expectRunning();
  const last = before.at(-1) ?? 0;
  await until(async () => ((await ticks(log.page)).at(-1) ?? 0) > last + 20);
  const after = await ticks(log.page);
  expect(after).toContain(last);
  expectNoGap(after);
  // Not for a moment only: what the server has seen since says the same.
  await expectRunning();
  for (const { faults, close } of pages) {
    expect(others(faults)).toEqual([]);
    await close();
  }
}, 90_000);
