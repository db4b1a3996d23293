import lighthouse, { desktopConfig } from 'lighthouse';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { helloApp } from '#test/support/apps.ts';
import { freePorts } from '#test/support/ports.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { bootServer, succeed } from './kit/server.ts';
import { signIn } from './kit/signed-in.ts';
import { summarise } from './kit/stats.ts';

const PROJECT = 'bench-audit';
const PAGES = ['/', `/p/${PROJECT}`, `/p/${PROJECT}/s/web`, `/p/${PROJECT}/s/web/logs`, '/operations', '/admin'];
const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const;
const FORMS = { desktop: desktopConfig, 'slow phone': undefined } as const;
const POINTS = 95;
const LOADED_MS = 10_000;

type Category = (typeof CATEGORIES)[number];

/** Lighthouse of the main pages, as a fast desktop and as a slow phone on a slow network see them. */
export const dashboardAudit: Benchmark = async (bench) => {
  const berth = await bootServer(bench.scope);
  await berth.project(PROJECT);
  const { body } = await berth.upload(PROJECT, 'web', helloApp('audit'));
  await succeed(berth, body.operation_id);
  const port = await openAuditable(bench, (page) => signIn(page, berth));
  const points: Record<Category, number[]> = { performance: [], accessibility: [], 'best-practices': [] };
  const worst: string[] = [];
  for (const [form, config] of Object.entries(FORMS)) {
    for (const path of PAGES) {
      const found = await audit(`${berth.url}${path}`, port, config);
      bench.say(`lighthouse, ${form}, ${path}: ${CATEGORIES.map((each) => `${each} ${found[each]}`).join(', ')}`);
      for (const category of CATEGORIES) {
        points[category].push(found[category]);
        if (found[category] < 100) worst.push(`${category} of ${path} on a ${form} ${found[category]}`);
      }
    }
  }
  return CATEGORIES.map((category) => ({
    what: `dashboard: Lighthouse, ${category}`,
    unit: 'points',
    berth: summarise(points[category], 'low'),
    target: { kind: 'value', atLeast: POINTS },
    notes: [
      `${PAGES.length} pages, each as ${Object.keys(FORMS).join(' and as ')}`,
      ...worst.filter((line) => line.startsWith(category)),
    ],
  }));
};

type OnPage = (page: Awaited<ReturnType<Awaited<ReturnType<typeof chromium.launch>>['newPage']>>) => Promise<void>;

/** A browser that Lighthouse can drive too; the port at which. */
const openAuditable = async (bench: Bench, begin: OnPage): Promise<number> => {
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), 'berth-audit-'));
  bench.scope.defer(() => rmSync(folder, { recursive: true, force: true }));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', `--remote-debugging-port=${port}`],
    env: { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder },
  });
  bench.scope.defer(() => context.close());
  const page = await context.newPage();
  await begin(page);
  await page.goto('about:blank');
  return port;
};

const audit = async (
  url: string,
  port: number,
  config: (typeof FORMS)[keyof typeof FORMS],
): Promise<Record<Category, number>> => {
  // The stream of events never ends: what is seen until then counts.
  const flags = { port, logLevel: 'error' as const, onlyCategories: [...CATEGORIES], maxWaitForLoad: LOADED_MS };
  const lhr = (await lighthouse(url, flags, config))?.lhr;
  if (lhr === undefined) throw new Error(`Lighthouse has no result for ${url}`);
  if (lhr.runtimeError !== undefined) throw new Error(`Lighthouse at ${url}: ${lhr.runtimeError.message}`);
  if (lhr.finalDisplayedUrl !== url) throw new Error(`Lighthouse was led from ${url} to ${lhr.finalDisplayedUrl}`);
  const pointsOf = (category: Category): number => Math.round((lhr.categories[category]?.score ?? 0) * 100);
  return {
    performance: pointsOf('performance'),
    accessibility: pointsOf('accessibility'),
    'best-practices': pointsOf('best-practices'),
  };
};
