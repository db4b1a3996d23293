import { conflict } from '#kernel/errors';
import type { Outcome, Run } from '#modules/operations';
import type { ReleaseRow } from '#modules/releases';
import type { ServiceRow } from '#modules/services';
import { changeOver } from './change-over.ts';
import type { DeployDeps } from './deps.ts';
import { rolledBack, succeeded } from './outcomes.ts';
import { rollOut, type Rollout } from './rollout.ts';

/** What `scaleService` changes; keys are columns of the service. */
export type ScaleInput = Partial<
  Pick<
    ServiceRow,
    'replicas' | 'health_path' | 'health_timeout_seconds' | 'drain_seconds' | 'memory_mb' | 'cpus' | 'protocol'
  >
>;

/** Changes that need no build: they roll out a release that is there. */
export interface Adjust {
  /** Goes back to `input.release`. */
  rollback(run: Run): Promise<Outcome>;
  /** Replaces every replica by one of the same release, with today's env. */
  restart(run: Run): Promise<Outcome>;
  /** Applies new settings, and reaches the wanted replica count. */
  scale(run: Run): Promise<Outcome>;
}

export const createAdjust = (deps: DeployDeps, rollout: Rollout): Adjust => {
  const { services, releases } = deps;

  const requireService = (run: Run): ServiceRow => {
    const service = services.get(run.project, run.service);
    if (service === undefined)
      throw conflict(`service "${run.service}" was deleted meanwhile`, 'deploy it again to make it anew');
    return service;
  };

  const requireRelease = (service: ServiceRow, id: string | null): ReleaseRow => {
    const release = id === null ? undefined : releases.get(service.project, service.name, id);
    if (release === undefined)
      throw conflict(`service "${service.name}" has no release ${id ?? 'that is live'}`, 'deploy the service first');
    return release;
  };

  /** Rolls `release` out with the settings of `target`; `commit` runs in the transaction that makes it live. */
  const apply = async (
    run: Run,
    target: ServiceRow,
    release: ReleaseRow,
    options: { replaceAll: boolean; commit: () => void },
  ): Promise<Outcome> => {
    try {
      const image = await deps.runtime.ensureImage(release.image, run.signal);
      const request = changeOver(target, services.replicas.ofService(target.project, target.name), image.id, options);
      run.phase(
        'rolling_out',
        `release ${release.id}: ${request.slots.length} to start, ${request.retire.length} to retire`,
      );
      await rollOut(run, rollout, { request, release: release.id, commit: options.commit });
      return succeeded(deps.config, target, release);
    } catch (error) {
      if (run.signal.aborted) throw error;
      return rolledBack(services.get(target.project, target.name) ?? target, error);
    }
  };

  const now = (): number => deps.clock.now();

  return {
    rollback: (run) => {
      const service = requireService(run);
      const release = requireRelease(service, String(run.input.release));
      return apply(run, service, release, {
        replaceAll: true,
        commit: () => {
          const previous = service.live_release === release.id ? service.previous_release : service.live_release;
          services.update(service.project, service.name, {
            live_release: release.id,
            previous_release: previous,
            updated_at: now(),
          });
          releases.markLive(service.project, service.name, release.id, now());
        },
      });
    },
    restart: (run) => {
      const service = requireService(run);
      return apply(run, service, requireRelease(service, service.live_release), {
        replaceAll: true,
        commit: () => undefined,
      });
    },
    scale: async (run) => {
      const service = requireService(run);
      const patch = run.input as ScaleInput;
      const target: ServiceRow = { ...service, ...patch, updated_at: now() };
      const commit = (): void => services.update(service.project, service.name, { ...patch, updated_at: now() });
      if (service.live_release === null) {
        commit();
        return { phase: 'healthy', error: null, result: { replicas: target.replicas } };
      }
      return apply(run, target, requireRelease(service, service.live_release), {
        replaceAll: needsNewReplicas(service, target),
        commit,
      });
    },
  };
};

/** Limits and the protocol are part of a container; the count, drain and health settings are not. */
const needsNewReplicas = (before: ServiceRow, after: ServiceRow): boolean =>
  before.memory_mb !== after.memory_mb ||
  before.cpus !== after.cpus ||
  before.protocol !== after.protocol ||
  before.health_path !== after.health_path;
