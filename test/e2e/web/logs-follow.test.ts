import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit, type Visit, type VisitOptions } from '#test/support/dashboard.ts';
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

/** Numbers of the lines that are in the list, from what it says of itself. */
const lineCount = async (page: Page): Promise<number> =>
  Number(/([\d.,]+) lines?/.exec(await page.locator('.journal-foot').innerText())?.[1]?.replace(/\D/g, '') ?? '0');

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
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

test('follows, pauses, counts what came meanwhile, and goes on', async () => {
  const { page, close } = await see(LOGS);
  await write(1, 50);
  await page.getByText('line 50 GET').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await write(51, 30);
  await page.getByRole('button', { name: '30 new lines' }).click();
  await page.getByText('line 80 GET').waitFor();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await close();
}, 60_000);

test('searches with marks, moves between matches, and narrows to them', async () => {
  const { page, close } = await see(LOGS);
  await page.getByText('line 80 GET').waitFor();
  await page.getByLabel('Search', { exact: true }).fill('line 4');
  // 4 and 40 to 49.
  await page.getByText('11 found').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('1 of 11').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('2 of 11').waitFor();
  expect(await page.locator('.journal-row.current mark').innerText()).toBe('line 4');
  await page.getByRole('button', { name: 'Only these' }).click();
  await until(async () => (await page.locator('.journal-row').count()) === 11);
  expect(new URL(page.url()).searchParams.get('q')).toBe('line 4');
  await close();
}, 60_000);

test('links to a line, and shows it again from the link', async () => {
  const { page, close } = await see(LOGS);
  await toTop(page);
  const row = page.locator('.journal-row', { hasText: 'line 17 GET' });
  await row.locator('a').click();
  await page.locator('.journal-row.marked', { hasText: 'line 17 GET' }).waitFor();
  await page.reload();
  await page.locator('.journal-row.marked', { hasText: 'line 17 GET' }).waitFor();
  expect(await page.locator('.journal-before').innerText()).toContain('From');
  await close();
}, 60_000);

test('downloads what is shown, without colours', async () => {
  const { page, close } = await see(LOGS);
  await page.getByText('line 80 GET').waitFor();
  await page.getByRole('button', { name: 'More', exact: true }).click();
  const waiting = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Download these lines' }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).toBe('shop-web.log');
  const text = await Bun.file(await download.path()).text();
  expect(text).toContain(' stdout ready  FATAL  plain\n');
  expect(text.match(/line \d+ GET/g)).toHaveLength(80);
  await close();
}, 60_000);

test('lets the server search what is not in the page, and reads on from there', async () => {
  const { page, faults, close } = await see(`${LOGS}?tail=10`);
  await page.getByText('line 80 GET').waitFor();
  expect(await lineCount(page)).toBe(10);
  await page.getByLabel('Search', { exact: true }).fill('line 4');
  await page.getByText('11 found').waitFor();
  await page.getByRole('button', { name: 'Only these' }).click();
  await page.getByText('11 matches from before the lines in this page').waitFor();
  await until(async () => (await page.locator('.journal-row').count()) === 11);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  const waiting = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Download all lines that match' }).click();
  const text = await Bun.file(await (await waiting).path()).text();
  expect(text.match(/ stdout line 4\d? GET/g)).toHaveLength(11);
  await page.locator('.journal-row', { hasText: 'line 4 GET' }).locator('a').click();
  await page.locator('.journal-row.marked', { hasText: 'line 4 GET' }).waitFor();
  await page.locator('.journal-row', { hasText: 'line 5 GET' }).waitFor();
  await page.goto(`${berth.url}${LOGS}?tail=10&q=line+4`);
  await page.getByText('11 found').waitFor();
  await page.getByRole('button', { name: 'Next match' }).click();
  await page.locator('.journal-row.marked', { hasText: 'line 4 GET' }).waitFor();
  await page.getByLabel('Search', { exact: true }).fill('LINE 4');
  await page.getByText('0 found').waitFor();
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('goes on without gaps or repetitions after a restart of the server, and shows that it was away', async () => {
  const { page, close } = await see(LOGS);
  await page.getByText('line 80 GET').waitFor();
  await berth.stop();
  await page.getByText('Offline').locator('visible=true').first().waitFor();
  await berth.start();
  await until(async () => {
    await write(81, 1).catch(() => undefined);
    return page.getByText('line 81 GET').first().isVisible();
  }, 60);
  await write(82, 20);
  await page.getByText('line 101 GET').waitFor({ timeout: 30_000 });
  await page.getByText('Live', { exact: true }).locator('visible=true').first().waitFor();
  const rows = await page
    .locator('.journal-row')
    .evaluateAll((all) => all.map((row) => Number(row.getAttribute('data-seq'))));
  expect(rows).toEqual(rows.map((_row, index) => (rows[0] ?? 0) + index));
  await close();
}, 120_000);
