import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit } from '#test/support/dashboard.ts';

let berth: Berth;
let browser: Browser;

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  await berth.project('conf');
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const setEnv = (env: Record<string, string | null>): Promise<unknown> =>
  berth.api('/v1/projects/conf/env', { method: 'PUT', body: { env } });

test('a token that loses rights while it is used: the page shows only what is left, without a reload', async () => {
  await berth.project('blog');
  const { body: minted } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: 'ci', capabilities: ['read', 'deploy', 'manage_env'], projects: ['shop', 'conf', 'blog'] },
  });
  const narrow = (rights: object) => berth.api(`/v1/tokens/${minted.id}`, { method: 'PATCH', body: rights });
  await setEnv({ SEEN: '1' });
  const { page, close, faults, go } = await visit(browser, berth, { token: minted.secret, path: '/p/conf/env' });
  await page.getByRole('button', { name: 'Add variable' }).waitFor();
  await narrow({ capabilities: ['read', 'deploy'] });
  await page.getByRole('button', { name: 'Add variable' }).waitFor({ state: 'detached' });
  await page.getByRole('cell', { name: 'SEEN', exact: true }).waitFor();

  await go('/');
  await page.getByRole('link', { name: 'blog', exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'Deploy', exact: true }).waitFor();
  await narrow({ capabilities: ['read'], projects: ['shop'] });
  await page.getByRole('link', { name: 'blog', exact: true }).first().waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Deploy', exact: true }).waitFor({ state: 'detached' });

  await go('/p/shop');
  await narrow({ projects: ['blog'] });
  await page.getByRole('alert').first().waitFor();
  expect(await page.getByRole('table').count()).toBe(0);

  await narrow({ capabilities: ['deploy'], projects: ['blog', 'shop'] });
  await go('/');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.getByRole('link', { name: 'shop', exact: true }).count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('an answer that was overtaken does not replace what is newer', async () => {
  await setEnv({ SEEN: '1', WHILE_AWAY: null, ONCE: null, SECOND: null });
  const { page, close, faults } = await visit(browser, berth, { path: '/p/conf' });
  await page
    .getByText(/\d variables?/)
    .first()
    .waitFor();
  // Read before the change, answered after it.
  const answered = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  await page.route('**/v1/projects/conf', async (route) => {
    const old = await route.fetch();
    asked.resolve();
    await answered.promise;
    await route.fulfill({ response: old }).catch(() => undefined);
  });
  await page.goto('/p/conf');
  await asked.promise;
  await page
    .getByText(/1 variable$/)
    .first()
    .waitFor();
  await setEnv({ SECOND: '2' });
  await page
    .getByText(/2 variables$/)
    .first()
    .waitFor();
  const late = page.waitForResponse('**/v1/projects/conf', { timeout: 1000 }).catch(() => undefined);
  answered.resolve();
  await late;
  expect(await page.getByText(/2 variables$/).count()).toBe(1);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('two tabs agree: a change, a deletion, a sign-out, and signing in again', async () => {
  await setEnv({ SEEN: '1' });
  await berth.project('gone');
  const one = await visit(browser, berth, { path: '/p/gone/env' });
  const { context, page: first } = one;
  const second = await context.newPage();
  await second.goto('/p/gone');
  await second.getByText(/0 variables/).waitFor();
  await first.getByRole('button', { name: 'Add variable' }).click();
  await first.getByLabel('Name').fill('BOTH');
  await first.getByLabel('Value', { exact: true }).fill('1');
  await first.getByRole('button', { name: 'Preview' }).click();
  await first.getByRole('button', { name: 'Apply' }).click();
  await second.getByText(/1 variable$/).waitFor();

  await berth.api('/v1/projects/gone?confirm=true', { method: 'DELETE' });
  await second.getByText('No project named "gone"').waitFor();
  expect(await second.getByText(/1 variable$/).count()).toBe(0);

  await second.goto('/p/conf/env?x=1#y');
  await second.getByRole('cell', { name: 'SEEN', exact: true }).waitFor();
  await first.evaluate(() =>
    fetch('/v1/session', { method: 'DELETE', headers: { 'x-berth-request': '1' } }).then((reply) => reply.status),
  );
  await second.getByText('Your session has ended').waitFor();
  await first.waitForURL('**/sign-in*');
  await first.getByLabel('Token').fill(berth.token);
  await first.getByRole('button', { name: 'Sign in' }).click();
  await first.getByRole('navigation', { name: 'Main' }).first().waitFor();
  await second.getByRole('cell', { name: 'SEEN', exact: true }).waitFor();
  expect(second.url()).toEndWith('/p/conf/env?x=1#y');
  await one.close();
}, 60_000);
