#!/usr/bin/env bun
/**
 * Takes pictures of every page of the dashboard: dark and light, wide and narrow, into docs/screenshots. Needs Docker,
 * Chromium at /usr/bin/chromium and the executable (`bun run build --host`); takes a few minutes.
 *   bun scripts/screenshots.ts                    all
 *   bun scripts/screenshots.ts service deploy     those whose names begin so
 *   --folder DIR        somewhere else
 *   --executable FILE   another than dist/berth, which may be built anew meanwhile
 *   --keep              does not end until told to (Ctrl-C), to look around in the filled server
 */
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { openBrowser } from '#test/support/dashboard.ts';
import { LOOKS, openLooks, take, type Look, type Shot } from './screenshots/camera.ts';
import { DOOR_SHOTS, EMPTY_SHOTS, pageShots, runningShots } from './screenshots/shots.ts';
import { fillWorld } from './screenshots/world.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string', default: 'docs/screenshots' },
    keep: { type: 'boolean', default: false },
    executable: { type: 'string' },
  },
});

const say = (line: string): void => console.error(line);
const faults: string[] = [];
let bytes = 0;

const isWanted = ({ name }: Shot): boolean =>
  positionals.length === 0 || positionals.some((begin) => name.startsWith(begin));

const gallery = (browser: Browser, berth: Berth) => {
  const where = { folder: values.folder, origin: berth.url };
  const attempt = async (page: Page, shot: Shot, look: Look): Promise<void> => {
    try {
      const size = await take(page, shot, look, where);
      bytes += size;
    } catch (error) {
      faults.push(`${shot.name}, ${look.dark ? 'dark' : 'light'}, ${look.width}: ${String(error)}`);
    }
  };
  return {
    /** All looks of a page at once: they show the same moment. */
    signedIn: async (shots: readonly Shot[]): Promise<void> => {
      const looks = await openLooks(browser, berth);
      for (const shot of shots.filter(isWanted)) {
        say(shot.name);
        await Promise.all(looks.map(({ seen, ...look }) => attempt(seen.page, shot, look)));
      }
      for (const { seen } of looks) {
        faults.push(...seen.faults);
        await seen.close();
      }
    },
    atTheDoor: async (shots: readonly Shot[]): Promise<void> => {
      for (const look of LOOKS) {
        const context = await browser.newContext({ colorScheme: look.dark ? 'dark' : 'light' });
        for (const shot of shots.filter(isWanted)) await attempt(await context.newPage(), shot, look);
        await context.close();
      }
    },
  };
};

const run = async (): Promise<void> => {
  const { executable } = values;
  const berth = await Berth.boot([], executable === undefined ? {} : { executable });
  const browser = await openBrowser();
  try {
    const { signedIn, atTheDoor } = gallery(browser, berth);
    await atTheDoor(DOOR_SHOTS);
    await signedIn(EMPTY_SHOTS);
    const { end, ...world } = await fillWorld(berth, say);
    await signedIn(runningShots(world));
    await signedIn(pageShots(world));
    if (values.keep) await untilTold(`${berth.url}, the token is in ${berth.dataDir}/admin-token`);
    end();
  } finally {
    await browser.close();
    await berth.destroy();
  }
};

const untilTold = (line: string): Promise<void> =>
  new Promise((resolve) => {
    say(line);
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });

await run();
say(`${(bytes / 1024 / 1024).toFixed(1)} MB in ${values.folder}`);
for (const fault of faults) say(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
