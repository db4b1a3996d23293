import { BlobWriter, TextReader, Uint8ArrayReader, ZipWriter } from '@zip.js/zip.js/lib/zip-core-native.js';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { Berth, pack } from '#test/support/berth.ts';
import { expectNoSidewaysScroll, openBrowser, visit, type Visit } from '#test/support/dashboard.ts';
import { atEnd } from '#test/support/preload.ts';
import { openRelay } from '#test/support/relay.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;
let browser: Browser;

const LARGEST = 3_000_000;

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(['--max-upload-bytes', String(LARGEST)]), openBrowser()]);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

/** Bytes that no compression makes fewer. */
const noise = (bytes: number): Uint8Array => {
  const all = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536));
  return all;
};

const saved = (name: string, content: Uint8Array | Blob): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-archive-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  return new Response(content as Blob).bytes().then((bytes) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  });
};

const zipOf = async (name: string, files: Record<string, string | Uint8Array>, password?: string): Promise<string> => {
  const zip = new ZipWriter(new BlobWriter(), { useWebWorkers: false });
  for (const [path, content] of Object.entries(files)) {
    const reader = typeof content === 'string' ? new TextReader(content) : new Uint8ArrayReader(content);
    await zip.add(path, reader, password === undefined ? {} : { password });
  }
  return saved(name, await zip.close());
};

const bring = (page: Page, file: string): Promise<void> => page.getByLabel('Archive to deploy').setInputFiles(file);
const deployButton = (page: Page) => page.getByRole('button', { name: 'Deploy', exact: true });
const uploads = (): string[] => readdirSync(join(berth.dataDir, 'uploads'));
const operations = async () => (await berth.api('/v1/operations')).body.operations;

/** As a slow line: what goes up takes its time. */
const slow = async ({ context, page }: Visit, bytesPerSecond: number): Promise<CDPSession> => {
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 20,
    downloadThroughput: -1,
    uploadThroughput: bytesPerSecond,
  });
  return cdp;
};

test('an upload that breaks off at 90 % is told, leaves nothing on the server, and goes up again with what was chosen', async () => {
  const relay = await openRelay(berth);
  const opened = await visit(browser, relay.berth, { path: '/' });
  const { page, faults } = opened;
  await page.getByRole('heading', { name: 'Nothing runs here yet' }).waitFor();
  await bring(
    page,
    await zipOf('My Shop.zip', { 'shop/index.html': '<h1>hello</h1>', 'shop/big.bin': noise(1_500_000) }),
  );
  await page.getByLabel('Name of the project').fill('shop');
  await page.getByLabel('Name of the service').fill('front');
  const cdp = await slow(opened, 600_000);
  await deployButton(page).click();
  const progress = page.getByRole('progressbar', { name: 'Uploading' });
  await until(async () => Number(await progress.getAttribute('aria-valuenow')) >= 90);
  relay.cut();

  const told = page.getByRole('alert').filter({ hasText: 'broke off' });
  await told.waitFor();
  expect(await told.innerText()).toMatch(/The upload broke off after 1\.\d MB of 1\.4 MB/);
  expect(await opened.accessible()).toEqual([]);
  expect(await page.getByLabel('Name of the project').inputValue()).toBe('shop');
  expect(await page.getByLabel('Name of the service').inputValue()).toBe('front');
  await until(() => uploads().length === 0);
  expect(await operations()).toEqual([]);
  expect((await berth.api('/v1/projects/shop')).body.services).toEqual([]);
  // It began with a project, which is there and says so.
  const made = page.getByRole('status').filter({ hasText: 'The project shop was created and is empty' });
  expect(await made.getByRole('link', { name: 'settings' }).getAttribute('href')).toBe('/p/shop/settings');

  relay.mend();
  await cdp.detach();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL('**/operations/op_*');
  expect(
    (await operations()).map(({ project, service }: { project: string; service: string }) => [project, service]),
  ).toEqual([['shop', 'front']]);
  expect(faults.filter((fault) => !/net::ERR_/.test(fault))).toEqual([]);
  await opened.close();
  relay.close();
}, 60_000);

test('a zip dropped on the page is live without what its ignore file lists', async () => {
  const opened = await visit(browser, berth, { path: '/new' });
  const { page, faults } = opened;
  const zip = await zipOf('site.zip', {
    'site/index.html': '<h1>from a zip</h1>',
    'site/secret/key.txt': 'not to be uploaded',
    'site/.serviceignore': 'secret/\n',
    '__MACOSX/site/._index.html': 'litter',
  });
  const bytes = [...readFileSync(zip)];
  await page.getByText('Drop a folder or an archive here').waitFor();
  await page.evaluate((content) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(content)], 'site.zip', { type: 'application/zip' }));
    document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
  }, bytes);
  await page.getByText('2 files, 27 B; 1 left out by the ignore rules').waitFor();
  expect(await opened.accessible()).toEqual([]);
  await page.getByLabel('Project', { exact: true }).selectOption('A new project');
  expect(await page.getByLabel('Name of the project').inputValue()).toBe('site');
  const posts: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') posts.push(new URL(request.url()).pathname);
  });
  await deployButton(page).dblclick();
  await page.waitForURL('**/operations/op_*');
  expect(posts).toEqual(['/v1/projects', '/v1/projects/site/services/web/deploys']);
  await page.getByText('Live at').waitFor({ timeout: 60_000 });
  expect(await berth.appText('site', 'web')).toBe('<h1>from a zip</h1>');
  expect((await berth.app('site', 'web', '/secret/key.txt')).status).toBe(404);
  expect(faults).toEqual([]);
  await opened.close();
}, 90_000);

