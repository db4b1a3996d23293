import { Readable } from 'node:stream';
import type { Connection } from '#engines/docker/connection';
import { engineError } from '#engines/docker/failures';
import { lent } from '#kernel/release';
import { missing } from './containers.ts';
import { splitFrames } from './frames.ts';
import { chunksOf } from './log-reader.ts';
import type { OutputChunk, Runtime } from './port.ts';

/** For the whole of an archive, which may be a prepared data directory. */
const ARCHIVE_DEADLINE_MS = 600_000;

type StreamCalls = Pick<Runtime, 'attach' | 'putArchive' | 'getArchive'>;

/** What a container prints, and its files. */
export const streamCalls = (connection: Connection, inspect: Runtime['inspect']): StreamCalls => {
  const assertOurs = async (id: string): Promise<void> => {
    if ((await inspect(id)) === undefined) throw missing(id);
  };
  return {
    attach: async (id) => {
      await assertOurs(id);
      const what = `attach to container ${id}`;
      const query = { stream: '1', stdout: '1', stderr: '1' };
      const socket = await connection.hijack(what, `${path(id)}/attach`, query);
      return { output: readOutput(socket, what), close: () => void socket.destroy() };
    },
    putArchive: async (id, target, tar) => {
      await assertOurs(id);
      const file = tar instanceof Uint8Array ? asBuffer(tar) : Readable.from(tar, { objectMode: false });
      await connection.call(
        `put files into container ${id}`,
        async (docker, abortSignal) => {
          try {
            const options = { path: target, abortSignal };
            await docker.getContainer(encodeURIComponent(id)).putArchive(file, options);
          } finally {
            if (file instanceof Readable) file.destroy();
          }
        },
        { deadlineMs: ARCHIVE_DEADLINE_MS },
      );
    },
    getArchive: async (id, source) => {
      await assertOurs(id);
      return await connection.open(`read files of container ${id}`, `${path(id)}/archive`, { query: { path: source } });
    },
  };
};

const path = (id: string): string => `/containers/${encodeURIComponent(id)}`;

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

async function* readOutput(socket: Readable, what: string): AsyncGenerator<OutputChunk, void, undefined> {
  try {
    yield* splitFrames(lent(chunksOf(socket)));
  } catch (error) {
    throw engineError(what, error);
  } finally {
    socket.destroy();
  }
}
