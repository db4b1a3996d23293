import type { Database } from 'bun:sqlite';
import { randomUUID } from 'node:crypto';
import { deployRoutes, type CreateDeploy } from '#deploy/index';
import { createAddressOf } from '#http/client-address';
import { createFrame, tuneRoutes } from '#http/frame';
import { createGuard } from '#http/guard';
import { createIdempotency } from '#http/idempotency';
import { createMinuteLimit, type MinuteLimit } from '#http/limits';
import type { HttpMetrics } from '#http/metrics';
import { createRequestIds } from '#http/request-id';
import type { Peer } from '#http/server';
import type { Streams } from '#http/streams';
import type { Git } from '#engines/git/port';
import type { Clock } from '#kernel/clock';
import type { NewId } from '#kernel/ids';
import type { Log } from '#kernel/log';
import {
  backupsRoutes,
  datastoresRoutes,
  type Backups,
  type Datastores,
  type Queries,
  type Tunnels,
} from '#modules/datastores';
import { dashboardRoutes, type WebFiles } from '#modules/dashboard';
import { downloadsRoutes, type DownloadsRoutesDeps } from '#modules/downloads';
import { envRoutes, type Env } from '#modules/env';
import { eventsRoutes, type Events } from '#modules/events';
import { liveRoutes, type Live } from '#modules/live';
import { logSearchRoutes, logsRoutes, type ServiceLogs } from '#modules/logs';
import { operationsRoutes, type Operations } from '#modules/operations';
import { projectsRoutes, type Projects } from '#modules/projects';
import { releasesRoutes, type Releases } from '#modules/releases';
import {
  contentRoutes,
  gitRoutes,
  mirrorRoutes,
  reposRoutes,
  type CommitVerbs,
  type Contents,
  type GitHttp,
  type Repos,
  type RepoStore,
} from '#modules/repos';
import { sessionsRoutes, type Sessions } from '#modules/sessions';
import { servicesRoutes, type Services } from '#modules/services';
import { createApiDocument, systemRoutes, type ApiDocument, type SourceRoute, type System } from '#modules/system';
import { tokensRoutes, type Tokens } from '#modules/tokens';
import { usageRoutes, type UsageReads } from '#modules/usage';
import { mcpRoutes } from './mcp/routes.ts';

export interface AppDeps {
  db: Database;
  clock: Clock;
  newId: NewId;
  log: Log;
  streams: Streams;
  peerOf: Peer;
  proxySecret: string;
  http: HttpMetrics;
  system: System;
  tokens: Tokens;
  sessions: Sessions;
  /** The dashboard's files; undefined when it was not built. */
  web: WebFiles | undefined;
  projects: Projects;
  services: Services;
  releases: Releases;
  operations: Operations;
  datastores: Datastores;
  backups: Backups;
  queries: Queries;
  tunnels: Tunnels;
  repos: Repos;
  contents: Contents;
  commitVerbs: CommitVerbs;
  git: Git;
  gitHttp: GitHttp;
  repoStore: RepoStore;
  /** Asks for a mirrored repository to be fetched soon. */
  mirror: (id: string) => void;
  downloads: DownloadsRoutesDeps;
  env: Env;
  events: Events;
  logs: ServiceLogs;
  live: Live;
  usage: UsageReads;
  createDeploy: CreateDeploy;
  /** Whether this executable is on trial after an upgrade. */
  onTrial?: () => boolean;
  requireExists: (project: string) => void;
  requireService: (project: string, service: string) => void;
  /** Names of this server, whose pages may call `/mcp`. */
  hosts: readonly string[];
  /** Checks every reply against its schema; for tests. */
  checkReplies?: boolean;
}

/** Invalid tokens that an address may send in a minute. */
const FAILED_ATTEMPTS_PER_MINUTE = 20;

/** Hangs every module's routes into the frame. */
export const createApp = (deps: AppDeps) => {
  let document: ApiDocument | undefined;
  let handle = (_request: Request): Promise<Response> => Promise.reject(notAssembled());
  const attempts = createMinuteLimit(FAILED_ATTEMPTS_PER_MINUTE, deps.clock);
  const addressOf = createAddressOf(deps.proxySecret, deps.peerOf);
  const { authenticator } = deps.tokens;
  const guard = guardOf(deps, { attempts, addressOf });
  const app = createFrame({
    guard,
    idempotency: createIdempotency(deps.db, deps.clock),
    onFault: (message, thrown, requestId) => deps.log.error(message, thrown, { request: requestId }),
  })
    .use(systemRoutes({ system: deps.system, metrics: deps, document: () => documentOf(document) }))
    .use(downloadsRoutes(deps.downloads))
    .use(dashboardRoutes(deps))
    .use(sessionsRoutes({ ...deps, authenticator, attempts, addressOf }))
    .use(tokensRoutes(deps))
    .use(projectsRoutes(deps))
    .use(servicesRoutes(deps))
    .use(releasesRoutes(deps))
    .use(operationsRoutes(deps))
    .use(datastoresRoutes(deps))
    .use(backupsRoutes(deps))
    .use(reposRoutes(deps))
    .use(contentRoutes(deps))
    .use(mirrorRoutes(deps))
    .use(gitRoutes(deps))
    .use(envRoutes(deps))
    .use(eventsRoutes(deps))
    .use(logsRoutes(deps))
    .use(logSearchRoutes(deps))
    .use(liveRoutes(deps))
    .use(usageRoutes(deps))
    .use(deployRoutes(deps))
    .use(mcpRoutes({ handle: (request) => handle(request), hosts: deps.hosts, newSessionId: randomUUID }));

  const routes = app.routes as unknown as SourceRoute[];
  // The document needs the reply schemas, which the tuning takes away.
  document = createApiDocument(
    routes.map((declared) => ({ ...declared, hooks: { ...declared.hooks } })),
    deps.system.version,
  );
  tuneRoutes(routes, { checkReplies: deps.checkReplies ?? false });
  guard.load(routes);
  handle = async (request) => app.handle(request);
  return app;
};

interface Attempts {
  attempts: MinuteLimit;
  addressOf: (request: Request) => string;
}

const guardOf = (deps: AppDeps, limit: Attempts) =>
  createGuard({
    ...limit,
    authenticator: deps.tokens.authenticator,
    sessions: deps.sessions,
    streams: deps.streams,
    newRequestId: createRequestIds(deps.newId),
    ...(deps.onTrial === undefined ? {} : { onTrial: deps.onTrial }),
    onFault: (message, thrown) => deps.log.error(message, thrown),
  });

const documentOf = (document: ApiDocument | undefined): ApiDocument => {
  if (document === undefined) throw notAssembled();
  return document;
};

const notAssembled = (): Error => new Error('the app is not assembled yet');
