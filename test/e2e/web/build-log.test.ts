import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { builtApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit, type Visit } from '#test/support/dashboard.ts';
import { framesWhileScrolling, heapBytes } from '#test/support/scrolling.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;
let browser: Browser;
/** The deploy whose build says 100,000 lines. */
let big: string;

const see = async (path: string): Promise<Visit> => {
  const seen = await visit(browser, berth);
  await seen.go(path);
  return seen;
};

/** A step that says lines `l<from>` and on, all at once. */
const saying = (from: number, lines: number): string =>
  `RUN node -e "let s='';for(let i=0;i<${lines};i++)s+='l'+(${from}+i)+' built\\n';process.stdout.write(s)"`;

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  // The builder cuts what a step says beyond 100 KiB a second.
  const steps = Array.from({ length: 12 }, (_none, at) => saying(at * 9000, 9000));
  big = (await berth.deploy('shop', 'big', builtApp(steps))).operation_id;
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

test('100,000 lines of a build are searched in a moment', async () => {
  const { page, faults, close } = await see(`/operations/${big}`);
  const lines = page.locator('.log-bar').getByText(/^\d+ lines$/);
  await until(async () => Number.parseInt(await lines.innerText(), 10) > 99_900, 60);
  const begun = performance.now();
  await page.getByLabel('Search the log').fill('l5555');
  await page.getByText('11 found').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.log-row.current', { hasText: 'l5555' }).waitFor();
  expect(performance.now() - begun).toBeLessThan(5000);
  expect(faults).toEqual([]);
  await close();
}, 120_000);

test('the line of an address is shown among 100,000 while they come, which scroll at 50 frames per second within 200 MB', async () => {
  const { page, close } = await see(`/operations/${big}#L77777`);
  await page.locator('.log-row.marked .log-number', { hasText: '77777' }).waitFor({ timeout: 60_000 });
  const lines = page.locator('.log-bar').getByText(/^\d+ lines$/);
  await until(async () => Number.parseInt(await lines.innerText(), 10) > 99_900, 60);
  // It stays in view when the rest has come.
  await page.locator('.log-row.marked .log-number', { hasText: '77777' }).waitFor();
  const frames = await framesWhileScrolling(page, '.log-lines', 5);
  const megabytes = (await heapBytes(page)) / 1024 / 1024;
  console.log(`${frames.toFixed(1)} frames per second, ${megabytes.toFixed(0)} MB of heap`);
  expect(frames).toBeGreaterThanOrEqual(50);
  expect(megabytes).toBeLessThan(200);
  await close();
}, 120_000);
