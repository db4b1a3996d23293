import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, openBrowser, visit } from '#test/support/dashboard.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;
let browser: Browser;

beforeAll(async () => {
  berth = await Berth.boot();
  browser = await openBrowser();
  await berth.project('shop');
  expect((await berth.deploy('shop', 'web', helloApp('hello'))).status).toBe('succeeded');
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

test('health names each part of the server, capacity its room, versions what it is made of', async () => {
  const { page, go, faults, close } = await visit(browser, berth);
  await go('/admin');
  const checks = page.getByRole('region', { name: 'Checks' });
  // Some checks come and go with what there is to tell.
  await until(async () => {
    const { body } = await berth.api('/v1/admin/checks');
    return (await checks.getByRole('listitem').count()) === body.checks.length;
  });
  for (const part of ['Database', 'Engine', 'Proxy', 'Registry', 'Memory', 'Datastores and backups'])
    await checks.getByRole('listitem').filter({ hasText: part }).first().waitFor();
  await page.getByRole('link', { name: 'Capacity' }).click();
  await page.getByRole('meter', { name: 'Memory' }).waitFor();
  await page.getByRole('link', { name: 'Versions' }).click();
  const { body } = await berth.api('/v1/admin/capacity');
  await page.getByText(body.versions.engine, { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('a check that fails comes first, with its next step; disks lead to who fills them', async () => {
  const { page, go, faults, close } = await visit(browser, berth);
  const { body } = await berth.api('/v1/admin/checks');
  const full = {
    id: 'disk:/data',
    title: 'Disk of /data',
    status: 'fail',
    detail: '0.2 GB are free',
    next: 'free space',
  };
  await page.route('**/v1/admin/checks', (route) =>
    route.fulfill({ json: { status: 'fail', checks: [...body.checks, full] } }),
  );
  await go('/admin');
  const first = page.getByRole('region', { name: 'Checks' }).getByRole('listitem').first();
  await first.getByText('Fault').waitFor();
  await first.getByText('Disk of /data').waitFor();
  await page.getByText('1 thing to look at').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'which project has how much' }).click();
  await page.waitForURL('**/admin/disk');
  const table = page.getByRole('table', { name: 'Disk by project' });
  const { body: disk } = await berth.api('/v1/admin/disk');
  expect(disk.projects[0].image_bytes).toBeGreaterThan(1024);
  await table.getByRole('row', { name: /shop.*MB/ }).waitFor();
  await page.getByRole('meter').first().waitFor();
  await page.unroute('**/v1/admin/checks');
  await page.route('**/v1/admin/disk', (route) => route.abort());
  await page.getByRole('button', { name: 'Look again' }).click();
  await page.getByText('The server cannot be reached').waitFor();
  await table.getByRole('row', { name: /shop.*MB/ }).waitFor();
  expect(faults.filter((fault) => !fault.includes('ERR_FAILED'))).toEqual([]);
  await close();
}, 60_000);

test('figures of the server come by themselves', async () => {
  const { page, go, close } = await visit(browser, berth);
  await go('/admin/capacity');
  const projects = page.locator('dt', { hasText: 'Projects' }).locator('xpath=following-sibling::dd');
  await projects.getByText('1', { exact: true }).waitFor();
  await berth.project('blog');
  await projects.getByText('2', { exact: true }).waitFor({ timeout: 30_000 });
  await close();
}, 60_000);

test('the audit tells what concerns the server, and what happened in all projects', async () => {
  const { page, go, close } = await visit(browser, berth);
  await go('/admin/audit');
  await page.locator('.event-row', { hasText: 'Session created' }).first().waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Deploy succeeded web in shop' }).waitFor();
  await page.getByLabel('Kind').selectOption('token');
  await page.locator('.event-row', { hasText: 'Session created' }).first().waitFor({ state: 'detached' });
  await close();
}, 60_000);

test('without the capability “admin” the page says so, and nothing leads to it', async () => {
  const { body } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: 'reader', capabilities: ['read'], projects: ['*'] },
  });
  const { page, go, close } = await visit(browser, berth, { token: body.secret });
  expect(await page.getByRole('link', { name: 'Admin', exact: true }).count()).toBe(0);
  await go('/admin');
  await page.getByText('This token may not administer the server').waitFor();
  await close();
}, 60_000);

test('charts of a service can be read by keyboard and in words', async () => {
  for (let index = 0; index < 20; index += 1) await berth.appText('shop', 'web');
  const { page, go, faults, close } = await visit(browser, berth);
  await go('/p/shop/s/web/usage');
  const chart = page.getByRole('group', { name: 'Memory over time' });
  await chart.locator('canvas').waitFor({ timeout: 60_000 });
  await chart.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page
    .getByRole('status')
    .filter({ hasText: /\d\d:\d\d:\d\d: / })
    .waitFor({ state: 'attached' });
  await expectAccessible(page);
  await page.getByRole('button', { name: '7 days' }).click();
  await page.getByText('In the last 7 days').first().waitFor({ state: 'attached' });
  expect(faults).toEqual([]);
  await close();
}, 120_000);
