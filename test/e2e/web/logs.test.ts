import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  openBrowser,
  visit,
  type Visit,
  type VisitOptions,
} from '#test/support/dashboard.ts';
import { LOG_WRITER } from '#test/support/log-writer.ts';
import { until } from '#test/support/until.ts';

const LOGS = '/p/shop/s/web/logs';

let berth: Berth;
let browser: Browser;

const see = async (path: string, options: VisitOptions = {}): Promise<Visit> => {
  const seen = await visit(browser, berth, options);
  await seen.go(path);
  await seen.page.locator('.journal-row').first().waitFor();
  return seen;
};

/** Only what is in view exists: the first lines, here. */
const toTop = (page: Page): Promise<void> =>
  page.locator('.journal-list').evaluate((list) => {
    list.scrollTop = 0;
  });

const write = (from: number, n: number): Promise<string> => berth.appText('shop', 'web', `/?from=${from}&n=${n}`);

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  expect((await berth.deploy('shop', 'web', LOG_WRITER)).status).toBe('succeeded');
  await berth.appText('shop', 'web', '/odd');
  // More than the window holds.
  await write(1, 80);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

test('shows lines full of HTML as text, and colours of terminals as colours', async () => {
  const { page, close, faults } = await see(LOGS);
  await toTop(page);
  await page.getByText('<img src=x onerror=').waitFor();
  expect(await page.title()).toBe('Logs · web · shop · berth');
  expect(await page.locator('.journal-list img, .journal-list script').count()).toBe(0);
  expect(await page.locator('.ansi-green').innerText()).toBe('ready');
  expect(await page.locator('.ansi-on-red').innerText()).toBe(' FATAL ');
  expect(await page.locator('.journal-row.stderr').innerText()).toContain('to standard error');
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('filters by replica, and says so when nothing fits', async () => {
  const { page, close } = await see(LOGS);
  const replicas = page.getByLabel('Replica');
  await until(async () => (await replicas.locator('option').count()) === 2);
  await replicas.selectOption({ index: 1 });
  await page.getByText('line 80 GET').waitFor();
  await page.goto(`${berth.url}${LOGS}?replica=no-such-replica`);
  await page.getByText('No line fits').waitFor();
  await close();
}, 60_000);

test('jumps to a point in time, and refuses one that is to come', async () => {
  const { page, close } = await see(LOGS);
  await page.getByRole('button', { name: 'Newest' }).click();
  await page.getByRole('menuitem', { name: 'From a point in time' }).click();
  await page.getByLabel('Time', { exact: true }).fill('2999-01-01T00:00:00');
  await page.getByText('That is in the future').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Newest' }).click();
  await page.getByRole('menuitem', { name: 'From 1 hour ago' }).click();
  await page.getByText('<img src=x').waitFor();
  await close();
}, 60_000);

test('wraps long lines, and remembers it', async () => {
  const { page, close } = await see(LOGS);
  const height = async (): Promise<number> =>
    (await page.locator('.journal-row', { hasText: 'wide wide' }).boundingBox())?.height ?? 0;
  await toTop(page);
  expect(await height()).toBe(20);
  await page.getByRole('button', { name: 'Wrap' }).click();
  await until(async () => (await height()) >= 120);
  await page.reload();
  await page.getByText('line 80 GET').waitFor();
  await toTop(page);
  await until(async () => (await height()) >= 120);
  await close();
}, 60_000);

for (const options of [{}, { dark: true }, { width: 390, height: 780 }, { width: 390, height: 780, dark: true }]) {
  test(`leaves axe nothing to find: ${JSON.stringify(options)}`, async () => {
    const seen = await see(LOGS, options);
    await expectAccessible(seen.page);
    await expectNoSidewaysScroll(seen.page);
    await seen.close();
  }, 60_000);
}
