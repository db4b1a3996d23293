import type { Bytes } from '#engines/datastores/port';

export const collect = async (bytes: Bytes): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(new Uint8Array(chunk));
  return Buffer.concat(chunks);
};

export async function* inChunks(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What a promise rejects with. */
export const failureOf = async (promise: Promise<unknown>): Promise<Error> => {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
    throw thrown;
  }
  throw new TypeError('it did not fail');
};

/** For who looks at a chunk later than its source keeps it. */
export async function* copied(bytes: Bytes): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) yield new Uint8Array(chunk);
}
