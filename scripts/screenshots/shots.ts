import type { Page } from 'playwright-core';
import { to } from '../../web/locations.ts';
import { repoTo } from '../../web/repos/places.ts';
import type { Shot } from './camera.ts';
import { QUERY } from './data.ts';
import type { World } from './world.ts';

/** Before anything runs. */
export const EMPTY_SHOTS: readonly Shot[] = [{ name: 'first-run', path: to('home') }];

/** Without a session. */
export const DOOR_SHOTS: readonly Shot[] = [{ name: 'sign-in', path: to('signIn') }];

const SHOP = { project: 'shop' };
const WEB = { ...SHOP, service: 'web' };
const MAIN = { ...SHOP, datastore: 'main' };
const JOURNAL = { project: 'journal', repo: 'journal' };

/** First of all, while it runs. */
export const runningShots = ({ running }: World): readonly Shot[] => [
  {
    name: 'deploy-live',
    path: to('operation', { operation: running }),
    prepare: (page) =>
      page
        .getByText(/indexed page \d/)
        .first()
        .waitFor(),
  },
];

export const pageShots = (world: World): readonly Shot[] => [
  { name: 'projects', path: to('home') },
  { name: 'deploy-new', path: to('start') },
  { name: 'project', path: to('project', SHOP) },
  { name: 'project-events', path: to('events', SHOP) },
  { name: 'project-settings', path: to('projectSettings', SHOP) },
  { name: 'project-delete', path: to('projectSettings', SHOP), prepare: (page) => openDialog(page, /^Delete/) },
  { name: 'service-new', path: to('newService', SHOP) },
  { name: 'env', path: to('env', SHOP) },
  { name: 'env-paste', path: to('env', SHOP), prepare: (page) => openDialog(page, /^Paste/) },
  ...serviceShots(world),
  ...datastoreShots(),
  ...repoShots(world),
  { name: 'operations', path: to('operations') },
  { name: 'tokens', path: to('tokens') },
  { name: 'token-new', path: to('tokens'), prepare: (page) => openDialog(page, /^(?:New|Mint)/) },
  { name: 'admin', path: to('admin') },
  { name: 'admin-capacity', path: to('adminTab', { tab: 'capacity' }) },
  { name: 'admin-versions', path: to('adminTab', { tab: 'versions' }) },
  { name: 'admin-audit', path: to('adminTab', { tab: 'audit' }) },
  { name: 'palette', path: to('project', SHOP), prepare: openPalette },
  {
    name: 'shortcuts',
    path: to('home'),
    only: 'wide',
    prepare: (page) => page.keyboard.press('?').then(() => page.getByRole('dialog').waitFor()),
  },
  { name: 'menu', path: to('project', SHOP), only: 'narrow', prepare: (page) => openDialog(page, 'Menu') },
  { name: 'nowhere', path: '/p/shop/s/gone' },
];

const serviceShots = ({ deployed, failed }: World): readonly Shot[] => [
  { name: 'service', path: to('service', WEB) },
  { name: 'service-crashing', path: to('service', { ...SHOP, service: 'mailer' }) },
  { name: 'service-failed', path: to('service', { ...SHOP, service: 'checkout' }) },
  { name: 'service-restart', path: to('service', WEB), prepare: restart },
  { name: 'releases', path: to('releases', WEB) },
  { name: 'logs', path: to('logs', WEB), prepare: (page) => page.locator('.journal-row').first().waitFor() },
  { name: 'usage', path: to('usage', WEB), prepare: (page) => page.locator('.charts canvas').first().waitFor() },
  { name: 'service-settings', path: to('serviceSettings', WEB) },
  { name: 'deploy', path: to('operation', { operation: deployed }) },
  { name: 'deploy-failed', path: to('operation', { operation: failed }) },
];

const datastoreShots = (): readonly Shot[] => [
  { name: 'datastores', path: to('datastores', SHOP) },
  { name: 'datastore-new', path: to('datastores', SHOP), prepare: (page) => openDialog(page, 'New datastore') },
  { name: 'datastore', path: to('datastore', MAIN) },
  { name: 'datastore-data', path: to('datastoreTab', { ...MAIN, tab: 'data' }), prepare: openTable },
  { name: 'datastore-console', path: to('datastoreTab', { ...MAIN, tab: 'console' }), prepare: runQuery },
  { name: 'datastore-backups', path: to('datastoreTab', { ...MAIN, tab: 'backups' }) },
  { name: 'datastore-settings', path: to('datastoreTab', { ...MAIN, tab: 'settings' }) },
  { name: 'redis-data', path: to('datastoreTab', { ...SHOP, datastore: 'cache', tab: 'data' }) },
];

const repoShots = ({ commit }: World): readonly Shot[] => [
  { name: 'repos', path: to('repos', { project: JOURNAL.project }) },
  { name: 'repo', path: repoTo(JOURNAL, 'tree') },
  { name: 'repo-file', path: repoTo(JOURNAL, 'file', 'src/main.ts') },
  {
    name: 'repo-edit',
    path: repoTo(JOURNAL, 'edit', 'src/render.ts'),
    prepare: (page) => page.locator('.cm-content').waitFor(),
  },
  { name: 'repo-commits', path: repoTo(JOURNAL, 'commits') },
  { name: 'repo-commit', path: repoTo(JOURNAL, 'commit', commit) },
  { name: 'repo-compare', path: repoTo(JOURNAL, 'compare', '', { base: 'main', head: 'drafts' }) },
  { name: 'repo-settings', path: repoTo(JOURNAL, 'settings') },
];

const openDialog = async (page: Page, button: string | RegExp): Promise<void> => {
  await page.getByRole('button', { name: button }).first().click();
  await page.getByRole('dialog').waitFor();
};

const openPalette = async (page: Page): Promise<void> => {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
};

const restart = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Restart' }).click();
  await page.getByRole('dialog').waitFor();
};

const openTable = async (page: Page): Promise<void> => {
  await page
    .getByRole('button', { name: /orders/ })
    .first()
    .click();
  await page.getByRole('gridcell').first().waitFor();
};

const runQuery = async (page: Page): Promise<void> => {
  await page.getByRole('textbox', { name: 'SQL statement' }).click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(QUERY);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('gridcell').first().waitFor();
};
