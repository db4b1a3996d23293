import type { Bytes } from '../port.ts';

/** Passes bytes from one who pushes to one who pulls. What is under way lies in a few buffers, used again and again. */
export interface HandOff {
  /** Copies the chunk. Resolves when all of it has found room, or nobody takes any more. */
  put(chunk: Uint8Array): Promise<void>;
  /** No more chunks: the reader sees the end after them, or at once the failure. */
  end(failure?: Error): void;
  /** A chunk is valid until the next is asked for. */
  bytes: Bytes;
}

/** So that who pushes goes on while who pulls waits for a disk, or for a processor that others are using. */
const BUFFERS = 8;
const BUFFER_BYTES = 256 * 1024;

/** `onReturn` is waited for when the reader leaves early, even before its first read. */
export const createHandOff = (onReturn: () => Promise<void>): HandOff => {
  const room = Array.from({ length: BUFFERS }, () => ({ bytes: Buffer.allocUnsafeSlow(BUFFER_BYTES), used: 0 }));
  const filled: typeof room = [];
  /** What the reader has. */
  let read: (typeof room)[number] | undefined;
  const state: { ended?: { failure: Error | undefined }; left: boolean } = { left: false };
  const pusher = createBell();
  const reader = createBell();

  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    if (read !== undefined) room.push(read);
    pusher.ring();
    while (filled.length === 0 && state.ended === undefined) await reader.wait();
    read = filled.shift();
    if (read !== undefined) return { done: false, value: read.bytes.subarray(0, read.used) };
    const failure = state.ended?.failure;
    state.ended = { failure: undefined };
    if (failure !== undefined) throw failure;
    return { done: true, value: undefined };
  };

  const letGo = (): void => {
    state.left = true;
    filled.length = 0;
    pusher.ring();
  };

  const leave = async (): Promise<IteratorResult<Uint8Array>> => {
    letGo();
    state.ended = { failure: undefined };
    await onReturn();
    return { done: true, value: undefined };
  };

  return {
    put: async (chunk) => {
      for (let at = 0; at < chunk.byteLength && !state.left;) {
        const last = filled.at(-1);
        const buffer = last !== undefined && last.used < BUFFER_BYTES ? last : room.pop();
        if (buffer === undefined) {
          await pusher.wait();
          continue;
        }
        if (buffer !== last) {
          buffer.used = 0;
          filled.push(buffer);
        }
        const piece = chunk.subarray(at, at + BUFFER_BYTES - buffer.used);
        buffer.bytes.set(piece, buffer.used);
        buffer.used += piece.byteLength;
        at += piece.byteLength;
        reader.ring();
      }
    },
    end: (failure) => {
      if (state.ended !== undefined) return;
      state.ended = { failure };
      if (failure !== undefined) letGo();
      reader.ring();
    },
    bytes: { [Symbol.asyncIterator]: () => ({ next, return: leave }) },
  };
};

/** Wakes the one who waits, if anybody does. */
const createBell = (): { wait(): Promise<void>; ring(): void } => {
  let waiting: PromiseWithResolvers<void> | undefined;
  return {
    wait: () => {
      waiting ??= Promise.withResolvers<void>();
      return waiting.promise;
    },
    ring: () => {
      waiting?.resolve();
      waiting = undefined;
    },
  };
};
