import type { Outcome, Run } from '#modules/operations';
import type { BuildCaches } from './build-caches.ts';
import type { DeployDeps } from './deps.ts';
import type { DatastoreOperations } from './dispatch.ts';
import type { Replicas } from './replicas.ts';

/** Deletes services and projects with all that belongs to them. Every step is idempotent, so that a restart just goes on. */
export interface Teardown {
  service(run: Run): Promise<Outcome>;
  project(run: Run): Promise<Outcome>;
}

export interface TeardownParts {
  replicas: Replicas;
  caches: BuildCaches;
  datastores: Pick<DatastoreOperations, 'removeProject'>;
  /** Deletes the repositories of a project. Idempotent. */
  removeRepos: (project: string) => Promise<void>;
}

export const createTeardown = (
  deps: DeployDeps,
  { replicas, caches, datastores, removeRepos }: TeardownParts,
): Teardown => {
  const { services, releases, projects } = deps;

  /** All that a service has but its row, and its share of the build cache. */
  const dismantle = async (run: Run, project: string, name: string): Promise<void> => {
    const service = services.get(project, name);
    if (service === undefined) return;
    run.log('berth', `service ${name}: taking the route down, then its replicas`);
    await deps.proxy.remove(project, name);
    await replicas.drain(services.replicas.ofService(project, name), service.drain_seconds);
    for (const release of releases.ofService(project, name)) {
      await deps.registry.remove(`${project}/${name}`, release.digest);
      await deps.runtime.removeImage(release.image);
    }
    await deps.registry.removeRepository(`${project}/${name}`);
    await deps.logs.remove(project, name);
  };

  /** The rows go last: they say whose the cache is. */
  const removeServices = async (run: Run, project: string, names: readonly string[]): Promise<void> => {
    for (const name of names) await dismantle(run, project, name);
    if (names.length > 0) await caches.drop(project, names);
    for (const name of names) services.remove(project, name);
  };

  return {
    service: async (run) => {
      run.phase('rolling_out', `deleting service ${run.service}`);
      const there = services.get(run.project, run.service) !== undefined;
      await removeServices(run, run.project, there ? [run.service] : []);
      return { phase: 'healthy', error: null, result: { deleted: true } };
    },
    project: async (run) => {
      const project = projects.get(run.project);
      if (project === undefined) return { phase: 'healthy', error: null, result: { deleted: true } };
      run.phase('rolling_out', `deleting project ${run.project}`);
      const names = services.list(run.project).map(({ name }) => name);
      await removeServices(run, run.project, names);
      await datastores.removeProject(run);
      await removeRepos(run.project);
      await deps.runtime.removeNetwork(project.network);
      deps.db
        .transaction(() => {
          projects.remove(run.project);
          deps.operations.forget(run.project, run.id);
        })
        .immediate();
      return { phase: 'healthy', error: null, result: { deleted: true } };
    },
  };
};
