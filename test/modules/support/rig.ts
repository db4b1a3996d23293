import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Elysia } from 'elysia';
import { allocateSubnet } from '#engines/runtime/subnets';
import type { Authenticator } from '#http/bearer';
import { createFrame, tuneRoutes } from '#http/frame';
import { createGuard } from '#http/guard';
import { createIdempotency } from '#http/idempotency';
import { createMinuteLimit } from '#http/limits';
import { createStreams } from '#http/streams';
import { createGit } from '#engines/git/index';
import type { PushOutcome } from '#engines/git/port';
import { systemClock } from '#kernel/clock';
import { invalidInput } from '#kernel/errors';
import { DEFAULT_CONFIG, type Config } from '#kernel/config';
import { systemCtx, type Actor } from '#kernel/ctx';
import { openDatabase } from '#kernel/database';
import { createIds } from '#kernel/ids';
import { createLog } from '#kernel/log';
import type { Capability } from '#kernel/scope';
import { backupsRoutes, createDatastoreModule, createDatastoreStore, datastoresRoutes } from '#modules/datastores';
import { createEnv, envRoutes, openVault, type Env } from '#modules/env';
import { createEvents, eventsRoutes } from '#modules/events';
import { createServiceLogs, logsRoutes } from '#modules/logs';
import {
  contentRoutes,
  createCommitVerbs,
  createContents,
  createRepos,
  createRepoStore,
  gitIdentity,
  reposRoutes,
} from '#modules/repos';
import { createJournal, createOperations, createOperationStore, operationsRoutes } from '#modules/operations';
import { createProjects, createProjectStore, projectsRoutes } from '#modules/projects';
import { createReleases, createReleaseStore, releasesRoutes, type ReleaseRow } from '#modules/releases';
import {
  createLiveness,
  createReadReplicas,
  createServices,
  createServiceStore,
  servicesRoutes,
  type ReplicaRow,
  type ServiceRow,
} from '#modules/services';
import { createFakeBackupFiles, createFakeDatastoreEngine } from '#test/fakes/datastores.ts';
import { createFakeRuntime, type FakeRuntime } from '#test/fakes/runtime.ts';
import { atEnd } from '#test/support/preload.ts';

export interface RigOptions {
  config?: Partial<Config>;
  dataDir?: string;
  runtime?: FakeRuntime;
}

