import { createApp, type AppDeps } from '#src/app.ts';
import type { CreateDeploy } from '#deploy/index';
import { createHttpMetrics, measured } from '#http/metrics';
import { createServer, type Peer } from '#http/server';
import { systemClock, type Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { createIds } from '#kernel/ids';
import type { Capability } from '#kernel/scope';
import { createCatalogue, createTransfers } from '#modules/downloads';
import { createLive } from '#modules/live';
import { createSessions } from '#modules/sessions';
import { createSystem } from '#modules/system';
import { createRecorder, createSampler, createUsage, openUsageStore } from '#modules/usage';
import { createGitHttp } from '#repos/git-http';
import { createTokens } from '#modules/tokens';
import { createFakeBuilder } from '#test/fakes/builder.ts';
import { createFakeProxy } from '#test/fakes/proxy.ts';
import { createFakeRegistry } from '#test/fakes/registry.ts';
import { createRig } from '#test/modules/support/rig.ts';
import { atEnd } from '#test/support/preload.ts';

async function* nothing(): AsyncGenerator<string> {
  // Pushes bring nothing about here.
}

export interface WorldOptions {
  config?: Partial<Config>;
  clock?: Clock;
  app?: Partial<AppDeps>;
  system?: Partial<Parameters<typeof createSystem>[0]>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert on what came, field by field
  body: any;
}

export interface Ask {
  /** A secret; null sends none; the admin's when omitted. */
  token?: string | null;
  /** Sent as JSON, or as it is when it is text or bytes. */
  body?: unknown;
  headers?: Record<string, string>;
}

export type World = ReturnType<typeof createWorld>;

/** The whole API on real SQLite, with real tokens; only the engines behind the ports are fakes. */
export const createWorld = (options: WorldOptions = {}) => {
  const rig = createRig(options.config === undefined ? {} : { config: options.config });
  const clock = options.clock ?? systemClock;
  const newId = createIds(() => clock.now());
  const deploys: { key: string; bytes: number }[] = [];
  const peer: { of: Peer } = { of: () => '198.51.100.7' };
  const http = createHttpMetrics();
  const tokens = createTokens({
    db: rig.db,
    clock,
    newId,
    rateLimitPerMinute: options.config?.rateLimitPerMinute ?? 0,
    emit: (event) => rig.events.emit(event),
    onRevoked: (id) => rig.streams.endToken(id),
  });
  const sessions = createSessions({
    db: rig.db,
    clock,
    newId,
    authenticator: tokens.authenticator,
    emit: (event) => rig.events.emit(event),
    onEnded: (id) => rig.streams.endSession(id),
  });
  const admin = tokens.bootstrap() ?? '';
  const createDeploy: CreateDeploy = async (ctx, target, request) => {
    const bytes = await request.bytes();
    const operation = rig.operations.enqueue(ctx, {
      kind: 'deploy',
      project: target.project,
      service: target.service,
      input: {},
    });
    deploys.push({ key: request.headers.get('idempotency-key') ?? '', bytes: bytes.length });
    return {
      operation_id: operation.operation_id,
      stream_url: operation.stream_url,
      service_url: operation.service_url,
    };
  };
  const system = createSystem({
    db: rig.db,
    clock,
    config: rig.config,
    runtime: rig.runtime,
    proxy: createFakeProxy({ running: true, routes: new Map(), controlPlane: null }),
    registry: createFakeRegistry(),
    builder: createFakeBuilder(),
    builds: () => ({ running: 1, queued: 2, concurrency: 1 }),
    streams: rig.streams,
    problem: () => undefined,
    lostLines: () => rig.logs.lostLines(),
    version: '0.0.0-test',
    ...options.system,
  });
  const usageStore = openUsageStore(':memory:');
  const proxy = createFakeProxy({ running: true, routes: new Map(), controlPlane: null });
  const sampler = createSampler({
    clock,
    log: rig.log,
    runtime: rig.runtime,
    proxy,
    services: rig.serviceStore,
    liveness: rig.liveness,
    recorder: createRecorder(usageStore),
  });
  const usage = createUsage({
    clock,
    store: usageStore,
    createdAt: (project, service) => {
      void rig.services.liveRelease(project, service);
      return rig.serviceStore.get(project, service)?.created_at ?? 0;
    },
  });
  const live = createLive({
    ...rig,
    sampler,
    clock,
    names: rig.projects.names,
    read: rig.projects.peek,
    version: () =>
      (rig.db.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0) + rig.liveness.version(),
    capacity: () => system.capacity(),
    requireService: (project, service) => void rig.services.liveRelease(project, service),
    onFault: (message, thrown) => rig.log.error(message, thrown),
  });
  const gitHttp = createGitHttp({
    config: rig.config,
    repos: rig.repos,
    pushes: {
      react: () => Promise.resolve({ begun: [], lines: [] }),
      recover: () => Promise.resolve(),
      sink: () => ({ onPushed: nothing }),
    },
    requireActive: (project) => void rig.projectStore.requireActive(project),
  });
  const app = createApp({
    ...rig,
    gitHttp,
    mirror: (id) => rig.mirrored.push(id),
    clock,
    newId,
    http,
    system,
    tokens,
    sessions,
    live,
    usage,
    web: undefined,
    createDeploy,
    downloads: {
      catalogue: createCatalogue({ folder: undefined, version: '0.0.0', own: undefined, log: rig.log }),
      transfers: createTransfers(2, () => true),
    },
    peerOf: (request) => peer.of(request),
    proxySecret: 'proxy-secret',
    requireExists: (project) => void rig.projectStore.require(project),
    requireService: (project, service) => void rig.services.liveRelease(project, service),
    hosts: ['berth.test'],
    checkReplies: true,
    ...options.app,
  });
  atEnd(() => tokens.stop());
  const fetch = measured((request) => app.handle(request), http);

  const request = (what: string, ask: Ask = {}): Request => {
    const [method = 'GET', path = '/'] = what.split(' ');
    const headers = new Headers(ask.token === null ? {} : { authorization: `Bearer ${ask.token ?? admin}` });
    const { body } = ask;
    if (body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
    for (const [name, value] of Object.entries(ask.headers ?? {})) headers.set(name, value);
    const raw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
    const payload = body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) };
    return new Request(`http://berth.test${path}`, { method, headers, ...payload });
  };
  const call = async (what: string, ask: Ask = {}): Promise<Answer> => {
    const response = await fetch(request(what, ask));
    const text = await response.text();
    const json = response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
    return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
  };
  const mint = async (
    capabilities: Capability[],
    projects: string[] = ['*'],
    more: object = {},
  ): Promise<{ id: string; secret: string }> => {
    const { body, status, text } = await call('POST /v1/tokens', {
      body: { principal: 'someone', capabilities, projects, ...more },
    });
    if (status !== 201) throw new Error(`no token: ${text}`);
    return { id: body.id, secret: body.secret };
  };
  const listen = (): { url: string; stop: (graceMs?: number) => Promise<void> } => {
    const listener = createServer({
      hostname: '127.0.0.1',
      port: 0,
      fetch,
      streams: rig.streams,
      bindPeer: (peerOf) => (peer.of = peerOf),
    });
    atEnd(() => listener.stop(0));
    return listener;
  };

  return {
    rig,
    app,
    http,
    tokens,
    sessions,
    proxy,
    sampler,
    usageStore,
    admin,
    deploys,
    peer,
    request,
    fetch,
    call,
    mint,
    listen,
  };
};
