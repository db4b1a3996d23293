import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { expectNoSidewaysScroll, openBrowser, visit, type Visit, type VisitOptions } from '#test/support/dashboard.ts';
import { docker } from '#test/support/docker.ts';
import { until } from '#test/support/until.ts';

const WEB = '/p/shop/s/web';
const SERVICE = '/v1/projects/shop/services/web';

/** Answers `text` at `/`, and 404 elsewhere. */
const app = (text: string): Record<string, string> =>
  nodeApp(
    `(request, response) => { response.statusCode = request.url === '/' ? 200 : 404; response.end(${JSON.stringify(text)}) }`,
  );

let berth: Berth;
let browser: Browser;
let first: string;
let second: string;

beforeAll(async () => {
  berth = await Berth.boot(['--quota-replicas', '3']);
  browser = await openBrowser();
  await berth.project('shop');
  first = releaseOf(await berth.deploy('shop', 'web', app('one')));
  await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { GREETING: 'hello' } });
  second = releaseOf(await berth.deploy('shop', 'web', app('two')));
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const releaseOf = ({ status, result }: { status: string; result: Record<string, unknown> | null }): string => {
  expect(status).toBe('succeeded');
  return String(result?.['release']);
};

const see = async (path: string, options: VisitOptions = {}): Promise<Visit> => {
  const seen = await visit(browser, berth, { ...options, path });
  await seen.page.getByRole('navigation', { name: 'Service' }).waitFor();
  return seen;
};

const choose = async (page: Page, action: string): Promise<void> => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: action }).click();
};

/** Follows the toast of a change to its end. */
const ended = async (page: Page, verb: string): Promise<void> => {
  await page.getByText(`${verb} web`).waitFor();
  await settled();
};

const settled = (): Promise<void> =>
  until(async () => {
    const { body } = await berth.api('/v1/operations?project=shop&limit=5');
    return body.operations.every(({ status }: { status: string }) => status === 'succeeded' || status === 'failed');
  });

const service = async () => (await berth.api(SERVICE)).body;

/** Names of the replicas that take traffic: those that drain stay for a while. */
const liveReplicas = async (): Promise<string[]> =>
  (await service()).replica_states
    .filter(({ state }: { state: string }) => state === 'live')
    .map(({ name }: { name: string }) => name);

