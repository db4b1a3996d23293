import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, openBrowser, signIn, visit } from '#test/support/dashboard.ts';

let berth: Berth;
let browser: Browser;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  browser = await openBrowser();
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const mint = async (principal: string): Promise<{ id: string; secret: string }> =>
  (
    await berth.api('/v1/tokens', {
      method: 'POST',
      body: { principal, capabilities: ['read'], projects: ['shop'] },
    })
  ).body;

test('who is not signed in comes to the door, and then to where they wanted to go', async () => {
  const { page, faults, close } = await visit(browser, berth, { token: null, path: '/p/shop/events?kind=deploy#x' });
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  // Nobody was signed in: nothing has ended.
  expect(await page.getByText('Your session has ended').count()).toBe(0);
  await expectAccessible(page);
  await page.getByLabel('Token').fill(`  ${berth.token}\n`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((to) => to.pathname === '/p/shop/events' && to.search === '?kind=deploy');
  expect(new URL(page.url()).hash).toBe('#x');
  // The token is in no address and no storage; the cookie can't be read by scripts.
  const kept = await page.evaluate(() =>
    JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]),
  );
  expect(kept).not.toContain(berth.token.slice(0, 12));
  expect(kept).not.toContain('__Host-berth');
  expect(faults).toEqual([]);
  await close();
}, 30_000);

test('nobody is led to another site by a link to the door', async () => {
  const { page, close } = await visit(browser, berth, { token: null, path: '/sign-in?next=//example.org/x' });
  await signIn(page, berth.token);
  expect(page.url()).toBe(`${berth.url}/`);
  await close();
}, 30_000);

test('a session that ends under an open page: sign in, and back to the same place', async () => {
  const { secret } = await mint('grace');
  const { page, go, faults, close } = await visit(browser, berth, { token: secret });
  await go('/p/shop/events?kind=deploy');
  await berth.api('/v1/sessions', { method: 'DELETE', token: secret });
  // Its stream ends with it: nothing has to be pressed.
  await page.getByText('Your session has ended. Sign in, and you are back where you were.').waitFor();
  await expectAccessible(page);
  await signIn(page, secret);
  await page.waitForURL((to) => to.pathname === '/p/shop/events' && to.search === '?kind=deploy');
  expect(faults).toEqual([]);
  await close();
}, 30_000);

test('signing out forgets what was read, and leads nobody back', async () => {
  const { secret } = await mint('heidi');
  const { page, go, faults, close } = await visit(browser, berth);
  await go('/p/shop');
  await page.getByRole('button', { name: /account and theme/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
  await page.waitForURL((to) => to.pathname === '/sign-in' && to.search === '');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('Your session has ended').count()).toBe(0);
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(page, secret);
  await page.getByText('heidi').first().waitFor();
  expect(faults).toEqual([]);
  await close();
}, 30_000);

test('a revoked token shuts its open pages out at once', async () => {
  const { id, secret } = await mint('ivan');
  const { page, go, close } = await visit(browser, berth, { token: secret });
  await go('/p/shop');
  await berth.api(`/v1/tokens/${id}`, { method: 'DELETE' });
  await page.getByText('Your session has ended').waitFor();
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('unknown, revoked or expired').waitFor();
  await close();
}, 30_000);

// The last: wrong tokens are counted by address, and the browser's is that of all the others.
test('a wrong token is said to be wrong, and many of them to wait', async () => {
  const { page, faults, close } = await visit(browser, berth, { token: null });
  const field = page.getByLabel('Token');
  const enter = async (token: string): Promise<void> => {
    await field.fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  await enter('brt_<b>wrong</b>');
  await page.getByText('This token is unknown, revoked or expired.').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await field.evaluate((input) => document.activeElement === input)).toBe(true);
  await expectAccessible(page);
  const send = () => berth.api('/v1/whoami', { token: 'brt_wrong' });
  let status = 401;
  while (status === 401) ({ status } = await send());
  expect(status).toBe(429);
  await enter('brt_wrong again');
  await page.getByText('Too many wrong tokens came from your address.').waitFor();
  const wait = await page.getByText(/^Wait \d+ s, then try again\.$/).textContent();
  const seconds = Number(/\d+/.exec(wait ?? '')?.[0]);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  // It counts down.
  await page.getByText(`Wait ${seconds - 2} s, then try again.`).waitFor();
  await expectAccessible(page);
  // Nor does anybody wait whose session was ended elsewhere meanwhile: that is no guess.
  const { secret } = await mint('judy');
  const open = await visit(browser, berth, { token: secret, path: '/p/shop' });
  await berth.api('/v1/sessions', { method: 'DELETE', token: secret });
  await open.page.getByText('Your session has ended').waitFor({ timeout: 5000 });
  await signIn(open.page, secret);
  await open.page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
  await open.close();
  // A right one is no guess.
  await signIn(page, berth.token);
  expect(faults).toEqual([]);
  await close();
}, 30_000);
