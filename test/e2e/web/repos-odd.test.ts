import { afterAll, beforeAll, expect, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, openBrowser, visit, type Visit } from '#test/support/dashboard.ts';
import { commit, git, newWork } from '#test/support/git-client.ts';
import { createRepo, urlWith } from '../git/kit.ts';

let berth: Berth;
let browser: Browser;
let visitor: Visit;
let page: Page;
let work: string;
let url: string;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  browser = await openBrowser();
  visitor = await visit(browser, berth);
  page = visitor.page;
  work = await newWork(join(berth.dataDir, 'work'));
  const { clone_url } = await createRepo(berth, 'shop', { name: 'web' });
  url = urlWith(clone_url, berth.token);
  await commit(work, { 'src/main.ts': 'export const one = 1;\n' }, 'Begin');
  await push('main');
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const push = (...args: string[]): Promise<string> => git(work, 'push', '--quiet', url, ...args);

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MEGABYTES = `${'x'.repeat(63)}\n`.repeat((5 * 1024 ** 2) / 64);

test('pictures, links, submodules and what is too large are shown as what they are', async () => {
  await git(work, 'checkout', '--quiet', '-b', 'odd');
  for (const [name, target] of Object.entries({ here: 'src/main.ts', folder: 'src', out: '../../x', root: '/etc' }))
    symlinkSync(target, join(work, name));
  await commit(
    work,
    {
      'pixel.png': Buffer.from(PIXEL, 'base64'),
      'broken.png': new Uint8Array([0x89, 0x50, 0, 1]),
      'dot.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="9" onload="alert(5)"><script>alert(6)</script></svg>',
      'large.txt': MEGABYTES,
      LICENSE: 'Free.\n',
    },
    'Odd things',
  );
  await git(work, 'update-index', '--add', '--cacheinfo', `160000,${await git(work, 'rev-parse', 'HEAD')},vendor/lib`);
  await git(work, 'commit', '--quiet', '-m', 'A submodule');
  await push('odd');
  const open = (path: string): Promise<void> => visitor.go(`/p/shop/repos/web/${path}?ref=odd`);

  await open('file/pixel.png');
  await page.getByText('1 × 1').waitFor();
  await expectAccessible(page);
  await open('file/broken.png');
  await page.getByText('No picture that can be shown').waitFor();
  await open('file/dot.svg');
  await page.getByText('8 × 9').waitFor();
  await page.getByRole('button', { name: 'Source' }).click();
  await page.locator('.cm-content').getByText('alert(6)').waitFor();

  await open('file/here');
  await page.getByRole('link', { name: 'src/main.ts' }).click();
  await page.locator('.cm-content').waitFor();
  // What it points at is a folder, which only the server knows.
  await open('file/folder');
  await page.getByRole('link', { name: 'src', exact: true }).click();
  await page.waitForURL((to) => to.pathname.endsWith('/tree/src') && to.searchParams.get('ref') === 'odd');
  for (const [name, target] of [
    ['out', '../../x'],
    ['root', '/etc'],
  ] as const) {
    await open(`file/${name}`);
    await page.getByText(target, { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: target }).count()).toBe(0);
  }
  await open('tree/LICENSE');
  await page.waitForURL((to) => to.pathname.endsWith('/file/LICENSE'));
  await open('tree/vendor');
  await page.getByText(/submodule at [0-9a-f]{12}/).waitFor();
  await open('tree/vendor/lib');
  await page.getByText(/is a submodule, not a folder/).waitFor();

  await open('file/large.txt');
  await page.getByText('Only the first 512 KB of 5.0 MB are shown.').waitFor();
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('large.txt');
  expect(await Bun.file(await download.path()).text()).toBe(MEGABYTES);
  await open('edit/large.txt');
  await page.getByText('This file is too large to edit in a page').waitFor();
  await git(work, 'checkout', '--quiet', 'main');
  expect(visitor.faults).toEqual([]);
}, 60_000);

test('a branch that is deleted under an open page is not shown on', async () => {
  await push('main:refs/heads/short/lived');
  await visitor.go('/p/shop/repos/web?ref=short%2Flived');
  await page.getByRole('list', { name: 'Files' }).getByText('README.md').waitFor();
  await push('--delete', 'short/lived');
  await page.getByText('No branch, tag or commit "short/lived" in this repository').waitFor();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'The default branch' }).click();
  await page.getByRole('list', { name: 'Files' }).getByText('README.md').waitFor();
  expect(visitor.faults).toEqual([]);
}, 30_000);