describe('the page of a service', () => {
  test('says at the first glance whether it is up, where, since when, how loaded, and what its release changed', async () => {
    const { page, faults, accessible, close } = await see(WEB);
    await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
    await page.getByText('Running', { exact: true }).first().waitFor();
    await page.getByText('up for').waitFor();
    expect(await page.getByRole('link', { name: /^web--shop/ }).getAttribute('href')).toContain('web--shop');
    await page.getByRole('table', { name: 'Replicas' }).getByText('Live').waitFor();
    const changed = page.getByRole('region', { name: 'What it changed' });
    await changed.getByText('+ GREETING').waitFor();
    await changed.getByText('Source').waitFor();
    await berth.appText('shop', 'web');
    const glance = page.getByRole('region', { name: 'The last hour' });
    await glance.getByText(/\/s$/).waitFor({ timeout: 20_000 });
    await page
      .getByRole('img', { name: /^Memory in the last hour: .*MB of late/ })
      .first()
      .waitFor();
    expect(await accessible()).toEqual([]);
    await glance.getByRole('link', { name: 'Charts of the usage' }).click();
    await page.getByRole('group', { name: 'Time range' }).waitFor();
    expect(await page.title()).toBe('Usage · web · shop · berth');
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('has the same head and tabs on each of its pages, by keys too, on a phone and in the dark', async () => {
    const { page, faults, accessible, close } = await see(WEB, { width: 390, dark: true });
    const tabs = page.getByRole('navigation', { name: 'Service' });
    for (const [key, label, path] of [
      ['2', 'Releases', '/releases'],
      ['3', 'Logs', '/logs'],
      ['4', 'Usage', '/usage'],
      ['5', 'Settings', '/settings'],
      ['1', 'Overview', ''],
    ] as const) {
      await page.keyboard.press(key);
      await page.waitForURL((url) => url.pathname === `${WEB}${path}`);
      await tabs.locator('[aria-current=page]', { hasText: label }).waitFor();
      await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
      await page.getByRole('button', { name: 'Deploy', exact: true }).waitFor();
      expect(await tabs.getByRole('link').count()).toBe(5);
      expect(await accessible()).toEqual([]);
      await expectNoSidewaysScroll(page);
    }
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('keys go places and begin changes; a key behind g is never one of its own', async () => {
    const { page, accessible, close } = await see(WEB);
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await help.getByText('Roll back to the release before').waitFor();
    expect(await accessible()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('s');
    await page.getByRole('dialog', { name: 'Scale web' }).waitFor();
    expect(new URL(page.url()).search).toBe('?do=scale');
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.waitForURL('**/p/shop/datastores');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await close();
  }, 30_000);

  test('a token that may only read is offered no change', async () => {
    const { body } = await berth.api('/v1/tokens', {
      method: 'POST',
      body: { principal: 'reader', capabilities: ['read'], projects: ['shop'] },
    });
    const { page, close } = await see(`${WEB}/releases?do=restart`, { token: body.secret });
    await page.getByText(second).first().waitFor();
    for (const name of ['Deploy', 'More actions', `Roll back to ${first}`])
      expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await close();
  }, 30_000);
});

describe('changes of a service', () => {
  test('a release is compared, rolled back to with what differs in sight, and comes live by itself', async () => {
    const { page, faults, accessible, close } = await see(`${WEB}/releases`);
    await page.getByRole('button', { name: `What differs in ${second}` }).click();
    await page
      .getByRole('region', { name: `What differs in ${second}` })
      .getByText('+ GREETING')
      .waitFor();
    expect(new URL(page.url()).search).toBe(`?release=${second}`);
    await page.getByRole('button', { name: `What differs in ${first}` }).click();
    await page
      .getByRole('region', { name: `What differs in ${first}` })
      .getByText('− GREETING')
      .waitFor();

    await page.getByRole('button', { name: `Roll back to ${first}` }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll web back' });
    await dialog.getByRole('region', { name: 'What differs' }).getByText('− GREETING').waitFor();
    await dialog
      .getByRole('list', { name: 'Planned changes' })
      .getByText(`live release ${second} → ${first}`)
      .waitFor();
    expect(await accessible()).toEqual([]);
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await ended(page, 'Rolling');
    await page.getByRole('listitem').filter({ hasText: first }).getByText('live', { exact: true }).waitFor();
    expect(await berth.appText('shop', 'web')).toBe('one');
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('the palette leads to a restart, which exchanges the replicas', async () => {
    const before = await liveReplicas();
    const { page, close } = await see('/p/shop/s/web');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or jump' }).fill('restart web');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Restart web' });
    await dialog.getByRole('button', { name: 'Restart' }).click();
    await ended(page, 'Restarting');
    const after = await liveReplicas();
    expect(after).toHaveLength(before.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    await page.getByRole('table', { name: 'Replicas' }).getByText('Live').waitFor();
    await close();
  }, 60_000);

  test('scaling shows its plan while it is chosen, refuses what exceeds the quota, and then goes on', async () => {
    const { page, faults, close } = await see(WEB);
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
    await ended(page, 'Changing');
    await until(
      async () =>
        (await page.getByRole('table', { name: 'Replicas' }).getByText('Live', { exact: true }).count()) === 2,
    );
    expect((await service()).replicas).toBe(2);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test('settings are checked, keep what was typed when somebody else changes them, and are applied', async () => {
    const { page, accessible, close } = await see(`${WEB}/settings`);
    const memory = page.getByLabel('Memory of a replica, in MiB');
    const review = page.getByRole('button', { name: 'Review changes' });
    await memory.fill('3');
    await page.getByText('a whole number from 16 to 1048576').waitFor();
    expect(await review.isDisabled()).toBe(true);
    await memory.fill('200');
    await berth.api(SERVICE, { method: 'PATCH', body: { memory_mb: 150, drain_seconds: 3 } });
    const notice = page.getByRole('status').filter({ hasText: 'Somebody else has changed this service' });
    await notice.getByText('150').waitFor();
    expect(await memory.inputValue()).toBe('200');
    expect(await page.getByLabel('Drain, in seconds').inputValue()).toBe('3');
    expect(await accessible()).toEqual([]);
    await notice.getByRole('button', { name: 'Take theirs' }).click();
    expect(await memory.inputValue()).toBe('150');
    await settled();
    await memory.fill('180');
    await review.click();
    const dialog = page.getByRole('dialog', { name: 'Change web' });
    await dialog.getByText('memory mb 150 → 180').waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await ended(page, 'Changing');
    expect((await service()).memory_mb).toBe(180);
    await until(() => review.isDisabled());
    await close();
  }, 60_000);
});

describe('what goes wrong', () => {
  const failure = (page: Page): Locator => page.getByRole('alert').filter({ hasText: 'Next:' });

  test('a health check that fails is cause, evidence and next step on the page, and what ran goes on', async () => {
    const { page, accessible, close } = await see(`${WEB}/settings`);
    await page.getByLabel('Health path').fill('/missing');
    await page.getByLabel('Health timeout, in seconds').fill('1');
    await page.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await ended(page, 'Changing');
    await page.getByRole('link', { name: 'Overview' }).click();
    const card = failure(page);
    await card.getByText('/missing').first().waitFor();
    await card.getByText('404').first().waitFor();
    await card.getByRole('region', { name: 'Last lines of the log' }).getByText('listening on').first().waitFor();
    expect(await accessible()).toEqual([]);
    await card.getByRole('link', { name: 'See what happened' }).click();
    await page.waitForURL('**/operations/op_*');
    expect(await berth.appText('shop', 'web')).toBe('one');
    expect((await service()).health_path).toBeNull();
    await close();
  }, 60_000);

  test('a rollback to a release whose image is gone fails with the way on, and what ran goes on', async () => {
    const { body } = await berth.api(`${SERVICE}/releases`);
    const { digest } = body.releases.find(({ id }: { id: string }) => id === second);
    const image = await docker([
      'image',
      'inspect',
      '--format',
      '{{.Id}}',
      `127.0.0.1:${berth.ports.registry}/shop/web@${digest}`,
    ]);
    await docker(['rmi', '-f', image.trim()]);
    rmSync(join(berth.dataDir, 'registry/data/docker/registry/v2/repositories/shop/web/_manifests/revisions'), {
      recursive: true,
    });
    const { page, close } = await see(`${WEB}/releases`);
    await page.getByRole('button', { name: `Roll back to ${second}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await ended(page, 'Rolling');
    await page.getByRole('link', { name: 'Overview' }).click();
    await failure(page).waitFor();
    await page.getByText('Running', { exact: true }).first().waitFor();
    expect((await service()).live_release).toBe(first);
    expect(await berth.appText('shop', 'web')).toBe('one');
    await close();
  }, 60_000);

  test('a service that is gone says so, and leads back', async () => {
    const { page, close } = await visit(browser, berth, { path: '/p/shop/s/nothing' });
    await page.getByRole('alert').getByText('No service named "nothing" in project "shop"').waitFor();
    await page.getByRole('link', { name: 'To the project' }).click();
    await page.waitForURL('**/p/shop');
    await close();
  }, 30_000);
});

test('a service is deleted when its name is typed, not before', async () => {
  const { page, faults, close } = await see(`${WEB}/settings`);
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
  await settled();
  expect((await berth.api(SERVICE)).status).toBe(404);
  expect(faults).toEqual([]);
  await close();
}, 60_000);
