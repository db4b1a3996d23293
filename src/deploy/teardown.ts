import type { Outcome, Run } from '#modules/operations';
import type { DeployDeps } from './deps.ts';
import type { Replicas } from './replicas.ts';

/** Deletes services and projects with all that belongs to them. Every step is idempotent, so that a restart just goes on. */
export interface Teardown {
  service(run: Run): Promise<Outcome>;
  project(run: Run): Promise<Outcome>;
}

export const createTeardown = (deps: DeployDeps, replicas: Replicas): Teardown => {
  const { services, releases, projects } = deps;

  const removeService = async (run: Run, project: string, name: string): Promise<void> => {
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
    services.remove(project, name);
  };

  return {
    service: async (run) => {
      run.phase('rolling_out', `deleting service ${run.service}`);
      await removeService(run, run.project, run.service);
      return { phase: 'healthy', error: null, result: { deleted: true } };
    },
    project: async (run) => {
      const project = projects.get(run.project);
      if (project === undefined) return { phase: 'healthy', error: null, result: { deleted: true } };
      run.phase('rolling_out', `deleting project ${run.project}`);
      for (const service of services.list(run.project)) await removeService(run, run.project, service.name);
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
