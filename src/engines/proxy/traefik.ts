import { chmod, mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import type { Labels, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import { ApiUnreachable, createTraefikApi } from './api.ts';
import { PATIENCE, type Patience } from './confirm.ts';
import { proxyContainer, ROLE_LABELS } from './container.ts';
import { makeDefaultCertificate } from './default-certificate.ts';
import { createRouteFiles } from './files.ts';
import { ensureContainer } from './lifecycle.ts';
import type { Proxy, ProxyHealth } from './port.ts';
import { createRouteTable } from './route-table.ts';
import { parseTraffic } from './traffic.ts';
import {
  CONTROL_PLANE,
  controlPlaneConfig,
  DEFAULT_CERTIFICATE,
  defaultCertificateConfig,
  render,
  routeConfig,
  routeName,
} from './traefik-config-builder/index.ts';

export interface TraefikProxyOptions {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  dataDir: string;
  image: string;
  httpPort: number;
  httpsPort: number;
  /** Port of Traefik's API and metrics, on loopback only. */
  apiPort: number;
  /** With it every route is served by HTTPS, and HTTP redirects there. */
  acme: { email: string; server: string; caFile: string | null } | null;
  /** Labels of everything that belongs to this installation. */
  instanceLabels: Labels;
  /** Name of Traefik's container; two installations on one host need two. */
  containerName?: string;
  /** Sent to berth alone, with every request that comes through the proxy. */
  proxySecret: string;
  patience?: Partial<Patience>;
}

/** Traefik as the reverse proxy: one file per route in a directory that its container watches. */
export const createTraefikProxy = (options: TraefikProxyOptions): Proxy => {
  const root = resolve(options.dataDir, 'proxy');
  const directories = { dynamic: join(root, 'dynamic'), acme: join(root, 'acme') };
  const tls = options.acme !== null;
  const caFile = options.acme?.caFile ?? null;
  const api = createTraefikApi(options.apiPort);
  const files = createRouteFiles(directories.dynamic, join(root, 'scratch'));
  const table = createRouteTable({ ...options, api, files, patience: { ...PATIENCE, ...options.patience } });

  const prepare = async (): Promise<void> => {
    await files.prepare();
    await table.tidy();
    await mkdir(directories.acme, { recursive: true, mode: 0o700 });
    await chmod(directories.acme, 0o700);
    if ((await files.read(DEFAULT_CERTIFICATE)) === undefined) {
      const { certificatePem, keyPem } = makeDefaultCertificate();
      await files.write(DEFAULT_CERTIFICATE, render(defaultCertificateConfig(certificatePem, keyPem)));
    }
  };

  /** A proxy that runs with too few routes is better than none: `replaceAll` puts them right, or says why not. */
  const reread = async (): Promise<void> => {
    try {
      await table.reread();
    } catch (error) {
      options.log.error('the reverse proxy started, but did not load all routes', error);
    }
  };

  return {
    ensure: async () => {
      await prepare();
      const spec = proxyContainer({
        ...options,
        acme: options.acme === null ? null : { ...options.acme, caFile: caFile === null ? null : resolve(caFile) },
        containerName: options.containerName ?? 'berth-proxy',
        directories,
        owner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
        cpus: availableParallelism(),
      });
      const started = await ensureContainer({
        ...options,
        api,
        spec,
        labels: { ...options.instanceLabels, ...ROLE_LABELS },
        ports: { http: options.httpPort, https: tls ? options.httpsPort : null, api: options.apiPort },
      });
      if (started) await reread();
    },
    apply: async (route) => table.apply(routeName(route.project, route.service), routeConfig(route, { tls })),
    remove: async (project, service) => table.remove(routeName(project, service)),
    list: () => files.routes(),
    replaceAll: async (routes) =>
      table.replaceAll(
        routes.map((route) => ({
          name: routeName(route.project, route.service),
          config: routeConfig(route, { tls }),
        })),
      ),
    applyControlPlane: async (route) =>
      table.apply(CONTROL_PLANE, controlPlaneConfig(route, { tls, proxySecret: options.proxySecret })),
    traffic: async () => parseTraffic(await api.metrics()),
    health: async () => health(api, (await files.routes()).length),
  };
};

const health = async (api: ReturnType<typeof createTraefikApi>, routes: number): Promise<ProxyHealth> => {
  try {
    return { running: true, version: await api.version(), routes };
  } catch (error) {
    if (error instanceof ApiUnreachable) return { running: false, version: null, routes };
    throw error;
  }
};
