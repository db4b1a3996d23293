import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Berth } from '#test/support/berth.ts';
import { expectAccessible, expectNoSidewaysScroll, openBrowser, visit, type Visit } from '#test/support/dashboard.ts';
import { commit, git, newWork, tempDir } from '#test/support/git-client.ts';
import { urlWith } from '../git/kit.ts';

const HTML = '<img src=x onerror=alert(1)>';
const ODD_NAME = `<b>100% "quoted" & #1?.txt`;
const README = `# Shop ${HTML}

<script>alert(2)</script>

A [safe](src/main.ts), a [bad](javascript:alert(3)) and an [outer](https://example.org/) link. ![far](https://example.org/x.png)

- [x] done
- [ ] open <b onclick="alert(4)">bold</b>

| a | b |
| - | - |
| 1 &lt; 2 | \`x\` |
`;
const SOURCE = Array.from({ length: 120 }, (_none, index) => `export const line${index + 1} = '${HTML}';`).join('\n');

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
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const push = (...args: string[]): Promise<string> => git(work, 'push', '--quiet', url, ...args);

test('a repository is made in the page, and says exactly what to type', async () => {
  await visitor.go('/p/shop/repos');
  await page.getByRole('button', { name: 'Make the first one' }).click();
  await page.getByLabel('Name', { exact: true }).fill('web');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { name: 'Nothing was pushed yet' }).waitFor();
  const lines = page.getByRole('region', { name: 'A folder that is no git repository yet' }).locator('code');
  const { body } = await berth.api('/v1/projects/shop/repos/web');
  expect(await lines.textContent()).toContain(`git remote add berth ${body.clone_url}`);
  await expectAccessible(page);
  url = urlWith(body.clone_url, berth.token);

  // The very lines that are shown, but for the token that git would ask for.
  const folder = tempDir();
  await Bun.write(`${folder}/README.md`, README);
  for (const line of (await lines.textContent())?.split('\n') ?? []) {
    const args = line.replace(body.clone_url, url).replace("'First'", 'First').split(' ').slice(1);
    await git(folder, ...args);
  }
  await page.getByRole('list', { name: 'Files' }).getByText('README.md').waitFor();
}, 60_000);

test('contents and names full of HTML stay text, in the tree, the README and the file', async () => {
  await commit(
    work,
    {
      'README.md': README,
      'src/main.ts': SOURCE,
      [ODD_NAME]: `${HTML}\n${'Nothing that another file resembles.\n'.repeat(9)}`,
      'bytes.bin': new Uint8Array([0, 1, 2, 255, 254]),
      'docs/guide.txt': 'one\ntwo\n',
    },
    `Begin ${HTML}`,
  );
  await push('--force', 'main', 'HEAD:refs/heads/feature/x', 'HEAD:refs/tags/v1');
  await visitor.go('/p/shop/repos/web');
  const files = page.getByRole('list', { name: 'Files' });
  await files.getByText(ODD_NAME).waitFor();
  const readme = page.getByRole('region', { name: 'README.md' });
  await readme.getByRole('link', { name: 'safe' }).waitFor();
  expect(await readme.locator('img, script, b').count()).toBe(0);
  expect(await readme.getByText('bad', { exact: true }).evaluate((node) => node.tagName)).toBe('SPAN');
  expect(await readme.getByRole('cell').first().textContent()).toBe('1 < 2');
  await expectAccessible(page);

  await files.getByText(ODD_NAME).click();
  await page.locator('.cm-content').getByText(HTML).waitFor();
  await page.reload();
  await page.locator('.cm-content').getByText(HTML).waitFor();
  expect(visitor.faults).toEqual([]);
}, 60_000);

test('a file shows its lines by their link, binaries and missing files say what they are', async () => {
  await visitor.go('/p/shop/repos/web/file/src/main.ts#L100-L102');
  await page.locator('.cm-marked').first().waitFor();
  expect(await page.locator('.cm-marked').first().textContent()).toBe(`export const line100 = '${HTML}';`);
  await expectAccessible(page);
  await visitor.go('/p/shop/repos/web/file/bytes.bin');
  await page.getByText('A binary file').waitFor();
  await visitor.go('/p/shop/repos/web/file/nowhere.txt');
  await page.getByRole('link', { name: 'Commits that changed it' }).waitFor();
  await visitor.go('/p/shop/repos/web?ref=nowhere');
  await page.getByRole('link', { name: 'The default branch' }).waitFor();
  expect(visitor.faults).toEqual([]);
}, 60_000);

