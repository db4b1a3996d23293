import type { Page } from 'playwright-core';

/** Bytes of JavaScript's heap after a collection. */
export const heapBytes = async (page: Page): Promise<number> => {
  const debuggee = await page.context().newCDPSession(page);
  await debuggee.send('HeapProfiler.collectGarbage');
  const { usedSize } = await debuggee.send('Runtime.getHeapUsage');
  return usedSize;
};

/** Scrolls a box from its top to its end within `seconds`, and says how many frames were drawn each second. */
export const framesWhileScrolling = (page: Page, selector: string, seconds: number): Promise<number> =>
  page.evaluate(
    ({ box, length }) =>
      new Promise<number>((resolve, reject) => {
        const node = document.querySelector(box);
        if (node === null) return reject(new Error(`there is no ${box}`));
        const begun = performance.now();
        let frames = 0;
        const frame = (): void => {
          const spent = (performance.now() - begun) / 1000;
          frames += 1;
          node.scrollTop = (node.scrollHeight - node.clientHeight) * Math.min(1, spent / length);
          if (spent < length) requestAnimationFrame(frame);
          else resolve(frames / spent);
        };
        requestAnimationFrame(frame);
        return undefined;
      }),
    { box: selector, length: seconds },
  );
