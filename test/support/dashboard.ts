import axe from 'axe-core';
import { expect } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page, type Request } from 'playwright-core';
import type { Berth } from './berth.ts';

/** Debian's own; playwright's browsers are not downloaded. */
const CHROMIUM = '/usr/bin/chromium';

/** A browser with a temporary folder of its own, which goes with it. One for a test file. */
export const openBrowser = async (): Promise<Browser> => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-browser-'));
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder },
  });
  const close = browser.close.bind(browser);
  // Not when it disconnects: its processes write until they have ended.
  browser.close = async (options) => {
    await close(options);
    rmSync(folder, { recursive: true, force: true });
  };
  return browser;
};

export interface VisitOptions {
  /** The admin's when omitted; null: nobody signs in. */
  token?: string | null;
  /** Opened when nobody signs in, or after it. */
  path?: string;
  width?: number;
  height?: number;
  dark?: boolean;
}

/** A browser of its own that somebody has signed in, and what went wrong in it. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Errors of scripts and of the console, breaches of the page's policy, requests to other hosts: there must be none. */
  faults: string[];
  /** Opens a path, and waits until its page has a heading. */
  go(path: string): Promise<void>;
  /** What axe finds, one line for each rule. */
  accessible(): Promise<string[]>;
  close(): Promise<void>;
}

/** Signs in by the page's own form, as a person does. */
export const visit = async (browser: Browser, berth: Berth, options: VisitOptions = {}): Promise<Visit> => {
  const { token = berth.token, path, width = 1280, height = 900, dark = false } = options;
  const context = await browser.newContext({
    baseURL: berth.url,
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults = watchFaults(page, berth.url);
  const go = async (where: string): Promise<void> => {
    await load(page, where);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  if (token === null) await load(page, path ?? '/');
  else {
    await load(page, '/sign-in');
    await signIn(page, token);
    if (path !== undefined) await go(path);
  }
  return { page, context, faults, go, accessible: () => axeFindings(page), close: () => context.close() };
};

/** Opens a path; again when the browser broke off its scripts, because Docker made or removed a network meanwhile. */
const load = async (page: Page, path: string): Promise<void> => {
  let changed = false;
  const note = (request: Request): void => {
    if (request.resourceType() === 'script' && request.failure()?.errorText === NETWORK_CHANGED) changed = true;
  };
  page.on('requestfailed', note);
  await page.goto(path).catch((thrown: unknown) => {
    if (!String(thrown).includes(NETWORK_CHANGED)) throw thrown;
    changed = true;
  });
  page.off('requestfailed', note);
  if (changed) await load(page, path);
};

const NETWORK_CHANGED = 'net::ERR_NETWORK_CHANGED';

/** Fills in the token, and waits until the door is behind. */
export const signIn = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Menu' }))
    .first()
    .waitFor();
};

/**
 * Replies of the API that a page explains are no faults; the browser reports them as errors all the same. So are networks that
 * Docker makes meanwhile, for which Chromium breaks off what it is asking for.
 */
const REPLY =
  /^Failed to load resource: (?:the server responded with a status of (?:4\d\d|503)|net::ERR_NETWORK_CHANGED)/;

const watchFaults = (page: Page, origin: string): string[] => {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !REPLY.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(?:data|blob):/.test(url)) faults.push(`another host: ${url}`);
  });
  page.on('dialog', (dialog) => {
    if (dialog.type() !== 'beforeunload') faults.push(`a script of the content ran: ${dialog.message()}`);
    void dialog.accept();
  });
  return faults;
};

/** Against WCAG 2.2 A and AA and best practices. */
const axeFindings = async (page: Page): Promise<string[]> => {
  // Evaluated by the debugger: the page's policy lets no foreign script in.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      // It would copy style sheets, which the policy forbids too.
      preload: false,
    });
    return violations.map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`,
    );
  });
};

/** Fails with what axe finds. */
export const expectAccessible = async (page: Page): Promise<void> => {
  expect(await axeFindings(page)).toEqual([]);
};

/** The widths at which a page is looked at: a phone, and a desk. */
export const expectNoSidewaysScroll = async (page: Page): Promise<void> => {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(excess).toBeLessThanOrEqual(0);
};
