import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { docker } from '#test/support/docker.ts';
import { SERVICE, Shop, WEB } from '#test/support/shop.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);

afterAll(() => shop?.close(), 60_000);

const failure = (page: Page): Locator => page.getByRole('alert').filter({ hasText: 'Next:' });

test('a health check that fails is cause, evidence and next step on the page, and what ran goes on', async () => {
  const { page, accessible, close } = await shop.see(`${WEB}/settings`);
  await page.getByLabel('Health path').fill('/missing');
  await page.getByLabel('Health timeout, in seconds').fill('1');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await shop.ended(page, 'Changing');
  await page.getByRole('link', { name: 'Overview' }).click();
  const card = failure(page);
  await card.getByText('/missing').first().waitFor();
  await card.getByText('404').first().waitFor();
  await card.getByRole('region', { name: 'Last lines of the log' }).getByText('listening on').first().waitFor();
  expect(await accessible()).toEqual([]);
  await card.getByRole('link', { name: 'See what happened' }).click();
  await page.waitForURL('**/operations/op_*');
  expect(await shop.berth.appText('shop', 'web')).toBe('two');
  expect((await shop.service()).health_path).toBeNull();
  await close();
}, 60_000);

test('a rollback to a release whose image is gone fails with the way on, and what ran goes on', async () => {
  const { body } = await shop.berth.api(`${SERVICE}/releases`);
  const { digest } = body.releases.find(({ id }: { id: string }) => id === shop.first);
  const image = await docker([
    'image',
    'inspect',
    '--format',
    '{{.Id}}',
    `127.0.0.1:${shop.berth.ports.registry}/shop/web@${digest}`,
  ]);
  await docker(['rmi', '-f', image.trim()]);
  rmSync(join(shop.berth.dataDir, 'registry/data/docker/registry/v2/repositories/shop/web/_manifests/revisions'), {
    recursive: true,
  });
  const { page, close } = await shop.see(`${WEB}/releases`);
  await page.getByRole('button', { name: `Roll back to ${shop.first}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  await shop.ended(page, 'Rolling');
  await page.getByRole('link', { name: 'Overview' }).click();
  await failure(page).waitFor();
  await page.getByText('Running', { exact: true }).first().waitFor();
  expect((await shop.service()).live_release).toBe(shop.second);
  expect(await shop.berth.appText('shop', 'web')).toBe('two');
  await close();
}, 60_000);
