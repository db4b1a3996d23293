import { join } from 'node:path';
import { VERSION } from '#kernel/version';
import { createLive } from '#modules/live';
import { createSystem, type SystemDeps } from '#modules/system';
import { createRecorder, createSampler, createUsage, openUsageStore } from '#modules/usage';
import type { Base } from './base.ts';
import type { Engines } from './engines.ts';
import type { createModules } from './modules.ts';

/** Ties together what pages watch: the server itself, what is new, and what services use. */
export const assembleWatching = (
  { config, clock, log }: Base,
  { runtime, proxy }: Pick<Engines, 'runtime' | 'proxy'>,
  { api, stores, states, deployDeps }: ReturnType<typeof createModules>,
  told: Pick<SystemDeps, 'builds' | 'problem'>,
) => {
  const { streams, logs } = api;
  const system = createSystem({ ...deployDeps, ...told, streams, lostLines: logs.lostLines, version: VERSION });
  const store = openUsageStore(join(config.dataDir, 'usage.db'));
  const { services } = stores;
  const { liveness } = deployDeps;
  const sampler = createSampler({ clock, log, runtime, proxy, services, liveness, recorder: createRecorder(store) });
  const createdAt = (project: string, service: string): number => {
    api.requireService(project, service);
    return services.get(project, service)?.created_at ?? 0;
  };
  return {
    system,
    live: createLive({ ...api, ...states, clock, sampler, capacity: () => system.capacity(), onFault: log.error }),
    usage: createUsage({ clock, store, createdAt }),
    sampler,
    close: () => store.close(),
  };
};
