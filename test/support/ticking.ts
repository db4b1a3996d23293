import { expect } from 'bun:test';
import type { Page } from 'playwright-core';
import { nodeApp } from './apps.ts';

/** Counts aloud, whether berth runs or not. */
export const TICKING_APP = nodeApp(`(() => {
  let count = 0;
  setInterval(() => console.log('tick ' + (count += 1) + ' is here'), 100);
  return (request, response) => response.end('ok');
})()`);

/** The numbers that the log shows, in its order; the window is high enough for all of them. */
export const ticks = async (page: Page): Promise<number[]> =>
  page.locator('.journal-row').evaluateAll((rows) =>
    // Rows are used again: their order is where they stand.
    rows
      .map((row) => ({
        top: row.getBoundingClientRect().top,
        tick: /tick (\d+) is here/.exec(row.textContent ?? '')?.[1],
      }))
      .filter(({ tick }) => tick !== undefined)
      .sort((a, b) => a.top - b.top)
      .map(({ tick }) => Number(tick)),
  );

export const expectNoGap = (numbers: readonly number[]): void => {
  const [first = 0] = numbers;
  expect(numbers).toEqual(numbers.map((_number, index) => first + index));
};
