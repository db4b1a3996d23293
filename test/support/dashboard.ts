import axe from 'axe-core';
import { expect } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { Berth } from './berth.ts';

/** Debian's own. */
const CHROMIUM = '/usr/bin/chromium';

/** A browser with a temporary folder of its own, which goes with it. */
export const openBrowser = async (): Promise<Browser> => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-browser-'));
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu'],
    env: { ...process.env, TMPDIR: folder },
  });
  browser.on('disconnected', () => rmSync(folder, { recursive: true, force: true }));
  return browser;
};

export interface VisitOptions {
  /** The admin's when omitted. */
  token?: string;
  width?: number;
  height?: number;
  dark?: boolean;
}

/** A browser of its own that somebody has signed in, and what went wrong in it. */
export interface Visit {
  page: Page;
  go(path: string): Promise<void>;
  /** Errors of scripts, breaches of the page's policy, requests to other hosts. */
  faults: string[];
  close(): Promise<void>;
}

/** Signs in by the page's own form. */
export const visit = async (browser: Browser, berth: Berth, options: VisitOptions = {}): Promise<Visit> => {
  const { token = berth.token, width = 1280, height = 900, dark = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const faults = watchFaults(page, berth.url);
  await page.goto(`${berth.url}/sign-in`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Menu' }))
    .first()
    .waitFor();
  faults.length = 0;
  return {
    page,
    faults,
    go: async (path) => {
      await page.goto(`${berth.url}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    close: () => context.close(),
  };
};

/** Replies of the API that a page explains are no faults; the browser reports them as errors all the same. */
const REPLY = /^Failed to load resource: the server responded with a status of (?:4\d\d|503)/;

const watchFaults = (page: Page, origin: string): string[] => {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !REPLY.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(?:data|blob):/.test(url)) faults.push(`another host: ${url}`);
  });
  page.on('dialog', (dialog) => {
    if (dialog.type() !== 'beforeunload') faults.push(`a script of the content ran: ${dialog.message()}`);
    void dialog.accept();
  });
  return faults;
};

/** Fails with what axe finds against WCAG 2.2 A and AA. */
export const expectAccessible = async (page: Page): Promise<void> => {
  await page.evaluate(axe.source);
  const found = await page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  });
  expect(found).toEqual([]);
};

/** The widths at which a page is looked at: a phone, and a desk. */
export const expectNoSidewaysScroll = async (page: Page): Promise<void> => {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(excess).toBeLessThanOrEqual(0);
};
