import type { Proxy } from '#engines/proxy/port';
import { startTraefik } from './support.ts';
import { startUpstream, type TestUpstream } from './upstreams.ts';

/** The host of the contract's route. */
export const HOST = 'web--shop.localhost';

/** A running Traefik with a client for it. */
export interface Traffic {
  proxy: Proxy;
  url: string;
  get(path?: string, init?: Omit<RequestInit, 'headers'>, host?: string): Promise<Response>;
  /** Remembers an upstream for `killUpstreams`. */
  keep(upstream: TestUpstream): TestUpstream;
  killUpstreams(): Promise<void>;
  memoryBytes(): Promise<number>;
  dispose(): Promise<void>;
}

export const startTraffic = async (): Promise<Traffic> => {
  const traefik = await startTraefik();
  await traefik.proxy.ensure();
  const upstreams: TestUpstream[] = [];
  const url = `http://127.0.0.1:${traefik.ports.http}/`;
  return {
    proxy: traefik.proxy,
    url,
    get: (path = '', init = {}, host = HOST) => fetch(url + path, { ...init, headers: { Host: host } }),
    keep: (upstream) => {
      upstreams.push(upstream);
      return upstream;
    },
    killUpstreams: async () => {
      await Promise.all(upstreams.splice(0).map((upstream) => upstream.kill()));
    },
    memoryBytes: async () => {
      const id = await traefik.containerId();
      const usage = (await traefik.runtime.usage([id])).get(id);
      if (usage === undefined) throw new Error('Traefik does not run');
      return usage.memoryBytes;
    },
    dispose: () => traefik.dispose(),
  };
};

/** Answers with the request's body. */
export const echo = (): TestUpstream => startUpstream(async (request) => new Response((await request.text()) || 'ok'));
