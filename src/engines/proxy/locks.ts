export interface Locks {
  /** Runs `work` after all earlier work under the same key. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Runs `work` after all earlier work, and before all later work. */
  runAlone<T>(work: () => Promise<T>): Promise<T>;
}

/** Work under one key happens in turn, under different keys side by side. */
export const createLocks = (): Locks => {
  const tails = new Map<string, Promise<void>>();
  let barrier: Promise<void> = Promise.resolve();
  return {
    run: (key, work) => {
      const result = Promise.all([barrier, tails.get(key)]).then(work);
      const tail = settled(result);
      tails.set(key, tail);
      void forget(tails, key, tail);
      return result;
    },
    runAlone: (work) => {
      const result = Promise.all([barrier, ...tails.values()]).then(work);
      barrier = settled(result);
      return result;
    },
  };
};

const forget = async (tails: Map<string, Promise<void>>, key: string, tail: Promise<void>): Promise<void> => {
  await tail;
  if (tails.get(key) === tail) tails.delete(key);
};

/** Resolves when the work has ended, well or badly: the caller of the work gets its error, whoever waits does not. */
const settled = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => undefined,
    () => undefined,
  );
