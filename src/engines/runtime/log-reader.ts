import type { Readable } from 'node:stream';
import { type Clock, isoTime } from '#kernel/clock';
import type { Connection } from '#engines/docker/connection';
import { missing } from './containers.ts';
import { engineError } from '#engines/docker/failures';
import { decodeLogs, sinceAfter } from './logs.ts';
import type { LogOptions, Runtime, RuntimeLogLine } from './port.ts';

const REOPEN_PAUSE_MS = 100;

export interface LogReaderOptions {
  connection: Connection;
  clock: Clock;
  inspect: Runtime['inspect'];
}

/** Reads a container's log; ends quietly when `signal` aborts. */
export async function* readLogs(
  reader: LogReaderOptions,
  id: string,
  options: LogOptions,
): AsyncGenerator<RuntimeLogLine, void, undefined> {
  if ((await reader.inspect(id)) === undefined) throw missing(id);
  try {
    yield* options.follow ? followOn(reader, id, options) : readOnce(reader.connection, id, options);
  } catch (error) {
    if (!options.signal?.aborted) throw error;
  }
}

/**
 * Docker ends a followed log now and then without its last lines, or when it rotates the file: so what the stream left
 * out is read behind it, and a container that goes on is followed on.
 */
async function* followOn(
  { connection, clock, inspect }: LogReaderOptions,
  id: string,
  options: LogOptions,
): AsyncGenerator<RuntimeLogLine, void, undefined> {
  const { signal } = options;
  const isRepeated = createRepetitionFilter();
  let rest = options.tail === 0 ? onwards(options, isoTime(clock.now())) : options;
  for (;;) {
    for await (const line of readOnce(connection, id, rest)) {
      if (isRepeated(line)) continue;
      rest = onwards(rest, line.ts);
      yield line;
    }
    if (!rest.follow || signal?.aborted) return;
    const state = await inspect(id);
    if (state === undefined) return;
    if (state.status === 'running') await clock.sleep(REOPEN_PAUSE_MS, signal);
    else rest = { ...rest, follow: false };
  }
}

/** Docker re-reads a buffer's worth of lines (32 KiB at most) when it rotates the file that is followed. */
const REMEMBERED_LINES = 512;

/** Whether a line came before; a time that merely jumps back is none. */
export const createRepetitionFilter = (): ((line: RuntimeLogLine) => boolean) => {
  const seen = new Set<string>();
  return ({ ts, stream, line }) => {
    const key = `${ts} ${stream} ${line.slice(0, 64)}`;
    if (seen.has(key)) return true;
    seen.add(key);
    const [oldest] = seen;
    if (seen.size > REMEMBERED_LINES && oldest !== undefined) seen.delete(oldest);
    return false;
  };
};

const onwards = ({ follow, signal }: LogOptions, since: string): LogOptions => ({
  follow,
  since,
  ...(signal === undefined ? {} : { signal }),
});

async function* readOnce(
  connection: Connection,
  id: string,
  { follow, since, tail, signal }: LogOptions,
): AsyncGenerator<RuntimeLogLine, void, undefined> {
  const what = `read the log of container ${id}`;
  const query = {
    follow,
    stdout: true,
    stderr: true,
    timestamps: true,
    ...(since === undefined ? {} : { since: sinceAfter(since) }),
    ...(tail === undefined ? {} : { tail }),
  };
  const body = await connection.open(what, `/containers/${encodeURIComponent(id)}/logs`, { query, signal });
  try {
    yield* decodeLogs(chunksOf(body));
  } catch (error) {
    throw engineError(what, error);
  } finally {
    body.destroy();
  }
}

/** Reads at the pace of its consumer: Docker waits meanwhile. */
export const chunksOf = (body: Readable): AsyncIterable<Uint8Array> => body as AsyncIterable<Uint8Array>;
