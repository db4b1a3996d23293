import { BlobWriter, TextReader, Uint8ArrayReader, ZipWriter } from '@zip.js/zip.js/lib/zip-core-native.js';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser, visit, type Visit } from '#test/support/dashboard.ts';
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
