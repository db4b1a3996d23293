import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { helloApp } from '#test/support/apps.ts';
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
  await commit(work, { 'docs/manual.txt': 'one\ntwo\n' }, 'Begin');
  await push('main');
}, 90_000);

afterAll(async () => {
  await browser?.close();
  await berth?.destroy();
}, 60_000);

const push = (...args: string[]): Promise<string> => git(work, 'push', '--quiet', url, ...args);

/** At the end of the editor. */
const type = async (text: string): Promise<void> => {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(text);
};

test('a file is edited and committed in the page, and the deploy that follows is linked', async () => {
  const { clone_url } = await createRepo(berth, 'shop', { name: 'app', deploy_service: 'app' });
  const app = await newWork(join(berth.dataDir, 'app'));
  await commit(app, helloApp('first'), 'An app');
  await git(app, 'push', '--quiet', '-o', 'skip-deploy', urlWith(clone_url, berth.token), 'main');
  await visitor.go('/p/shop/repos/app');
  await page.getByText('The next push to main makes it.').waitFor();
  await visitor.go('/p/shop/repos/app/file/server.js');
  await page.getByRole('link', { name: 'Edit' }).click();
  await type('// by the page');
  await expectAccessible(page);
  await page.getByLabel('Message of the commit').fill('Say so');
  await page.getByRole('button', { name: 'Commit', exact: true }).click();
  await page.getByText('app is being deployed').waitFor();
  await expectAccessible(page);
  const follow = page.getByRole('link', { name: 'Follow the deploy' });
  const operation = (await follow.getAttribute('href'))?.split('/').at(-1) ?? '';
  expect(await berth.wait(operation)).toMatchObject({ status: 'succeeded' });
  expect(await berth.appText('shop', 'app')).toBe('first');
  const { body } = await berth.api('/v1/projects/shop/repos/app/file?path=server.js');
  expect(body.content.endsWith('// by the page')).toBe(true);
  const { commits } = (await berth.api('/v1/projects/shop/repos/app/commits?limit=1')).body;
  expect(commits[0].subject).toBe('Say so');

  // From the service to what deploys it.
  await visitor.go('/p/shop/s/app');
  await page.locator('.page-head').getByRole('link', { name: 'app', exact: true }).click();
  await page.waitForURL('**/p/shop/repos/app');

  // What is live against what was pushed, as it changes.
  await visitor.go('/p/shop/repos/app');
  const state = page.getByRole('region', { name: 'What is deployed' });
  await state.getByText(`Live at ${commits[0].id.slice(0, 12)}, the newest of main`).waitFor();
  await expectAccessible(page);
  await git(app, 'pull', '--quiet', urlWith(clone_url, berth.token), 'main');
  await git(app, 'commit', '--quiet', '--allow-empty', '-m', 'Later');
  await git(app, 'push', '--quiet', '-o', 'skip-deploy', urlWith(clone_url, berth.token), 'main');
  await state.getByRole('link', { name: '1 commit of main not deployed' }).click();
  await page.getByRole('link', { name: 'Later' }).waitFor();
  expect(visitor.faults).toEqual([]);
}, 180_000);

test('who commits meanwhile is not overwritten: the conflict says so, and the work goes to a branch of its own', async () => {
  await visitor.go('/p/shop/repos/web/edit/docs/manual.txt');
  await type('mine');
  await commit(work, { 'docs/manual.txt': 'theirs\n' }, 'Meanwhile');
  await push('main');
  await page.getByRole('button', { name: 'Commit', exact: true }).click();
  const conflict = page.getByRole('alert', { name: 'Conflict' });
  await conflict.getByText('This file was changed too').waitFor();
  await expectAccessible(page);
  await conflict.getByRole('button', { name: 'Commit to it' }).click();
  await page.getByRole('link', { name: 'Compare with main' }).waitFor();
  const read = async (ref: string): Promise<string> =>
    (await berth.api(`/v1/projects/shop/repos/web/file?path=docs/manual.txt&ref=${ref}`)).body.content;
  expect([await read('main'), await read('main-edit')]).toEqual(['theirs\n', 'one\ntwo\nmine']);
}, 60_000);

