import type { Bytes } from '../port.ts';

/** Passes chunks from one who pushes to one who pulls: never more than one of them waits. */
export interface HandOff {
  /** Resolves when the chunk has been taken, or nobody takes any more. */
  put(chunk: Uint8Array): Promise<void>;
  /** No more chunks: the reader sees the end, or at once the failure. */
  end(failure?: Error): void;
  bytes: Bytes;
}

/** `onReturn` is waited for when the reader leaves early, even before its first read. */
export const createHandOff = (onReturn: () => Promise<void>): HandOff => {
  let offered: { chunk: Uint8Array; taken: () => void } | undefined;
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
    if (offered !== undefined) {
      const { chunk, taken } = offered;
      offered = undefined;
      taken();
      return Promise.resolve({ done: false, value: chunk });
    }
    if (ended !== undefined) return done();
    waiting = Promise.withResolvers();
    return waiting.promise;
  };

  const leave = async (): Promise<IteratorResult<Uint8Array>> => {
    left = true;
    offered?.taken();
    offered = undefined;
    ended = { failure: undefined };
    await onReturn();
    return { done: true, value: undefined };
  };

  return {
    put: (chunk) => {
      if (left) return Promise.resolve();
      if (waiting !== undefined) {
        waiting.resolve({ done: false, value: chunk });
        waiting = undefined;
        return Promise.resolve();
      }
      return new Promise((taken) => {
        offered = { chunk, taken };
      });
    },
    end: (failure) => {
      if (ended !== undefined) return;
      ended = { failure };
      if (failure !== undefined) {
        left = true;
        offered?.taken();
        offered = undefined;
      }
      if (waiting === undefined) return;
      const { resolve } = waiting;
      waiting = undefined;
      resolve(done());
    },
    bytes: { [Symbol.asyncIterator]: () => ({ next, return: leave }) },
  };
};
