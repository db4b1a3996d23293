import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  openBrowser,
  visit,
  type Visit,
  type VisitOptions,
} from '#test/support/dashboard.ts';
import { framesWhileScrolling, heapBytes } from '#test/support/scrolling.ts';
import { until } from '#test/support/until.ts';

const LINES = 100_000;
const LOGS = '/p/shop/s/web/logs';

/** Writes lines as it is asked to. */
const APP = nodeApp(`(request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://app');
  const from = Number(searchParams.get('from') ?? 0);
  const to = from + Number(searchParams.get('n') ?? 0);
  for (let i = from; i < to; i += 1) console.log('line ' + i + ' GET /items/' + (i * 7919 % 1000003).toString(36) + ' 200 in ' + (i % 97) + ' ms');
  if (pathname === '/odd') {
    console.log('<img src=x onerror="document.title=String(1)"><script>document.title="owned"</script>');
    console.log('\\u001b[32mready\\u001b[0m \\u001b[41;97m FATAL \\u001b[0m plain');
    console.log('wide '.repeat(200));
    console.error('to standard error');
  }
  response.end('ok');
}`);

let berth: Berth;
let browser: Browser;

const see = async (path: string, options: VisitOptions = {}): Promise<Visit> => {
  const seen = await visit(browser, berth, options);
  await seen.go(path);
  await seen.page.locator('.journal-row').first().waitFor();
  return seen;
};

/** Numbers of the lines that are in the list, from what it says of itself. */
const lineCount = async (page: Page): Promise<number> =>
  Number(/([\d.,]+) lines?/.exec(await page.locator('.journal-foot').innerText())?.[1]?.replace(/\D/g, '') ?? '0');

/** Only what is in view exists: the first lines, here. */
const toTop = (page: Page): Promise<void> =>
  page.locator('.journal-list').evaluate((list) => {
    list.scrollTop = 0;
  });

const write = (from: number, n: number): Promise<string> => berth.appText('shop', 'web', `/?from=${from}&n=${n}`);

