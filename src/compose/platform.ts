import { BASE_IMAGES } from '#engines/builder/base-images';
import type { ControlPlaneRoute } from '#engines/proxy/port';
import type { DeployEngine } from '#deploy/index';
import type { Clock } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { Engines } from './engines.ts';

export interface PlatformDeps {
  engines: Engines;
  deploy: DeployEngine;
  /** Brings datastores back in step, after a start. */
  recoverDatastores: () => Promise<void>;
  controlPlane: ControlPlaneRoute;
  clock: Clock;
  log: Log;
  /** Whether no operation runs: seeding waits for that. */
  idle: () => boolean;
  seedBaseImages: boolean;
  /** Called when the engine answers again after it was away. */
  onEngineBack: () => void;
  /** Called once everything is there and repaired: operations may run. */
  onReady: () => void;
}

/** What berth itself runs on the engine: registry, proxy, firewall. */
export interface Platform {
  /** Starts what does not run; idempotent and quick. */
  ensure(): Promise<void>;
  /** Why it is not ready, or undefined when it is. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

const RETRY_MS = 2000;
/** Compressing a base image takes seconds of a core: deploys go first. */
const SEED_PAUSE_MS = 10_000;

/**
 * Brings the platform up in the background, and tries again while the engine is away: the API answers meanwhile, and says
 * what is missing.
 */
export const startPlatform = (deps: PlatformDeps): Platform => {
  const { engines, deploy, clock, log } = deps;
  const stopping = new AbortController();
  let problem: string | undefined = 'berth is starting';

  const ensure = async (): Promise<void> => {
    await engines.registry.ensure();
    await engines.proxy.ensure();
    const firewall = await engines.firewall?.ensure();
    if (firewall !== undefined && firewall.state !== 'active') {
      log.warn('containers are not kept off the host', { reason: firewall.reason, hint: firewall.hint });
    }
  };

  const bringUp = async (): Promise<void> => {
    await ensure();
    await engines.proxy.applyControlPlane(deps.controlPlane);
    await deploy.recovery.atStart();
    await deps.recoverDatastores();
    problem = undefined;
    deps.onReady();
  };

  /** So that the first deploy on a base image need not compress and upload it. */
  const seed = async (): Promise<void> => {
    if (!deps.seedBaseImages) return;
    for (const ref of BASE_IMAGES) {
      do await clock.sleep(SEED_PAUSE_MS, stopping.signal);
      while (!deps.idle() && !stopping.signal.aborted);
      if (stopping.signal.aborted) return;
      try {
        if ((await engines.runtime.inspectImage(ref)) !== undefined) await engines.registry.seed(ref, stopping.signal);
      } catch (error) {
        if (!stopping.signal.aborted)
          log.warn('cannot put a base image into the registry', { image: ref, reason: messageOf(error) });
      }
    }
  };

  const work = (async () => {
    while (!stopping.signal.aborted && problem !== undefined) {
      try {
        await bringUp();
      } catch (error) {
        problem = messageOf(error);
        log.error('cannot bring the platform up; trying again', error);
        await clock.sleep(RETRY_MS, stopping.signal);
      }
    }
    await Promise.all([deploy.watcher.run(stopping.signal, deps.onEngineBack), seed()]);
  })();

  return {
    ensure,
    problem: () => problem,
    stop: async () => {
      stopping.abort();
      await work;
    },
  };
};
