import type Docker from 'dockerode';
import { type BerthError, notFound } from '#kernel/errors';
import type { Clock } from '#kernel/clock';
import type { Connection } from '#engines/docker/connection';
import { createBody, resourceLimits, wholeSeconds } from './container-spec.ts';
import { labelFilter } from './events.ts';
import { statusOf } from '#engines/docker/failures';
import type { ContainerSpec, ContainerState, ContainerUsage, Labels, Runtime } from './port.ts';
import { carries } from './labels.ts';
import { createCgroups } from './cgroups.ts';
import { readUsage } from './stats.ts';

/** Beyond the grace: the time that Docker itself may take to end a container. */
const STOP_MARGIN_MS = 15_000;
const REMOVAL_POLL_MS = 50;
/** The longest that a timer can take. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

type ContainerReads = Pick<Runtime, 'inspect' | 'list' | 'usage'>;
type ContainerCalls = ContainerReads &
  Pick<Runtime, 'create' | 'start' | 'keepRunning' | 'stop' | 'remove' | 'wait' | 'updateResources'>;

export interface ContainerCallsOptions {
  connection: Connection;
  clock: Clock;
  /** Labels of this installation: a container without them counts as missing. */
  installation: Labels;
}

export const containerCalls = ({ connection, clock, installation }: ContainerCallsOptions): ContainerCalls => {
  const { call } = connection;
  const reads = containerReads(connection, installation);
  const isOurs = async (id: string): Promise<boolean> =>
    Object.keys(installation).length === 0 || (await reads.inspect(id)) !== undefined;
  const untilGone = async (id: string, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await reads.inspect(id)) !== undefined) await clock.sleep(REMOVAL_POLL_MS, signal);
  };

  return {
    ...reads,
    create: (spec) =>
      call(`create container ${spec.name}`, async (docker, abortSignal) => {
        const body = createBody(labelled(spec, installation));
        // Given plainly, dockerode would repeat the whole body, secrets included, in the URL.
        const request = { _query: { name: spec.name }, _body: body, abortSignal } as Docker.ContainerCreateOptions;
        return { id: (await docker.createContainer(request)).id };
      }),
    start: async (id) => {
      if (!(await isOurs(id))) throw missing(id);
      await call(`start container ${id}`, (docker, abortSignal) =>
        unlessStatus([304], () => container(docker, id).start({ abortSignal })),
      );
    },
    keepRunning: async (id) => {
      if (!(await isOurs(id))) throw missing(id);
      await call(`keep container ${id} running`, (docker, abortSignal) =>
        container(docker, id).update({ RestartPolicy: { Name: 'unless-stopped' }, abortSignal }),
      );
    },
    wait: async (id, signal) => {
      if (!(await isOurs(id))) throw missing(id);
      const options = { deadlineMs: LONGEST_WAIT_MS, signal };
      return await call(
        `wait for container ${id}`,
        async (docker, abortSignal) => {
          const { StatusCode } = (await container(docker, id).wait({ abortSignal })) as { StatusCode: number };
          return StatusCode;
        },
        options,
      );
    },
    updateResources: async (id, { memoryBytes, cpus }) => {
      if (!(await isOurs(id))) throw missing(id);
      await call(`limit container ${id}`, (docker, abortSignal) =>
        container(docker, id).update({ ...resourceLimits({ memoryBytes, cpus }), abortSignal }),
      );
    },
    stop: async (id, graceSeconds) => {
      if (!(await isOurs(id))) return;
      const t = wholeSeconds(graceSeconds);
      await call(
        `stop container ${id}`,
        (docker, abortSignal) => unlessStatus([304, 404], () => container(docker, id).stop({ t, abortSignal })),
        { deadlineMs: t * 1000 + STOP_MARGIN_MS },
      );
    },
    remove: async (id) => {
      if (!(await isOurs(id))) return;
      await call(`remove container ${id}`, async (docker, abortSignal) => {
        try {
          const options = { force: true, v: true, abortSignal };
          await unlessStatus([404], () => container(docker, id).remove(options));
        } catch (error) {
          // Somebody else's removal is under way: done when that one is.
          if (statusOf(error) !== 409) throw error;
          await untilGone(id, abortSignal);
        }
      });
    },
  };
};

