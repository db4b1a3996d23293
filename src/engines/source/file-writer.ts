import { createHash, type Hash } from 'node:crypto';
import { createWriteStream, writeFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** A source is mostly small files, and for these one blocking call is ten times faster than a trip to a thread. */
const SMALL_FILE_BYTES = 64 * 1024;

export interface FileToWrite {
  file: string;
  size: number;
  executable: boolean;
  /** The bytes, as Node buffers. */
  content: AsyncIterable<unknown>;
}

/** Writes a file where nothing is yet, and returns the sha256 of its content. */
export const writeNewFile = async ({ file, size, executable, content }: FileToWrite): Promise<string> => {
  const hash = createHash('sha256');
  // `wx` fails on anything that is there already, links included.
  const options = { flag: 'wx', flags: 'wx', mode: executable ? 0o755 : 0o644 } as const;
  if (size <= SMALL_FILE_BYTES) {
    const data = await readAll(content);
    hash.update(data);
    writeFileSync(file, data, options);
  } else {
    await pipeline(hashed(content, hash), createWriteStream(file, options));
  }
  return hash.digest('hex');
};

const readAll = async (content: AsyncIterable<unknown>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk as Buffer);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
};

async function* hashed(content: AsyncIterable<unknown>, hash: Hash): AsyncGenerator {
  for await (const chunk of content) {
    hash.update(chunk as Buffer);
    yield chunk;
  }
}
