import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Patience } from '#engines/proxy/confirm';
import type { Proxy } from '#engines/proxy/port';
import { createTraefikProxy, type TraefikProxyOptions } from '#engines/proxy/traefik';
import { createDockerRuntime } from '#engines/runtime/docker';
import type { Runtime } from '#engines/runtime/port';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';

export const SECRET = 'test-secret-0123456789abcdef';

export interface Traefik {
  proxy: Proxy;
  runtime: Runtime;
  dataDir: string;
  /** Where the route files are. */
  dynamicDir: string;
  ports: { http: number; https: number; api: number };
  logLines: string[];
  reopen(changes?: Partial<TraefikProxyOptions>): Proxy;
  containerId(): Promise<string>;
  /** Kills and removes the container, as nothing of berth would. */
  crash(): Promise<void>;
  api<T>(path: string): Promise<T | undefined>;
  live(host: string): Promise<string[] | undefined>;
  dispose(): Promise<void>;
}

/** A real Traefik with a data directory and ports of its own. */
export const startTraefik = async (
  changes: Partial<TraefikProxyOptions> & { patience?: Partial<Patience> } = {},
): Promise<Traefik> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-proxy-'));
  const [http = 0, https = 0, api = 0] = await freePorts(3);
  const id = `proxy-test-${process.pid}-${api}`;
  const instanceLabels = { 'berth.installation': id };
  const logLines: string[] = [];
  const log = createLog('info', (line) => logLines.push(line), Date.now);
  const runtime = createDockerRuntime({ socketPath: '/var/run/docker.sock', clock: systemClock, log });
  const reopen: Traefik['reopen'] = (more = {}) =>
    createTraefikProxy({
      runtime,
      clock: systemClock,
      log,
      dataDir,
      image: 'traefik:v3.6',
      httpPort: http,
      httpsPort: https,
      apiPort: api,
      acme: null,
      instanceLabels,
      containerName: id,
      proxySecret: SECRET,
      ...changes,
      ...more,
    });
  const removeContainers = async (): Promise<void> => {
    for (const container of await runtime.list(instanceLabels)) await runtime.remove(container.id);
  };
  const traefik: Traefik = {
    proxy: reopen(),
    runtime,
    dataDir,
    dynamicDir: join(dataDir, 'proxy/dynamic'),
    ports: { http, https, api },
    logLines,
    reopen,
    containerId: async () => {
      const [container] = await runtime.list(instanceLabels);
      if (container === undefined) throw new Error('Traefik has no container');
      return container.id;
    },
    crash: removeContainers,
    api: (path) => getJson(`http://127.0.0.1:${api}${path}`),
    live: (host) => liveUpstreams(traefik, host),
    dispose: async () => {
      await removeContainers();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return traefik;
};

const getJson = async <T>(url: string): Promise<T | undefined> => {
  const response = await fetch(url);
  const text = await response.text();
  return response.ok ? (JSON.parse(text) as T) : undefined;
};

interface RawData {
  routers?: Record<string, { rule: string; service: string }>;
  services?: Record<string, { loadBalancer?: { servers?: { url: string }[] } }>;
}

const liveUpstreams = async (traefik: Traefik, host: string): Promise<string[] | undefined> => {
  const data = await traefik.api<RawData>('/api/rawdata');
  const router = Object.values(data?.routers ?? {}).find(({ rule }) => rule === `Host(\`${host}\`)`);
  if (router === undefined) return undefined;
  const servers = data?.services?.[`${router.service}@file`]?.loadBalancer?.servers ?? [];
  return servers.map(({ url }) => new URL(url).host);
};

/** Ports that nothing listens on, taken at the same time so that they differ. */
export const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '0.0.0.0', () => {
            const address = server.address();
            resolve(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
};
