import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { helloApp, writeFiles } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { atEnd } from '#test/support/preload.ts';
import { openBrowser, signIn, visit, type Visit } from '#test/support/dashboard.ts';

let berth: Berth;
let browser: Browser;
let visits: Visit[] = [];

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
}, 120_000);

afterEach(async () => {
  const open = visits;
  visits = [];
  for (const each of open) await each.close();
});

afterAll(async () => {
  await browser.close();
  await berth.destroy();
}, 60_000);

const open = async (path: string): Promise<Visit> => {
  const opened = await visit(browser, berth, { token: null, path });
  visits.push(opened);
  return opened;
};

/** A folder on disk, as somebody would drop it, with things that must not be uploaded. */
const folder = (name: string, files: Record<string, string>): string => {
  const parent = mkdtempSync(join(tmpdir(), 'berth-drop-'));
  atEnd(() => rmSync(parent, { recursive: true }));
  const dir = join(parent, name);
  mkdirSync(dir);
  return writeFiles(dir, files);
};

test('who has no session is asked for a token, told what is wrong with it, and comes back to where they were going', async () => {
  const { page, faults, accessible } = await open('/p/nowhere?x=1');
  await page.waitForURL('**/sign-in?next=*');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await accessible()).toEqual([]);
  expect(faults).toEqual([]);

  await page.getByLabel('Token').fill('brt_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'unknown, revoked or expired' }).waitFor();
  expect(page.url()).not.toContain('brt_');

  await signIn(page, berth.token);
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/p/nowhere?x=1');
  await page.getByRole('alert').filter({ hasText: 'No project named "nowhere"' }).waitFor();
  expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]))).not.toContain(
    'brt_',
  );
}, 60_000);

test('from nothing to a live app: sign in, bring a folder, watch it go live', async () => {
  const dir = folder('My Shop', {
    ...helloApp('it lives'),
    '.serviceignore': 'secret\n',
    'secret/key.txt': 'not to be uploaded',
    'node_modules/left/index.js': 'not to be uploaded either',
  });
  const { page, faults, accessible } = await open('/');
  await signIn(page, berth.token);
  await page.getByRole('heading', { name: 'Nothing runs here yet' }).waitFor();
  expect(await accessible()).toEqual([]);

  await page.getByLabel('Folder to deploy').setInputFiles(dir);
  await page.getByText('2 left out by the ignore rules').waitFor();
  expect(await page.getByLabel('Name of the project').inputValue()).toBe('my-shop');
  await page.getByRole('button', { name: 'Deploy', exact: true }).click();

  await page.waitForURL('**/operations/op_*');
  await page.getByText('Live at').waitFor({ timeout: 90_000 });
  expect(await page.getByRole('listitem').filter({ hasText: 'Rollout' }).count()).toBe(1);
  expect(await page.getByRole('region', { name: 'Log', exact: true }).textContent()).toContain('the route is live');
  expect(await accessible()).toEqual([]);
  expect(await berth.appText('my-shop', 'web')).toBe('it lives');

  await page.getByRole('link', { name: 'To the service' }).click();
  await page.getByRole('heading', { name: 'web', exact: true }).waitFor();
  await page.getByRole('table', { name: 'Replicas' }).getByText('Live').waitFor();
  expect(await accessible()).toEqual([]);
  expect(faults).toEqual([]);
}, 180_000);

test('a folder dropped anywhere on the page is taken', async () => {
  const { page, faults } = await open('/new');
  await signIn(page, berth.token);
  await page.getByText('Drop a folder or an archive here').waitFor();
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(['<h1>hello</h1>'], 'index.html', { type: 'text/html' }));
    document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  });
  await page.getByText('1 file, 14 B').waitFor();
  expect(faults).toEqual([]);
}, 60_000);

test('a failed build is shown as cause, evidence and next step, with its text as text', async () => {
  const files = { Dockerfile: 'FROM node:24-slim\nRUN echo "<img src=x onerror=alert(1)>" && exit 7\n' };
  const { body } = await berth.upload('my-shop', 'broken', files);
  const { page, faults, accessible } = await open(`/operations/${body.operation_id}`);
  await signIn(page, berth.token);
  const card = page.getByRole('alert');
  await card.getByText('BUILD_COMMAND_FAILED').waitFor({ timeout: 60_000 });
  await card.getByText('exit code 7').first().waitFor();
  await card.getByText('Next:').waitFor();
  expect(await card.locator('img').count()).toBe(0);
  await page
    .getByRole('region', { name: 'Log', exact: true })
    .getByText('<img src=x onerror=alert(1)>')
    .first()
    .waitFor();
  expect(await accessible()).toEqual([]);
  expect(faults).toEqual([]);
}, 120_000);

test('a session that was ended elsewhere leads to the door, and from there back', async () => {
  const { page } = await open('/p/my-shop');
  await signIn(page, berth.token);
  await page.getByRole('heading', { name: 'my-shop' }).waitFor();
  await berth.api('/v1/sessions', { method: 'DELETE' });
  await page.getByText('Your session has ended').waitFor({ timeout: 20_000 });
  await signIn(page, berth.token);
  await page.getByRole('heading', { name: 'my-shop' }).waitFor();
}, 60_000);
