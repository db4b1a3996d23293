import { createAddresses } from './addresses.ts';
import { createAdjust } from './adjust.ts';
import { createCollector, type Collector } from './collect.ts';
import type { DeployDeps } from './deps.ts';
import { createAftermath, createDispatch } from './dispatch.ts';
import { createPipeline } from './pipeline.ts';
import { createRecovery, type Recovery } from './recover.ts';
import { createNetworks } from './networks.ts';
import { createReplicas } from './replicas.ts';
import { createRollout } from './rollout.ts';
import { createSemaphore, type Semaphore } from './semaphore.ts';
import { createTeardown } from './teardown.ts';
import { createWatcher, type Watcher } from './watch.ts';
import type { Executor } from '#modules/operations';

export type { DeployDeps } from './deps.ts';
export { createCreateDeploy, type CreateDeploy } from './create-deploy.ts';
export { startMaintenance } from './maintenance.ts';
export { deployRoutes } from './routes.ts';
export { bridgePrefix, firewallSpec, firstAddress, LABEL } from './specs.ts';

/** Everything that carries out operations. */
export interface DeployEngine {
  execute: Executor;
  aftermath: ReturnType<typeof createAftermath>;
  recovery: Recovery;
  collector: Collector;
  watcher: Watcher;
  builds: Semaphore;
}

export const createDeployEngine = (deps: DeployDeps, buildSlots: number): DeployEngine => {
  const addresses = createAddresses((project) => deps.services.replicas.ofProject(project).map((row) => row.ip));
  const replicas = createReplicas(deps, addresses, createNetworks(deps));
  const rollout = createRollout(deps, replicas);
  const builds = createSemaphore(buildSlots);
  const collector = createCollector(deps);
  return {
    builds,
    collector,
    recovery: createRecovery(deps, replicas),
    watcher: createWatcher(deps),
    aftermath: createAftermath(deps, collector),
    execute: createDispatch({
      pipeline: createPipeline(deps, rollout, builds),
      adjust: createAdjust(deps, rollout),
      teardown: createTeardown(deps, replicas),
    }),
  };
};