export const tempDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-test-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** The resource modules, assembled on real SQLite with the real guard; only the engine is a fake. */
export const createRig = (options: RigOptions = {}) => {
  const dataDir = options.dataDir ?? tempDir();
  const config: Config = { ...DEFAULT_CONFIG, ...options.config, dataDir };
  const clock = systemClock;
  const newId = createIds(() => clock.now());
  const logged: string[] = [];
  const log = createLog(
    'debug',
    (line) => logged.push(line),
    () => clock.now(),
  );
  const db = openDatabase(join(dataDir, 'berth.db'));
  const runtime = options.runtime ?? createFakeRuntime({ images: ['app'] });

  const projectStore = createProjectStore(db);
  const serviceStore = createServiceStore(db);
  const releaseStore = createReleaseStore(db);
  const operationStore = createOperationStore(db);
  const journal = createJournal(operationStore, clock, log);
  const woken: string[] = [];
  const operations = createOperations({
    store: operationStore,
    journal,
    clock,
    newId,
    config,
    wake: (id) => woken.push(id),
  });
  const events = createEvents({ db, clock, newId });
  const requireExists = (project: string): void => void projectStore.require(project);
  const requireActive = (project: string): void => void projectStore.requireActive(project);
  const hasValues = (): boolean => db.query('SELECT 1 FROM env LIMIT 1').get() !== null;
  const vault = openVault({ dataDir, log, hasValues });
  const engines = {
    postgres: createFakeDatastoreEngine('postgres'),
    redis: createFakeDatastoreEngine('redis'),
    mongo: createFakeDatastoreEngine('mongo'),
  };
  const datastoreStore = createDatastoreStore(db, vault);
  const files = createFakeBackupFiles();
  const datastoreModule = createDatastoreModule({
    db,
    config,
    clock,
    newId,
    store: datastoreStore,
    engines,
    files,
    operations,
    events,
    env: () => env,
    projectOf: (project) => projectStore.require(project),
    gatewayOf: (subnet) => subnet,
    labelsOf: () => ({}),
    requireDisk: () => Promise.resolve(),
    requireActive,
    requireExists,
  });
  const { injection } = datastoreModule;
  const env: Env = createEnv({
    db,
    clock,
    vault,
    events,
    operations,
    services: serviceStore,
    injection,
    requireActive,
    requireExists,
  });
  const git = createGit({ dir: join(dataDir, 'repos'), clock, log });
  const repoStore = createRepoStore(db, vault);
  const mirrored: string[] = [];
  const repos = createRepos({
    db,
    config,
    clock,
    newId,
    store: repoStore,
    git,
    events,
    checkMirror: (url) => {
      if (!url.startsWith('https://')) throw invalidInput('body.mirror_of must be an https address', 'use https');
    },
    onMirror: (id) => mirrored.push(id),
    requireActive,
    requireExists,
  });
  const contents = createContents({ git, repos });
  const pushed: PushOutcome[] = [];
  const commitVerbs = createCommitVerbs({
    clock,
    git,
    repos,
    admitPush: (_ctx, { project }) => requireActive(project),
    identityOf: ({ actor }) => gitIdentity(actor.principal),
    onFirstBranch: (repo, branch) => repoStore.update(repo.id, { default_branch: branch }),
    react: async (_ctx, _repo, outcome) => {
      pushed.push(outcome);
      return { begun: [] };
    },
  });
  const liveness = createLiveness();
  const services = createServices({
    db,
    config,
    store: serviceStore,
    releases: releaseStore,
    operations,
    liveness,
    readReplicas: createReadReplicas(runtime, clock),
    requireExists,
    requireActive,
  });
  const releases = createReleases({
    store: releaseStore,
    liveRelease: (project, service) => services.liveRelease(project, service),
  });
  const logs = createServiceLogs({ runtime, clock, log, config, maskerFor: (project) => env.masker(project) });
  const foreign: string[] = [];
  const projects = createProjects({
    db,
    clock,
    store: projectStore,
    events,
    operations,
    instance: 'test',
    allocateSubnet: (used) => allocateSubnet(config.networkPool, config.networkSize, used),
    foreignSubnets: async () => foreign,
    parts: {
      services: (project) => services.views(project),
      releases: (project, count) => releases.recent(project, count),
      datastores: (project) => datastoreModule.datastores.views(project),
      envKeys: (project) => env.keys(project),
      recentEvents: (project, count) => events.recent(project, count),
      version: () => liveness.version(),
    },
  });

  const tokens = new Map<string, Actor>();
  const authenticator: Authenticator = {
    authenticate: (secret) => {
      const actor = tokens.get(secret);
      return actor === undefined ? undefined : { actor, bucket: { left: 1e9, at: 0 } };
    },
    resume: () => undefined,
    countRequest: () => {},
  };
  const streams = createStreams(clock);
  const faults: unknown[] = [];
  const guard = createGuard({
    authenticator,
    sessions: { resolve: () => undefined },
    attempts: createMinuteLimit(10, clock),
    addressOf: () => '127.0.0.1',
    streams,
    newRequestId: () => newId('req'),
    onFault: (message, thrown) => faults.push([message, thrown]),
  });
  const frame = createFrame({
    guard,
    idempotency: createIdempotency(db, clock),
    onFault: (message, thrown) => faults.push([message, thrown]),
  });
  const app = new Elysia({ normalize: false, strictPath: true })
    .use(frame)
    .use(projectsRoutes({ projects }))
    .use(servicesRoutes({ services }))
    .use(releasesRoutes({ releases }))
    .use(operationsRoutes({ operations }))
    .use(datastoresRoutes(datastoreModule))
    .use(backupsRoutes(datastoreModule))
    .use(reposRoutes({ repos }))
    .use(contentRoutes({ contents, commitVerbs }))
    .use(envRoutes({ env }))
    .use(eventsRoutes({ events, clock, requireExists }))
    .use(
      logsRoutes({ logs, clock, requireService: (project, service) => void services.liveRelease(project, service) }),
    );
  tuneRoutes(app.routes, { checkReplies: true });
  guard.load(app.routes);
  atEnd(async () => {
    streams.endAll();
    await logs.stop();
    journal.flush();
    db.close();
  });

  return {
    app,
    config,
    dataDir,
    ...datastoreModule,
    datastoreStore,
    engines,
    files,
    git,
    repos,
    repoStore,
    mirrored,
    pushed,
    contents,
    commitVerbs,
    db,
    env,
    events,
    faults,
    foreign,
    journal,
    liveness,
    log,
    logged,
    logs,
    operations,
    operationStore,
    projects,
    projectStore,
    releases,
    releaseStore,
    runtime,
    services,
    serviceStore,
    streams,
    tokens,
    woken,
  };
};

