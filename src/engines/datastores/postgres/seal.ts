import { crc32 } from 'node:zlib';
import { invalidInput } from '#kernel/errors';
import type { Bytes } from '../port.ts';

/** After the last byte of an archive, where pg_restore does not look: `berth-crc32 `, the sum in hex, a line break. */
const SEAL = /^berth-crc32 ([0-9a-f]{8})\n$/;
const SEAL_BYTES = 21;

/**
 * The checksum of an archive of pg_dump, which has none: a bit that flips in its compressed rows changes them in silence
 * (pg_dump writes zstd frames without checksums; of 24 flips pg_restore noticed 6).
 */
export const createSeal = (): { add(chunk: Uint8Array): void; bytes(): Uint8Array } => {
  let sum = 0;
  return {
    add: (chunk) => {
      sum = crc32(chunk, sum);
    },
    bytes: () => Buffer.from(`berth-crc32 ${sum.toString(16).padStart(8, '0')}\n`),
  };
};

/** An archive without its seal; fails after its last byte when that is not the seal of these bytes. One without any passes. */
export async function* checkSeal(source: Bytes): AsyncGenerator<Uint8Array> {
  let sum = 0;
  /** What may be the seal, or end in it. */
  let held: Uint8Array = Buffer.alloc(0);
  for await (const chunk of source) {
    let ready = held;
    held = chunk;
    if (chunk.length < SEAL_BYTES) {
      const all = Buffer.concat([ready, chunk]);
      const end = Math.max(0, all.length - SEAL_BYTES);
      [ready, held] = [all.subarray(0, end), all.subarray(end)];
    }
    if (ready.length === 0) continue;
    sum = crc32(ready, sum);
    yield ready;
  }
  const seal = SEAL.exec(Buffer.from(held.subarray(-SEAL_BYTES)).toString('latin1'))?.[1];
  const rest = seal === undefined ? held : held.subarray(0, -SEAL_BYTES);
  sum = crc32(rest, sum);
  if (rest.length > 0) yield rest;
  if (seal !== undefined && Number.parseInt(seal, 16) !== sum) {
    throw invalidInput('the backup is damaged: its bytes are not those that were dumped', 'take another backup');
  }
}
