import { BerthError } from '#kernel/errors';
import { nextFreeAddress } from '#engines/runtime/subnets';

/**
 * Hands out the fixed addresses of replicas. An address is taken from the moment it is reserved until its replica is gone,
 * so that rollouts of several services in one project never collide.
 */
export interface Addresses {
  /** Reserves one; the caller releases it when the replica never came to be, else once it is removed. */
  reserve(project: { name: string; subnet: string }): string;
  release(project: string, ip: string): void;
}

export const createAddresses = (inUse: (project: string) => string[]): Addresses => {
  const reserved = new Map<string, Set<string>>();
  return {
    reserve: (project) => {
      const own = reserved.get(project.name) ?? new Set<string>();
      const ip = nextFreeAddress(project.subnet, [...inUse(project.name), ...own]);
      if (ip === undefined) {
        throw new BerthError(
          'QUOTA_EXCEEDED',
          `the network ${project.subnet} of project "${project.name}" has no free address`,
          {
            hint: 'scale services of the project down, or delete some',
          },
        );
      }
      reserved.set(project.name, own.add(ip));
      return ip;
    },
    release: (project, ip) => {
      reserved.get(project)?.delete(ip);
    },
  };
};
