import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, expectNoSidewaysScroll, openBrowser, visit } from '#test/support/dashboard.ts';

let berth: Berth;
let browser: Browser;

const SLOW = { Dockerfile: 'FROM node:24-slim\nRUN sleep 120\n' };

beforeAll(async () => {
  berth = await Berth.boot();
  browser = await openBrowser();
  await berth.project('shop');
  await berth.project('blog');
  expect((await berth.deploy('shop', 'web', helloApp('hello'))).status).toBe('succeeded');
  const failed = await berth.deploy('blog', 'pages', {
    Dockerfile: 'FROM node:24-slim\nRUN echo "<b>no</b>" && false\n',
  });
  expect(failed.status).toBe('failed');
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const newToken = async (capabilities: string[], projects: string[]): Promise<string> => {
  const { body } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: `tester-${projects.join('-')}`, capabilities, projects },
  });
  return body.secret;
};

test('operations of all projects are listed, filtered by the address, and lead to their pages', async () => {
  const { page, go, faults, close } = await visit(browser, berth);
  await go('/operations');
  const table = page.getByRole('table', { name: 'Operations' });
  await table.getByRole('link', { name: 'Deploy web' }).waitFor();
  await table.getByRole('link', { name: 'Deploy pages' }).waitFor();
  await page.getByLabel('Status').selectOption('failed');
  await table.getByRole('link', { name: 'Deploy web' }).waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('?status=failed');
  await page.reload();
  await table.getByRole('link', { name: 'Deploy pages' }).waitFor();
  await page.getByLabel('Project').selectOption('shop');
  await page.getByText('No operation fits').waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
  await table.getByRole('link', { name: 'Deploy web' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deploy of web' }).waitFor();
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('an operation that begins elsewhere appears by itself, and can be canceled with its plan shown', async () => {
  const { page, go, close } = await visit(browser, berth);
  await go('/operations');
  const { body } = await berth.upload('shop', 'slow', SLOW);
  await page.getByRole('link', { name: 'Deploy slow' }).waitFor();
  await page.getByRole('button', { name: 'Cancel Deploy of slow' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel deploy of slow' });
  await dialog.getByRole('list', { name: 'Planned changes' }).waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Cancel it' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { status, error } = await berth.wait(body.operation_id);
  expect(status).toBe('failed');
  expect(error?.message).toContain('cancel');
  await page.getByRole('row', { name: /Canceled Deploy slow/ }).waitFor();
  await close();
}, 90_000);

test('a token sees the operations of its projects only, and without “deploy” no way to cancel', async () => {
  const { body } = await berth.upload('shop', 'slow', SLOW);
  const reader = await visit(browser, berth, { token: await newToken(['read'], ['shop']) });
  await reader.go('/operations');
  await reader.page.getByRole('link', { name: 'Deploy slow' }).first().waitFor();
  expect(await reader.page.getByRole('link', { name: 'Deploy pages' }).count()).toBe(0);
  expect(await reader.page.getByRole('button', { name: /^Cancel/ }).count()).toBe(0);
  await reader.close();
  await berth.api(`/v1/operations/${body.operation_id}/cancel`, { method: 'POST' });
  await berth.wait(body.operation_id);
}, 90_000);

for (const options of [{}, { dark: true }, { width: 390, height: 844 }, { width: 390, height: 844, dark: true }])
  test(`the list of operations is accessible: ${JSON.stringify(options)}`, async () => {
    const { page, go, close } = await visit(browser, berth, options);
    await go('/operations');
    await page.getByRole('link', { name: 'Deploy web' }).waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await close();
  }, 60_000);
