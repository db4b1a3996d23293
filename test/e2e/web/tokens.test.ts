import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, expectNoSidewaysScroll, openBrowser, visit } from '#test/support/dashboard.ts';

let berth: Berth;
let browser: Browser;

beforeAll(async () => {
  berth = await Berth.boot([], { executable: '/tmp/berth-repos' });
  await berth.project('shop');
  await berth.project('blog');
  browser = await openBrowser();
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const mint = async (capabilities: string[], projects: string[], principal: string, expires_at?: string) => {
  const reply = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal, capabilities, projects, ...(expires_at !== undefined && { expires_at }) },
  });
  expect(reply.status).toBe(201);
  return reply.body as { id: string; secret: string };
};

test('a token is minted with a picker, its secret shown once and copied, then revoked', async () => {
  const { page, go, faults, close } = await visit(browser, berth);
  await go('/tokens');
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Mint a token' }).click();
  await page.getByLabel('For whom or what').fill('<b>ci</b>@shop');
  await page.getByRole('checkbox', { name: /^deploy/ }).check();
  await page.getByRole('checkbox', { name: 'shop' }).check();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Mint', exact: true }).click();
  const shown = page.getByRole('region', { name: 'The token’s secret' });
  const secret = (await shown.locator('code').textContent()) ?? '';
  await shown.getByRole('button').click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
  await expectAccessible(page);
  expect((await berth.api('/v1/whoami', { token: secret })).body).toMatchObject({
    capabilities: ['deploy'],
    projects: ['shop'],
    principal: '<b>ci</b>@shop',
  });
  await page.getByRole('button', { name: 'I have kept it' }).click();
  expect(await page.getByText(secret).count()).toBe(0);

  await page.getByRole('button', { name: 'Revoke <b>ci</b>@shop' }).click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('Revoked the token of <b>ci</b>@shop').waitFor();
  expect((await berth.api('/v1/whoami', { token: secret })).status).toBe(401);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('the picker offers nothing beyond one’s own rights, and neither a later expiry', async () => {
  const limit = new Date(Date.now() + 20 * 86_400_000).toISOString();
  const { secret } = await mint(['read', 'deploy', 'manage_tokens'], ['shop'], 'lead@shop', limit);
  const { page, go, faults, close } = await visit(browser, berth, { token: secret });
  await go('/tokens');
  const own = page.getByRole('region', { name: 'Your token', exact: true });
  expect(await own.locator('li code').allTextContents()).toEqual(['read', 'deploy', 'manage_tokens']);
  await page.getByText('Other tokens are listed for those with the capability admin.').waitFor();
  expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Mint a token' }).click();
  const names = await page.getByRole('group', { name: 'Capabilities' }).locator('code').allTextContents();
  expect(names).toEqual(['read', 'deploy', 'manage_tokens']);
  expect(await page.getByRole('group', { name: 'Projects' }).locator('code').allTextContents()).toEqual(['shop']);
  expect(await page.getByText('All projects, also those to come').count()).toBe(0);
  expect(await page.getByLabel('Expires').locator('option').allTextContents()).toEqual([
    '7 days',
    'When yours does',
    'On a date…',
  ]);
  await page.getByLabel('For whom or what').fill('junior@shop');
  await page.getByRole('checkbox', { name: /^read/ }).check();
  await page.getByLabel('Expires').selectOption('date');
  await page.getByLabel('Last day').fill('2099-01-01');
  await page.getByLabel('Last day').evaluate((input) => input.removeAttribute('max'));
  await page.getByRole('button', { name: 'Mint', exact: true }).click();
  await page
    .getByRole('alert')
    .getByText(/later than the expiry of the token/)
    .waitFor();
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('a token is changed: what it may do, where and how long, at once for who has it open', async () => {
  const token = await mint(['read'], ['shop'], 'judy');
  const admin = await visit(browser, berth, { path: '/tokens' });
  const judy = await visit(browser, berth, { token: token.secret, path: '/tokens' });
  const { page } = admin;
  await page.getByRole('button', { name: 'Edit judy' }).click();
  const dialog = page.getByRole('dialog');
  const save = dialog.getByRole('button', { name: 'Save' });
  expect(await save.isDisabled()).toBe(true);
  await expectAccessible(page);
  await dialog.getByRole('checkbox', { name: /^read/ }).uncheck();
  await dialog.getByText('Choose at least one capability.').waitFor();
  await dialog.getByRole('checkbox', { name: /^manage_tokens/ }).check();
  await dialog.getByRole('checkbox', { name: /^read/ }).check();
  await dialog.getByRole('checkbox', { name: 'blog' }).check();
  await dialog.getByRole('checkbox', { name: /^Another expiry/ }).check();
  await dialog.getByLabel('Expires', { exact: true }).selectOption('30');
  await expectAccessible(page);
  await save.click();
  await page.getByText('Changed the token of judy').waitFor();
  const { body } = await berth.api('/v1/whoami', { token: token.secret });
  expect(body).toMatchObject({ capabilities: ['read', 'manage_tokens'], projects: ['shop', 'blog'] });
  expect(Math.round((Date.parse(body.expires_at) - Date.now()) / 86_400_000)).toBe(30);
  // Her page learns it without being loaded anew.
  await judy.page.getByRole('button', { name: 'Mint a token' }).waitFor();
  expect([...admin.faults, ...judy.faults]).toEqual([]);
  await judy.close();
  await admin.close();
}, 60_000);

test('the last admin can’t lock everybody out, and is told why', async () => {
  const { page, faults, close } = await visit(browser, berth, { path: '/tokens' });
  await page.getByRole('button', { name: 'Edit admin' }).click();
  await page.getByText('This is the token that you are signed in with.').waitFor();
  await page.getByRole('checkbox', { name: /^admin/ }).uncheck();
  await page.getByRole('checkbox', { name: /^read/ }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByRole('alert')
    .getByText(/last admin token without an expiry/)
    .waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
}, 30_000);

test('signing out everywhere ends every browser of the token, and no other', async () => {
  const { secret } = await mint(['read'], ['shop'], 'grace');
  const first = await visit(browser, berth, { token: secret, width: 390, height: 844, dark: true });
  const second = await visit(browser, berth, { token: secret });
  const other = await visit(browser, berth);
  await first.go('/tokens');
  const browsers = first.page.getByRole('region', { name: 'Your signed-in browsers' });
  await browsers.getByRole('row').nth(1).waitFor();
  // At the width of a phone the table has no head.
  expect(await browsers.getByRole('row').count()).toBe(2);
  expect(await browsers.getByText('this one').count()).toBe(1);
  await expectAccessible(first.page);
  await expectNoSidewaysScroll(first.page);
  await first.page.getByRole('button', { name: 'Sign out everywhere' }).click();
  await first.page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
  await first.page.getByRole('heading', { name: 'Sign in' }).waitFor();
  // The other one learns of it by its stream.
  await second.page.getByText('Your session has ended').waitFor();
  await other.go('/tokens');
  await other.page.getByRole('button', { name: 'Mint a token' }).waitFor();
  for (const each of [first, second, other]) await each.close();
}, 60_000);
