import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { helloApp, nodeApp } from '#test/support/apps.ts';
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

let berth: Berth;
let browser: Browser;

/** An app whose build runs these steps. */
const built = (steps: readonly string[], files = helloApp('hello')): Record<string, string> => ({
  ...files,
  Dockerfile: [
    'FROM node:24-slim',
    'WORKDIR /app',
    'COPY . .',
    ...steps,
    'USER node',
    'CMD ["node", "server.js"]',
    '',
  ].join('\n'),
});

const SECRET = 'correct-horse-battery';
const HOSTILE = [
  'RUN printf "\\033[32mgreen\\033[0m \\033[1;31mbold red\\033[0m\\n"',
  ' && printf "<img src=x onerror=alert(1)><script>alert(2)</script>\\n"',
  ' && printf "\\033]0;owned\\007title \\033[2J\\033[1;1Hcleared \\033]52;c;cm0=\\007clip\\n"',
  ' && printf "correct-\\033[1mhorse-battery\\033[0m end\\n"',
].join('');
const SILENT = {
  ...helloApp('x'),
  'server.js': 'console.log("\\u001b[31mI listen nowhere\\u001b[0m"); setInterval(() => {}, 1000);',
};
const FAILING = built([
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
  [berth, browser] = await Promise.all([Berth.boot(['--health-timeout-seconds', '6']), openBrowser()]);
  await berth.project('shop');
  const env = { method: 'PUT', body: { PASSPHRASE: SECRET } };
  ids.first = (await berth.deploy('shop', 'web', helloApp('one'))).operation_id;
  expect((await berth.api('/v1/projects/shop/env', env)).status).toBeLessThan(300);
  await until(async () => (await berth.api('/v1/operations?project=shop&status=running')).body.operations.length === 0);
  ids.coloured = (await berth.deploy('shop', 'web', built([HOSTILE]))).operation_id;
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
    const step = page.getByRole('button', { name: /^\[4\/4\] RUN printf/ });
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
  await card.getByText('Next: Read the lines above, fix the source').waitFor();
  // The log begins where it failed.
  await row(page, 'cannot find left-pad').waitFor();
  await page.locator('.log-lines').evaluate((box) => (box.scrollTop = 0));
  await row(page, 'trace 1').first().waitFor();
  await page.getByRole('button', { name: 'To the failure' }).click();
  await page.locator('.log-row.current', { hasText: 'cannot find left-pad' }).waitFor();
  await page.getByText('No variable or setting was changed since').waitFor();
  await close();
}, 60_000);

test('an app that never listens is rolled back, with what it said and where it should listen', async () => {
  const { page, close } = await see('/operations');
  const { body } = await berth.upload('shop', 'quiet', SILENT);
  await page.goto(pageOf(body.operation_id));
  await page.getByText('What served before serves on').waitFor({ timeout: 30_000 });
  const card = page.getByRole('alert');
  await card.getByText('HEALTH_CHECK_FAILED').waitFor();
  await card.getByText(/never listened on port 8080/).waitFor();
  expect(await card.getByRole('region', { name: 'Last lines of the log' }).innerText()).toBe('I listen nowhere');
  await card.getByText('Bind 0.0.0.0:$PORT').waitFor();
  const phases = page.getByRole('list', { name: 'Phases' });
  await phases.getByText('Rollout').waitFor();
  await phases.getByText('Rolled back').waitFor();
  await close();
}, 60_000);

test('a deploy is followed live, phase by phase and line by line, and canceled after its plan was shown', async () => {
  const { page, faults, close } = await see('/');
  const slow = built(['RUN for i in $(seq 1 600); do echo "tick $i"; sleep 0.2; done']);
  const { body } = await berth.upload('shop', 'slow', slow);
  await page.goto(pageOf(body.operation_id));
  await row(page, 'tick 3').first().waitFor({ timeout: 30_000 });
  await page.getByRole('list', { name: 'Phases' }).locator('[aria-current=step]', { hasText: 'Build' }).waitFor();
  await row(page, 'tick 12').first().waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel deploy of slow' });
  await dialog.getByRole('list', { name: 'Planned changes' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel it' }).click();
  await page.locator('.page-head').getByText('Canceled').waitFor({ timeout: 30_000 });
  await row(page, 'cancel requested by admin').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await close();
}, 90_000);

test('100,000 lines of a build are searched in a moment and scroll at 50 frames per second', async () => {
  // The builder cuts what a step says beyond 200 KB a second.
  const steps = Array.from(
    { length: 12 },
    (_none, at) =>
      `RUN node -e "let s='';for(let i=0;i<9000;i++)s+='l'+(${at * 9000}+i)+' built\\n';process.stdout.write(s)"`,
  );
  const { operation_id: id } = await berth.deploy('shop', 'big', built(steps));
  const { page, close } = await see(pageOf(id));
  const lines = page.locator('.log-bar').getByText(/^\d+ lines$/);
  await until(async () => Number.parseInt(await lines.innerText(), 10) > 99_900, 60);
  const search = page.getByLabel('Search the log');
  const begun = performance.now();
  await search.fill('l9999');
  await page.getByText('11 found').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.log-row.current', { hasText: 'l9999' }).waitFor();
  expect(performance.now() - begun).toBeLessThan(2500);
  await page.goto(pageOf(id, '#L77777'));
  await page.reload();
  await page.locator('.log-row.marked .log-number', { hasText: '77777' }).waitFor();
  const frames = await framesWhileScrolling(page, '.log-lines', 3);
  const megabytes = (await heapBytes(page)) / 1024 / 1024;
  console.log(`${frames.toFixed(1)} frames per second, ${megabytes.toFixed(0)} MB of heap`);
  expect(frames).toBeGreaterThanOrEqual(50);
  expect(megabytes).toBeLessThan(200);
  await close();
}, 120_000);

describe('at 3 a.m.', () => {
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
    await berth.project('night');
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
    await berth.project('night').catch(() => undefined);
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
});

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
