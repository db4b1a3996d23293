import { expect } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { nodeApp } from './apps.ts';
import { Berth } from './berth.ts';
import { openBrowser, visit, type Visit, type VisitOptions } from './dashboard.ts';
import { until } from './until.ts';

export const WEB = '/p/shop/s/web';
export const SERVICE = '/v1/projects/shop/services/web';

/** Answers `text` at `/`, and 404 elsewhere. */
const app = (text: string): Record<string, string> =>
  nodeApp(
    `(request, response) => { response.statusCode = request.url === '/' ? 200 : 404; response.end(${JSON.stringify(text)}) }`,
  );

/** A project `shop` with a service `web` of two releases, and a browser to look at it. */
export class Shop {
  readonly berth: Berth;
  readonly browser: Browser;
  /** Says `one`. */
  first = '';
  /** Says `two`, and has a variable more. It is live. */
  second = '';

  private constructor(berth: Berth, browser: Browser) {
    this.berth = berth;
    this.browser = browser;
  }

  static async open(): Promise<Shop> {
    const [berth, browser] = await Promise.all([Berth.boot(['--quota-replicas', '3']), openBrowser()]);
    const shop = new Shop(berth, browser);
    await berth.project('shop');
    shop.first = releaseOf(await berth.deploy('shop', 'web', app('one')));
    await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { GREETING: 'hello' } });
    shop.second = releaseOf(await berth.deploy('shop', 'web', app('two')));
    return shop;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.berth.destroy();
  }

  /** Opens a page of the service. */
  async see(path: string, options: VisitOptions = {}): Promise<Visit> {
    const seen = await visit(this.browser, this.berth, { ...options, path });
    await seen.page.getByRole('navigation', { name: 'Service' }).waitFor();
    return seen;
  }

  /** Waits until every operation has ended. */
  settled(): Promise<void> {
    return until(async () => {
      const { body } = await this.berth.api('/v1/operations?project=shop&limit=5');
      return body.operations.every(({ status }: { status: string }) => status === 'succeeded' || status === 'failed');
    });
  }

  /** Follows the toast of a change to its end. */
  async ended(page: Page, verb: string): Promise<void> {
    await page.getByText(`${verb} web`).waitFor();
    await this.settled();
  }

  async service() {
    return (await this.berth.api(SERVICE)).body;
  }
}

const releaseOf = ({ status, result }: { status: string; result: Record<string, unknown> | null }): string => {
  expect(status).toBe('succeeded');
  return String(result?.['release']);
};
