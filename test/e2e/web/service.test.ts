import { afterAll, beforeAll, expect, test } from 'bun:test';
import { expectNoSidewaysScroll, visit } from '#test/support/dashboard.ts';
import { Shop, WEB } from '#test/support/shop.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);

afterAll(() => shop?.close(), 60_000);

test('says at the first glance whether it is up, where, since when, how loaded, and what its release changed', async () => {
  const { page, faults, accessible, close } = await shop.see(WEB);
  await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
  await page.getByText('Running', { exact: true }).first().waitFor();
  await page.getByText('up for').waitFor();
  expect(await page.getByRole('link', { name: /^web--shop/ }).getAttribute('href')).toContain('web--shop');
  await page.getByRole('table', { name: 'Replicas' }).getByText('Live').waitFor();
  const changed = page.getByRole('region', { name: 'What it changed' });
  await changed.getByText('+ GREETING').waitFor();
  await changed.getByText('Source').waitFor();
  await shop.berth.appText('shop', 'web');
  const glance = page.getByRole('region', { name: 'The last hour' });
  await glance.getByText(/\/s$/).waitFor({ timeout: 20_000 });
  await page
    .getByRole('img', { name: /^Memory in the last hour: .*MB of late/ })
    .first()
    .waitFor();
  expect(await accessible()).toEqual([]);
  await glance.getByRole('link', { name: 'Charts of the usage' }).click();
  await page.getByRole('group', { name: 'Time range' }).waitFor();
  expect(await page.title()).toBe('Usage · web · shop · berth');
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('has the same head and tabs on each of its pages, by keys too, on a phone and in the dark', async () => {
  const { page, faults, accessible, close } = await shop.see(WEB, { width: 390, dark: true });
  const tabs = page.getByRole('navigation', { name: 'Service' });
  for (const [key, label, path] of [
    ['2', 'Releases', '/releases'],
    ['3', 'Logs', '/logs'],
    ['4', 'Usage', '/usage'],
    ['5', 'Settings', '/settings'],
    ['1', 'Overview', ''],
  ] as const) {
    await page.keyboard.press(key);
    await page.waitForURL((url) => url.pathname === `${WEB}${path}`);
    await tabs.locator('[aria-current=page]', { hasText: label }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
    await page.getByRole('button', { name: 'Deploy', exact: true }).waitFor();
    expect(await tabs.getByRole('link').count()).toBe(5);
    expect(await accessible()).toEqual([]);
    await expectNoSidewaysScroll(page);
  }
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('keys go places and begin changes; a key behind g is never one of its own', async () => {
  const { page, accessible, close } = await shop.see(WEB);
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await help.getByText('Roll back to the release before').waitFor();
  expect(await accessible()).toEqual([]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('s');
  await page.getByRole('dialog', { name: 'Scale web' }).waitFor();
  expect(new URL(page.url()).search).toBe('?do=scale');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.waitForURL('**/p/shop/datastores');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await close();
}, 30_000);

test('a token that may only read is offered no change', async () => {
  const { body } = await shop.berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: 'reader', capabilities: ['read'], projects: ['shop'] },
  });
  const { page, close } = await shop.see(`${WEB}/releases?do=restart`, { token: body.secret });
  await page.getByText(shop.second).first().waitFor();
  for (const name of ['Deploy', 'More actions', `Roll back to ${shop.first}`])
    expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await close();
}, 30_000);

test('a service that is gone says so, and leads back', async () => {
  const { page, close } = await visit(shop.browser, shop.berth, { path: '/p/shop/s/nothing' });
  await page.getByRole('alert').getByText('No service named "nothing" in project "shop"').waitFor();
  await page.getByRole('link', { name: 'To the project' }).click();
  await page.waitForURL('**/p/shop');
  await close();
}, 30_000);
