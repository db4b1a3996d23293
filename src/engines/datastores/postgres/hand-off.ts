import type { Bytes } from '../port.ts';

/** Passes chunks from one who pushes to one who pulls, one at a time. */
export interface HandOff {
  /** Resolves when the reader is done with the chunk and asks for the next, or nobody takes any more. */
  put(chunk: Uint8Array): Promise<void>;
  /** No more chunks: the reader sees the end, or at once the failure. */
  end(failure?: Error): void;
  bytes: Bytes;
}

/** `onReturn` is waited for when the reader leaves early, even before its first read. */
export const createHandOff = (onReturn: () => Promise<void>): HandOff => {
  let offered: { chunk: Uint8Array; used: () => void } | undefined;
  /** Of the chunk that the reader has. */
  let used = (): void => undefined;
  let waiting: PromiseWithResolvers<IteratorResult<Uint8Array>> | undefined;
  let ended: { failure: Error | undefined } | undefined;
  let left = false;

  const done = (): Promise<IteratorResult<Uint8Array>> => {
    if (ended?.failure === undefined) return Promise.resolve({ done: true, value: undefined });
    const { failure } = ended;
    ended = { failure: undefined };
    return Promise.reject(failure);
  };

  const next = (): Promise<IteratorResult<Uint8Array>> => {
    used();
    if (offered !== undefined) {
      const { chunk } = offered;
      ({ used } = offered);
      offered = undefined;
      return Promise.resolve({ done: false, value: chunk });
    }
    if (ended !== undefined) return done();
    waiting = Promise.withResolvers();
    return waiting.promise;
  };

  const letGo = (): void => {
    used();
    offered?.used();
    offered = undefined;
  };

  const leave = async (): Promise<IteratorResult<Uint8Array>> => {
    left = true;
    letGo();
    ended = { failure: undefined };
    await onReturn();
    return { done: true, value: undefined };
  };

  return {
    put: (chunk) => {
      if (left) return Promise.resolve();
      return new Promise((resolve) => {
        if (waiting === undefined) {
          offered = { chunk, used: resolve };
          return;
        }
        used = resolve;
        waiting.resolve({ done: false, value: chunk });
        waiting = undefined;
      });
    },
    end: (failure) => {
      if (ended !== undefined) return;
      ended = { failure };
      if (failure !== undefined) {
        left = true;
        letGo();
      }
      if (waiting === undefined) return;
      const { resolve } = waiting;
      waiting = undefined;
      resolve(done());
    },
    bytes: { [Symbol.asyncIterator]: () => ({ next, return: leave }) },
  };
};