beforeAll(async () => {
  berth = await Berth.boot();
  browser = await openBrowser();
  await berth.project('shop');
  const { status } = await berth.deploy('shop', 'web', APP);
  expect(status).toBe('succeeded');
  await berth.appText('shop', 'web', '/odd');
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

describe('the log of a service', () => {
  test('shows lines full of HTML as text, and colours of terminals as colours', async () => {
    const { page, close, faults } = await see(LOGS);
    await page.getByText('<img src=x onerror=').waitFor();
    expect(await page.title()).toBe('Logs · web · shop · berth');
    expect(await page.locator('.journal-list img, .journal-list script').count()).toBe(0);
    expect(await page.locator('.ansi-green').innerText()).toBe('ready');
    expect(await page.locator('.ansi-on-red').innerText()).toBe(' FATAL ');
    expect(await page.locator('.journal-row.stderr').innerText()).toContain('to standard error');
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('follows, pauses, counts what came meanwhile, and goes on', async () => {
    const { page, close } = await see(LOGS);
    await write(1, 50);
    await page.getByText('line 50 GET').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await write(51, 30);
    await page.getByRole('button', { name: '30 new lines' }).click();
    await page.getByText('line 80 GET').waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await close();
  }, 60_000);

  test('searches with marks, moves between matches, and narrows to them', async () => {
    const { page, close } = await see(LOGS);
    await page.getByText('line 80 GET').waitFor();
    await page.getByLabel('Search', { exact: true }).fill('line 4');
    // 4 and 40 to 49.
    await page.getByText('11 found').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('1 of 11').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('2 of 11').waitFor();
    expect(await page.locator('.journal-row.current mark').innerText()).toBe('line 4');
    await page.getByRole('button', { name: 'Only these' }).click();
    await until(async () => (await page.locator('.journal-row').count()) === 11);
    expect(new URL(page.url()).searchParams.get('q')).toBe('line 4');
    await close();
  }, 60_000);

  test('filters by replica, and says so when nothing fits', async () => {
    const { page, close } = await see(LOGS);
    const replicas = page.getByLabel('Replica');
    await until(async () => (await replicas.locator('option').count()) === 2);
    await replicas.selectOption({ index: 1 });
    await page.getByText('line 80 GET').waitFor();
    await page.goto(`${berth.url}${LOGS}?replica=no-such-replica`);
    await page.getByText('No line fits').waitFor();
    await close();
  }, 60_000);

  test('links to a line, and shows it again from the link', async () => {
    const { page, close } = await see(LOGS);
    await toTop(page);
    const row = page.locator('.journal-row', { hasText: 'line 17 GET' });
    await row.locator('a').click();
    await page.locator('.journal-row.marked', { hasText: 'line 17 GET' }).waitFor();
    await page.reload();
    await page.locator('.journal-row.marked', { hasText: 'line 17 GET' }).waitFor();
    expect(await page.locator('.journal-before').innerText()).toContain('From');
    await close();
  }, 60_000);

  test('jumps to a point in time, and refuses one that is to come', async () => {
    const { page, close } = await see(LOGS);
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.getByRole('menuitem', { name: 'From a point in time' }).click();
    await page.getByLabel('Time', { exact: true }).fill('2999-01-01T00:00:00');
    await page.getByText('That is in the future').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.getByRole('menuitem', { name: 'From 1 hour ago' }).click();
    await page.getByText('<img src=x').waitFor();
    await close();
  }, 60_000);

  test('wraps long lines, and remembers it', async () => {
    const { page, close } = await see(LOGS);
    const height = async (): Promise<number> =>
      (await page.locator('.journal-row', { hasText: 'wide wide' }).boundingBox())?.height ?? 0;
    await toTop(page);
    expect(await height()).toBe(20);
    await page.getByRole('button', { name: 'Wrap' }).click();
    await until(async () => (await height()) >= 120);
    await page.reload();
    await page.getByText('line 80 GET').waitFor();
    await toTop(page);
    await until(async () => (await height()) >= 120);
    await close();
  }, 60_000);

  test('downloads what is shown, without colours', async () => {
    const { page, close } = await see(LOGS);
    await page.getByText('line 80 GET').waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const waiting = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download these lines' }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe('shop-web.log');
    const text = await Bun.file(await download.path()).text();
    expect(text).toContain(' stdout ready  FATAL  plain\n');
    expect(text.match(/line \d+ GET/g)).toHaveLength(80);
    await close();
  }, 60_000);

  test('lets the server search what is not in the page, and reads on from there', async () => {
    const { page, faults, close } = await see(`${LOGS}?tail=10`);
    await page.getByText('line 80 GET').waitFor();
    expect(await lineCount(page)).toBe(10);
    await page.getByLabel('Search', { exact: true }).fill('line 4');
    await page.getByText('11 found').waitFor();
    await page.getByRole('button', { name: 'Only these' }).click();
    await page.getByText('11 matches from before the lines in this page').waitFor();
    await until(async () => (await page.locator('.journal-row').count()) === 11);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const waiting = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Download all lines that match' }).click();
    const text = await Bun.file(await (await waiting).path()).text();
    expect(text.match(/ stdout line 4\d? GET/g)).toHaveLength(11);
    await page.locator('.journal-row', { hasText: 'line 4 GET' }).locator('a').click();
    await page.locator('.journal-row.marked', { hasText: 'line 4 GET' }).waitFor();
    await page.locator('.journal-row', { hasText: 'line 5 GET' }).waitFor();
    await page.goto(`${berth.url}${LOGS}?tail=10&q=line+4`);
    await page.getByText('11 found').waitFor();
    await page.getByRole('button', { name: 'Next match' }).click();
    await page.locator('.journal-row.marked', { hasText: 'line 4 GET' }).waitFor();
    await page.getByLabel('Search', { exact: true }).fill('LINE 4');
    await page.getByText('0 found').waitFor();
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('goes on without gaps or repetitions after a restart of the server, and shows that it was away', async () => {
    const { page, close } = await see(LOGS);
    await page.getByText('line 80 GET').waitFor();
    await berth.stop();
    await page.getByText('Offline').locator('visible=true').first().waitFor();
    await berth.start();
    await until(async () => {
      await write(81, 1).catch(() => undefined);
      return page.getByText('line 81 GET').first().isVisible();
    }, 60);
    await write(82, 20);
    await page.getByText('line 101 GET').waitFor({ timeout: 30_000 });
    await page.getByText('Live', { exact: true }).locator('visible=true').first().waitFor();
    const rows = await page
      .locator('.journal-row')
      .evaluateAll((all) => all.map((row) => Number(row.getAttribute('data-seq'))));
    expect(rows).toEqual(rows.map((_row, index) => (rows[0] ?? 0) + index));
    await close();
  }, 120_000);

  for (const options of [{}, { dark: true }, { width: 390, height: 780 }, { width: 390, height: 780, dark: true }]) {
    test(`leaves axe nothing to find: ${JSON.stringify(options)}`, async () => {
      const seen = await see(LOGS, options);
      await expectAccessible(seen.page);
      await expectNoSidewaysScroll(seen.page);
      await seen.close();
    }, 60_000);
  }

  test('scrolls 100,000 lines at 50 frames per second within 200 MB', async () => {
    for (let from = 1000; from < 1000 + LINES; from += 10_000) await write(from, 10_000);
    const seen = await see(`${LOGS}?tail=${LINES}`);
    await until(async () => (await lineCount(seen.page)) >= LINES, 90);
    await seen.page.getByText('Following').waitFor();
    const frames = await framesWhileScrolling(seen.page, '.journal-list', 5);
    const megabytes = (await heapBytes(seen.page)) / 1024 / 1024;
    console.log(`${frames.toFixed(1)} frames per second, ${megabytes.toFixed(0)} MB of heap`);
    expect(frames).toBeGreaterThanOrEqual(50);
    expect(megabytes).toBeLessThan(200);
    await seen.page.getByText(`line ${999 + LINES} GET`).waitFor();
    await seen.close();
  }, 240_000);
});
