import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import type { Berth } from '#test/support/berth.ts';
import { visit, type Visit } from '#test/support/dashboard.ts';

/** One picture of a page in some state. */
export interface Shot {
  name: string;
  path: string;
  /** Brings the page into the state: opens a dialog, asks a query. */
  prepare?: (page: Page) => Promise<unknown>;
  /** Only at this width. */
  only?: 'wide' | 'narrow';
}

export interface Look {
  dark: boolean;
  width: number;
}

const WIDE = 1280;
const NARROW = 390;
/** As high as it is shown, unless the page is higher; nobody looks at more than that. */
const HEIGHTS: Record<number, { least: number; most: number }> = {
  [WIDE]: { least: 800, most: 1000 },
  [NARROW]: { least: 844, most: 1100 },
};
/** Of WebP, in per cent: text stays sharp, and the whole folder is below 4 MB. */
const QUALITY = 50;

export const LOOKS: readonly Look[] = [WIDE, NARROW].flatMap((width) => [
  { dark: true, width },
  { dark: false, width },
]);

/** Signed in, once for each look. */
export const openLooks = (browser: Browser, berth: Berth): Promise<(Look & { seen: Visit })[]> =>
  Promise.all(
    LOOKS.map(async (look) => ({
      ...look,
      seen: await visit(browser, berth, { ...look, height: heightOf(look).least }),
    })),
  );

const heightOf = ({ width }: Look): { least: number; most: number } => HEIGHTS[width] ?? { least: 800, most: 800 };

const isFor = ({ only }: Shot, { width }: Look): boolean =>
  only === undefined || (only === 'wide') === (width === WIDE);

/** Takes a picture, if there is one at this look; gives its bytes. */
export const take = async (
  page: Page,
  shot: Shot,
  look: Look,
  { folder, origin }: { folder: string; origin: string },
): Promise<number> => {
  if (!isFor(shot, look)) return 0;
  const { least, most } = heightOf(look);
  await page.setViewportSize({ width: look.width, height: least });
  await page.goto(`${origin}${shot.path}`);
  await settled(page);
  await shot.prepare?.(page);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width: look.width, height: Math.min(most, Math.max(least, height)) });
  await settled(page);
  const debuggee = await page.context().newCDPSession(page);
  const { data } = await debuggee.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await debuggee.detach();
  const bytes = Buffer.from(data, 'base64');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, nameOf(shot.name, look)), bytes);
  return bytes.length;
};

const nameOf = (name: string, { dark, width }: Look): string => `${name}-${dark ? 'dark' : 'light'}-${width}.webp`;

/**
 * Until everything is there that was asked for. A stream stays open, so silence of the network is not waited for, but the
 * end of each request that has begun, and of those that its answer brings about.
 */
const settled = async (page: Page): Promise<void> => {
  await page.locator('h1').first().waitFor();
  for (let calm = 0; calm < CALM_FRAMES;) {
    calm = (await isCalm(page)) ? calm + 1 : 0;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
};

const CALM_FRAMES = 8;

const isCalm = (page: Page): Promise<boolean> =>
  page.evaluate(
    () =>
      document.querySelector('.skeleton, .splash, [aria-busy="true"]') === null && document.fonts.status === 'loaded',
  );