test('the picker leads to branches with slashes, tags and commits', async () => {
  await visitor.go('/p/shop/repos/web/tree/src');
  await page.getByRole('button', { name: /^at main/ }).click();
  await page.getByRole('searchbox').fill('feature');
  await page.keyboard.press('Enter');
  await page.waitForURL((to) => to.searchParams.get('ref') === 'feature/x');
  await page.getByRole('link', { name: 'main.ts' }).waitFor();
}, 30_000);

test('commits are paged, and a commit shows its diff: added, deleted, renamed, binary, collapsible', async () => {
  for (let index = 0; index < 32; index += 1)
    await git(work, 'commit', '--quiet', '--allow-empty', '-m', `step ${index}`);
  await git(work, 'mv', 'docs/guide.txt', 'docs/manual.txt');
  await git(work, 'rm', '--quiet', ODD_NAME);
  const last = await commit(
    work,
    {
      'bytes.bin': new Uint8Array([9, 0, 8]),
      'new.txt': `diff --git a/x b/x\n${HTML}\n`,
      'src/main.ts': SOURCE.replace('line7 ', 'line seven '),
    },
    'Rearrange',
  );
  await push('main');
  await visitor.go('/p/shop/repos/web/commits');
  await page.getByRole('link', { name: 'Rearrange' }).waitFor();
  expect(await page.locator('.commits li').count()).toBe(30);
  await page.getByRole('button', { name: 'Show older commits' }).click();
  await page.getByText(`Begin ${HTML}`).waitFor();

  await page.getByRole('link', { name: 'Rearrange' }).click();
  await page.getByRole('heading', { name: /5 files changed/ }).waitFor();
  const added = page.getByRole('article', { name: 'new.txt' });
  expect(await added.locator('tr.added .text').allTextContents()).toEqual([
    '+added: diff --git a/x b/x',
    `+added: ${HTML}`,
  ]);
  await page.getByRole('article', { name: 'bytes.bin' }).getByText('A binary file').waitFor();
  await page.getByRole('article', { name: 'docs/manual.txt' }).getByText('Renamed without changes.').waitFor();
  expect(await page.getByRole('article', { name: 'src/main.ts' }).locator('tr.removed').count()).toBe(1);
  const odd = page.getByRole('article', { name: ODD_NAME });
  await odd.locator('tr.removed').first().waitFor();
  await odd.getByRole('button').click();
  expect(await odd.locator('tr.removed').count()).toBe(0);
  await expectAccessible(page);

  await visitor.go(`/p/shop/repos/web/compare?base=v1&head=${last}`);
  await page.getByText('has 33 commits that').waitFor();
  await page.getByRole('article', { name: 'new.txt' }).waitFor();
  await expectAccessible(page);
  expect(visitor.faults).toEqual([]);
}, 60_000);

test('at the width of a phone, in the dark, nothing sticks out; a token without manage_repos is told so', async () => {
  const phone = await visit(browser, berth, { width: 390, height: 844, dark: true });
  for (const path of [
    '',
    '/web',
    '/web/file/src/main.ts',
    '/web/commits',
    '/web/commit/main',
    '/web/settings',
    '/web/edit/src/main.ts',
  ]) {
    await phone.go(`/p/shop/repos${path}`);
    await phone.page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await expectNoSidewaysScroll(phone.page);
    await expectAccessible(phone.page);
  }
  await phone.close();
  const { body: token } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: 'eve', capabilities: ['read'], projects: ['shop'] },
  });
  const reader = await visit(browser, berth, { token: token.secret });
  await reader.go('/p/shop/repos');
  await reader.page.getByText('Not for this token').waitFor();
  expect(await reader.page.getByRole('button', { name: 'New repository' }).count()).toBe(0);
  await reader.close();
}, 90_000);
