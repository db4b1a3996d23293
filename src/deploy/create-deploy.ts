import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ctx } from '#kernel/ctx';
import type { NewId } from '#kernel/ids';
import { dryRun, type Change, type DryRun } from '#kernel/schema';
import type { Accepted } from '#modules/operations';
import type { Plan } from '#engines/builder/plan';
import { plannedBuild } from '#engines/builder/planned-build';
import type { ServiceRow } from '#modules/services';
import { createAcceptDeploy, type AcceptDeployDeps } from './accept-deploy.ts';
import { planSource } from './steps/source.ts';
import { receiveSource } from './upload.ts';

export interface DeployTarget {
  project: string;
  service: string;
  noCache: boolean;
  commit: string | null;
}

export type CreateDeploy = (ctx: Ctx, target: DeployTarget, request: Request) => Promise<Accepted | DryRun>;

export interface CreateDeployDeps extends AcceptDeployDeps {
  newId: NewId;
}

/** Accepts a source: quotas and disk → upload → operation. The service is made with its first deploy. */
export const createCreateDeploy = (deps: CreateDeployDeps): CreateDeploy => {
  const { config, services } = deps;
  const { admit, enqueue } = createAcceptDeploy(deps);

  const planOnly = async (service: ServiceRow, archive: string, signal: AbortSignal): Promise<DryRun> => {
    const workDir = `${archive}.plan`;
    await mkdir(workDir, { recursive: true, mode: 0o700 });
    try {
      const source = await planSource({
        archive,
        workDir,
        service,
        env: deps.env.resolve(service.project),
        clock: deps.clock,
        signal,
      });
      return describe(service, services.get(service.project, service.name) === undefined, source.plan);
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
  };

  return async (ctx, target, request) => {
    const service = await admit(target);
    const uploads = join(config.dataDir, 'uploads');
    await mkdir(uploads, { recursive: true, mode: 0o700 });
    const archive = join(uploads, `${deps.newId('req')}.tar.gz`);
    try {
      const received = await receiveSource({
        request,
        file: archive,
        maxBytes: config.maxUploadBytes,
        clock: deps.clock,
      });
      if (ctx.dryRun) return await planOnly(service, archive, request.signal);
      await admit(target);
      const reply = enqueue(ctx, service, {
        archive,
        sha256: received.sha256,
        noCache: target.noCache,
        commit: target.commit,
      });
      return reply;
    } catch (error) {
      await rm(archive, { force: true });
      throw error;
    } finally {
      if (ctx.dryRun) await rm(archive, { force: true });
    }
  };
};

const describe = (service: ServiceRow, isNew: boolean, plan: Plan): DryRun => {
  const changes: Change[] = [
    { action: 'create', resource: 'release', name: service.name, build: plannedBuild(plan) },
    { action: isNew ? 'create' : 'update', resource: 'route', name: service.name },
  ];
  if (isNew) changes.unshift({ action: 'create', resource: 'service', name: service.name });
  const replicas = `${service.replicas} replica${service.replicas === 1 ? '' : 's'}`;
  return dryRun(`build ${service.name} with ${plan.provider}, then roll out ${replicas}`, changes);
};