const containerReads = ({ call }: Connection, installation: Labels): ContainerReads => {
  const inspect: Runtime['inspect'] = (id) =>
    call(`inspect container ${id}`, async (docker, abortSignal) => {
      try {
        const found = toState(await container(docker, id).inspect({ abortSignal }));
        return carries(found.labels, installation) ? found : undefined;
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    });
  const cgroups = createCgroups();
  const engineUsage = (id: string): Promise<ContainerUsage | undefined> =>
    call(`measure container ${id}`, async (docker, abortSignal) => {
      try {
        const options = { stream: false as const, 'one-shot': true, abortSignal };
        return readUsage(await container(docker, id).stats(options));
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    });
  return {
    inspect,
    list: (labels) =>
      call('list containers', async (docker, abortSignal) => {
        const filters = { label: labelFilter({ ...labels, ...installation }) };
        const found = await docker.listContainers({ all: true, filters, abortSignal });
        return found.map(({ Id, Names, Labels, State }) => ({
          id: Id,
          name: (Names[0] ?? '').replace(/^\//, ''),
          labels: Labels,
          running: State === 'running',
        }));
      }),
    usage: async (ids) => {
      const found = new Map<string, ContainerUsage>();
      const readOne = async (id: string): Promise<void> => {
        const usage = (await cgroups.read(id)) ?? (await engineUsage(id));
        if (usage !== undefined) found.set(id, usage);
      };
      await Promise.all(ids.map(readOne));
      return found;
    },
  };
};

/** The answer for a container that is gone, or of another installation. */
export const missing = (id: string): BerthError =>
  notFound(`no container ${id}`, 'it is gone or was never there: look at the state of the project');

const labelled = (spec: ContainerSpec, installation: Labels): ContainerSpec => ({
  ...spec,
  labels: { ...spec.labels, ...installation },
  volumes: spec.volumes.map((volume) => ({ ...volume, labels: { ...volume.labels, ...installation } })),
});

const container = (docker: Docker, id: string): Docker.Container => docker.getContainer(encodeURIComponent(id));

/** Runs a call for which these statuses mean that nothing is left to do. */
const unlessStatus = async (statuses: number[], run: () => Promise<unknown>): Promise<void> => {
  try {
    await run();
  } catch (error) {
    if (!statuses.includes(statusOf(error) ?? 0)) throw error;
  }
};

const STATUSES = ['created', 'running', 'restarting', 'paused', 'exited', 'dead', 'removing'] as const;

const toState = (found: Docker.ContainerInspectInfo): ContainerState => {
  const { State, Config, NetworkSettings } = found;
  const status = STATUSES.find((known) => known === State.Status) ?? 'dead';
  const ended = status === 'exited' || status === 'dead' || status === 'restarting';
  const [network] = Object.values(NetworkSettings.Networks);
  return {
    id: found.Id,
    name: found.Name.replace(/^\//, ''),
    image: Config.Image,
    labels: Config.Labels,
    status,
    exitCode: ended ? State.ExitCode : null,
    oomKilled: State.OOMKilled,
    restartCount: found.RestartCount,
    startedAt: timeOrNull(State.StartedAt),
    finishedAt: timeOrNull(State.FinishedAt),
    pid: State.Pid === 0 ? null : State.Pid,
    ip: network?.IPAMConfig?.IPv4Address || network?.IPAddress || null,
  };
};

/** Docker writes the year 1 for what has not happened. */
const timeOrNull = (time: string): string | null => (time.startsWith('0001-') ? null : time);
