import { BlobWriter, TextReader, ZipWriter } from '@zip.js/zip.js/lib/zip-core-native.js';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { expectNoSidewaysScroll, openBrowser, visit } from '#test/support/dashboard.ts';

/** As long as a principal may be; it would run in three ways. */
const EVIL = '<img src=x onerror=alert(1)><script>alert(2)</script>"><svg onload=alert(3)>';
const NAMES = 300;

let berth: Berth;
let browser: Browser;
let evil = '';

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  const { body } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: EVIL, capabilities: ['admin'], projects: ['*'] },
  });
  evil = body.secret;
  await berth.api('/v1/projects/shop/env', { method: 'PUT', token: evil, body: { env: { A: '1' } } });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

/** What the text would have become, were it markup. */
const expectText = async (page: Page): Promise<void> => {
  expect(await page.locator('img[src="x"], svg[onload], main script').count()).toBe(0);
};

test('a name full of HTML is text wherever it is shown', async () => {
  const { page, faults, go, accessible, close } = await visit(browser, berth, { token: evil });
  for (const path of ['/', '/p/shop', '/p/shop/events', '/tokens', '/admin/audit', '/operations']) {
    await go(path);
    await page.getByText(EVIL, { exact: false }).first().waitFor();
    await expectText(page);
  }
  await go('/admin/audit');
  expect(await accessible()).toEqual([]);
  await close();
  const phone = await visit(browser, berth, { token: evil, width: 390, path: '/tokens' });
  await phone.page.getByText(EVIL).filter({ visible: true }).first().waitFor();
  await expectNoSidewaysScroll(phone.page);
  expect([...faults, ...phone.faults]).toEqual([]);
  await phone.close();
}, 60_000);

test('addresses full of HTML, of dots or of broken signs lead to a page that says so', async () => {
  const { page, faults, close } = await visit(browser, berth);
  for (const path of [
    `/p/${encodeURIComponent(EVIL)}`,
    '/p/..%2f..%2fv1%2ftokens',
    '/p/%00',
    '/p/%E0%A4%A',
    `/p/shop/s/${encodeURIComponent(EVIL)}/logs`,
    `/operations/${encodeURIComponent(EVIL)}`,
    `/p/shop/events?kind=${encodeURIComponent(EVIL)}`,
    `/admin/${encodeURIComponent(EVIL)}`,
  ]) {
    // By the page itself: not every such address gets through the server.
    await page.evaluate((place) => history.pushState(null, '', place), path);
    await page.getByRole('heading', { level: 1 }).or(page.getByRole('alert')).first().waitFor();
    await expectText(page);
    await page.evaluate(() => history.pushState(null, '', '/tokens'));
    await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
  }
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('an archive and its files may be called as they like', async () => {
  const { page, faults, close } = await visit(browser, berth, { path: '/new' });
  const zip = new ZipWriter(new BlobWriter(), { useWebWorkers: false });
  await zip.add(`a${EVIL.replaceAll('/', '')}.html`, new TextReader('x'));
  await zip.add('b/index.html', new TextReader('y'));
  const buffer = Buffer.from(await (await zip.close()).arrayBuffer());
  const file = { name: `${EVIL.replaceAll('/', '')}.zip`, mimeType: 'application/zip', buffer };
  await page.getByLabel('Archive to deploy').setInputFiles(file);
  await page.getByText('2 files, 2 B').waitFor();
  await expectText(page);
  expect(await page.getByLabel('Name of the project').inputValue()).toMatch(/^[a-z][a-z0-9-]*[a-z0-9]$/);
  await page.getByRole('button', { name: 'Take another' }).click();
  await page.getByLabel('Archive to deploy').setInputFiles({ ...file, buffer: Buffer.from('no zip') });
  await page.getByRole('alert').filter({ hasText: 'cannot be read' }).waitFor();
  await expectText(page);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('a table of hundreds of rows is there at once, also on a phone', async () => {
  const env = Object.fromEntries(
    Array.from({ length: NAMES }, (_, index) => [`NAME_${index}_${'LONG_'.repeat(index % 20)}`, 'x']),
  );
  const reply = await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { env } });
  expect(reply.status).toBeLessThan(300);
  for (const width of [1280, 390]) {
    const { page, faults, go, close } = await visit(browser, berth, { width });
    await go('/p/shop/env');
    await page
      .getByText(`NAME_${NAMES - 1}_`, { exact: false })
      .first()
      .waitFor();
    expect(await page.getByText(/^NAME_\d+_/).count()).toBeGreaterThanOrEqual(NAMES);
    await expectNoSidewaysScroll(page);
    // Still answers: a menu opens while all that is there.
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(faults).toEqual([]);
    await close();
  }
}, 60_000);
