import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { expectNoSidewaysScroll, openBrowser, visit } from '#test/support/dashboard.ts';
import { until } from '#test/support/until.ts';

/** Names of people are free text. */
const ODD = '<img src=x onerror=alert(1)>';

let berth: Berth;
let browser: Browser;
let oddToken: string;

beforeAll(async () => {
  berth = await Berth.boot();
  browser = await openBrowser();
  await berth.project('shop');
  await berth.project('blog');
  expect((await berth.deploy('shop', 'web', helloApp('one'))).status).toBe('succeeded');
  await berth.api('/v1/projects/shop/repos', { method: 'POST', body: { name: 'code', deploy_service: 'web' } });
  await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { GREETING: 'hello' } });
  const { body } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: ODD, capabilities: ['read', 'deploy', 'scale', 'manage_projects'], projects: ['*'] },
  });
  oddToken = body.secret;
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

test('the overview shows every service as it changes, and the project what it has, uses and did', async () => {
  const { page, go, faults, accessible, close } = await visit(browser, berth, { path: '/' });
  const shop = page.getByRole('region', { name: 'shop' });
  await shop.getByText('Running').waitFor();
  await berth.api('/v1/projects/shop/services/web', { method: 'PATCH', body: { replicas: 0 } });
  await shop.getByText('Stopped').waitFor();
  await berth.api('/v1/projects/shop/services/web', { method: 'PATCH', body: { replicas: 2 } });
  await shop.getByRole('img', { name: '2 of 2 replicas run' }).waitFor();
  expect(await accessible()).toEqual([]);

  await go('/p/shop');
  const services = page.getByRole('region', { name: 'Services' });
  await services.getByRole('link', { name: /^web--shop/ }).waitFor();
  await berth.appText('shop', 'web');
  await services.getByText(/\/s$/).waitFor({ timeout: 20_000 });
  await services.getByText(/MB$/).waitFor();
  await page.getByRole('region', { name: 'Repositories' }).getByText('deploys web').waitFor();
  await page.getByRole('region', { name: 'Environment' }).getByText('GREETING').waitFor();
  await page.getByRole('region', { name: 'Events' }).getByText('Deploy succeeded web').first().waitFor();
  await page.getByRole('region', { name: 'Datastores' }).getByText('No datastores').waitFor();
  expect(await accessible()).toEqual([]);
  await page.getByRole('region', { name: 'Operations' }).getByRole('link', { name: 'All' }).click();
  await page.waitForURL('**/operations?project=shop');
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('both are right on a phone in the dark too', async () => {
  const { page, go, faults, accessible, close } = await visit(browser, berth, { path: '/', width: 390, dark: true });
  await page.getByRole('region', { name: 'shop' }).waitFor();
  expect(await accessible()).toEqual([]);
  await expectNoSidewaysScroll(page);
  await go('/p/shop');
  await page.getByRole('region', { name: 'Services' }).getByText(/MB$/).waitFor({ timeout: 20_000 });
  expect(await accessible()).toEqual([]);
  await expectNoSidewaysScroll(page);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('a project is made by its name, which is checked while it is typed; one that is there is opened', async () => {
  const { page, faults, accessible, close } = await visit(browser, berth, { path: '/' });
  await page.getByRole('button', { name: 'New project' }).click();
  const dialog = page.getByRole('dialog', { name: 'New project' });
  const create = dialog.getByRole('button', { name: 'Create' });
  expect(await create.isDisabled()).toBe(true);
  await dialog.getByLabel('Name').fill('<b>New</b>');
  await dialog.getByRole('alert').waitFor();
  expect(await accessible()).toEqual([]);
  await dialog.getByLabel('Name').fill('fresh');
  await create.click();
  await page.waitForURL('**/p/fresh');
  await page.getByText('No services yet').waitFor();
  expect((await berth.api('/v1/projects/fresh')).status).toBe(200);

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or jump' }).fill('new project');
  await page.keyboard.press('Enter');
  await dialog.getByLabel('Name').fill('shop');
  await dialog.getByLabel('Name').press('Enter');
  await page.waitForURL('**/p/shop');
  await page.getByText('shop was there already').waitFor();
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('a person whose name is markup is shown as text, and a deploy by them too', async () => {
  const reply = await berth.api('/v1/projects/shop/services/web/restart', { method: 'POST', token: oddToken });
  await berth.wait(reply.body.operation_id);
  const { page, go, faults, close } = await visit(browser, berth, { token: oddToken, path: '/p/shop' });
  await page.getByRole('region', { name: 'Events' }).getByText(`by ${ODD}`).first().waitFor();
  await page.getByRole('button', { name: ODD }).waitFor();
  await go(`/operations/${reply.body.operation_id}`);
  await page.getByText(`by ${ODD}`).waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('a project is deleted when its name is typed and its plan was seen, while somebody else looks at it', async () => {
  const other = await visit(browser, berth, { path: '/' });
  await other.page.getByRole('region', { name: 'blog' }).waitFor();
  const { page, faults, accessible, close } = await visit(browser, berth, { path: '/p/blog' });
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.waitForURL('**/p/blog/settings');
  await page.getByRole('button', { name: 'Delete blog' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete project blog' });
  const button = dialog.getByRole('button', { name: 'Delete blog' });
  await dialog.getByText('This can’t be undone.').waitFor();
  await dialog.getByLabel('Type “blog” to confirm').fill('Blog');
  expect(await button.isDisabled()).toBe(true);
  expect(await accessible()).toEqual([]);
  await dialog.getByLabel('Type “blog” to confirm').fill('blog');
  await button.click();
  await page.waitForURL('**/operations/op_*');
  await page.getByText('Succeeded').first().waitFor();
  await until(async () => (await berth.api('/v1/projects/blog')).status === 404);
  await other.page.getByRole('region', { name: 'blog' }).waitFor({ state: 'detached' });
  expect([...faults, ...other.faults]).toEqual([]);
  await other.close();
  await close();
}, 60_000);

test('the palette reaches what is named, an operation by its id, and the way out', async () => {
  const { page, close } = await visit(browser, berth, { path: '/' });
  const open = async (typed: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump' }).fill(typed);
    await page.keyboard.press('Enter');
  };
  await open('usage web');
  await page.waitForURL('**/p/shop/s/web/usage');
  await open('repositories shop');
  await page.waitForURL('**/p/shop/repos');
  const { body } = await berth.api('/v1/operations?limit=1');
  await open(body.operations[0].operation_id);
  await page.waitForURL(`**/operations/${body.operations[0].operation_id}`);
  await open('keyboard shortcuts');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await open('sign out');
  await page.getByLabel('Token').waitFor();
  expect(await page.evaluate(async () => (await fetch('/v1/session')).status)).toBe(401);
  await close();
}, 60_000);
