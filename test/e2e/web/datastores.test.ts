import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit } from '#test/support/dashboard.ts';

let berth: Berth;
let browser: Browser;

const HTML = '<img src=x onerror="window.broken=1">';

const query = async (name: string, text: string, params: unknown[] = []): Promise<unknown[][]> => {
  const reply = await berth.api(`/v1/projects/shop/datastores/${name}/query`, {
    method: 'POST',
    body: { query: text, params },
  });
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  return reply.body.rows;
};

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const editor = (page: Page, label = 'SQL statement') => page.getByRole('textbox', { name: label });

/** Types a statement in the place of what is there, and runs it by the keyboard. */
const runByKeys = async (page: Page, text: string, label?: string): Promise<void> => {
  await editor(page, label).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
  await page.keyboard.press('Control+Enter');
};

const mint = async (capabilities: string[]): Promise<{ id: string; secret: string }> =>
  (await berth.api('/v1/tokens', { method: 'POST', body: { principal: 'ada', capabilities, projects: ['shop'] } }))
    .body;

describe('a datastore', () => {
  test('is made with its plan in view, and followed until it is ready', async () => {
    const { page, close, faults, accessible } = await visit(browser, berth);
    await page.goto('/p/shop/datastores');
    await page.getByText('No datastores yet').waitFor();
    await page.getByRole('button', { name: 'New datastore' }).click();
    await page.getByLabel('Memory, MB').fill('much');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await page.getByLabel('Memory, MB').fill('256');
    await page.getByRole('list', { name: 'Planned changes' }).getByText('DATABASE_URL').waitFor();
    expect(await accessible()).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('It is ready').waitFor({ timeout: 60_000 });
    await page.getByRole('heading', { level: 1, name: 'postgres' }).waitFor();
    await page.getByText('PGPASSWORD', { exact: true }).waitFor();
    expect(await accessible()).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }, 120_000);

  test('shows tables and rows whatever their names hold, as text', async () => {
    await query('postgres', `create table "${HTML.replaceAll('"', '""')}" ("<b>col</b>" text, other int)`);
    await query('postgres', `insert into "${HTML.replaceAll('"', '""')}" values ($1, null)`, [HTML]);
    const { page, close, faults, accessible } = await visit(browser, berth, { dark: true });
    await page.goto('/p/shop/datastores/postgres/data');
    await page.getByRole('button', { name: /onerror/ }).click();
    await page.getByRole('gridcell', { name: HTML }).waitFor();
    expect(await page.getByRole('columnheader').first().innerText()).toContain('<b>col</b>');
    expect(await page.getByRole('gridcell', { name: 'NULL' }).getAttribute('class')).toContain('null');
    expect(await page.evaluate(() => 'broken' in globalThis)).toBe(false);
    expect(await accessible()).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);
});

describe('the console', () => {
  test('runs by the keyboard, shows 500 rows of 120 columns in a small grid, copies and exports them', async () => {
    const { page, close, faults, accessible } = await visit(browser, berth);
    await page.goto('/p/shop/datastores/postgres/console');
    const columns = Array.from({ length: 120 }, (_none, index) => `i * ${index} as c${index}`).join(', ');
    await runByKeys(page, `select ${columns}, null as nothing from generate_series(1, 900) i`);
    const grid = page.getByRole('grid');
    await grid.waitFor();
    await page.getByText('there are more').waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe('501');
    expect(await page.getByRole('gridcell').count()).toBeLessThan(1500);
    await grid.focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('gridcell', { name: '59500', exact: true }).waitFor();
    await page.keyboard.press('Control+c');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('59500');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8').split('\r\n');
    expect(lines).toHaveLength(502);
    expect(lines[1]?.endsWith(',119,')).toBe(true);
    expect(await accessible()).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('shows a statement that fails with its cause, leaves the page alone while one types, and writes only when allowed', async () => {
    await query('postgres', 'create table notes (id int)');
    const { page, close } = await visit(browser, berth);
    await page.goto('/p/shop/datastores/postgres/console');
    await editor(page).click();
    await page.keyboard.type('nngp');
    expect(new URL(page.url()).pathname).toBe('/p/shop/datastores/postgres/console');
    await runByKeys(page, 'selec 1');
    await page
      .getByRole('alert')
      .getByText(/syntax error at or near "selec"/i)
      .waitFor();
    await runByKeys(page, 'insert into notes values (1)');
    await page
      .getByRole('alert')
      .getByText(/turn on “Allow writes”/i)
      .waitFor();
    expect(await query('postgres', 'select * from notes')).toEqual([]);
    await page.getByLabel('Allow writes').check();
    await runByKeys(page, 'insert into notes values (1)');
    await page.getByText('1 row changed').waitFor();
    await close();
  }, 60_000);

  test('keeps its history in this browser, without what may be a secret', async () => {
    const { page, close } = await visit(browser, berth);
    await page.goto('/p/shop/datastores/postgres/console');
    await runByKeys(page, 'select 41 + 1 as answer');
    await page.getByRole('gridcell', { name: '42' }).waitFor();
    await runByKeys(page, "select 'hunter2' as password");
    await page.getByRole('gridcell', { name: 'hunter2' }).waitFor();
    await page.getByText('Not kept in the history').waitFor();
    const stored = await page.evaluate(() => JSON.stringify(Object.entries(localStorage)));
    expect(stored).toContain('41 + 1');
    expect(stored).not.toContain('hunter2');
    expect(stored).not.toContain(berth.token);
    await page.reload();
    await page.getByRole('button', { name: 'History' }).click();
    await page.getByRole('menuitem', { name: 'select 41 + 1 as answer' }).click();
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByRole('gridcell', { name: '42' }).waitFor();
    await close();
  }, 60_000);

  test('tells a token that loses its right in use, and takes the parts away that it may no longer see', async () => {
    const { id, secret } = await mint(['read', 'query_datastores']);
    const { page, close } = await visit(browser, berth, { token: secret });
    await page.goto('/p/shop/datastores/postgres/console');
    await page.getByText('reads only').waitFor();
    const parts = page.getByRole('navigation', { name: 'Parts of the datastore' });
    expect(await parts.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Data', 'Console', 'Backups']);
    await berth.api(`/v1/tokens/${id}`, { method: 'PATCH', body: { capabilities: ['read'] } });
    await runByKeys(page, 'select 1');
    await page.getByRole('heading', { name: 'This token may not do this' }).waitFor();
    await parts.getByRole('link', { name: 'Backups' }).click();
    await page.getByText('No backups yet').waitFor();
    expect(await parts.getByRole('link').allInnerTexts()).toEqual(['Overview', 'Backups']);
    expect(await page.getByRole('button', { name: 'Back up now' }).count()).toBe(0);
    await close();
  }, 60_000);
});

test('a backup is made with its progress in view, downloaded, restored with the name typed, and swapped back', async () => {
  await query('postgres', 'create table kept (id int)');
  await query('postgres', 'insert into kept select generate_series(1, 30)');
  const { page, close, faults, accessible } = await visit(browser, berth);
  await page.goto('/p/shop/datastores/postgres/backups');
  await page.getByRole('button', { name: 'Back up now' }).click();
  await page.getByText('Backed up and verified').waitFor({ timeout: 60_000 });
  await page.getByRole('cell', { name: 'Verified' }).waitFor();
  await page.getByText(/rows came back/).waitFor();
  expect(await accessible()).toEqual([]);
  const actions = page.getByRole('button', { name: /Actions for the backup/ });
  await actions.click();
  const saved = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Download' }).click();
  expect(
    readFileSync(await (await saved).path())
      .subarray(0, 5)
      .toString(),
  ).toBe('PGDMP');

  await query('postgres', 'delete from kept');
  await actions.click();
  await page.getByRole('menuitem', { name: 'Restore…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('row', { name: /public\.kept/ }).waitFor();
  expect(await accessible()).toEqual([]);
  await dialog.getByLabel(/Type .postgres. to confirm/).fill('postgres');
  await dialog.getByRole('button', { name: 'Restore postgres' }).click();
  await page.getByRole('button', { name: 'Swap it back' }).waitFor({ timeout: 60_000 });
  expect(await query('postgres', 'select count(*)::int from kept')).toEqual([[30]]);
  await page.getByRole('button', { name: 'Swap it back' }).click();
  await dialog.getByLabel(/Type .postgres. to confirm/).fill('postgres');
  await dialog.getByRole('button', { name: 'Swap it back' }).click();
  await page.getByText('The data was swapped back').waitFor({ timeout: 60_000 });
  expect(await query('postgres', 'select count(*)::int from kept')).toEqual([[0]]);
  expect(faults).toEqual([]);
  await close();
}, 180_000);

test('Redis keys are browsed and commanded on a phone, and it is deleted by its name, with a last backup offered', async () => {
  const made = (
    await berth.api('/v1/projects/shop/datastores', { method: 'POST', body: { kind: 'redis', name: 'cache' } })
  ).body;
  await berth.wait(made.operation_id);
  await query('cache', 'HSET', ['a "b" <i>', 'field', 'value']);
  const { page, close, faults, accessible } = await visit(browser, berth, { width: 390, dark: true });
  await page.goto('/p/shop/datastores/cache/data');
  await page.getByRole('button', { name: /a "b" <i>/ }).click();
  await page.getByRole('gridcell', { name: 'value' }).waitFor();
  expect(await accessible()).toEqual([]);
  await page.goto('/p/shop/datastores/cache/console');
  await runByKeys(page, 'DBSIZE', 'Redis command');
  await page.getByRole('gridcell', { name: '1' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await page.goto('/p/shop/datastores/cache/settings');
  await page.getByRole('button', { name: 'Delete cache' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/after a final backup/).waitFor();
  await dialog.getByLabel(/Make a last backup/).uncheck();
  await dialog.getByText(/without a final backup/).waitFor();
  expect(await accessible()).toEqual([]);
  const button = dialog.getByRole('button', { name: 'Delete cache' });
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByLabel(/Type .cache. to confirm/).fill('cache');
  await button.click();
  await page.getByText('Deleted', { exact: true }).waitFor({ timeout: 60_000 });
  expect((await berth.api('/v1/projects/shop/datastores/cache')).status).toBe(404);
  expect(faults).toEqual([]);
  await close();
}, 120_000);
