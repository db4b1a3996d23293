/** Bounds how many of something run at once, such as builds; waiting ones are served in order. */
export interface Semaphore {
  /** Resolves with the function that gives the slot back; rejects with the signal's reason when it aborts first. */
  acquire(signal: AbortSignal): Promise<() => void>;
  inUse(): number;
  /** Slots that `acquire` gives out at once. */
  free(): number;
  waiting(): number;
}

export const createSemaphore = (slots: number): Semaphore => {
  let used = 0;
  const queue: (() => void)[] = [];
  const free = (): void => {
    used -= 1;
    queue.shift()?.();
  };
  const take = (): (() => void) => {
    used += 1;
    let released = false;
    return () => {
      if (!released) free();
      released = true;
    };
  };
  return {
    inUse: () => used,
    free: () => slots - used,
    waiting: () => queue.length,
    acquire: (signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason);
          return;
        }
        if (used < slots) {
          resolve(take());
          return;
        }
        const onAbort = (): void => {
          queue.splice(queue.indexOf(ready), 1);
          reject(signal.reason);
        };
        const ready = (): void => {
          signal.removeEventListener('abort', onAbort);
          resolve(take());
        };
        signal.addEventListener('abort', onAbort, { once: true });
        queue.push(ready);
      }),
  };
};
