import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, expectNoSidewaysScroll, openBrowser, visit } from '#test/support/dashboard.ts';

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

for (const options of [{}, { dark: true }, { width: 390, height: 844 }, { width: 390, height: 844, dark: true }])
  test(`the admin pages are accessible: ${JSON.stringify(options)}`, async () => {
    const { page, go, close } = await visit(browser, berth, options);
    for (const path of ['/admin', '/admin/capacity', '/admin/disk', '/admin/versions', '/admin/audit']) {
      await go(path);
      await page.getByRole('region').first().waitFor();
      await expectAccessible(page);
      await expectNoSidewaysScroll(page);
    }
    await close();
  }, 60_000);
