import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
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
import { until } from '#test/support/until.ts';

/** At 3 a.m., from an alarm to the cause: in one click of the three that it may take. */
let berth: Berth;
let browser: Browser;

const see = async (path: string, options: VisitOptions = {}): Promise<Visit> => {
  const seen = await visit(browser, berth, options);
  await seen.go(path);
  return seen;
};

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(), openBrowser()]);
  await berth.project('night');
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const APP = nodeApp(`(request, response) => {
  if (request.url === '/die') { console.error('\\u001b[31mFatal:\\u001b[0m no database at db:5432'); process.exit(3); }
  response.end('ok');
}`);
const HUNGRY = nodeApp(`(request, response) => {
  if (request.url !== '/die') return response.end('ok');
  console.log('reading it all'); const kept = [];
  for (;;) kept.push(Buffer.alloc(8 * 1024 * 1024, 1));
}`);

const fall = async (service: string, times: number): Promise<void> => {
  const kinds = async (): Promise<number> => {
    const { body } = await berth.api('/v1/events?project=night&kind=replica');
    return body.events.filter(
      ({ kind, data }: { kind: string; data: { service: string } }) =>
        /exited|oom_killed/.test(kind) && data.service === service,
    ).length;
  };
  for (let time = 1; time <= times; time += 1)
    await until(async () => {
      await berth.app('night', service, '/die').catch(() => undefined);
      return (await kinds()) >= time;
    }, 60);
};

test('one click leads from the overview to why an app falls again and again', async () => {
  await berth.deploy('night', 'api', APP);
  const { page, faults, close } = await see('/');
  await fall('api', 3);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByRole('link', { name: /night \/ api/ }).click();
  const card = page.getByRole('alert');
  await card.getByText(/exits with code 3, again and again: \d restarts/).waitFor();
  const words = card.getByRole('region', { name: 'Last lines of the log' });
  await words.getByText('Fatal: no database at db:5432').first().waitFor();
  await card.getByText('Next: Read the last lines').waitFor();
  await expectAccessible(page);
  await card.getByRole('link', { name: 'Its log' }).click();
  await page.locator('.journal-row.stderr', { hasText: 'no database' }).first().waitFor();
  expect(faults).toEqual([]);
  await close();
}, 120_000);

test('an app that ran out of memory is said to, on a phone too, with the way to more', async () => {
  await berth.deploy('night', 'hungry', HUNGRY);
  await berth.api('/v1/projects/night/services/hungry', { method: 'PATCH', body: { memory_mb: 64 } });
  await until(
    async () => (await berth.api('/v1/operations?project=night&status=running')).body.operations.length === 0,
  );
  await fall('hungry', 1);
  const { page, close } = await see('/', { width: 390, height: 844, dark: true });
  await page.getByRole('link', { name: /night \/ hungry/ }).click();
  const card = page.getByRole('alert');
  await card.getByText(/ran out of memory: it was killed at its limit of 64 MB/).waitFor();
  await card.getByText('reading it all').first().waitFor();
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await card.getByRole('link', { name: 'Raise the limit' }).click();
  await page.waitForURL('**/settings');
  await close();
}, 120_000);
