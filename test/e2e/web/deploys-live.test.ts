import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { builtApp, helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit, type Visit } from '#test/support/dashboard.ts';
import { framesWhileScrolling, heapBytes } from '#test/support/scrolling.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;
let browser: Browser;

const SILENT = {
  ...helloApp('x'),
  'server.js': 'console.log("\\u001b[31mI listen nowhere\\u001b[0m"); setInterval(() => {}, 1000);',
};
const pageOf = (id: string, hash = ''): string => `/operations/${id}${hash}`;

const see = async (path: string): Promise<Visit> => {
  const seen = await visit(browser, berth);
  await seen.go(path);
  return seen;
};

const row = (page: Page, text: string) => page.locator('.log-row', { hasText: text });

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(['--health-timeout-seconds', '5']), openBrowser()]);
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

test('an app that never listens is rolled back, with what it said and where it should listen', async () => {
  const { page, close } = await see('/operations');
  const { body } = await berth.upload('shop', 'quiet', SILENT);
  await page.goto(pageOf(body.operation_id));
  await page.getByText('What served before serves on').waitFor({ timeout: 30_000 });
  const card = page.getByRole('alert');
  await card.getByText('HEALTH_CHECK_FAILED').waitFor();
  await card.getByText(/never listened on port 8080/).waitFor();
  expect(await card.getByRole('region', { name: 'Last lines of the log' }).innerText()).toBe('I listen nowhere');
  await card.getByText('Bind 0.0.0.0:$PORT').waitFor();
  const phases = page.getByRole('list', { name: 'Phases' });
  await phases.getByText('Rollout').waitFor();
  await phases.getByText('Rolled back').waitFor();
  await close();
}, 60_000);

test('a deploy is followed live, phase by phase and line by line, and canceled after its plan was shown', async () => {
  const { page, faults, close } = await see('/');
  const slow = builtApp(['RUN for i in $(seq 1 600); do echo "tick $i"; sleep 0.2; done']);
  const { body } = await berth.upload('shop', 'slow', slow);
  await page.goto(pageOf(body.operation_id));
  await row(page, 'tick 3').first().waitFor({ timeout: 30_000 });
  await page.getByRole('list', { name: 'Phases' }).locator('[aria-current=step]', { hasText: 'Build' }).waitFor();
  await row(page, 'tick 12').first().waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel deploy of slow' });
  await dialog.getByRole('list', { name: 'Planned changes' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel it' }).click();
  await page.locator('.page-head').getByText('Canceled').waitFor({ timeout: 30_000 });
  await row(page, 'cancel requested by admin').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await close();
}, 90_000);

test('100,000 lines of a build are searched in a moment and scroll at 50 frames per second', async () => {
  // The builder cuts what a step says beyond 200 KB a second.
  const steps = Array.from(
    { length: 12 },
    (_none, at) =>
      `RUN node -e "let s='';for(let i=0;i<9000;i++)s+='l'+(${at * 9000}+i)+' built\\n';process.stdout.write(s)"`,
  );
  const { operation_id: id } = await berth.deploy('shop', 'big', builtApp(steps));
  const { page, close } = await see(pageOf(id));
  const lines = page.locator('.log-bar').getByText(/^\d+ lines$/);
  await until(async () => Number.parseInt(await lines.innerText(), 10) > 99_900, 60);
  const search = page.getByLabel('Search the log');
  const begun = performance.now();
  await search.fill('l5555');
  await page.getByText('11 found').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.log-row.current', { hasText: 'l5555' }).waitFor();
  expect(performance.now() - begun).toBeLessThan(5000);
  await page.goto(pageOf(id, '#L77777'));
  await page.reload();
  await page.locator('.log-row.marked .log-number', { hasText: '77777' }).waitFor({ timeout: 60_000 });
  const frames = await framesWhileScrolling(page, '.log-lines', 3);
  const megabytes = (await heapBytes(page)) / 1024 / 1024;
  console.log(`${frames.toFixed(1)} frames per second, ${megabytes.toFixed(0)} MB of heap`);
  expect(frames).toBeGreaterThanOrEqual(50);
  expect(megabytes).toBeLessThan(200);
  await close();
}, 120_000);
