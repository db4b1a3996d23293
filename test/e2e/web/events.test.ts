import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, expectNoSidewaysScroll, openBrowser, visit } from '#test/support/dashboard.ts';
import { until } from '#test/support/until.ts';

const EVENTS = '/p/shop/events';

let berth: Berth;
let browser: Browser;

const setEnv = (name: string): Promise<unknown> =>
  berth.api('/v1/projects/shop/env', { method: 'PUT', body: { env: { [name]: 'value' } } });

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

test('events say what happened, to what, and who did it; new ones appear by themselves', async () => {
  const { page, go, faults, close } = await visit(browser, berth);
  await go(EVENTS);
  const deployed = page.getByRole('listitem').filter({ hasText: 'Deploy succeeded web' });
  await deployed.getByText('admin', { exact: true }).waitFor();
  const { body } = await berth.api('/v1/projects/shop/services/web/restart', { method: 'POST' });
  await berth.wait(body.operation_id);
  await page.locator('.event-row', { hasText: 'Service restarted' }).waitFor();
  await deployed.getByRole('link', { name: 'Operation' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deploy of web' }).waitFor();
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('events are filtered by kind and by actor, and the address keeps it', async () => {
  const { page, go, close } = await visit(browser, berth);
  await go(EVENTS);
  await page.locator('.event-row', { hasText: 'Deploy queued' }).waitFor();
  await page.getByLabel('Kind').selectOption('service');
  await page.locator('.event-row', { hasText: 'Deploy queued' }).waitFor({ state: 'detached' });
  await page.locator('.event-row', { hasText: 'Service created' }).waitFor();
  await page.reload();
  await page.locator('.event-row', { hasText: 'Service created' }).waitFor();
  await go(`${EVENTS}?actor=nobody`);
  await page.getByText('No event fits').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.locator('.event-row', { hasText: 'Deploy queued' }).waitFor();
  await close();
}, 60_000);

test('the past is paged back', async () => {
  for (let index = 0; index < 210; index += 1) await setEnv(`NAME_${index}`);
  const { page, go, close } = await visit(browser, berth);
  await go(EVENTS);
  await page.getByText('NAME_209', { exact: true }).waitFor();
  expect(await page.locator('.event-row', { hasText: 'Project created' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Earlier events' }).click();
  await page.locator('.event-row', { hasText: 'Project created' }).waitFor();
  await until(async () => (await page.getByRole('button', { name: 'Earlier events' }).count()) === 0);
  await close();
}, 90_000);

for (const options of [{}, { dark: true }, { width: 390, height: 844 }, { width: 390, height: 844, dark: true }])
  test(`events are accessible: ${JSON.stringify(options)}`, async () => {
    const { page, go, close } = await visit(browser, berth, options);
    await go(EVENTS);
    await page.locator('.event-row', { hasText: 'Env changed' }).first().waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await close();
  }, 60_000);
