import { constants } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, isDiskFull } from '#kernel/errors';
import { givenAway } from '#kernel/release';
import { makeFolders, notAFile, orMissing, realFolders, syncFolder, walk } from './disk-folders.ts';
import { diskIsFull, requireRoom, type Floor } from './disk-room.ts';
import { MAX_SMALL_BYTES, type Place, type StoredObject, type WriteOptions } from './place.ts';
import type { Bytes } from './port.ts';
import { abortable, gathered } from './streams.ts';

export interface DiskOptions {
  /** Made (0700) when missing. Holds `project/datastore/file`. */
  dir: string;
  /** No backup begins or goes on below this much free space; the larger of the two counts. */
  floor: Floor;
}

const PART = '.part';
const MIB = 1024 * 1024;
const WRITE_BYTES = MIB;
/** How much is written between two looks at the free space. */
const LOOK_BYTES = 64 * MIB;
/** How much is written before the disk is asked to take it; what is left to sync at the end is then little. */
const FLUSH_BYTES = 16 * MIB;
const READ_BYTES = 256 * 1024;
/** Never through a link, and never stuck at a pipe. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Files in a folder of the server: written to `<file>.part`, synced, then renamed. Links in it are never followed. */
export const createDiskPlace = ({ dir, floor }: DiskOptions): Place => {
  /** Parts that this process is writing. */
  const writing = new Set<string>();

  const write = async (path: string, bytes: Bytes, options: WriteOptions): Promise<void> => {
    const file = join(dir, path);
    const part = file + PART;
    await makeFolders(dir, path);
    await requireRoom(dir, floor, options.estimate ?? 0);
    writing.add(part);
    try {
      await rm(part, { force: true });
      await writePart(part, bytes, { dir, floor, signal: options.signal });
      await rename(part, file);
      await syncFolder(join(file, '..'));
    } catch (thrown) {
      await rm(part, { force: true });
      throw isDiskFull(thrown) ? await diskIsFull(dir, thrown) : thrown;
    } finally {
      writing.delete(part);
    }
  };

  const openFile = async (path: string): Promise<FileHandle | undefined> => {
    if (!(await realFolders(dir, path))) return undefined;
    const handle = await orMissing(open(join(dir, path), READ_FLAGS), path);
    if (handle === undefined) return undefined;
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    throw notAFile(path);
  };

  const list = async (folder: string): Promise<StoredObject[]> =>
    (await walk(dir, folder)).filter((each) => !each.path.endsWith(PART));

  return {
    kind: 'disk',
    write,
    size: async (path) =>
      (await realFolders(dir, path)) ? (await orMissing(lstat(join(dir, path)), path))?.size : undefined,
    read: async function* (path, signal) {
      const handle = await openFile(path);
      if (handle === undefined) throw missing(path);
      try {
        for (;;) {
          signal.throwIfAborted();
          const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
          const { bytesRead } = await handle.read(buffer, 0, READ_BYTES);
          if (bytesRead === 0) return;
          yield bytesRead === READ_BYTES ? givenAway(buffer) : buffer.subarray(0, bytesRead);
        }
      } finally {
        await handle.close();
      }
    },
    readSmall: async (path) => {
      const handle = await openFile(path);
      if (handle === undefined) return undefined;
      try {
        if ((await handle.stat()).size > MAX_SMALL_BYTES) throw conflict(`${path} is too large`, 'look at the file');
        return await handle.readFile();
      } finally {
        await handle.close();
      }
    },
    list,
    remove: async (path) => {
      if (!(await realFolders(dir, path))) return;
      await rm(join(dir, path), { force: true });
      await syncFolder(join(dir, path, '..'));
    },
    removeUnfinished: async () => {
      const parts = (await walk(dir, ''))
        .map((each) => join(dir, each.path))
        .filter((file) => file.endsWith(PART) && !writing.has(file));
      for (const part of parts) await rm(part, { force: true });
      return parts.length;
    },
  };
};

interface PartOptions extends DiskOptions {
  signal: AbortSignal;
}

const writePart = async (part: string, bytes: Bytes, { dir, floor, signal }: PartOptions): Promise<void> => {
  const handle = await open(part, 'wx', 0o600);
  const flush = createFlush(handle);
  let unseen = 0;
  const write = async (chunk: Uint8Array): Promise<void> => {
    let offset = 0;
    while (offset < chunk.byteLength) offset += (await handle.write(chunk, offset)).bytesWritten;
    unseen += chunk.byteLength;
    flush.wrote(chunk.byteLength);
    if (unseen < LOOK_BYTES) return;
    await requireRoom(dir, floor, 0);
    unseen = 0;
  };
  let writing = Promise.resolve();
  try {
    // The next chunk is gathered while the last one is written.
    for await (const chunk of gathered(abortable(bytes, signal), WRITE_BYTES)) {
      await writing;
      writing = write(chunk);
      // Told where it is waited for, even when the source fails first.
      writing.catch(() => undefined);
    }
    await writing;
    await flush.end();
    await handle.sync();
  } finally {
    // Not while it is still in use.
    await Promise.allSettled([writing, flush.end()]);
    await handle.close();
  }
};

/** Has what was written put on the disk while more is being made. */
const createFlush = (handle: FileHandle) => {
  let waiting = 0;
  let failure: unknown;
  let flushing: Promise<void> | undefined;
  return {
    wrote: (bytes: number): void => {
      waiting += bytes;
      if (waiting < FLUSH_BYTES || flushing !== undefined) return;
      waiting = 0;
      flushing = handle
        .datasync()
        .catch((thrown: unknown) => void (failure ??= thrown))
        .finally(() => (flushing = undefined));
    },
    /** Waits for what is under way; fails when any of it failed: the kernel tells of an error only once. */
    end: async (): Promise<void> => {
      await flushing;
      if (failure !== undefined) throw failure;
    },
  };
};

const missing = (path: string): Error =>
  conflict(`${path} is missing from the backup folder`, 'put it back, or use another backup');
