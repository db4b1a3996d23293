import type { Route } from '#engines/proxy/port';
import type { ReplicaRow } from '#modules/services';
import type { DeployDeps } from './deps.ts';

export interface RouteChange {
  /** Moves the route, and from now on lets the engine restart the new replicas. When it rejects, the route is as it was. */
  move(before: Route, after: Route, started: readonly ReplicaRow[]): Promise<void>;
  /** Puts a route back. It never rejects: it follows a failure that counts for more. */
  restore(route: Route): Promise<void>;
}

export const createRouteChange = ({
  proxy,
  runtime,
  log,
}: Pick<DeployDeps, 'proxy' | 'runtime' | 'log'>): RouteChange => {
  const restore = async (route: Route): Promise<void> => {
    try {
      await proxy.apply(route);
    } catch (error) {
      log.error('cannot put a route back', error, { project: route.project, service: route.service });
    }
  };
  return {
    restore,
    move: async (before, after, started) => {
      const [routed, kept] = await Promise.allSettled([
        proxy.apply(after),
        Promise.all(started.map((row) => runtime.keepRunning(row.container_id))),
      ]);
      if (routed.status === 'rejected') throw routed.reason;
      if (kept.status === 'rejected') {
        await restore(before);
        throw kept.reason;
      }
    },
  };
};