test('archives that can not be taken are refused before anything goes up, and a mended one is taken', async () => {
  const opened = await visit(browser, berth, { path: '/new', width: 390 });
  const { page, faults } = opened;
  const whole = await pack({ 'index.html': 'x'.repeat(5000) });
  for (const [file, words] of [
    [await zipOf('locked.zip', { 'index.html': 'x' }, 'password'), 'Locked.zip is encrypted'],
    [await zipOf('evil.zip', { '../../etc/cron.d/x': 'x' }), 'leads out of the folder'],
    [await saved('half.tar.gz', whole.slice(0, whole.length / 2)), 'Half.tar.gz cannot be read as what its name says'],
    [await zipOf('app.zip', { 'node_modules/a.js': 'x' }), 'Nothing is left to deploy'],
    [await saved('app.7z', new Uint8Array([1])), 'App.7z is an archive of another kind'],
  ] as const) {
    await bring(page, file);
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
  }
  expect(await opened.accessible()).toEqual([]);
  await bring(page, await zipOf('app.zip', { 'index.html': 'x' }));
  await page.getByText('1 file, 1 B').waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
  await expectNoSidewaysScroll(page);
  expect(faults).toEqual([]);
  await opened.close();
}, 60_000);

test('more than the server takes is refused with its own words, and leaves nothing', async () => {
  await berth.project('side');
  const opened = await visit(browser, berth, { path: '/p/side/new' });
  const { page } = opened;
  await bring(page, await zipOf('large.zip', { 'index.html': 'x', 'large.bin': noise(LARGEST + 500_000) }));
  await page.getByLabel('Name of the service').fill('large');
  await deployButton(page).click();
  await page.getByRole('alert').getByText('SOURCE_TOO_LARGE').waitFor();
  expect(uploads()).toEqual([]);
  expect((await berth.api('/v1/projects/side/services/large')).status).toBe(404);
  await opened.close();
}, 60_000);

test('a canceled upload leaves nothing, and what was chosen is still there', async () => {
  await berth.project('side');
  const opened = await visit(browser, berth, { path: '/p/side/new' });
  const { page } = opened;
  await bring(page, await zipOf('stop.zip', { 'index.html': 'x', 'big.bin': noise(1_000_000) }));
  await page.getByLabel('Name of the service').fill('stopped');
  await slow(opened, 300_000);
  await deployButton(page).click();
  const progress = page.getByRole('progressbar', { name: 'Uploading' });
  await until(async () => Number(await progress.getAttribute('aria-valuenow')) >= 20);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await deployButton(page).waitFor();
  expect(await page.getByLabel('Name of the service').inputValue()).toBe('stopped');
  expect(await page.getByRole('alert').count()).toBe(0);
  await until(() => uploads().length === 0);
  expect((await berth.api('/v1/projects/side/services/stopped')).status).toBe(404);
  await opened.close();
}, 60_000);

test('parts of the page that could not be loaded are asked for again; when only the reply is lost, trying again finds the same deploy', async () => {
  const relay = await openRelay(berth);
  await berth.project('side');
  const opened = await visit(browser, relay.berth, { path: '/p/side/new' });
  const { page } = opened;
  relay.cut();
  const zip = await zipOf('once.zip', { 'index.html': 'x' });
  await bring(page, zip);
  await page.getByRole('alert').filter({ hasText: 'A part of this page could not be loaded' }).waitFor();
  relay.mend();
  await bring(page, zip);
  await page.getByText('1 file, 1 B').waitFor();
  await page.getByRole('button', { name: 'Take another' }).click();

  await bring(page, await saved('once.tar.gz', await pack({ 'index.html': 'x' })));
  await page.getByLabel('Name of the service').fill('once');
  relay.loseReplies();
  await deployButton(page).click();
  await page.getByRole('alert').filter({ hasText: 'broke off' }).waitFor();
  relay.mend();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.waitForURL('**/operations/op_*');
  const { body } = await berth.api('/v1/operations?project=side&service=once');
  expect(body.operations).toHaveLength(1);
  await opened.close();
  relay.close();
}, 60_000);

test('who goes elsewhere in the page meanwhile is told when it is up', async () => {
  await berth.project('side');
  const opened = await visit(browser, berth, { path: '/p/side/new' });
  const { page, faults } = opened;
  await bring(page, await zipOf('away.zip', { 'index.html': 'x', 'big.bin': noise(700_000) }));
  await page.getByLabel('Name of the service').fill('away');
  const cdp = await slow(opened, 400_000);
  await deployButton(page).click();
  const progress = page.getByRole('progressbar', { name: 'Uploading' });
  await until(async () => Number(await progress.getAttribute('aria-valuenow')) >= 20);
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Operations', exact: true })
    .last()
    .click();
  await page.getByRole('heading', { name: 'Operations', level: 1 }).waitFor();
  await page.getByText('away was uploaded and is being deployed').waitFor();
  await cdp.detach();
  await page.getByRole('link', { name: 'Watch' }).click();
  await page.waitForURL('**/operations/op_*');
  expect(faults).toEqual([]);
  await opened.close();
}, 60_000);
