import type { Mount } from '#engines/runtime/port';
import { messageOf } from '#kernel/errors';
import type { ReplicaRow, ServiceRow } from '#modules/services';
import type { Addresses } from './addresses.ts';
import type { DeployDeps } from './deps.ts';
import type { Networks } from './networks.ts';
import { appPort, replicaName, replicaSpec, STOP_GRACE_SECONDS } from './specs.ts';
import { countConnections } from './sockets.ts';

export interface StartRequest {
  service: ServiceRow;
  /** Local image id or reference by digest. */
  image: string;
  operationId: string;
  slots: number[];
  env: Record<string, string>;
  mounts: Mount[];
}

/** Starts, drains and removes replicas, and keeps their rows in step with Docker. */
export interface Replicas {
  /** Starts one container a slot, beside whatever runs. On failure none of them is left. */
  start(request: StartRequest): Promise<ReplicaRow[]>;
  /** Kills and removes them: for replicas that took no traffic, or whose route is gone; `quietSeconds` waits for its rest. */
  discard(rows: readonly ReplicaRow[], quietSeconds?: number): Promise<void>;
  /** Waits until the proxy has no connection to them (at most `drainSeconds`), then SIGTERM, then removes them. */
  drain(rows: readonly ReplicaRow[], drainSeconds: number): Promise<void>;
}

const DRAIN_POLL_MS = 100;

export const createReplicas = (deps: DeployDeps, addresses: Addresses, networks: Networks): Replicas => {
  const { runtime, services, clock, log } = deps;

  const startOne = async (
    request: StartRequest,
    slot: number,
    network: { name: string; network: string; subnet: string },
  ): Promise<ReplicaRow> => {
    const { service, operationId } = request;
    const ip = addresses.reserve(network);
    try {
      const spec = replicaSpec({
        ...request,
        config: deps.config,
        instance: deps.instance,
        network: network.network,
        slot,
        ip,
      });
      const { id } = await runtime.create(spec);
      const row: ReplicaRow = {
        container_id: id,
        name: replicaName(service, slot, operationId),
        project: service.project,
        service: service.name,
        release: '',
        operation_id: operationId,
        slot,
        ip,
        port: appPort(request.env),
        state: 'starting',
        created_at: clock.now(),
      };
      services.replicas.insert(row);
      await runtime.start(id);
      return row;
    } finally {
      // From here on the row holds the address; without a row it is free again.
      addresses.release(service.project, ip);
    }
  };

  const removeOne = async (row: ReplicaRow): Promise<void> => {
    // Its last lines go with the container.
    await deps.logs.detach(row.container_id);
    await runtime.remove(row.container_id);
    services.replicas.remove(row.container_id);
  };

  /**
   * The proxy may have chosen a replica a moment before the route moved: only two quiet readings in a row count.
   */
  const quiet = async (row: ReplicaRow, seconds: number): Promise<void> => {
    const deadline = clock.monotonic() + seconds * 1000;
    for (let readings = 0; readings < 2 && clock.monotonic() < deadline;) {
      await clock.sleep(DRAIN_POLL_MS);
      readings = (await countConnections(row.ip, row.port)) === 0 ? readings + 1 : 0;
    }
  };

  const discard = async (rows: readonly ReplicaRow[], quietSeconds = 0): Promise<void> => {
    const results = await Promise.allSettled(
      rows.map(async (row) => quiet(row, quietSeconds).then(() => removeOne(row))),
    );
    for (const result of results) {
      // The row stays, and the reconciler tries again.
      if (result.status === 'rejected') log.warn('cannot remove a replica', { reason: messageOf(result.reason) });
    }
  };

  const drainOne = async (row: ReplicaRow, drainSeconds: number): Promise<void> => {
    await quiet(row, drainSeconds);
    await runtime.stop(row.container_id, STOP_GRACE_SECONDS);
    await removeOne(row);
  };

  return {
    start: async (request) => {
      const project = await networks.ensure(request.service.project);
      const results = await Promise.allSettled(request.slots.map((slot) => startOne(request, slot, project)));
      const failure = results.find((result) => result.status === 'rejected');
      if (failure === undefined)
        return results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      await discard(
        services.replicas
          .ofService(request.service.project, request.service.name)
          .filter((row) => row.operation_id === request.operationId && row.state === 'starting'),
      );
      throw failure.reason;
    },
    discard,
    drain: async (rows, drainSeconds) => {
      const results = await Promise.allSettled(rows.map((row) => drainOne(row, drainSeconds)));
      for (const result of results) {
        if (result.status === 'rejected') log.warn('cannot retire a replica', { reason: messageOf(result.reason) });
      }
    },
  };
};
