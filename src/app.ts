import type { Database } from 'bun:sqlite';
import { deployRoutes, type CreateDeploy } from '#deploy/index';
import { createAddressOf } from '#http/client-address';
import { createFrame, tuneRoutes } from '#http/frame';
import { createGuard } from '#http/guard';
import { createIdempotency } from '#http/idempotency';
import { createMinuteLimit } from '#http/limits';
import { route } from '#http/route';
import type { Streams } from '#http/streams';
import type { Peer } from '#http/server';
import type { Clock } from '#kernel/clock';
import type { NewId } from '#kernel/ids';
import type { Log } from '#kernel/log';
import { envRoutes, type Env } from '#modules/env';
import { eventsRoutes, type Events } from '#modules/events';
import { logsRoutes, type ServiceLogs } from '#modules/logs';
import { operationsRoutes, type Operations } from '#modules/operations';
import { projectsRoutes, type Projects } from '#modules/projects';
import { releasesRoutes, type Releases } from '#modules/releases';
import { servicesRoutes, type Services } from '#modules/services';
import { tokensRoutes, type Tokens } from '#modules/tokens';

export interface AppDeps {
  db: Database;
  clock: Clock;
  newId: NewId;
  log: Log;
  streams: Streams;
  peerOf: Peer;
  proxySecret: string;
  tokens: Tokens;
  projects: Projects;
  services: Services;
  releases: Releases;
  operations: Operations;
  env: Env;
  events: Events;
  logs: ServiceLogs;
  createDeploy: CreateDeploy;
  problem: () => string | undefined;
  requireExists: (project: string) => void;
  requireService: (project: string, service: string) => void;
}

const FAILED_ATTEMPTS_PER_MINUTE = 20;

/** Hangs every module's routes into the frame. */
export const createApp = (deps: AppDeps) => {
  const guard = createGuard({
    authenticator: deps.tokens.authenticator,
    attempts: createMinuteLimit(FAILED_ATTEMPTS_PER_MINUTE, deps.clock),
    addressOf: createAddressOf(deps.proxySecret, deps.peerOf),
    streams: deps.streams,
    newRequestId: () => deps.newId('req'),
    onFault: (message, thrown) => deps.log.error(message, thrown),
  });
  const app = createFrame({
    guard,
    idempotency: createIdempotency(deps.db, deps.clock),
    onFault: (message, thrown, requestId) => deps.log.error(message, thrown, { request: requestId }),
  })
    .use(tokensRoutes(deps))
    .use(projectsRoutes(deps))
    .use(servicesRoutes(deps))
    .use(releasesRoutes(deps))
    .use(operationsRoutes(deps))
    .use(envRoutes(deps))
    .use(eventsRoutes(deps))
    .use(logsRoutes(deps))
    .use(deployRoutes(deps))
    .get(
      '/v1/health',
      () => ({ status: deps.problem() === undefined ? 'ok' : 'degraded' }),
      route({ operationId: 'getHealth', capability: 'public', tag: 'system', summary: 'Health' }),
    );
  guard.load(app.routes as never);
  tuneRoutes(app.routes as never, { checkReplies: false });
  return app;
};

export type App = ReturnType<typeof createApp>;
