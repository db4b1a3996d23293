import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { expectNoSidewaysScroll, openBrowser, visit } from '#test/support/dashboard.ts';

const PROJECTS = 200;
const TOKENS = 300;
const EVENTS = 500;
/** Longer, and somebody who scrolls or types notices. */
const FREEZE_MS = 200;

let berth: Berth;
let browser: Browser;

const nameOf = (index: number): string => `project-${String(index).padStart(3, '0')}`;

/** Sends what `send` does for each index, some at a time. */
const many = async (count: number, send: (index: number) => Promise<unknown>): Promise<void> => {
  for (let from = 0; from < count; from += 20)
    await Promise.all(Array.from({ length: Math.min(20, count - from) }, (_none, at) => send(from + at)));
};

beforeAll(async () => {
  [berth, browser] = await Promise.all([Berth.boot(['--network-size', '28']), openBrowser()]);
  await many(PROJECTS, (index) => berth.project(nameOf(index)));
  await many(TOKENS, (index) =>
    berth.api('/v1/tokens', {
      method: 'POST',
      body: { principal: `robot ${index}`, capabilities: ['read'], projects: [nameOf(index % PROJECTS)] },
    }),
  );
  for (let index = 0; index < EVENTS; index += 1)
    await berth.api(`/v1/projects/${nameOf(0)}/env`, { method: 'PUT', body: { env: { COUNT: String(index) } } });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

/** The longest time that the page, once it is there, answered to nothing while `act` went on. */
const longestTask = async (page: Page, act: () => Promise<void>): Promise<number> => {
  await page.evaluate(() => {
    const tasks = { longest: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) tasks.longest = Math.max(tasks.longest, duration);
    }).observe({ type: 'longtask' });
    Object.assign(globalThis, { tasks });
  });
  await act();
  return page.evaluate(() => (globalThis as unknown as { tasks: { longest: number } }).tasks.longest);
};

const scrollToEnd = (page: Page): Promise<void> =>
  page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const root = document.scrollingElement ?? document.body;
        const step = (): void => {
          const before = root.scrollTop;
          root.scrollTop += 1000;
          if (root.scrollTop === before) resolve();
          else requestAnimationFrame(step);
        };
        step();
      }),
  );

/** Presses the button for more until there is none. */
const readAll = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name }).waitFor();
  await page.evaluate(async (label) => {
    for (;;) {
      const more = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === label);
      if (more === undefined) return;
      if (!more.disabled) more.click();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }, name);
};

const goByLink = (page: Page, path: string): Promise<void> =>
  page.evaluate((place) => history.pushState(null, '', place), path);

for (const width of [1280, 390]) {
  test(`${PROJECTS} projects come, scroll, are searched and change without a freeze, ${width} px wide`, async () => {
    const { page, faults, accessible, close } = await visit(browser, berth, { width, path: '/tokens' });
    const last = page
      .getByRole('link', { name: nameOf(PROJECTS - 1), exact: true })
      .filter({ visible: true })
      .first();
    const longest = await longestTask(page, async () => {
      await goByLink(page, '/');
      await page.getByText(/^20\d projects/).waitFor();
      await scrollToEnd(page);
      await last.waitFor();
      await page.getByLabel('Find a project or service').pressSequentially('project-19');
      await page.getByRole('region', { name: nameOf(0), exact: true }).waitFor({ state: 'detached' });
      expect(await page.getByRole('main').getByRole('region').count()).toBe(10);
      await page.getByLabel('Find a project or service').fill('');
      await berth.project(`another-${width}`);
      await page.getByRole('region', { name: `another-${width}`, exact: true }).waitFor();
    });
    console.log(`projects at ${width} px: longest task ${longest.toFixed(0)} ms`);
    expect(longest).toBeLessThan(FREEZE_MS);
    await expectNoSidewaysScroll(page);
    expect(await accessible()).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);

  test(`${TOKENS} tokens and ${EVENTS} events can be read to their end without a freeze, ${width} px wide`, async () => {
    const { page, faults, accessible, close } = await visit(browser, berth, { width, path: '/operations' });
    const tokens = await longestTask(page, async () => {
      await goByLink(page, '/tokens');
      await page
        .getByText(/^robot \d+$/)
        .filter({ visible: true })
        .first()
        .waitFor();
      await readAll(page, 'Show older tokens');
      await scrollToEnd(page);
    });
    for (const robot of [0, TOKENS - 1])
      await page.getByText(`robot ${robot}`, { exact: true }).filter({ visible: true }).first().waitFor();
    await expectNoSidewaysScroll(page);
    expect(await accessible()).toEqual([]);
    const events = await longestTask(page, async () => {
      await goByLink(page, `/p/${nameOf(0)}/events`);
      await page.locator('.event-row').first().waitFor();
      await readAll(page, 'Earlier events');
      await scrollToEnd(page);
    });
    console.log(`at ${width} px: tokens ${tokens.toFixed(0)} ms, events ${events.toFixed(0)} ms`);
    expect(Math.max(tokens, events)).toBeLessThan(FREEZE_MS);
    await expectNoSidewaysScroll(page);
    expect(await accessible()).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }, 60_000);
}
