import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack as createPack, type Header, type Pack } from 'tar-stream';
import { localError } from '../failure.ts';
import type { SourceEntry, SourceTree } from './walk.ts';

/** The same content gives the same archive, whenever it was checked out. */
const MTIME = new Date(0);
const CHUNK = 256 * 1024;
/** Of gzip. More costs time without making much difference to an upload. */
export const COMPRESSION_LEVEL = 6;

/**
 * The tree as a gzipped tar, made while it is read: at no time more than a few chunks are in memory. `onBytes` is told the bytes of
 * file content as they go in.
 */
export const packSource = (tree: SourceTree, onBytes: (bytes: number) => void): ReadableStream<Uint8Array> => {
  const tar = createPack();
  const gzip = createGzip({ level: COMPRESSION_LEVEL, chunkSize: 64 * 1024 });
  const waiting = createWaiting();
  const stop = (reason: Error): void => {
    waiting.giveUp(reason);
    tar.destroy(reason);
    gzip.destroy(reason);
  };
  tar.on('error', (error) => gzip.destroy(error));
  // Its reader gets the error too.
  gzip.on('error', stop);
  tar.pipe(gzip);
  addAll({ tar, tree, waiting, onBytes }).then(
    () => tar.finalize(),
    (thrown: unknown) => stop(thrown instanceof Error ? thrown : new Error(String(thrown))),
  );
  const chunks = gzip[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => stop(new Error('the archive is not read to its end')),
    },
    { highWaterMark: 1 },
  );
};

/**
 * Waiting for the archive to take more. A destroyed tar stream never says so to whoever waits for it, who would hold a file open for
 * ever: `giveUp` does.
 */
interface Waiting {
  for(start: (done: () => void, fail: (error: Error) => void) => void): Promise<void>;
  giveUp(reason: Error): void;
}

const createWaiting = (): Waiting => {
  let reason: Error | undefined;
  let current: ((error: Error) => void) | undefined;
  return {
    for: (start) =>
      new Promise((resolve, reject) => {
        if (reason !== undefined) return reject(reason);
        current = reject;
        return start(resolve, reject);
      }),
    giveUp: (error) => {
      reason ??= error;
      current?.(reason);
    },
  };
};

/** Bytes that the archive has when packed; stops counting above `limit`. */
export const packedSize = async (tree: SourceTree, limit: number): Promise<number> => {
  let size = 0;
  for await (const chunk of packSource(tree, () => undefined)) {
    size += chunk.byteLength;
    if (size > limit) break;
  }
  return size;
};

interface Packing {
  tar: Pack;
  tree: SourceTree;
  waiting: Waiting;
  onBytes: (bytes: number) => void;
}

const addAll = async (packing: Packing): Promise<void> => {
  for (const entry of packing.tree.entries) {
    if (entry.type === 'file') await addFile(packing, entry);
    else
      await packing.waiting.for((done, fail) =>
        packing.tar.entry(headerOf(entry), (error) => (error ? fail(error) : done())),
      );
  }
};

type EntryHeader = Partial<Header> & { name: string };

const headerOf = (entry: SourceEntry): EntryHeader => {
  const common = { name: entry.path, mtime: MTIME, uid: 0, gid: 0 };
  if (entry.type === 'file') return { ...common, type: 'file', mode: entry.mode, size: entry.size };
  if (entry.type === 'directory') return { ...common, name: `${entry.path}/`, type: 'directory', mode: entry.mode };
  return { ...common, type: 'symlink', linkname: entry.target, mode: 0o777, size: 0 };
};

const addFile = async (
  { tar, tree, waiting, onBytes }: Packing,
  entry: Extract<SourceEntry, { type: 'file' }>,
): Promise<void> => {
  // O_NOFOLLOW: what was a file when listed may be a link by now.
  const file = await open(join(tree.root, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const sink = tar.entry(headerOf(entry)) as unknown as Writable;
    // The archive that ends early passes its own error on to the sink; it is reported by the archive.
    sink.on('error', () => undefined);
    let left = entry.size;
    while (left > 0) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, left));
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) throw changed(entry.path);
      if (!sink.write(bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead))) {
        await waiting.for((done) => sink.once('drain', done));
      }
      left -= bytesRead;
      onBytes(bytesRead);
    }
    await waiting.for((done, fail) => {
      sink.once('error', fail).once('close', done);
      sink.end();
    });
  } finally {
    await file.close();
  }
};

const changed = (path: string): Error =>
  localError(
    `${path} changed while it was packed`,
    'stop what writes there, or exclude it through .serviceignore, then deploy again',
  );
