import type { Ctx } from '#kernel/ctx';
import { accepted, type Accepted, type Operations } from '#modules/operations';
import type { ServiceRow } from '#modules/services';
import { createAdmission, requireRoom, type Admission } from './admission.ts';
import type { DeployInput } from './builds.ts';
import type { DeployDeps } from './deps.ts';

/** The two steps by which any deploy is taken, whatever way its source came. */
export interface AcceptDeploy {
  /** Fails when the deploy may not begin. Call it before a source is taken, and again after. */
  admit: Admission;
  /** Queues the deploy of an archive that lies in the uploads; the service is made with its first one. */
  enqueue(ctx: Ctx, service: ServiceRow, input: DeployInput): Accepted;
}

export interface AcceptDeployDeps extends DeployDeps {
  queue: Pick<Operations, 'enqueue'>;
}

export const createAcceptDeploy = (deps: AcceptDeployDeps): AcceptDeploy => {
  const { services } = deps;
  return {
    admit: createAdmission(deps),
    enqueue: (ctx, service, input) =>
      deps.db
        .transaction(() => {
          const { project, name } = service;
          const actor = ctx.actor.principal;
          if (services.get(project, name) === undefined) {
            // Another first deploy may have been admitted while this one was uploaded.
            requireRoom(deps, project);
            services.insert(service);
            deps.events.emit({ project, kind: 'service.created', actor, data: { service: name } });
          }
          const operation = deps.queue.enqueue(ctx, { kind: 'deploy', project, service: name, input: { ...input } });
          const commit = input.commit === null ? {} : { commit: input.commit };
          const repo = input.repo === undefined ? {} : { repo: input.repo.name };
          const data = { service: name, operation_id: operation.operation_id, ...commit, ...repo };
          deps.events.emit({ project, kind: 'deploy.queued', actor, data });
          return accepted(operation);
        })
        .immediate(),
  };
};
