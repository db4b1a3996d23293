import type { Database } from 'bun:sqlite';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createCreateDeploy, createDeployEngine, firstAddress, startMaintenance, type DeployDeps } from '#deploy/index';
import { readHostRoutes } from '#engines/runtime/host-routes';
import { allocateSubnet } from '#engines/runtime/subnets';
import { createHttpMetrics, measured } from '#http/metrics';
import { createServer, parseListen, type Peer } from '#http/server';
import { createStreams } from '#http/streams';
import { systemClock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { openDatabase } from '#kernel/database';
import { BerthError } from '#kernel/errors';
import { createIds } from '#kernel/ids';
import { acquireLock } from '#kernel/lock';
import { createLog } from '#kernel/log';
import { createMeta, type Meta } from '#kernel/meta';
import { createEnv, openVault } from '#modules/env';
import { createEvents } from '#modules/events';
import { createServiceLogs } from '#modules/logs';
import { createJournal, createOperations, createOperationStore, createRunner, type Runner } from '#modules/operations';
import { createProjects, createProjectStore } from '#modules/projects';
import { createReleases, createReleaseStore } from '#modules/releases';
import { createLiveness, createReadReplicas, createServices, createServiceStore } from '#modules/services';
import { createSystem } from '#modules/system';
import { createTokens } from '#modules/tokens';
import { VERSION } from '#cli/version';
import { createApp } from './app.ts';
import { createEngines } from './engines.ts';
import { startPlatform } from './platform.ts';

export interface ServerIo {
  /** Where the server's own log goes, a line at a time. */
  log: (line: string) => void;
}

export interface RunningServer {
  /** Address of the control API. */
  url: string;
  /** The secret of the first admin token; on the first start only. */
  firstToken?: string;
  /** Stops the API and the operations under way; apps, proxy and registry stay up. */
  stop(): Promise<void>;
}

/** Starts a server. It answers as soon as this resolves; the engines come up in the background. */
export const startServer = async (config: Config, io: ServerIo): Promise<RunningServer> => {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const lock = acquireLock(join(config.dataDir, 'server.lock'));
  const clock = systemClock;
  const log = createLog(config.logLevel, io.log, clock.now);
  const newId = createIds(clock.now);
  const db = openDatabase(join(config.dataDir, 'berth.db'));
  const meta = createMeta(db);
  const instance = meta.ensure('instance', () => randomBytes(6).toString('hex'));
  const proxySecret = meta.ensure('proxy_secret', () => randomBytes(32).toString('base64url'));
  const engines = await createEngines({
    config,
    instance,
    proxySecret,
    registrySubnet: await registrySubnet(meta, config),
    clock,
    log,
  });

  const streams = createStreams(clock);
  const events = createEvents({ db, clock, newId });
  const tokens = createTokens({
    db,
    clock,
    newId,
    rateLimitPerMinute: config.rateLimitPerMinute,
    emit: events.emit,
    onRevoked: (tokenId) => streams.endToken(tokenId),
  });
  const firstToken = tokens.bootstrap();
  if (firstToken !== undefined && config.tokenFile !== '')
    writeFileSync(config.tokenFile, `${firstToken}\n`, { mode: 0o600 });

  const projectStore = createProjectStore(db);
  const serviceStore = createServiceStore(db);
  const releaseStore = createReleaseStore(db);
  const operationStore = createOperationStore(db);
  const journal = createJournal(operationStore, clock, log);
  let runner: Runner | undefined;
  const operations = createOperations({
    store: operationStore,
    journal,
    clock,
    newId,
    config,
    wake: (id, reason) => runner?.wake(id, reason),
  });
  const requireExists = (project: string): void => void projectStore.require(project);
  const requireActive = (project: string): void => void projectStore.requireActive(project);
  const env = createEnv({
    db,
    clock,
    vault: openVault({ dataDir: config.dataDir, hasValues: () => hasEnv(db), log }),
    events,
    operations,
    services: serviceStore,
    requireActive,
    requireExists,
  });
  const logs = createServiceLogs({ runtime: engines.runtime, clock, log, config, maskerFor: env.masker });
  const liveness = createLiveness();
  const services = createServices({
    db,
    config,
    store: serviceStore,
    releases: releaseStore,
    operations,
    liveness,
    readReplicas: createReadReplicas(engines.runtime, clock),
    requireExists,
    requireActive,
  });
  const releases = createReleases({ store: releaseStore, liveRelease: services.liveRelease });
  const projects = createProjects({
    db,
    clock,
    store: projectStore,
    events,
    operations,
    instance,
    allocateSubnet: (used) => allocateSubnet(config.networkPool, config.networkSize, used),
    foreignSubnets: async () =>
      [...(await readHostRoutes()), ...(await engines.runtime.usedSubnets()), meta.get('registry_subnet') ?? []].flat(),
    parts: {
      services: services.views,
      releases: releases.recent,
      envKeys: env.names,
      recentEvents: events.recent,
      version: liveness.version,
    },
  });

  const deployDeps: DeployDeps = {
    config,
    instance,
    db,
    clock,
    log,
    ...engines,
    projects: projectStore,
    services: serviceStore,
    releases: releaseStore,
    operations: operationStore,
    env,
    events,
    logs,
    liveness,
  };
  const deploy = createDeployEngine(deployDeps, buildSlots(config));
  runner = createRunner({
    store: operationStore,
    journal,
    clock,
    log,
    execute: deploy.execute,
    onFinished: deploy.aftermath,
  });
  const createDeploy = createCreateDeploy({ ...deployDeps, newId, queue: operations });

  let peerOf: Peer = () => undefined;
  const http = createHttpMetrics();
  const system = createSystem({
    ...deployDeps,
    builds: () => ({
      running: deploy.buildSlots.inUse(),
      queued: deploy.buildSlots.waiting(),
      concurrency: buildSlots(config),
    }),
    streams,
    problem: () => platform.problem(),
    version: VERSION,
  });
  const app = createApp({
    db,
    clock,
    newId,
    log,
    streams,
    peerOf: (request) => peerOf(request),
    proxySecret,
    tokens,
    projects,
    services,
    releases,
    operations,
    env,
    events,
    logs,
    createDeploy,
    http,
    system,
    requireExists,
    requireService: (project, service) => void services.liveRelease(project, service),
  });
  const listener = createServer({
    ...parseListen(config.listen),
    fetch: measured(app.fetch, http),
    streams,
    bindPeer: (learn) => (peerOf = learn),
  });

  let maintenance: ReturnType<typeof startMaintenance> | undefined;
  const platform = startPlatform({
    engines,
    deploy,
    controlPlane: { hosts: [config.baseDomain], address: config.listen },
    clock,
    log,
    idle: () => runner?.running() === 0,
    seedBaseImages: config.seedBaseImages,
    onReady: () => {
      runner?.resume();
      maintenance = startMaintenance({
        ...deployDeps,
        newId,
        queue: operations,
        recovery: deploy.recovery,
        collector: deploy.collector,
        ensurePlatform: platform.ensure,
      });
    },
  });

  return {
    url: listener.url,
    ...(firstToken === undefined ? {} : { firstToken }),
    stop: async () => {
      await listener.stop();
      await maintenance?.stop();
      await platform.stop();
      await runner?.stop();
      await logs.stop();
      tokens.stop();
      db.close();
      lock.release();
    },
  };
};

const buildSlots = (config: Config): number =>
  config.buildConcurrency > 0 ? config.buildConcurrency : Math.max(1, Math.floor(availableParallelism() / 2));

/** Allots the registry's network once; it stays the same from then on. */
const registrySubnet = async (meta: Meta, config: Config): Promise<{ subnet: string; gateway: string }> => {
  const taken = meta.get('registry_subnet') === undefined ? await readHostRoutes() : [];
  const allotted = allocateSubnet(config.networkPool, config.networkSize, taken);
  if (allotted === undefined) {
    throw new BerthError('QUOTA_EXCEEDED', `the pool ${config.networkPool} has no free network`, {
      hint: 'set --network-pool to private addresses that this host does not use',
    });
  }
  const subnet = meta.ensure('registry_subnet', () => allotted.subnet);
  return { subnet, gateway: firstAddress(subnet) };
};

const hasEnv = (db: Database): boolean => db.query('SELECT 1 FROM env LIMIT 1').get() !== null;
