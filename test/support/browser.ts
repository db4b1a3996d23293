import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type ConsoleMessage, type Page } from 'playwright-core';
import type { Berth } from './berth.ts';

/** Debian's package; playwright's own browsers are not downloaded. */
const EXECUTABLE = '/usr/bin/chromium';

/** A page of the dashboard in a browser of its own, and what went wrong in it. */
export interface Visit {
  page: Page;
  /** Errors of the console, of scripts, of the content policy, and requests to other hosts; none is as it should be. */
  faults: string[];
  close(): Promise<void>;
}

let shared: Promise<Browser> | undefined;

/** One browser for a test file; close it by `closeBrowser` at the end. */
const browser = (): Promise<Browser> => {
  shared ??= chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  return shared;
};

export const closeBrowser = async (): Promise<void> => {
  const open = shared;
  shared = undefined;
  await (await open)?.close();
};

/** Opens a path of the dashboard as somebody who was never there. */
export const visit = async (berth: Berth, path: string, options: BrowserContextOptions = {}): Promise<Visit> => {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error') faults.push(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== berth.url) faults.push(`a request to ${request.url()}`);
  });
  await page.goto(`${berth.url}${path}`);
  return { page, faults, close: () => context.close() };
};

/** Fills in the token, and waits until the door is behind. */
export const signIn = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
};

/** What axe finds on the page as it is, WCAG 2.2 AA and best practices: one line for each rule. */
export const axeFindings = async (page: Page): Promise<string[]> => {
  // Evaluated by the debugger: the policy of the page lets no foreign script in.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    });
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
  });
};
