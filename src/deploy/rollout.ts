import { serviceHost } from '#kernel/config';
import type { Route } from '#engines/proxy/port';
import { maskLine } from '#kernel/mask';
import type { Run } from '#modules/operations';
import type { ReplicaRow, ServiceRow } from '#modules/services';
import type { DeployDeps } from './deps.ts';
import { passHealthGate } from './health-gate.ts';
import type { Replicas } from './replicas.ts';
import { createRouteChange } from './route-change.ts';
import { replicaEnv } from './specs.ts';

export interface RolloutRequest {
  service: ServiceRow;
  /** Live replicas that stay; they run the same release with the same settings. */
  keep: ReplicaRow[];
  /** Numbers of the replicas to start. */
  slots: number[];
  /** Live replicas that go once the route has moved. */
  retire: ReplicaRow[];
  image: string;
}

/** Replicas that were started for a rollout and are not live yet. */
export interface Prepared {
  request: RolloutRequest;
  started: ReplicaRow[];
}

export interface Rollout {
  /** Starts the new replicas beside the old ones. Nothing points at them yet. */
  prepare(run: Run, request: RolloutRequest): Promise<Prepared>;
  /** Resolves when every new replica is healthy; rejects as soon as one cannot be. */
  gate(run: Run, prepared: Prepared): Promise<void>;
  /**
   * Route, confirmed by the proxy → commit → drain in the background. Call it after the gate. When it rejects, the new
   * replicas are gone and the route is as it was.
   */
  goLive(run: Run, prepared: Prepared, release: string, commit: () => void): Promise<void>;
  /** Removes the new replicas; their last lines are stored as those of `release`. */
  discard(prepared: Prepared, release: string): Promise<void>;
}

export const createRollout = (deps: DeployDeps, replicas: Replicas): Rollout => {
  const { services } = deps;
  const routes = createRouteChange(deps);

  const gate = async (run: Run, { request, started }: Prepared): Promise<void> => {
    const { service } = request;
    const path = service.protocol === 'h2c' ? null : service.health_path;
    for (const row of started)
      run.log('rollout', `replica ${row.slot}: started at ${row.ip}, probing port ${row.port}${path ?? ''}`);
    const failFast = new AbortController();
    const masker = deps.env.masker(service.project);
    const mask = (line: string): string => maskLine(masker, line);
    const signal = AbortSignal.any([run.signal, failFast.signal]);
    const gates = started.map(async (row) => {
      try {
        await passHealthGate(
          {
            containerId: row.container_id,
            label: `replica ${row.slot}`,
            memoryMb: service.memory_mb,
            ip: row.ip,
            port: row.port,
            path,
          },
          { runtime: deps.runtime, clock: deps.clock, timeoutSeconds: service.health_timeout_seconds, signal, mask },
        );
        run.log('rollout', `replica ${row.slot}: healthy`);
      } catch (error) {
        failFast.abort(error);
        throw error;
      }
    });
    const results = await Promise.allSettled(gates);
    if (results.some((result) => result.status === 'rejected'))
      throw run.signal.aborted ? run.signal.reason : failFast.signal.reason;
  };

  const attachLogs = (rows: readonly ReplicaRow[], release: string): void => {
    for (const row of rows) {
      deps.logs.attach({
        containerId: row.container_id,
        name: row.name,
        project: row.project,
        service: row.service,
        release,
      });
    }
  };

  const discard = async ({ started }: Prepared, release: string): Promise<void> => {
    attachLogs(started, release);
    await replicas.discard(started);
  };

  const goLive = async (run: Run, prepared: Prepared, release: string, commit: () => void): Promise<void> => {
    const { request, started } = prepared;
    const { service } = request;
    const before = routeOf(deps, service, [...request.keep, ...request.retire]);
    try {
      if (run.signal.aborted) throw run.signal.reason;
      await routes.move(before, routeOf(deps, service, [...request.keep, ...started]), started);
    } catch (error) {
      await discard(prepared, release);
      throw error;
    }
    try {
      deps.db
        .transaction(() => {
          for (const row of started) services.replicas.promote(row.container_id, release);
          for (const row of request.retire) services.replicas.setState(row.container_id, 'draining');
          commit();
        })
        .immediate();
    } catch (error) {
      await routes.restore(before);
      await discard(prepared, release);
      throw error;
    }
    attachLogs(started, release);
    run.log('rollout', `the route is live: ${request.keep.length + started.length} replica(s) serve ${release}`);
    // In the background: the release is live, and what drains is in the state for the next start.
    void replicas.drain(request.retire, service.drain_seconds);
  };

  return {
    prepare: async (run, request) => {
      if (run.signal.aborted) throw run.signal.reason;
      const { project } = request.service;
      const attachments = deps.datastores.attachments(project);
      const env = replicaEnv(deps.config, request.service, { ...attachments.env, ...deps.env.resolve(project) });
      const started = await replicas.start({
        service: request.service,
        image: request.image,
        operationId: run.id,
        slots: request.slots,
        env,
        mounts: attachments.mounts,
      });
      return { request, started };
    },
    gate,
    goLive,
    discard,
  };
};

/** A whole rollout of a release that exists: prepare → gate → go live; on failure nothing of it is left. */
export const rollOut = async (
  run: Run,
  rollout: Rollout,
  what: { request: RolloutRequest; release: string; commit: () => void },
): Promise<void> => {
  const prepared = await rollout.prepare(run, what.request);
  try {
    await rollout.gate(run, prepared);
  } catch (error) {
    await rollout.discard(prepared, what.release);
    throw error;
  }
  await rollout.goLive(run, prepared, what.release, what.commit);
};

/** The route of a service to these replicas. */
export const routeOf = (deps: Pick<DeployDeps, 'config'>, service: ServiceRow, rows: readonly ReplicaRow[]): Route => ({
  project: service.project,
  service: service.name,
  hosts: [serviceHost(deps.config, service.project, service.name)],
  upstreams: rows.map((row) => ({ ip: row.ip, port: row.port })),
  protocol: service.protocol,
  healthPath: service.health_path,
});
