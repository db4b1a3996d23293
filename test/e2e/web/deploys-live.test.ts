import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { builtApp, helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit, type Visit } from '#test/support/dashboard.ts';

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

test('a step that says too much at once and fails: what the builder dropped is told, and where', async () => {
  const loud = builtApp([
    // More than the 2 MiB that the builder takes of a step in all, however slow the machine.
    `RUN node -e "let s='';for(let i=0;i<30000;i++)s+='l'+i+'-'.repeat(100)+'\\n';process.stdout.write(s);process.exitCode=3"`,
  ]);
  const { operation_id: id } = await berth.deploy('shop', 'loud', loud);
  const { page, faults, accessible, close } = await see(pageOf(id));
  // The builder keeps the last words of a step that fails.
  await page.getByRole('alert').getByText('l29999').waitFor();
  await page
    .getByText(/^Part of this log is missing: the builder takes \d+ .iB(?:\/s)? of what a step says\.$/)
    .waitFor();
  await page.getByRole('button', { name: 'Show where' }).click();
  await row(page, '[output clipped').and(page.locator('.current')).waitFor();
  expect(await accessible()).toEqual([]);
  expect(faults).toEqual([]);
  await close();
}, 90_000);
