/**
 * Memory of chunks of bytes that is given back as soon as they have been used. The collector does not see how much of it
 * chunks hold: at full speed it would leave hundreds of MB lying about, and to collect them by force stops everybody for 10 ms.
 */
const releasable = new WeakSet<Uint8Array>();

/** For who makes a chunk, and gives it away: whoever has it last may release it. It must have its buffer for itself. */
export const givenAway = <T extends Uint8Array>(chunk: T): T => {
  releasable.add(chunk);
  return chunk;
};

/** Gives its memory back: the chunk is empty from now on. One that was not given away is left to the collector. */
export const release = (chunk: Uint8Array): void => {
  if (releasable.delete(chunk)) free(chunk);
};

/** Passes chunks on that nobody else has; each is valid until the next is asked for, and is then released. */
export async function* lent<T extends Uint8Array>(chunks: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  for await (const chunk of chunks) {
    yield chunk;
    free(chunk);
  }
}

/** Detaches its buffer, unless that is a part of a pool. */
const free = ({ buffer, byteLength }: Uint8Array): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
};
