/** Lets many in together, or one alone. Whoever waits to be alone lets no further ones in before. */
export interface Gate {
  shared<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  alone<T>(run: () => Promise<T>): Promise<T>;
}

export const createGate = (): Gate => {
  const running = new Set<Promise<unknown>>();
  let closed: Promise<unknown> | undefined;

  const track = async <T>(run: () => Promise<T>): Promise<T> => {
    const work = run();
    const settled = settle(work).finally(() => running.delete(settled));
    running.add(settled);
    return await work;
  };

  const alone = async <T>(run: () => Promise<T>): Promise<T> => {
    for (let other = closed; other !== undefined; other = closed) await other;
    const work = Promise.all(running).then(run);
    const settled = settle(work).finally(() => {
      closed = undefined;
    });
    closed = settled;
    return await work;
  };

  return {
    shared: async (run, signal) => {
      signal?.throwIfAborted();
      for (let other = closed; other !== undefined; other = closed) {
        await abortable(other, signal);
        signal?.throwIfAborted();
      }
      return await track(run);
    },
    alone,
  };
};

const settle = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => undefined,
    () => undefined,
  );

const abortable = async (work: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> => {
  if (signal === undefined) {
    await work;
    return;
  }
  const done = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: done.signal }),
  );
  try {
    await Promise.race([work, aborted]);
  } finally {
    done.abort();
  }
};
