import type { Database } from 'bun:sqlite';
import type { Config } from '#kernel/config';
import type { Ctx } from '#kernel/ctx';
import { BerthError, conflict, invalidInput, notFound } from '#kernel/errors';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { requireCapability, requireProject } from '#kernel/scope';
import { accepted, type Accepted, type OperationKind, type Operations } from '#modules/operations';
import type { ReleaseStore } from '#modules/releases';
import type { Liveness } from './liveness.ts';
import type { Service, ServiceDetail, Settings } from './model.ts';
import type { ReadReplicas } from './readings.ts';
import type { ServiceRow, ServiceStore } from './store.ts';
import { replicaView, serviceView } from './view.ts';

export interface ServicePath {
  project: string;
  service: string;
}

/** The verbs on services. A service is made by its first deploy. */
export interface Services {
  /** At most `page.limit + 1` in the order of their names. */
  listServices(ctx: Ctx, project: string, page: Page): Service[];
  getService(ctx: Ctx, path: ServicePath): Promise<ServiceDetail>;
  /** `scale` suffices for the replica count; other settings need `deploy` too. */
  scaleService(ctx: Ctx, path: ServicePath, settings: Settings): Accepted | Service | DryRun;
  rollbackService(ctx: Ctx, path: ServicePath, release: string | undefined): Accepted | DryRun;
  restartService(ctx: Ctx, path: ServicePath): Accepted | DryRun;
  deleteService(ctx: Ctx, path: ServicePath): Accepted | DryRun;
  /** Every service of a project, as callers see it. */
  views(project: string): Service[];
  /** NOT_FOUND for a missing service. */
  liveRelease(project: string, service: string): string | null;
}

export interface ServicesDeps {
  db: Database;
  config: Config;
  store: ServiceStore;
  releases: Pick<ReleaseStore, 'get'>;
  operations: Operations;
  liveness: Liveness;
  readReplicas: ReadReplicas;
  requireExists: (project: string) => void;
  /** NOT_FOUND for a missing project, CONFLICT for one that is being deleted. */
  requireActive: (project: string) => void;
}

export const createServices = (deps: ServicesDeps): Services => {
  const { config, store, operations } = deps;

  const requireRow = ({ project, service }: ServicePath): ServiceRow => {
    const row = store.get(project, service);
    if (row === undefined) throw serviceNotFound(project, service);
    return row;
  };
  const view = (row: ServiceRow): Service => {
    const live = store.replicas.ofService(row.project, row.name).filter((replica) => replica.state === 'live');
    const running = live.filter((replica) => deps.liveness.running(replica.container_id)).length;
    const buildCacheBytes = store.caches.bytes(row.project, row.name);
    return serviceView(config, row, { running, busy: operations.busy(row.project, row.name), buildCacheBytes });
  };
  const openOf = (path: ServicePath, kind: OperationKind): Accepted | undefined => {
    for (const status of ['running', 'queued'] as const) {
      const [open] = operations.list({ projects: ['*'], ...path, kind, status }, { limit: 1, after: undefined });
      if (open !== undefined) return accepted(open);
    }
    return undefined;
  };
  /** What every change of a service asks first. */
  const requireChangeable = (ctx: Ctx, path: ServicePath): ServiceRow => {
    requireProject(ctx.actor, path.project);
    deps.requireActive(path.project);
    const row = requireRow(path);
    if (openOf(path, 'service.delete') !== undefined) {
      throw conflict(`service "${path.service}" is being deleted`, 'wait until it is gone, then deploy it anew', true);
    }
    return row;
  };
  const enqueue = (ctx: Ctx, row: ServiceRow, kind: OperationKind, input: Record<string, unknown>): Accepted =>
    deps.db
      .transaction(() => accepted(operations.enqueue(ctx, { kind, project: row.project, service: row.name, input })))
      .immediate();

  return {
    listServices: (ctx, project, page) => {
      requireProject(ctx.actor, project);
      deps.requireExists(project);
      return store.list(project, page).map(view);
    },
    getService: async (ctx, path) => {
      requireProject(ctx.actor, path.project);
      deps.requireExists(path.project);
      requireRow(path);
      const readings = await deps.readReplicas(idsOf(store, path));
      const nothing = { state: undefined, usage: undefined };
      // Read anew: the service may have changed while the engine was asked.
      const rows = store.replicas.ofService(path.project, path.service);
      const row = requireRow(path);
      const replicas = rows.map((replica) => replicaView(replica, readings.get(replica.container_id) ?? nothing, row));
      return { ...view(row), replica_states: replicas };
    },
    scaleService: (ctx, path, settings) => {
      const row = requireChangeable(ctx, path);
      if (Object.keys(settings).some((key) => key !== 'replicas')) requireCapability(ctx.actor, 'deploy');
      requireQuota(config, settings);
      const changes = changesOf(row, settings);
      if (ctx.dryRun) return scalePlan(row, changes);
      // A scaling that waits may be about to change what the row says now: then the new one comes after it.
      if (Object.keys(changes).length === 0 && openOf(path, 'scale') === undefined) return view(row);
      return enqueue(ctx, row, 'scale', { ...settings });
    },
    rollbackService: (ctx, path, release) => {
      const row = requireChangeable(ctx, path);
      const target = rollbackTarget(deps, row, release);
      if (ctx.dryRun) return rollbackPlan(row, target);
      return enqueue(ctx, row, 'rollback', { release: target });
    },
    restartService: (ctx, path) => {
      const row = requireChangeable(ctx, path);
      requireRunnable(row);
      if (ctx.dryRun) return restartPlan(row);
      return enqueue(ctx, row, 'restart', {});
    },
    deleteService: (ctx, path) => {
      requireProject(ctx.actor, path.project);
      deps.requireActive(path.project);
      const row = requireRow(path);
      const open = operations.openChanges(path.project, { service: path.service });
      if (ctx.dryRun) return deletionPlan(row, open);
      const deletion = openOf(path, 'service.delete') ?? enqueue(ctx, row, 'service.delete', {});
      for (const id of open) operations.cancel(ctx, id);
      return deletion;
    },
    views: (project) => store.list(project).map(view),
    liveRelease: (project, service) => requireRow({ project, service }).live_release,
  };
};

