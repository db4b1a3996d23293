import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import type { Berth } from '#test/support/berth.ts';

/** With a temporary folder of its own, which goes with it. */
export const openChromium = async (): Promise<Browser> => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-browser-'));
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
    env: { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder },
  });
  browser.on('disconnected', () => rmSync(folder, { recursive: true, force: true }));
  return browser;
};

export interface Window {
  page: Page;
  context: BrowserContext;
  /** Errors of scripts, breaches of the page's policy, and requests to other hosts: there must be none. */
  faults: string[];
  /** What axe finds, as rules with their places. */
  accessible(): Promise<string[]>;
  close(): Promise<void>;
}

export interface WindowOptions {
  token?: string;
  width?: number;
  dark?: boolean;
}

/** A window of its own that is signed in as a person signs in. */
export const openWindow = async (
  browser: Browser,
  berth: Berth,
  { token = berth.token, width = 1280, dark = false }: WindowOptions = {},
): Promise<Window> => {
  const context = await browser.newContext({
    viewport: { width, height: 844 },
    colorScheme: dark ? 'dark' : 'light',
    baseURL: berth.url,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (/security policy|trusted type/i.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !request.url().startsWith(berth.url)) faults.push(`asked ${request.url()}`);
  });
  await page.goto('/sign-in');
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page
    .getByRole('navigation', { name: 'Main' })
    .or(page.getByRole('button', { name: 'Menu' }))
    .first()
    .waitFor();
  return { page, context, faults, accessible: () => axeFaults(context, page), close: () => context.close() };
};

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** By the debugger, because the page's policy lets no such script in; `preload` would copy style sheets, which it forbids too. */
const axeFaults = async (context: BrowserContext, page: Page): Promise<string[]> => {
  const cdp = await context.newCDPSession(page);
  await cdp.send('Runtime.evaluate', { expression: AXE });
  await cdp.detach();
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(where: Document, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
      };
    };
    const { violations } = await axe.run(document, { preload: false });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
  });
};