test('a session that ends while somebody writes loses nothing of it', async () => {
  const { body: token } = await berth.api('/v1/tokens', {
    method: 'POST',
    body: { principal: 'grace', capabilities: ['manage_repos', 'read'], projects: ['shop'] },
  });
  const second = await visit(browser, berth, { token: token.secret });
  await second.go('/p/shop/repos/web/edit/docs/manual.txt');
  await second.page.locator('.cm-content').click();
  await second.page.keyboard.type('unsaved ');
  await berth.api('/v1/sessions', { method: 'DELETE', token: token.secret });
  await second.page.getByRole('button', { name: 'Commit', exact: true }).click();
  await second.page.getByText('Your session has ended').waitFor();
  await second.page.getByLabel('Token').fill(token.secret);
  await second.page.getByRole('button', { name: 'Sign in' }).click();
  await second.page.getByText('What you had written here before is back').waitFor();
  expect(await second.page.locator('.cm-content').textContent()).toContain('unsaved');
  await second.close();
}, 60_000);

test('a new file begins in its folder, and a file is deleted by a commit', async () => {
  await visitor.go('/p/shop/repos/web/tree/docs');
  await page.getByRole('link', { name: 'New file' }).click();
  await type('# New');
  // Naming it afterwards must not lose what was written.
  await page.getByLabel('Path').fill('docs/manual.txt');
  await page.getByRole('button', { name: 'Commit', exact: true }).click();
  await page.getByText('docs/manual.txt is there already').waitFor();
  await page.getByLabel('Path').fill('docs/deep/new.md');
  await page.getByRole('button', { name: 'Commit', exact: true }).click();
  await page.getByRole('link', { name: 'Back to the file' }).click();
  await page.getByRole('heading', { name: 'New', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('list', { name: 'Planned changes' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await page.waitForURL((to) => to.pathname === '/p/shop/repos/web/tree/docs/deep');
  const { status } = await berth.api('/v1/projects/shop/repos/web/file?path=docs/deep/new.md');
  expect(status).toBe(404);
}, 60_000);

test('settings: what deploys, a mirror with its secret once, another name, and the end by name', async () => {
  await visitor.go('/p/shop/repos/web/settings');
  await page.getByLabel('Service that a push deploys').fill('front');
  await page.getByLabel('Folder').fill('apps/front');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText('Pushes deploy front now').waitFor();
  expect((await berth.api('/v1/projects/shop/repos/web')).body).toMatchObject({
    deploy_service: 'front',
    root: 'apps/front',
  });
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Follow one elsewhere' }).click();
  await page.getByLabel('Address').fill('https://127.0.0.1/x.git');
  await page.getByRole('region', { name: 'Mirror' }).getByRole('button', { name: 'Save' }).click();
  await page.getByRole('region', { name: 'Mirror' }).getByRole('alert').waitFor();
  await page.getByLabel('Address').fill('https://git.invalid/x.git');
  await page.getByRole('region', { name: 'Mirror' }).getByRole('button', { name: 'Save' }).click();
  const secret = page.getByRole('region', { name: 'Webhook secret' }).locator('code');
  expect(await secret.textContent()).toMatch(/^[0-9a-f]{48}$/);
  await page.reload();
  await page.getByText('Stop following').waitFor();
  expect(await secret.count()).toBe(0);

  await page.getByLabel('Name', { exact: true }).fill('renamed');
  await page.getByRole('region', { name: 'Name and default branch' }).getByRole('button', { name: 'Save' }).click();
  await page.waitForURL((to) => to.pathname === '/p/shop/repos/renamed/settings');
  await page.getByRole('button', { name: 'Delete renamed' }).click();
  const really = page.getByRole('dialog').getByRole('button', { name: 'Delete renamed' });
  expect(await really.isDisabled()).toBe(true);
  await page.getByLabel('Type “renamed” to confirm').fill('renamed');
  await really.click();
  await page.waitForURL((to) => to.pathname === '/p/shop/repos');
  expect((await berth.api('/v1/projects/shop/repos/renamed')).status).toBe(404);
  expect(visitor.faults).toEqual([]);
}, 60_000);