const serviceNotFound = (project: string, service: string): BerthError =>
  notFound(
    `no service named "${service}" in project "${project}"`,
    `list the services with GET /v1/projects/${project}/services; the first deploy makes one`,
  );

const idsOf = (store: ServiceStore, { project, service }: ServicePath): string[] =>
  store.replicas.ofService(project, service).map((replica) => replica.container_id);

const requireQuota = (config: Config, { replicas }: Settings): void => {
  if (replicas === undefined || replicas <= config.quotaReplicas) return;
  throw new BerthError('QUOTA_EXCEEDED', `${replicas} replicas exceed the quota of ${config.quotaReplicas} a service`, {
    hint: `ask for at most ${config.quotaReplicas}, or raise quota_replicas in the server's configuration`,
  });
};

const changesOf = (row: ServiceRow, settings: Settings): Partial<Settings> => {
  if (Object.keys(settings).length === 0) {
    throw invalidInput('the body names no setting', 'send {"replicas": 2}, or another setting of the service');
  }
  const changed = Object.entries(settings).filter(([key, value]) => row[key as keyof Settings] !== value);
  return Object.fromEntries(changed) as Partial<Settings>;
};

const scalePlan = (row: ServiceRow, changes: Partial<Settings>): DryRun => {
  const keys = Object.keys(changes) as (keyof Settings)[];
  if (keys.length === 0) return dryRun(`service ${row.name} has these settings already: nothing to do`, []);
  const from = Object.fromEntries(keys.map((key) => [key, row[key]]));
  return dryRun(`change ${keys.join(', ')} of service ${row.name}`, [
    { action: 'update', resource: 'service', name: row.name, from, to: changes },
  ]);
};

const rollbackTarget = ({ releases }: ServicesDeps, row: ServiceRow, wanted: string | undefined): string => {
  const target = wanted ?? row.previous_release;
  if (target === null) {
    const again = row.live_release === null ? 'deploy it first' : 'deploy another release first, or name one';
    throw conflict(`service "${row.name}" has nothing to roll back to`, `${again}; ${releasesHint(row)}`);
  }
  if (releases.get(row.project, row.name, target) === undefined) {
    throw notFound(`service "${row.name}" has no release "${target}"`, releasesHint(row));
  }
  if (target === row.live_release) {
    throw conflict(`release "${target}" is the live one of service "${row.name}" already`, releasesHint(row));
  }
  return target;
};

const releasesHint = (row: ServiceRow): string =>
  `list the releases with GET /v1/projects/${row.project}/services/${row.name}/releases`;

const rollbackPlan = (row: ServiceRow, target: string): DryRun =>
  dryRun(`roll service ${row.name} back to ${target}`, [
    {
      action: 'update',
      resource: 'service',
      name: row.name,
      from: { live_release: row.live_release },
      to: { live_release: target },
    },
    { action: 'restart', resource: 'service', name: row.name, replicas: row.replicas },
  ]);

const requireRunnable = (row: ServiceRow): void => {
  if (row.live_release === null) {
    throw conflict(`service "${row.name}" has no live release to restart`, 'deploy the service first');
  }
  if (row.replicas === 0) {
    throw conflict(`service "${row.name}" is scaled to 0: nothing runs that could restart`, 'scale it up instead');
  }
};

const restartPlan = (row: ServiceRow): DryRun =>
  dryRun(`restart service ${row.name}: new replicas start beside the old ones, which then go`, [
    { action: 'restart', resource: 'service', name: row.name, replicas: row.replicas },
  ]);

const deletionPlan = (row: ServiceRow, open: readonly string[]): DryRun =>
  dryRun(`delete service ${row.name} with its replicas, releases and logs`, [
    ...open.map((id) => ({ action: 'cancel', resource: 'operation', name: id })),
    { action: 'delete', resource: 'service', name: row.name },
  ]);
