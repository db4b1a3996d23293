import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createCreateDeploy, createDeployEngine, startMaintenance, type Maintenance } from '#deploy/index';
import { createComeBack, createDatastoreOperations, createUpkeep, recoverDatastores } from '#datastores/index';
import { createHttpMetrics, measured } from '#http/metrics';
import { createServer, parseListen, type Peer } from '#http/server';
import type { Config } from '#kernel/config';
import { systemCtx } from '#kernel/ctx';
import { createRunner, type Runner } from '#modules/operations';
import type { Tokens } from '#modules/tokens';
import { createApp } from './app.ts';
import { startTrial, type OnTrial } from './upgrade/trial.ts';
import { openBase } from './compose/base.ts';
import { assembleDownloads } from './compose/downloads.ts';
import { createEngines } from './compose/engines.ts';
import { createModules } from './compose/modules.ts';
import { startPlatform } from './compose/platform.ts';
import { assemblePushes } from './compose/repos.ts';
import { assembleWatching } from './compose/watching.ts';
import { openWeb } from './compose/web.ts';

export interface ServerIo {
  /** Where the server's own log goes, a line at a time. */
  log: (line: string) => void;
}

export interface RunningServer {
  /** Address of the control API. */
  url: string;
  /** The secret of the first admin token; on the first start only. */
  firstToken?: string;
  /** Resolves when an upgrade to this executable failed: stop it, and start what lies in its place now. */
  reverted: Promise<void>;
  /** Stops the API and the operations under way; apps, proxy and registry stay up. */
  stop(): Promise<void>;
}

/** Starts a server. It answers as soon as this resolves; the engines come up in the background. */
export const startServer = async (config: Config, io: ServerIo): Promise<RunningServer> => {
  const base = await openBase(config, io.log);
  const { clock, log, newId, db } = base;
  const engines = await createEngines(base);
  let runner: Runner | undefined;
  const modules = createModules(base, engines, { runner: () => runner, mirror: (id) => pushing.mirrors.request(id) });
  const { api, stores, journal, deployDeps, datastoreDeps } = modules;

  const slots = buildSlots(config);
  const deploy = createDeployEngine(deployDeps, {
    slots,
    places: modules.places,
    datastores: createDatastoreOperations(datastoreDeps),
    removeRepos: modules.repos.repos.removeProject,
  });
  const ends = { execute: deploy.execute, onFinished: deploy.aftermath };
  runner = createRunner({ store: stores.operations, journal, clock, log, ...ends });
  const createDeploy = createCreateDeploy({ ...deployDeps, newId, queue: api.operations });

  const onTrial = base.trial === undefined ? undefined : startTrial({ ...base, ...config }, base.trial);
  let peerOf: Peer = () => undefined;
  const http = createHttpMetrics();
  const watching = assembleWatching(base, engines, modules, {
    builds: () => ({ running: deploy.buildSlots.inUse(), queued: deploy.buildSlots.waiting(), concurrency: slots }),
    problem: () => platform.problem(),
  });
  const pushing = assemblePushes({
    ...deployDeps,
    ...modules.repos,
    newId,
    queue: api.operations,
    serviceVerbs: api.services,
    requireActive: modules.guards.requireActive,
  });
  const app = createApp({
    ...base,
    ...api,
    ...pushing,
    git: modules.repos.git,
    repoStore: modules.repos.store,
    mirror: pushing.mirrors.request,
    peerOf: (request) => peerOf(request),
    onTrial: () => onTrial?.active === true,
    createDeploy,
    downloads: await assembleDownloads(base, (request) => peerOf(request) !== undefined),
    http,
    ...watching,
    web: openWeb(),
    hosts: [config.baseDomain],
  });
  const listener = createServer({
    ...parseListen(config.listen),
    fetch: measured(app.fetch, http),
    streams: api.streams,
    bindPeer: (learn) => (peerOf = learn),
  });
  // Only now, because a start that fails before would have minted a token that nobody saw.
  const firstToken = mintFirst(api.tokens, config);

  const upkeep = createUpkeep({
    ...datastoreDeps,
    verbs: api.backups,
    queue: api.operations,
    systemCtx: () => systemCtx(newId('req')),
    comeBack: createComeBack({ ...datastoreDeps, verbs: api.backups, systemCtx: () => systemCtx(newId('req')) }),
  });
  const ending = new AbortController();
  let upkeepDone: Promise<unknown> = Promise.resolve();
  let maintenance: Maintenance | undefined;
  const platform = startPlatform({
    engines,
    deploy,
    recoverDatastores: () => recoverDatastores(datastoreDeps),
    controlPlane: { hosts: [config.baseDomain], address: config.listen },
    clock,
    log,
    idle: () => runner.running() === 0,
    seedBaseImages: config.seedBaseImages,
    onEngineBack: () => {
      maintenance?.hurry();
      upkeep.hurry();
    },
    onReady: () => void begin(),
  });
  const begin = async (): Promise<void> => {
    if (onTrial !== undefined && (await onTrial.over) !== 'confirmed') return;
    runner.resume();
    upkeepDone = Promise.all(
      [upkeep, watching.sampler, { run: pushing.upkeep }].map((each) => each.run(ending.signal)),
    );
    const parts = { ...deploy, queue: api.operations, ensurePlatform: platform.ensure };
    maintenance = startMaintenance({ ...deployDeps, newId, ...parts });
  };

  return {
    url: listener.url,
    ...(firstToken === undefined ? {} : { firstToken }),
    reverted: untilReverted(onTrial),
    stop: async () => {
      onTrial?.stop();
      await listener.stop();
      ending.abort();
      await maintenance?.stop();
      await upkeepDone;
      await platform.stop();
      await runner.stop();
      modules.closeDatastores();
      await api.logs.stop();
      api.tokens.stop();
      watching.close();
      db.close();
      base.lock.release();
    },
  };
};

/** The first admin token, on the first start. */
const mintFirst = (tokens: Tokens, { tokenFile }: Config): string | undefined => {
  const secret = tokens.bootstrap();
  if (secret !== undefined && tokenFile !== '') writeFileSync(tokenFile, `${secret}\n`, { mode: 0o600 });
  return secret;
};

const untilReverted = (onTrial: OnTrial | undefined): Promise<void> =>
  new Promise((resolve) => void onTrial?.over.then((verdict) => verdict === 'reverting' && resolve()));

const buildSlots = (config: Config): number =>
  config.buildConcurrency > 0 ? config.buildConcurrency : Math.max(1, Math.floor(availableParallelism() / 2));
