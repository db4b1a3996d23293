export interface ReadOptions {
  /** Waits for further items until the feed closes. */
  follow: boolean;
  /** Index of the first item. */
  from: number;
  signal?: AbortSignal | undefined;
}

/** A growing list that can be followed, such as a log. */
export interface Feed<T> {
  readonly items: readonly T[];
  push(item: T): void;
  close(): void;
  reopen(): void;
  read(options: ReadOptions): AsyncGenerator<T, void, undefined>;
}

export const createFeed = <T>(): Feed<T> => {
  const items: T[] = [];
  let closed = false;
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const all = waiting;
    waiting = [];
    for (const resolve of all) resolve();
  };
  const changed = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  return {
    items,
    push: (item) => {
      items.push(item);
      wake();
    },
    close: () => {
      closed = true;
      wake();
    },
    reopen: () => {
      closed = false;
    },
    async *read({ follow, from, signal }) {
      let at = from;
      for (;;) {
        const item = items[at];
        if (signal?.aborted) return;
        if (item !== undefined) {
          at += 1;
          yield item;
        } else if (follow && !closed) {
          await changed(signal);
        } else {
          return;
        }
      }
    },
  };
};
