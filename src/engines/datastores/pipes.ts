import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import { widenPipe } from '#kernel/pipe-size';
import { lent, release } from '#kernel/release';
import type { Bytes } from './port.ts';

/**
 * Named pipes (fifo(7)) between berth and a container that has them mounted. What goes through a container's own streams is
 * copied by its shim, by the engine and through a socket: for a dump that takes twice the processor time of all that berth
 * does with it.
 */
export interface Pipes {
  /** Their paths on the host: one that the container reads from, and one that it writes to. */
  input: string;
  output: string;
  /** Writes until the source ends, or nobody reads any more. When the source fails, the reader is not told of an end. */
  feed(source: Bytes): Promise<void>;
  /** Hands each chunk to `put`, and waits for it; the chunk is valid until then. */
  drain(put: (chunk: Uint8Array) => Promise<void> | void): Promise<void>;
  /** The container has ended: what it has not opened is not waited for any more. */
  hangUp(): Promise<void>;
  /** Only when the container is gone: whoever still reads would take this for the end. */
  remove(): Promise<void>;
}

/** Who has the mount may use it, whatever user that is; their folder is closed to others. */
const MODE = '666';
const OPEN_EVERY_MS = 5;
const READ = constants.O_RDONLY | constants.O_NONBLOCK;
const WRITE = constants.O_WRONLY | constants.O_NONBLOCK;

export const makePipes = async (folder: string, clock: Clock): Promise<Pipes> => {
  const [input, output] = [join(folder, 'input'), join(folder, 'output')];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await mkfifo([input, output]);
  let sink: Bun.FileSink | undefined;
  const state = {
    /** Somebody waits for the end of the output, which the container has not opened yet. */
    waiting: false,
    over: false,
  };

  return {
    input,
    output,
    feed: async (source) => {
      let handle = await openIfRead(input);
      while (handle === undefined && !state.over) {
        await clock.sleep(OPEN_EVERY_MS);
        handle = await openIfRead(input);
      }
      if (handle === undefined) {
        await source[Symbol.asyncIterator]().return?.();
        return;
      }
      widenPipe(handle.fd);
      // It has a descriptor of its own.
      sink = Bun.file(handle.fd).writer();
      await handle.close();
      for await (const chunk of source) {
        if (!(await written(sink, chunk))) return;
        release(chunk);
      }
      await sink.end();
    },
    drain: async (put) => {
      state.waiting = true;
      let kept: FileHandle | undefined;
      try {
        // Keeps the pipe wide until the stream has it open.
        kept = await open(output, READ);
        widenPipe(kept.fd);
        for await (const chunk of lent(Bun.file(output).stream())) {
          state.waiting = false;
          await kept?.close();
          kept = undefined;
          await put(chunk);
        }
      } finally {
        state.waiting = false;
        await kept?.close();
      }
    },
    hangUp: async () => {
      state.over = true;
      while (state.waiting) {
        // The last of those who write leaves: that is the end, also where nobody has ever written.
        await (await openIfRead(output))?.close();
        await clock.sleep(OPEN_EVERY_MS);
      }
    },
    remove: async () => {
      await ended(sink);
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const mkfifo = async (paths: string[]): Promise<void> => {
  const child = Bun.spawn(['mkfifo', `--mode=${MODE}`, '--', ...paths], { stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) === 0) return;
  throw new BerthError('INTERNAL_ERROR', `cannot make pipes for a job beside a datastore: ${said.trim()}`, {
    hint: 'the data directory must be on a file system that has named pipes',
  });
};

/** Undefined while nobody reads it. */
const openIfRead = async (path: string): Promise<FileHandle | undefined> => {
  try {
    return await open(path, WRITE);
  } catch (thrown) {
    if (codeOf(thrown) === 'ENXIO') return undefined;
    throw thrown;
  }
};

/** False when nobody reads any more. */
const written = async (sink: Bun.FileSink, chunk: Uint8Array): Promise<boolean> =>
  unlessLeft(async () => {
    await sink.write(chunk);
    await sink.flush();
  });

const ended = (sink: Bun.FileSink | undefined): Promise<boolean> => unlessLeft(async () => void (await sink?.end()));

const unlessLeft = async (work: () => Promise<void>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === 'EPIPE') return false;
    throw thrown;
  }
};

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined);
