import type { Browser, Page } from 'playwright-core';
import { nodeApp } from '#test/support/apps.ts';
import type { Berth } from '#test/support/berth.ts';
import { openBrowser } from '#test/support/dashboard.ts';
import { framesWhileScrolling, heapBytes } from '#test/support/scrolling.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import type { Row } from './kit/row.ts';
import { bootServer, succeed } from './kit/server.ts';
import { sessionOf } from './kit/signed-in.ts';
import { summarise } from './kit/stats.ts';

const PROJECT = 'bench-web';
const SERVICES = ['web', 'api', 'worker'];
const LINES = 100_000;
const LINES_A_REQUEST = 10_000;
const SCROLL_SECONDS = 5;

/** Writes as many lines as it is asked to. */
const APP = nodeApp(`(request, response) => {
  const query = new URL(request.url, 'http://app').searchParams;
  const from = Number(query.get('from') ?? 0);
  for (let i = from; i < from + Number(query.get('n') ?? 0); i += 1)
    console.log('line ' + i + ' GET /items/' + (i * 7919 % 1000003).toString(36) + ' 200 in ' + (i % 97) + ' ms');
  response.end('ok');
}`);

type Session = Awaited<ReturnType<typeof sessionOf>>;

/** The dashboard in a real browser on the machine of the server: first load, navigation, a long log. */
export const dashboard: Benchmark = async (bench) => {
  const berth = await bootServer(bench.scope);
  await berth.project(PROJECT);
  for (const service of SERVICES) {
    const { body } = await berth.upload(PROJECT, service, APP);
    await succeed(berth, body.operation_id);
  }
  const browser = await openBrowser();
  bench.scope.defer(() => browser.close());
  const session = await sessionOf(browser, berth);
  return [
    ...(await firstLoad(bench, berth, browser, session)),
    await navigation(bench, berth, browser, session),
    ...(await longLog(bench, berth, browser, session)),
  ];
};

/** Resolves in the page when what is looked for is painted, with the milliseconds since navigation began. */
const painted = (page: Page, selector: string): Promise<number> =>
  page.evaluate(
    (wanted) =>
      new Promise<number>((resolve) => {
        const look = (): void => {
          if (document.querySelector(wanted) === null || document.querySelector('.skeleton') !== null)
            requestAnimationFrame(look);
          // Painted after the frame that follows the one in which it is there.
          else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
        };
        look();
      }),
    selector,
  );

const firstLoad = async (bench: Bench, berth: Berth, browser: Browser, session: Session): Promise<Row[]> => {
  const [times, kilobytes]: [number[], number[]] = [[], []];
  for (let run = 0; run <= bench.runs; run += 1) {
    const context = await browser.newContext({ baseURL: berth.url, storageState: session });
    const page = await context.newPage();
    await page.goto('/', { waitUntil: 'commit' });
    const time = await painted(page, `section[aria-label="${PROJECT}"]`);
    const bytes = await scriptBytes(page);
    await context.close();
    if (run === 0) continue;
    bench.say(`dashboard ${run}: interactive after ${time.toFixed(0)} ms, ${(bytes / 1000).toFixed(1)} kB of script`);
    times.push(time);
    kilobytes.push(bytes / 1000);
  }
  return [
    {
      what: 'dashboard: script of the first load, compressed',
      unit: 'kB',
      berth: summarise(kilobytes),
      target: { kind: 'value', atMost: 150 },
      notes: ['all that the overview of projects loads, by the size of the bodies that the browser got'],
    },
    {
      what: 'dashboard: from the address to the projects on the screen, nothing cached',
      unit: 'ms',
      berth: summarise(times),
      target: { kind: 'value', atMost: 1000 },
      notes: ['with a session; browser, server and apps on the same machine'],
    },
  ];
};

const scriptBytes = (page: Page): Promise<number> =>
  page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
  );

const navigation = async (bench: Bench, berth: Berth, browser: Browser, session: Session): Promise<Row> => {
  const context = await browser.newContext({ baseURL: berth.url, storageState: session });
  const page = await context.newPage();
  const times: number[] = [];
  await page.goto('/');
  for (let run = 0; run <= bench.runs; run += 1) {
    for (const service of SERVICES) {
      const there = await click(page, `/p/${PROJECT}/s/${service}`, service);
      const back = await click(page, '/', 'Projects');
      if (run > 0) times.push(there, back);
    }
  }
  await context.close();
  bench.say(`dashboard: navigation ${summarise(times).median.toFixed(0)} ms`);
  return {
    what: 'dashboard: from a click to the next page on the screen, from cache',
    unit: 'ms',
    berth: summarise(times),
    target: { kind: 'value', atMost: 100 },
    notes: ['between the overview and the pages of services, whose code and data had been loaded once'],
  };
};

/** Milliseconds from the click on a link to the frame after the page with that heading is whole. */
const click = (page: Page, path: string, heading: string): Promise<number> =>
  page
    .locator(`a[href="${path}"]`)
    .locator('visible=true')
    .first()
    .evaluate(
      (link, title) =>
        new Promise<number>((resolve) => {
          const begun = performance.now();
          (link as HTMLElement).click();
          const look = (): void => {
            const there = document.querySelector('h1')?.textContent === title;
            if (!there || document.querySelector('.skeleton') !== null) requestAnimationFrame(look);
            else requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begun)));
          };
          look();
        }),
      heading,
    );

const longLog = async (bench: Bench, berth: Berth, browser: Browser, session: Session): Promise<Row[]> => {
  for (let from = 0; from < LINES; from += LINES_A_REQUEST)
    await berth.appText(PROJECT, 'web', `/?from=${from}&n=${LINES_A_REQUEST}`);
  const context = await browser.newContext({ baseURL: berth.url, storageState: session });
  const page = await context.newPage();
  await page.goto(`/p/${PROJECT}/s/web/logs?tail=${LINES}`);
  await page.getByText(`line ${LINES - 1} GET`).waitFor({ timeout: 90_000 });
  const [frames, megabytes]: [number[], number[]] = [[], []];
  for (let run = 0; run < bench.runs; run += 1) {
    frames.push(await framesWhileScrolling(page, '.journal-list', SCROLL_SECONDS));
    megabytes.push((await heapBytes(page)) / 1024 / 1024);
  }
  await context.close();
  bench.say(`dashboard: ${summarise(frames, 'low').median.toFixed(0)} frames/s in a long log`);
  return [
    {
      what: 'dashboard: scrolling through a log of 100,000 lines',
      unit: 'frames/s',
      berth: summarise(frames, 'low'),
      target: { kind: 'value', atLeast: 50 },
      notes: [`from its top to its end in ${SCROLL_SECONDS} s, without a graphics card`],
    },
    {
      what: 'dashboard: memory of JavaScript with that log open',
      unit: 'MB',
      berth: summarise(megabytes),
      target: { kind: 'value', atMost: 200 },
    },
  ];
};
