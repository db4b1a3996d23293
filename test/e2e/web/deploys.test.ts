import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { builtApp, helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import {
  expectAccessible,
  expectNoSidewaysScroll,
  openBrowser,
  visit,
  type Visit,
  type VisitOptions,
} from '#test/support/dashboard.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;
let browser: Browser;

const SECRET = 'correct-horse-battery';
const HOSTILE = [
  'RUN printf "\\033[32mgreen\\033[0m \\033[1;31mbold red\\033[0m\\n"',
  ' && printf "<img src=x onerror=alert(1)><script>alert(2)</script>\\n"',
  ' && printf "\\033]0;owned\\007title \\033[2J\\033[1;1Hcleared \\033]52;c;cm0=\\007clip\\n"',
  ' && printf "correct-\\033[1mhorse-battery\\033[0m end\\n"',
].join('');
const FAILING = builtApp([
  'RUN echo before',
  'RUN for i in $(seq 1 80); do echo "trace $i"; done; echo "cannot find left-pad"; exit 3',
]);

const ids = { first: '', coloured: '', failing: '' };

const pageOf = (id: string, hash = ''): string => `/operations/${id}${hash}`;

const see = async (path: string, options: VisitOptions = {}): Promise<Visit> => {
  const seen = await visit(browser, berth, options);
  await seen.go(path);
  return seen;
};

const row = (page: Page, text: string) => page.locator('.log-row', { hasText: text });

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
  const env = { method: 'PUT', body: { PASSPHRASE: SECRET } };
  ids.first = (await berth.deploy('shop', 'web', helloApp('one'))).operation_id;
  expect((await berth.api('/v1/projects/shop/env', env)).status).toBeLessThan(300);
  await until(async () => (await berth.api('/v1/operations?project=shop&status=running')).body.operations.length === 0);
  ids.coloured = (await berth.deploy('shop', 'web', builtApp([HOSTILE]))).operation_id;
  ids.failing = (await berth.deploy('shop', 'web', FAILING)).operation_id;
}, 240_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

describe('the log of a build', () => {
  test('has colours, shows markup as text, lets no other sequence and no secret through', async () => {
    const { page, faults, close } = await see(pageOf(ids.coloured));
    await row(page, '<img src=x onerror=alert(1)><script>alert(2)</script>').waitFor();
    expect(await page.locator('.log-row .ansi-green').innerText()).toBe('green');
    expect(await page.locator('.log-row .ansi-red.ansi-bold').innerText()).toBe('bold red');
    expect(await page.locator('.log img, .log script').count()).toBe(0);
    await row(page, 'title cleared clip').waitFor();
    expect(await row(page, ' end').last().locator('.log-text').innerText()).toBe('[secret] end');
    expect(await page.locator('body').innerText()).not.toContain('\uFFFD');
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('folds by steps, and unfolds for the line that an address names', async () => {
    const { page, close } = await see(pageOf(ids.coloured));
    await row(page, 'bold red').waitFor();
    const step = page.getByRole('button', { name: /RUN printf/ });
    expect(await step.getAttribute('aria-expanded')).toBe('true');
    await step.click();
    await row(page, 'bold red').waitFor({ state: 'detached' });
    await page.getByText('4 lines', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Fold all' }).click();
    await until(async () => (await page.locator('.log-row').count()) === 0);
    await page.getByLabel('Search the log').fill('BOLD RED');
    await page.getByText('nothing found').waitFor();
    await page.getByLabel('Search the log').fill('bold red');
    await page.keyboard.press('Enter');
    await page.locator('.log-row.current', { hasText: 'bold red' }).waitFor();
    expect(await page.locator('.log-row.current mark').allInnerTexts()).toEqual(['bold red']);
    await page.getByLabel('Link to line 2', { exact: true }).click();
    expect(new URL(page.url()).hash).toBe('#L2');
    await page.reload();
    await page.locator('.log-row.marked', { hasText: 'bold red' }).waitFor();
    await close();
  }, 60_000);

  test('is downloaded as plain text', async () => {
    const { page, close } = await see(pageOf(ids.coloured));
    await row(page, 'bold red').waitFor();
    const waiting = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download the log' }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toBe(`${ids.coloured}.log`);
    const text = await Bun.file(await download.path()).text();
    expect(text).toContain('Z green bold red\n');
    expect(text).not.toContain('\u001B');
    await close();
  }, 60_000);
});

test('a deploy is held against the one before: phases, source, variables', async () => {
  const { page, go, close } = await see(pageOf(ids.coloured));
  const compared = page.getByRole('region', { name: 'Since the deploy before' });
  await compared.getByText('Source').waitFor();
  await compared.getByText('+ PASSPHRASE').waitFor();
  await compared.getByText('Env changed').waitFor();
  expect(await compared.innerText()).not.toContain(SECRET);
  await page
    .getByText(/ before$/)
    .first()
    .waitFor();
  await compared.getByRole('link', { name: /deploy of/ }).click();
  await page.getByText('rel_').first().waitFor();
  expect(page.url()).toEndWith(ids.first);
  // The first one has none before it.
  await row(page, 'the route is live').waitFor();
  expect(await compared.count()).toBe(0);
  await go(pageOf('op_nothing'));
  await page.getByText('No operation "op_nothing"').waitFor();
  await close();
}, 60_000);

test('a build that fails says why, with the last lines in view and the next step', async () => {
  const { page, close } = await see(pageOf(ids.failing));
  const card = page.getByRole('alert');
  await card.getByText('failed with exit code 3').waitFor();
  await card.getByText('BUILD_COMMAND_FAILED').waitFor();
  const tail = card.getByRole('region', { name: 'Last lines of the log' });
  expect(await tail.innerText()).toEndWith('cannot find left-pad');
  expect(await tail.evaluate((box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 1)).toBe(true);
  await card.getByText('Next: Read the last lines of its log, fix the source').waitFor();
  // The log begins where it failed.
  await row(page, 'cannot find left-pad').waitFor();
  await page.locator('.log-lines').evaluate((box) => (box.scrollTop = 0));
  await row(page, 'trace 1').first().waitFor();
  await page.getByRole('button', { name: 'To the failure' }).click();
  await page.locator('.log-row.current', { hasText: 'cannot find left-pad' }).waitFor();
  await page.getByText('No variable or setting was changed since').waitFor();
  await close();
}, 60_000);

for (const options of [{}, { dark: true }, { width: 390, height: 844 }, { width: 390, height: 844, dark: true }])
  test(`operations leave axe nothing to find: ${JSON.stringify(options)}`, async () => {
    const { page, go, close } = await see(pageOf(ids.coloured), options);
    await page.getByRole('region', { name: 'Since the deploy before' }).waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await go(pageOf(ids.failing));
    await page.getByRole('alert').waitFor();
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await close();
  }, 60_000);
