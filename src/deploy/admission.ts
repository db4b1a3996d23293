import { statfs } from 'node:fs/promises';
import { BerthError, conflict, messageOf } from '#kernel/errors';
import type { ServiceRow } from '#modules/services';
import type { DeployDeps } from './deps.ts';

/**
 * Whether a deploy may begin: the project is there, its quota has room, and the disks have. Returns the service, as it is
 * or as the deploy will make it.
 */
export type Admission = (target: { project: string; service: string }) => Promise<ServiceRow>;

export const createAdmission = (deps: DeployDeps): Admission => {
  const { config, services } = deps;
  const checkDisk = requireDisk(deps);

  const admit: Admission = async (target) => {
    deps.projects.requireActive(target.project);
    const existing = services.get(target.project, target.service);
    const open = deps.operations.openOf(target.project);
    if (open.some((row) => row.kind === 'service.delete' && row.service === target.service))
      throw conflict(
        `service "${target.service}" is being deleted`,
        'wait until it is gone, then deploy it anew',
        true,
      );
    if (existing === undefined) requireRoom(deps, target.project);
    await checkDisk();
    return existing ?? newService(target);
  };

  const newService = (target: { project: string; service: string }): ServiceRow => ({
    project: target.project,
    name: target.service,
    replicas: 1,
    health_path: null,
    health_timeout_seconds: config.healthTimeoutSeconds,
    drain_seconds: 10,
    memory_mb: config.defaultMemoryMb,
    cpus: config.defaultCpus,
    protocol: 'http',
    live_release: null,
    previous_release: null,
    build_memory: '{}',
    created_at: deps.clock.now(),
    updated_at: deps.clock.now(),
  });

  return admit;
};

/** Fails when a disk that berth writes to is below the floor of free space. */
export const requireDisk = ({ config, runtime, log }: Pick<DeployDeps, 'config' | 'runtime' | 'log'>) => {
  let dockerRoot: string | undefined;

  /** Uploads, backups and the registry live in the data directory; images, volumes and build cache in the engine's. */
  const diskPaths = async (): Promise<string[]> => {
    try {
      dockerRoot ??= (await runtime.info()).dockerRootDir;
    } catch (error) {
      // What needs the engine will say so in its turn; uploads are welcome until then.
      log.warn('cannot ask the engine where its images live', { reason: messageOf(error) });
    }
    return [config.dataDir, ...(dockerRoot === undefined ? [] : [dockerRoot])];
  };

  return async (): Promise<void> => {
    for (const path of await diskPaths()) {
      const disk = await statfs(path);
      const free = disk.bavail * disk.bsize;
      const needed = Math.max(config.minFreeBytes, (disk.blocks * disk.bsize * config.minFreePercent) / 100);
      if (free < needed) throw diskFull(path, free, needed);
    }
  };
};

/** QUOTA_EXCEEDED when the project may have no further service. */
export const requireRoom = ({ config, services }: Pick<DeployDeps, 'config' | 'services'>, project: string): void => {
  const count = services.count(project);
  if (count < config.quotaServices) return;
  throw new BerthError(
    'QUOTA_EXCEEDED',
    `project "${project}" has ${count} of at most ${config.quotaServices} services`,
    {
      hint: 'delete a service, or raise quota_services in the server configuration',
    },
  );
};

const diskFull = (path: string, free: number, needed: number): BerthError => {
  const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  return new BerthError(
    'QUOTA_EXCEEDED',
    `${path} has ${mib(free)} MiB free; builds and datastores need at least ${mib(needed)} MiB`,
    {
      hint: 'free disk space on the server (berth doctor shows what uses it), then try again',
      retryable: true,
      httpStatus: 507,
      retryAfterSeconds: 60,
    },
  );
};