export type Rig = ReturnType<typeof createRig>;

/** Adds a token; its secret is the principal's name. */
export const addToken = (rig: Rig, principal: string, capabilities: Capability[], projects = ['*']): string => {
  rig.tokens.set(principal, { tokenId: `tok_${principal}`, principal, capabilities, projects, expiresAt: null });
  return principal;
};

export interface Reply {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on what came, field by field
  body: any;
}

export interface CallOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Sends a request to the assembled app; `what` is such as `GET /v1/projects`. */
export const call = async (rig: Rig, what: string, options: CallOptions = {}): Promise<Reply> => {
  const response = await request(rig, what, options);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
};

export const request = (rig: Rig, what: string, options: CallOptions = {}): Promise<Response> => {
  const [method = 'GET', path = '/'] = what.split(' ');
  if (!rig.tokens.has('admin')) addToken(rig, 'admin', ['admin']);
  const headers: Record<string, string> = { authorization: `Bearer ${options.token ?? 'admin'}`, ...options.headers };
  if (options.body !== undefined) headers['content-type'] = 'application/json';
  const body = options.body === undefined ? {} : { body: JSON.stringify(options.body) };
  return Promise.resolve(rig.app.handle(new Request(`http://berth.test${path}`, { method, headers, ...body })));
};

export const addProject = (rig: Rig, name: string): void => {
  const used = rig.projectStore.subnets();
  const subnet = allocateSubnet(rig.config.networkPool, rig.config.networkSize, used)?.subnet ?? '';
  rig.projectStore.insert({
    name,
    state: 'active',
    network: `berth-test-${name}`,
    subnet,
    created_at: 1,
    created_by: 'admin',
  });
};

export const addService = (rig: Rig, project: string, name: string, more: Partial<ServiceRow> = {}): ServiceRow => {
  const row: ServiceRow = {
    project,
    name,
    replicas: 1,
    health_path: null,
    health_timeout_seconds: 60,
    drain_seconds: 10,
    memory_mb: 512,
    cpus: 1,
    protocol: 'http',
    live_release: null,
    previous_release: null,
    build_memory: '{}',
    created_at: 1000,
    updated_at: 1000,
    ...more,
  };
  rig.serviceStore.insert(row);
  return row;
};

export const addRelease = (rig: Rig, service: ServiceRow, id: string, more: Partial<ReleaseRow> = {}): ReleaseRow => {
  const row: ReleaseRow = {
    project: service.project,
    service: service.name,
    id,
    digest: `sha256:${id}`,
    image: `127.0.0.1:4402/${service.project}/${service.name}@sha256:${id}`,
    size_bytes: 1,
    provider: 'node',
    source_sha256: null,
    commit_id: null,
    operation_id: 'op_1',
    created_at: 1000,
    created_by: 'admin',
    last_live_at: null,
    env_names: null,
    build: null,
    ...more,
  };
  rig.releaseStore.insert(row);
  return row;
};

export const addReplica = (
  rig: Rig,
  service: ServiceRow,
  containerId: string,
  more: Partial<ReplicaRow> = {},
): ReplicaRow => {
  const row: ReplicaRow = {
    container_id: containerId,
    name: `${service.project}-${service.name}-${containerId}`,
    project: service.project,
    service: service.name,
    release: service.live_release ?? '',
    operation_id: 'op_1',
    slot: 1,
    ip: '10.208.0.2',
    port: 8080,
    state: 'live',
    created_at: 1000,
    ...more,
  };
  rig.serviceStore.replicas.insert(row);
  return row;
};

/** Sees an operation through, as the runner would. */
export const finish = (rig: Rig, id: string, status: 'succeeded' | 'failed' = 'succeeded'): void => {
  const error = status === 'failed' ? { code: 'CONFLICT' as const, message: 'no', hint: 'so', retryable: false } : null;
  rig.operationStore.finish(id, {
    status,
    phase: status === 'failed' ? 'failed' : 'healthy',
    error,
    result: null,
    at: Date.now(),
  });
};

export const ctx = (dryRun = false) => ({ ...systemCtx('req_test'), dryRun });
