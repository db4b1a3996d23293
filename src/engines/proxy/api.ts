import type { DynamicConfig } from './traefik-config-builder/index.ts';

/** Thrown when nothing answers at the API's address: Traefik does not run, or is just starting. */
export class ApiUnreachable extends Error {}

export interface TraefikApi {
  version(): Promise<string>;
  /** Names of all live services. */
  services(): Promise<Set<string>>;
  /** Why the live configuration is not (yet) exactly the given one; null when it is. */
  difference(name: string, expected: DynamicConfig): Promise<string | null>;
  /** Whether nothing of the route is live any more. */
  isGone(name: string): Promise<boolean>;
  /** In the Prometheus text format. */
  metrics(): Promise<string>;
}

interface LiveService {
  status?: string;
  error?: string[];
  loadBalancer?: { servers?: { url?: string }[]; healthCheck?: { path?: string; hostname?: string } };
}

interface LiveRouter {
  status?: string;
  error?: string[];
  rule?: string;
  service?: string;
}

const REQUEST_TIMEOUT_MS = 2_000;

/**
 * Reads Traefik's API. What it reports is what routes: the API's own handler belongs to the configuration it shows,
 * and is switched in together with all routers.
 */
export const createTraefikApi = (port: number): TraefikApi => {
  const read = async (path: string): Promise<string | undefined> => {
    let response: Response;
    try {
      response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
    } catch (error) {
      throw new ApiUnreachable(`the reverse proxy's API on 127.0.0.1:${port} does not answer`, { cause: error });
    }
    const text = await response.text();
    if (response.status === 404) return undefined;
    if (!response.ok) throw new ApiUnreachable(`the reverse proxy's API answered ${response.status}`);
    return text;
  };
  const get = async <T>(path: string): Promise<T | undefined> => {
    const text = await read(path);
    return text === undefined ? undefined : (JSON.parse(text) as T);
  };
  const router = (name: string): Promise<LiveRouter | undefined> => get(`/api/http/routers/${name}@file`);
  const service = (name: string): Promise<LiveService | undefined> => get(`/api/http/services/${name}@file`);

  return {
    version: async () => (await get<{ Version?: string }>('/api/version'))?.Version ?? 'unknown',
    services: async () => {
      const live = await get<{ name?: string }[]>('/api/http/services?per_page=100000');
      return new Set(live?.flatMap(({ name }) => (name?.endsWith('@file') ? [name.slice(0, -'@file'.length)] : [])));
    },
    difference: async (name, expected) => {
      const inService = serviceDifference(await service(name), expected.http.services[name]);
      if (inService !== null) return inService;
      const names = Object.keys(expected.http.routers);
      for (const routerName of names) {
        const inRouter = routerDifference(await router(routerName), expected.http.routers[routerName]);
        if (inRouter !== null) return inRouter;
      }
      const surplus = await router(`${name}.${names.length}`);
      return surplus === undefined ? null : 'a host name of the previous route is still live';
    },
    metrics: async () => (await read('/metrics')) ?? '',
    isGone: async (name) => (await service(name)) === undefined && (await router(`${name}.0`)) === undefined,
  };
};

const serviceDifference = (
  live: LiveService | undefined,
  expected: DynamicConfig['http']['services'][string] | undefined,
): string | null => {
  if (live === undefined) return 'its service is not known yet';
  if (live.error !== undefined && live.error.length > 0) return `its service is refused: ${live.error.join('; ')}`;
  const urls = (servers: { url?: string }[] = []): string => servers.map(({ url }) => url).join(' ');
  const check = (value: { path?: string; hostname?: string } | undefined): string =>
    `${value?.path ?? ''} ${value?.hostname ?? ''}`;
  if (urls(live.loadBalancer?.servers) !== urls(expected?.loadBalancer.servers))
    return 'its upstreams are the old ones';
  if (check(live.loadBalancer?.healthCheck) !== check(expected?.loadBalancer.healthCheck)) {
    return 'its health check is the old one';
  }
  return null;
};

const routerDifference = (
  live: LiveRouter | undefined,
  expected: DynamicConfig['http']['routers'][string] | undefined,
): string | null => {
  if (live === undefined) return 'a router is not known yet';
  if (live.error !== undefined && live.error.length > 0) return `a router is refused: ${live.error.join('; ')}`;
  if (live.status !== 'enabled') return `a router is ${live.status ?? 'without a status'}`;
  if (live.rule !== expected?.rule || live.service !== expected?.service) return 'a router is the old one';
  return null;
};
