import { release } from '#kernel/release';
import type { Bytes } from './port.ts';

/** Encrypting this much, the chunk of age, takes less than 1 ms; then others have their turn. */
const SLICE_BYTES = 64 * 1024;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * In pieces that do not keep the event loop busy for long, with a turn for others between them. Copies: streams read ahead,
 * and a chunk is valid only until the next is asked for.
 */
async function* inTurns(bytes: Bytes): Bytes {
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.byteLength; at += SLICE_BYTES) {
      yield new Uint8Array(chunk.subarray(at, at + SLICE_BYTES));
      await turn();
    }
    release(chunk);
  }
}

/** A stream that reads only when it is read. Giving it up gives up the source. */
export const toStream = (bytes: Bytes): ReadableStream<Uint8Array> => {
  const source = inTurns(bytes)[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await source.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: async () => {
        await source.return?.();
      },
    },
    { highWaterMark: 0 },
  );
};

export async function* fromStream(stream: ReadableStream<Uint8Array>): Bytes {
  const reader = stream.getReader();
  try {
    for (;;) {
      const next = await reader.read();
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Of a stream that has failed this only repeats the failure.
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Gathers small chunks, so that each write is worth its call. What it yields is overwritten by the one after the next: two
 * buffers serve all, since new ones would pile up faster than they are collected.
 */
export async function* gathered(bytes: Bytes, size: number): Bytes {
  let [buffer, other] = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)];
  let used = 0;
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.byteLength;) {
      const take = Math.min(size - used, chunk.byteLength - at);
      buffer.set(chunk.subarray(at, at + take), used);
      used += take;
      at += take;
      if (used < size) continue;
      yield buffer;
      [buffer, other] = [other, buffer];
      used = 0;
    }
  }
  if (used > 0) yield buffer.subarray(0, used);
}

/** Passes bytes on, and tells `see` of each chunk first. */
export async function* watched(bytes: Bytes, see: (chunk: Uint8Array) => void): Bytes {
  for await (const chunk of bytes) {
    see(chunk);
    yield chunk;
  }
}

/** Ends with the signal's reason as soon as it is aborted, also while the source keeps silent. */
export async function* abortable(bytes: Bytes, signal: AbortSignal): Bytes {
  signal.throwIfAborted();
  const source = bytes[Symbol.asyncIterator]();
  let onAbort = (): void => undefined;
  const abort = (): void => onAbort();
  signal.addEventListener('abort', abort, { once: true });
  // A race against one lasting promise would keep every chunk alive until that is settled.
  const next = (): Promise<IteratorResult<Uint8Array>> =>
    new Promise((resolve, reject) => {
      onAbort = () => reject(signal.reason);
      source.next().then(resolve, reject);
    });
  try {
    for (let result = await next(); result.done !== true; result = await next()) {
      yield result.value;
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // A source that waits for its next chunk returns only after it, and nobody waits for that once aborted.
    const returned = source.return?.();
    if (signal.aborted) returned?.catch(() => undefined);
    else await returned;
  }
}
