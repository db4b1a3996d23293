import { Cron } from 'croner';
import { messageOf } from '#kernel/errors';
import { systemCtx } from '#kernel/ctx';
import type { NewId } from '#kernel/ids';
import type { Operations } from '#modules/operations';
import type { BuildCaches } from './build-caches.ts';
import type { Collector } from './collect.ts';
import type { DeployDeps } from './deps.ts';
import type { Recovery } from './recover.ts';

export interface MaintenanceDeps extends DeployDeps {
  newId: NewId;
  queue: Pick<Operations, 'enqueue' | 'busy'>;
  recovery: Recovery;
  collector: Collector;
  caches: BuildCaches;
  /** Puts the firewall rules and the platform's containers back when someone removed them. */
  ensurePlatform: () => Promise<void>;
}

const HEAL_EVERY_MS = 30_000;
/** Daily, at a quiet hour of UTC. */
const DISK_SCHEDULE = '17 3 * * *';

export interface Maintenance {
  /** Looks at once for what is to be mended: the engine was away. */
  hurry(): void;
  stop(): Promise<void>;
}

/** What berth does unasked: brings the world back to the wanted state, and frees disk. */
export const startMaintenance = (deps: MaintenanceDeps): Maintenance => {
  const stopping = new AbortController();
  let pause = new AbortController();
  let untidy = false;

  const heal = async (): Promise<void> => {
    await deps.ensurePlatform();
    for (const { project, service } of await deps.recovery.heal()) {
      if (deps.queue.busy(project, service)) continue;
      const row = deps.services.get(project, service);
      if (row === undefined) continue;
      deps.log.info('a service has fewer replicas than wanted: starting them', { project, service });
      deps.queue.enqueue(systemCtx(deps.newId('req')), {
        kind: 'scale',
        project,
        service,
        input: { replicas: row.replicas },
      });
    }
    if (!untidy) return;
    await deps.recovery.tidy();
    untidy = false;
  };

  const guarded = async (what: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      deps.log.warn(`maintenance could not ${what}`, { reason: messageOf(error) });
    }
  };

  const loop = (async () => {
    while (!stopping.signal.aborted) {
      pause = new AbortController();
      await guarded('heal', heal);
      await deps.clock.sleep(HEAL_EVERY_MS, AbortSignal.any([stopping.signal, pause.signal]));
    }
  })();
  const counting = deps.caches.run(stopping.signal);
  const disk = new Cron(DISK_SCHEDULE, { timezone: 'UTC', protect: true }, () =>
    guarded('free disk', deps.collector.disk),
  );

  return {
    hurry: () => {
      untidy = true;
      pause.abort();
    },
    stop: async () => {
      stopping.abort();
      disk.stop();
      await Promise.all([loop, counting]);
    },
  };
};
