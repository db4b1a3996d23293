import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit, type Visit, type VisitOptions } from '#test/support/dashboard.ts';
import { LOG_WRITER } from '#test/support/log-writer.ts';
import { framesWhileScrolling, heapBytes } from '#test/support/scrolling.ts';
import { until } from '#test/support/until.ts';

const LINES = 100_000;
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

test('scrolls 100,000 lines at 50 frames per second within 200 MB', async () => {
  for (let from = 1000; from < 1000 + LINES; from += 10_000) await write(from, 10_000);
  const seen = await see(`${LOGS}?tail=${LINES}`);
  await until(async () => (await lineCount(seen.page)) >= LINES, 90);
  await seen.page.getByText('Following').waitFor();
  const frames = await framesWhileScrolling(seen.page, '.journal-list', 5);
  const megabytes = (await heapBytes(seen.page)) / 1024 / 1024;
  console.log(`${frames.toFixed(1)} frames per second, ${megabytes.toFixed(0)} MB of heap`);
  expect(frames).toBeGreaterThanOrEqual(50);
  expect(megabytes).toBeLessThan(200);
  await seen.page.getByText(`line ${999 + LINES} GET`).waitFor();
  await seen.close();
}, 240_000);
