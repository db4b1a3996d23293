import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { Berth } from '#test/support/berth.ts';

type State = Awaited<ReturnType<BrowserContext['storageState']>>;

/** A session of its own, to be given to contexts whose cache is empty. */
export const sessionOf = async (browser: Browser, berth: Berth): Promise<State> => {
  const context = await browser.newContext({ baseURL: berth.url });
  await signIn(await context.newPage(), berth);
  const state = await context.storageState();
  await context.close();
  return state;
};

/** As a person does. */
export const signIn = async (page: Page, berth: Berth): Promise<void> => {
  await page.goto(`${berth.url}/sign-in`);
  await page.getByLabel('Token').fill(berth.token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
};
