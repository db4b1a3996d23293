import { takenSubnets } from '#engines/runtime/host-routes';
import { allocateSubnet, isFreeSubnet } from '#engines/runtime/subnets';
import { BerthError } from '#kernel/errors';
import type { ProjectRow } from '#modules/projects';
import type { DeployDeps } from './deps.ts';
import { projectNetwork } from './specs.ts';

export interface Networks {
  /** Makes the network of a project when it is missing, and returns the project as it is then. */
  ensure(project: string): Promise<ProjectRow>;
}

const ATTEMPTS = 5;

export type NetworksDeps = Pick<
  DeployDeps,
  'config' | 'db' | 'instance' | 'log' | 'projects' | 'runtime' | 'services' | 'datastores'
>;

/** The networks of projects. A network is made by the first container, and its subnet was allotted when the project was. */
export const createNetworks = (deps: NetworksDeps): Networks => {
  const { config, runtime, projects } = deps;
  const underWay = new Map<string, Promise<ProjectRow>>();

  const isConflict = (error: unknown): boolean => error instanceof BerthError && error.kind === 'CONFLICT';

  /** Another subnet, when somebody else took the allotted one meanwhile; undefined when that is not what is wrong. */
  const reallot = async (project: ProjectRow): Promise<ProjectRow | undefined> => {
    if (deps.services.replicas.ofProject(project.name).length > 0) return undefined;
    if (deps.datastores.addresses(project.name).length > 0) return undefined;
    const foreign = await takenSubnets(runtime);
    if (isFreeSubnet(project.subnet, foreign)) return undefined;
    return deps.db
      .transaction(() => {
        const allotted = allocateSubnet(config.networkPool, config.networkSize, [...foreign, ...projects.subnets()]);
        if (allotted === undefined) return undefined;
        projects.setSubnet(project.name, allotted.subnet);
        deps.log.info('a project got another subnet: its own was taken', { project: project.name, ...allotted });
        return projects.require(project.name);
      })
      .immediate();
  };

  const make = async (name: string): Promise<ProjectRow> => {
    let project = projects.require(name);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await runtime.ensureNetwork(projectNetwork(deps.instance, project));
        return project;
      } catch (error) {
        const other = isConflict(error) && attempt < ATTEMPTS ? await reallot(project) : undefined;
        if (other === undefined) throw error;
        project = other;
      }
    }
  };

  return {
    ensure: (name) => {
      // Services of one project that are deployed at the same time share the attempt.
      const made = underWay.get(name) ?? make(name).finally(() => underWay.delete(name));
      underWay.set(name, made);
      return made;
    },
  };
};
