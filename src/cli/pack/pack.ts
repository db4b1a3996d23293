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
const LEVEL = 6;

/**
 * The tree as a gzipped tar, made while it is read: at no time more than a few chunks are in memory. `onBytes` is told the bytes of
 * file content as they go in.
 */
export const packSource = (tree: SourceTree, onBytes: (bytes: number) => void): ReadableStream<Uint8Array> => {
  const tar = createPack();
  const gzip = createGzip({ level: LEVEL, chunkSize: 64 * 1024 });
  // streamx and node streams differ in their types only.
  tar.on('error', (error) => gzip.destroy(error));
  tar.pipe(gzip);
  addAll(tar, tree, onBytes).then(
    () => tar.finalize(),
    (thrown: unknown) => tar.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))),
  );
  const chunks = gzip[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => {
        tar.destroy();
        gzip.destroy();
      },
    },
    { highWaterMark: 1 },
  );
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

const addAll = async (tar: Pack, tree: SourceTree, onBytes: (bytes: number) => void): Promise<void> => {
  for (const entry of tree.entries) {
    if (entry.type === 'file') await addFile(tar, join(tree.root, entry.path), { entry, onBytes });
    else await addEmpty(tar, headerOf(entry));
  }
};

type EntryHeader = Partial<Header> & { name: string };

const headerOf = (entry: SourceEntry): EntryHeader => {
  const common = { name: entry.path, mtime: MTIME, uid: 0, gid: 0 };
  if (entry.type === 'file') return { ...common, type: 'file', mode: entry.mode, size: entry.size };
  if (entry.type === 'directory') return { ...common, name: `${entry.path}/`, type: 'directory', mode: entry.mode };
  return { ...common, type: 'symlink', linkname: entry.target, mode: 0o777, size: 0 };
};

const addEmpty = (tar: Pack, header: EntryHeader): Promise<void> =>
  new Promise((resolve, reject) => {
    tar.entry(header, (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });

interface FileToAdd {
  entry: Extract<SourceEntry, { type: 'file' }>;
  onBytes: (bytes: number) => void;
}

const addFile = async (tar: Pack, path: string, { entry, onBytes }: FileToAdd): Promise<void> => {
  // O_NOFOLLOW: what was a file when listed may be a link by now.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const ended = Promise.withResolvers<void>();
    const sink = tar.entry(headerOf(entry), (error) =>
      error === null || error === undefined ? ended.resolve() : ended.reject(error),
    ) as unknown as Writable;
    // When reading fails first, that is the error to report; the archive's own end passes it on to the sink.
    ended.promise.catch(() => undefined);
    sink.on('error', ended.reject);
    let left = entry.size;
    while (left > 0) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, left));
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) throw changed(entry.path);
      await writeTo(sink, bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead));
      left -= bytesRead;
      onBytes(bytesRead);
    }
    sink.end();
    await ended.promise;
  } finally {
    await file.close();
  }
};

const writeTo = (sink: Writable, data: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(error);
    sink.once('error', failed);
    const go = (): void => {
      sink.off('error', failed);
      sink.off('close', go);
      resolve();
    };
    if (sink.write(data)) go();
    else {
      sink.once('drain', go);
      sink.once('close', go);
    }
  });

const changed = (path: string): Error =>
  localError(
    `${path} changed while it was packed`,
    'stop what writes there, or exclude it through .serviceignore, then deploy again',
  );
