import type { Readable } from 'node:stream';
import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import { type Connection, createConnection } from './connection.ts';
import { containerCalls, missing } from './containers.ts';
import { decodeEvents, eventFilters } from './events.ts';
import { engineError } from './failures.ts';
import { imageCalls } from './images.ts';
import { decodeLogs, sinceAfter } from './logs.ts';
import { networkCalls } from './networks.ts';
import type { Labels, LogOptions, Runtime, RuntimeLogLine } from './port.ts';

export interface DockerRuntimeOptions {
  socketPath: string;
  clock: Clock;
  log: Log;
  /** Labels that mark what belongs to this installation: added to all it makes; what lacks them counts as missing. */
  installation?: Labels;
}

/** Plain Docker containers on this host. */
export const createDockerRuntime = ({ installation = {}, ...options }: DockerRuntimeOptions): Runtime => {
  const connection = createConnection(options);
  const containers = containerCalls({ connection, clock: options.clock, installation });
  return {
    ...containers,
    ...networkCalls(connection, installation),
    ...imageCalls(connection),
    info: () => readInfo(connection),
    async *logs(id, logOptions) {
      if ((await containers.inspect(id)) === undefined) throw missing(id);
      yield* readLogs(connection, id, logOptions);
    },
    events: (labels, signal) => {
      const filters = eventFilters({ ...labels, ...installation });
      // Docker replays from here, so that nothing is lost while the connection opens.
      return readEvents(connection, { ...filters, since: (options.clock.now() / 1000).toFixed(3) }, signal);
    },
  };
};

interface RawInfo {
  NCPU: number;
  MemTotal: number;
  ContainersRunning: number;
  DockerRootDir: string;
  CgroupDriver: string;
  CgroupVersion?: string;
}

const readInfo = async ({ call }: Connection): ReturnType<Runtime['info']> => {
  const [host, engine] = await Promise.all([
    call('describe itself', async (docker) => (await docker.info()) as RawInfo),
    call('tell its version', (docker) => docker.version()),
  ]);
  return {
    engine: 'docker',
    version: engine.Version,
    apiVersion: engine.ApiVersion,
    cpus: host.NCPU,
    memoryBytes: host.MemTotal,
    containersRunning: host.ContainersRunning,
    dockerRootDir: host.DockerRootDir,
    cgroupDriver: host.CgroupDriver,
    cgroupVersion: host.CgroupVersion ?? '1',
  };
};

async function* readLogs(
  connection: Connection,
  id: string,
  { follow, since, tail, signal }: LogOptions,
): AsyncGenerator<RuntimeLogLine, void, undefined> {
  if (signal?.aborted) return;
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
    if (!signal?.aborted) throw engineError(what, error);
  } finally {
    body.destroy();
  }
}

async function* readEvents(
  connection: Connection,
  query: Record<string, string>,
  signal: AbortSignal,
): ReturnType<typeof decodeEvents> {
  if (signal.aborted) return;
  const what = 'report events';
  const body = await connection.open(what, '/events', { query, signal });
  try {
    yield* decodeEvents(chunksOf(body));
  } catch (error) {
    // A broken link ends the events as an abort does: they are hints, and the caller asks again.
    if (body.errored !== null || signal.aborted) return;
    throw engineError(what, error);
  } finally {
    body.destroy();
  }
}

/** Reads at the pace of its consumer: Docker waits meanwhile. */
const chunksOf = (body: Readable): AsyncIterable<Uint8Array> => body as AsyncIterable<Uint8Array>;
