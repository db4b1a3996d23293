import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { SERVICE, Shop, WEB } from '#test/support/shop.ts';
import { until } from '#test/support/until.ts';

let shop: Shop;

beforeAll(async () => {
  shop = await Shop.open();
}, 120_000);

afterAll(() => shop?.close(), 60_000);

const choose = async (page: Page, action: string): Promise<void> => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: action }).click();
};

/** Names of the replicas that take traffic: those that drain stay for a while. */
const liveReplicas = async (): Promise<string[]> =>
  (await shop.service()).replica_states
    .filter(({ state }: { state: string }) => state === 'live')
    .map(({ name }: { name: string }) => name);

test('a release is compared, rolled back to with what differs in sight, and comes live by itself', async () => {
  const { page, faults, accessible, close } = await shop.see(`${WEB}/releases`);
  await page.getByRole('button', { name: `What differs in ${shop.second}` }).click();
  await page
    .getByRole('region', { name: `What differs in ${shop.second}` })
    .getByText('+ GREETING')
    .waitFor();
  expect(new URL(page.url()).search).toBe(`?release=${shop.second}`);
  await page.getByRole('button', { name: `What differs in ${shop.first}` }).click();
  await page
    .getByRole('region', { name: `What differs in ${shop.first}` })
    .getByText('− GREETING')
    .waitFor();

  await page.getByRole('button', { name: `Roll back to ${shop.first}` }).click();
  const dialog = page.getByRole('dialog', { name: 'Roll web back' });
  await dialog.getByRole('region', { name: 'What differs' }).getByText('− GREETING').waitFor();
  await dialog
    .getByRole('list', { name: 'Planned changes' })
    .getByText(`live release ${shop.second} → ${shop.first}`)
    .waitFor();
  expect(await accessible()).toEqual([]);
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await shop.ended(page, 'Rolling');
  await page.getByRole('listitem').filter({ hasText: shop.first }).getByText('live', { exact: true }).waitFor();
  expect(await shop.berth.appText('shop', 'web')).toBe('one');
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('the palette leads to a restart, which exchanges the replicas', async () => {
  const before = await liveReplicas();
  const { page, close } = await shop.see('/p/shop/s/web');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or jump' }).fill('restart web');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Restart web' });
  await dialog.getByRole('button', { name: 'Restart' }).click();
  await shop.ended(page, 'Restarting');
  const after = await liveReplicas();
  expect(after).toHaveLength(before.length);
  expect(after.filter((name) => before.includes(name))).toEqual([]);
  await page.getByRole('table', { name: 'Replicas' }).getByText('Live').waitFor();
  await close();
}, 60_000);

test('scaling shows its plan while it is chosen, refuses what exceeds the quota, and then goes on', async () => {
  const { page, faults, close } = await shop.see(WEB);
  await choose(page, 'Scale');
  const dialog = page.getByRole('dialog', { name: 'Scale web' });
  const scale = dialog.getByRole('button', { name: 'Scale', exact: true });
  expect(await scale.isDisabled()).toBe(true);
  await dialog.getByLabel('Replicas').fill('99');
  await dialog.getByRole('alert').getByText('99 replicas exceed the quota of 3 a service').waitFor();
  await dialog.getByText('Ask for at most 3').waitFor();
  expect(await scale.isDisabled()).toBe(true);
  await dialog.getByLabel('Replicas').fill('two');
  await dialog.getByText('a whole number from 0 to 1000').waitFor();
  await dialog.getByLabel('Replicas').fill('1');
  await dialog.getByRole('button', { name: 'One more' }).click();
  await dialog.getByText('replicas 1 → 2').waitFor();
  await scale.click();
  await shop.ended(page, 'Changing');
  await until(
    async () => (await page.getByRole('table', { name: 'Replicas' }).getByText('Live', { exact: true }).count()) === 2,
  );
  expect((await shop.service()).replicas).toBe(2);
  expect(faults).toEqual([]);
  await close();
}, 60_000);

test('settings are checked, keep what was typed when somebody else changes them, and are applied', async () => {
  const { page, accessible, close } = await shop.see(`${WEB}/settings`);
  const memory = page.getByLabel('Memory of a replica, in MiB');
  const review = page.getByRole('button', { name: 'Review changes' });
  await memory.fill('3');
  await page.getByText('a whole number from 16 to 1048576').waitFor();
  expect(await review.isDisabled()).toBe(true);
  await memory.fill('200');
  await shop.berth.api(SERVICE, { method: 'PATCH', body: { memory_mb: 150, drain_seconds: 3 } });
  const notice = page.getByRole('status').filter({ hasText: 'Somebody else has changed this service' });
  await notice.getByText('150').waitFor();
  expect(await memory.inputValue()).toBe('200');
  expect(await page.getByLabel('Drain, in seconds').inputValue()).toBe('3');
  expect(await accessible()).toEqual([]);
  await notice.getByRole('button', { name: 'Take theirs' }).click();
  expect(await memory.inputValue()).toBe('150');
  await shop.settled();
  await memory.fill('180');
  await review.click();
  const dialog = page.getByRole('dialog', { name: 'Change web' });
  await dialog.getByText('memory mb 150 → 180').waitFor();
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await shop.ended(page, 'Changing');
  expect((await shop.service()).memory_mb).toBe(180);
  await until(() => review.isDisabled());
  await close();
}, 60_000);

test('a service is deleted when its name is typed, not before', async () => {
  const { page, faults, close } = await shop.see(`${WEB}/settings`);
  await page.getByRole('button', { name: 'Delete web' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete web' });
  const button = dialog.getByRole('button', { name: 'Delete web' });
  await dialog.getByRole('list', { name: 'Planned changes' }).waitFor();
  await dialog.getByLabel('Type “web” to confirm').fill('we');
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByLabel('Type “web” to confirm').fill('web');
  await button.click();
  await page.waitForURL('**/p/shop');
  await page.getByText('No services yet').waitFor();
  await shop.settled();
  expect((await shop.berth.api(SERVICE)).status).toBe(404);
  expect(faults).toEqual([]);
  await close();
}, 60_000);
