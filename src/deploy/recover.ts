import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '#kernel/errors';
import type { ContainerSummary } from '#engines/runtime/port';
import type { ReplicaRow } from '#modules/services';
import type { DeployDeps } from './deps.ts';
import type { DeployInput } from './builds.ts';
import type { Replicas } from './replicas.ts';
import { routeOf } from './rollout.ts';
import { buildPrefix, networkSelector, replicaSelector } from './specs.ts';

/** What must be done so that Docker and the state agree. Pure data. */
export interface Repair {
  /** Containers of ours that no row knows: left by a crash between creation and record. */
  orphans: string[];
  /** Rows of replicas that were starting when berth died: their rollout starts over. */
  discard: ReplicaRow[];
  /** Rows of replicas that were being drained. */
  drain: ReplicaRow[];
  /** Live rows whose container is gone. */
  lost: ReplicaRow[];
  /** Live rows whose container does not run. */
  stopped: ReplicaRow[];
}

export const planRepair = (rows: readonly ReplicaRow[], containers: readonly ContainerSummary[]): Repair => {
  const known = new Set(rows.map((row) => row.container_id));
  const byId = new Map(containers.map((container) => [container.id, container]));
  const live = rows.filter((row) => row.state === 'live');
  return {
    orphans: containers.filter((container) => !known.has(container.id)).map((container) => container.id),
    discard: rows.filter((row) => row.state === 'starting'),
    drain: rows.filter((row) => row.state === 'draining'),
    lost: live.filter((row) => !byId.has(row.container_id)),
    stopped: live.filter((row) => byId.get(row.container_id)?.running === false),
  };
};

/** Names of builds whose operation has ended: it could not take them away, because the engine was gone by then. Pure. */
export const strayBuilds = (names: readonly string[], openOperations: readonly string[]): string[] =>
  names.filter((name) => !openOperations.some((id) => name.endsWith(`:${id}`)));

export interface Recovery {
  /** After a start of berth: repairs, sets all routes, and follows the logs again. */
  atStart(): Promise<void>;
  /** Removes what operations could not remove while the engine was away. */
  tidy(): Promise<void>;
  /** Now and then: starts live replicas that were stopped, and reports services that lost some. */
  heal(): Promise<{ project: string; service: string }[]>;
}

/** How long replicas of a rollout that was cut short may finish what they were asked. */
const QUIET_SECONDS = 5;

export const createRecovery = (deps: DeployDeps, replicas: Replicas): Recovery => {
  const { services, runtime, log } = deps;

  const containers = (): Promise<ContainerSummary[]> => runtime.list(replicaSelector(deps.instance));

  const attachLogs = (): void => {
    for (const row of services.replicas.all()) {
      if (row.state === 'live')
        deps.logs.attach({
          containerId: row.container_id,
          name: row.name,
          project: row.project,
          service: row.service,
          release: row.release,
        });
    }
  };

  const setRoutes = async (): Promise<void> => {
    const routes = services
      .all()
      .filter((service) => service.live_release !== null)
      .map((service) =>
        routeOf(
          deps,
          service,
          services.replicas.ofService(service.project, service.name).filter((row) => row.state === 'live'),
        ),
      );
    await deps.proxy.replaceAll(routes);
  };

  const removeStrayNetworks = async (): Promise<void> => {
    const known = new Set(deps.projects.all().map((project) => project.network));
    for (const network of await runtime.listNetworks(networkSelector(deps.instance))) {
      if (!known.has(network.name)) await runtime.removeNetwork(network.name);
    }
  };

  const removeStrayFiles = async (): Promise<void> => {
    const open = deps.operations.open().filter((row) => row.kind === 'deploy');
    const archives = new Set(open.map((row) => (JSON.parse(row.input) as DeployInput).archive));
    const ids = new Set(open.map((row) => row.id));
    await removeOthers(join(deps.config.dataDir, 'uploads'), (path) => archives.has(path));
    await removeOthers(join(deps.config.dataDir, 'builds'), (path) => ids.has(path.split('/').at(-1) ?? ''));
  };

  const removeStrayBuilds = async (): Promise<void> => {
    const open = deps.operations.open().map((row) => row.id);
    for (const name of strayBuilds(await runtime.imageNames(buildPrefix(deps.instance)), open))
      await runtime.removeImage(name);
  };

  const startStopped = async (rows: readonly ReplicaRow[]): Promise<void> => {
    for (const row of rows) {
      try {
        // One that crashes again and again is between two attempts of the engine's, which go on by themselves.
        if ((await runtime.inspect(row.container_id))?.status === 'restarting') continue;
        await runtime.start(row.container_id);
        deps.liveness.set(row.container_id, true);
        log.info('started a live replica that was stopped', { replica: row.name });
      } catch (error) {
        deps.liveness.set(row.container_id, false);
        log.warn('cannot start a live replica', { replica: row.name, reason: messageOf(error) });
      }
    }
  };

  const noteLiveness = (repair: Repair): void => {
    const stopped = new Set(repair.stopped.map((row) => row.container_id));
    for (const row of services.replicas.all()) deps.liveness.set(row.container_id, !stopped.has(row.container_id));
  };

  return {
    atStart: async () => {
      relocateImages(deps);
      const repair = planRepair(services.replicas.all(), await containers());
      for (const row of repair.lost) services.replicas.remove(row.container_id);
      noteLiveness(repair);
      await startStopped(repair.stopped);
      // A rollout that was cut short may have moved the route already: it moves back before its replicas go.
      await setRoutes();
      await replicas.discard(repair.discard, QUIET_SECONDS);
      for (const id of repair.orphans) await runtime.remove(id);
      await removeStrayNetworks();
      await removeStrayFiles();
      await removeStrayBuilds();
      attachLogs();
      void replicas.drain(repair.drain, 0);
    },
    tidy: removeStrayBuilds,
    heal: async () => {
      const repair = planRepair(services.replicas.all(), await containers());
      noteLiveness(repair);
      await startStopped(repair.stopped);
      for (const row of repair.lost) services.replicas.remove(row.container_id);
      return services
        .all()
        .filter((service) => service.live_release !== null)
        .filter(
          (service) =>
            services.replicas.ofService(service.project, service.name).filter((row) => row.state === 'live').length <
            service.replicas,
        )
        .map((service) => ({ project: service.project, service: service.name }));
    },
  };
};

/** The registry may have another port than when the images were pushed: a setting, or a state that was moved. */
const relocateImages = ({ releases, registry }: Pick<DeployDeps, 'releases' | 'registry'>): void => {
  for (const { project, service, id, image, digest } of releases.all()) {
    const now = registry.reference(`${project}/${service}`, digest);
    if (image !== now) releases.setImage({ project, service, id }, now);
  }
};

const removeOthers = async (dir: string, keep: (path: string) => boolean): Promise<void> => {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  for (const name of await readdir(dir)) {
    const path = join(dir, name);
    if (!keep(path)) await rm(path, { recursive: true, force: true });
  }
};
