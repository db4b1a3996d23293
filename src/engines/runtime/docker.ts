import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import { type Connection, createConnection, get } from '#engines/docker/connection';
import { containerCalls } from './containers.ts';
import { decodeEvents, eventFilters } from './events.ts';
import { engineError } from '#engines/docker/failures';
import { imageCalls } from './images.ts';
import { chunksOf, readLogs } from './log-reader.ts';
import { networkCalls } from './networks.ts';
import type { Labels, Runtime } from './port.ts';
import { streamCalls } from './streams.ts';
import { volumeCalls } from './volumes.ts';

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
    ...streamCalls(connection, containers.inspect),
    ...networkCalls(connection, installation),
    ...volumeCalls(connection, installation),
    ...imageCalls(connection),
    info: () => readInfo(connection),
    logs: (id, logOptions) =>
      readLogs({ connection, clock: options.clock, inspect: containers.inspect }, id, logOptions),
    events: (labels, signal) => {
      const filters = eventFilters({ ...labels, ...installation });
      // Docker replays from here, so that nothing is lost while the connection opens.
      return readEvents(connection, { ...filters, since: (options.clock.now() / 1000).toFixed(3) }, signal);
    },
  };
};

interface RawVersion {
  Version: string;
  ApiVersion: string;
}

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
    call('describe itself', (docker, signal) => get<RawInfo>(docker, '/info', { signal })),
    call('tell its version', (docker, signal) => get<RawVersion>(docker, '/version', { signal })),
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
