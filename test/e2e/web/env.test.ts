import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit } from '#test/support/dashboard.ts';

let berth: Berth;
let browser: Browser;

const APP = {
  Dockerfile: 'FROM node:24-slim\nWORKDIR /app\nCOPY . .\nUSER node\nCMD ["node", "server.js"]\n',
  'server.js':
    "require('http').createServer((request, reply) => reply.end(process.env.GREETING ?? 'none')).listen(process.env.PORT)\n",
};

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  expect(await berth.deploy('shop', 'web', APP)).toMatchObject({ status: 'succeeded', error: null });
}, 180_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const names = async (): Promise<string[]> => (await berth.api('/v1/projects/shop/env')).body.names;

const confirmIn = (page: Page) => page.getByRole('dialog');

test('a variable is added after a preview that says what restarts, and the app gets it', async () => {
  const { page, close, faults, accessible } = await visit(browser, berth);
  await page.goto('/p/shop/env');
  await page.getByText('No variables are set').waitFor();
  expect(await accessible()).toEqual([]);
  await page.getByRole('button', { name: 'Add variable' }).click();
  await page.getByLabel('Name').fill('GREETING');
  await page.getByLabel('Value', { exact: true }).fill('hello from the page');
  await page.keyboard.press('Enter');
  await confirmIn(page).getByText('1 service restarts without an outage: web.').waitFor();
  expect(await names()).toEqual([]);
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('1 variable set; web restarts').waitFor();
  await page.getByRole('cell', { name: 'GREETING', exact: true }).waitFor();
  expect(await page.content()).not.toContain('hello from the page');
  const [operation] = (await berth.api('/v1/operations?project=shop&kind=env.restart')).body.operations;
  expect(await berth.wait(operation.operation_id)).toMatchObject({ status: 'succeeded' });
  expect(await berth.appText('shop', 'web')).toBe('hello from the page');
  expect(faults).toEqual([]);
  await close();
}, 90_000);

test('a pasted .env is compared by the server, and what it lacks is unset only with the name typed', async () => {
  await berth.api('/v1/projects/shop/env', {
    method: 'PUT',
    body: { env: { SAME: 'same', OTHER: 'old', GONE: 'x', GREETING: null } },
  });
  const { page, close, faults, accessible } = await visit(browser, berth);
  await page.goto('/p/shop/env');
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  const text = page.getByLabel('Content of the file');
  await text.fill('SAME=same\nthis is no assignment\n');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page
    .getByRole('alert')
    .getByText(/line 2 of the file/i)
    .waitFor();
  await text.fill('SAME=same\nOTHER="new\nlines"\nFRESH=1\n');
  await page.getByLabel(/Unset what is not in it/).check();
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByRole('heading', { name: 'What changes' }).waitFor();
  expect(await page.getByRole('list', { name: 'What changes' }).getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/^new\s+FRESH$/),
    expect.stringMatching(/^unset\s+GONE$/),
    expect.stringMatching(/^replaced\s+OTHER$/),
    expect.stringMatching(/^unchanged\s+SAME$/),
  ]);
  expect(await accessible()).toEqual([]);
  const apply = page.getByRole('button', { name: 'Apply' });
  expect(await apply.isDisabled()).toBe(true);
  await page.getByLabel(/Type .shop. to unset/).fill('shop');
  await apply.click();
  await page.getByRole('cell', { name: 'FRESH', exact: true }).waitFor();
  expect(await names()).toEqual(['FRESH', 'OTHER', 'SAME']);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('unsetting asks for the name, wrong names are refused with a hint, and a token that loses the right sees why', async () => {
  await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { env: { KEEP: '1', DROP: '2' } } });
  const minted = (
    await berth.api('/v1/tokens', {
      method: 'POST',
      body: { principal: 'ci', capabilities: ['read', 'manage_env'], projects: ['shop'] },
    })
  ).body;
  const { page, close } = await visit(browser, berth, { token: minted.secret, width: 390 });
  await page.goto('/p/shop/env');
  await page.getByRole('button', { name: 'Unset DROP' }).click();
  const unset = page.getByRole('dialog').getByRole('button', { name: 'Unset DROP' });
  expect(await unset.isDisabled()).toBe(true);
  await page.getByLabel(/Type .DROP. to confirm/).fill('DROP');
  await unset.click();
  await page.getByRole('cell', { name: 'DROP', exact: true }).waitFor({ state: 'detached' });
  expect(await names()).not.toContain('DROP');

  await page.getByRole('button', { name: 'Add variable' }).click();
  await page.getByLabel('Name').fill('<b>7</b>');
  await page.getByLabel('Value', { exact: true }).fill('x');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page
    .getByRole('alert')
    .getByText(/is no name of an environment variable/)
    .waitFor();

  await berth.api(`/v1/tokens/${minted.id}`, { method: 'PATCH', body: { capabilities: ['read'] } });
  await page.getByLabel('Name').fill('FINE');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page
    .getByRole('alert')
    .getByText(/lacks the capability "manage_env"/)
    .waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await close();
}, 60_000);
