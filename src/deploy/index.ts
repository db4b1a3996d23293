import { createAddresses } from './addresses.ts';
import { createAdjust } from './adjust.ts';
import { createBuildCaches, type BuildCaches } from './build-caches.ts';
import { createBuilds } from './builds.ts';
import { createCollector, type Collector } from './collect.ts';
import type { DeployDeps } from './deps.ts';
import { createAftermath, createDispatch } from './dispatch.ts';
import { createPipeline } from './pipeline.ts';
import { createRecovery, type Recovery } from './recover.ts';
import { createNetworks } from './networks.ts';
import { createReleaseCommand } from './release-command.ts';
import { createReplicas } from './replicas.ts';
import { createRollout } from './rollout.ts';
import { createSemaphore, type Semaphore } from './semaphore.ts';
import { createTeardown } from './teardown.ts';
import { createWatcher, type Watcher } from './watch.ts';
import type { Executor } from '#modules/operations';

export type { DeployDeps } from './deps.ts';
export { createCreateDeploy, type CreateDeploy } from './create-deploy.ts';
export { startMaintenance, type Maintenance } from './maintenance.ts';
export { deployRoutes } from './routes.ts';
export { bridgePrefix, firewallSpec, firstAddress, LABEL } from './specs.ts';

/** Everything that carries out operations. */
export interface DeployEngine {
  execute: Executor;
  aftermath: ReturnType<typeof createAftermath>;
  recovery: Recovery;
  collector: Collector;
  watcher: Watcher;
  buildSlots: Semaphore;
  caches: BuildCaches;
}

export const createDeployEngine = (deps: DeployDeps, slotCount: number): DeployEngine => {
  const addresses = createAddresses((project) => deps.services.replicas.ofProject(project).map((row) => row.ip));
  const networks = createNetworks(deps);
  const replicas = createReplicas(deps, addresses, networks);
  const rollout = createRollout(deps, replicas);
  const slots = createSemaphore(slotCount);
  const caches = createBuildCaches(deps);
  const collector = createCollector(deps, caches);
  return {
    buildSlots: slots,
    caches,
    collector,
    recovery: createRecovery(deps, replicas),
    watcher: createWatcher(deps),
    aftermath: createAftermath(deps, collector),
    execute: createDispatch({
      pipeline: createPipeline(deps, {
        builds: createBuilds(deps, slots, caches),
        releaseCommand: createReleaseCommand(deps, addresses, networks),
        rollout,
      }),
      adjust: createAdjust(deps, rollout),
      teardown: createTeardown(deps, replicas, caches),
    }),
  };
};
