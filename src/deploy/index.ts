import { createAddresses, type Addresses } from './addresses.ts';
import { createAdjust } from './adjust.ts';
import { createBuildCaches, type BuildCaches } from './build-caches.ts';
import { createBuilds } from './builds.ts';
import { createCollector, type Collector } from './collect.ts';
import type { DeployDeps } from './deps.ts';
import { createAftermath, createDispatch, type DatastoreOperations } from './dispatch.ts';
import { createPipeline } from './pipeline.ts';
import { createRecovery, type Recovery } from './recover.ts';
import { createNetworks, type Networks, type NetworksDeps } from './networks.ts';
import { createReleaseCommand } from './release-command.ts';
import { createReplicas } from './replicas.ts';
import { createRollout } from './rollout.ts';
import { createSemaphore, type Semaphore } from '#kernel/semaphore';
import { createTeardown, type TeardownParts } from './teardown.ts';
import { createWatcher, type Watcher } from './watch.ts';
import type { Executor } from '#modules/operations';

export type { DatastorePresence, DeployDeps } from './deps.ts';
export type { DatastoreOperations } from './dispatch.ts';
export type { Addresses } from './addresses.ts';
export type { Networks, NetworksDeps } from './networks.ts';
export { createDeployCommit, type DeployCommit, type DeployCommitDeps } from './deploy-commit.ts';
export { createCreateDeploy, type CreateDeploy } from './create-deploy.ts';
export { startMaintenance, type Maintenance } from './maintenance.ts';
export { deployRoutes } from './routes.ts';
export { requireDisk } from './admission.ts';
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

/** Where containers of projects get their place. Shared by all that start some. */
export interface Places {
  addresses: Addresses;
  networks: Networks;
}

export const createPlaces = (deps: NetworksDeps): Places => ({
  addresses: createAddresses((project) => [
    ...deps.services.replicas.ofProject(project).map((row) => row.ip),
    ...deps.datastores.addresses(project),
  ]),
  networks: createNetworks(deps),
});

export interface DeployOptions {
  /** Builds at a time. */
  slots: number;
  places: Places;
  datastores: DatastoreOperations;
  removeRepos: TeardownParts['removeRepos'];
}

export const createDeployEngine = (deps: DeployDeps, options: DeployOptions): DeployEngine => {
  const { addresses, networks } = options.places;
  const replicas = createReplicas(deps, addresses, networks);
  const rollout = createRollout(deps, replicas);
  const slots = createSemaphore(options.slots);
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
      teardown: createTeardown(deps, {
        replicas,
        caches,
        datastores: options.datastores,
        removeRepos: options.removeRepos,
      }),
      datastores: options.datastores,
    }),
  };
};
