/**
 * The port to the reverse proxy. Contract, held by test/contracts/proxy.ts:
 * - `apply` resolves only when the proxy itself reports the route as live with exactly these upstreams; requests that
 *   were just being handed over may still reach the old ones for a few milliseconds: give those time before a stop;
 * - a route stays as it was when `apply` rejects;
 * - routes survive a restart of the proxy and of berth; the proxy keeps routing while berth is down.
 */
export interface Proxy {
  /** Starts the proxy when it does not run, and brings its static configuration up to date. */
  ensure(): Promise<void>;
  apply(route: Route): Promise<void>;
  /** Idempotent. */
  remove(project: string, service: string): Promise<void>;
  /** The routes on disk. */
  list(): Promise<{ project: string; service: string }[]>;
  /** Makes the set of routes exactly this one; used when berth starts. */
  replaceAll(routes: Route[]): Promise<void>;
  /** Routes the API's own host name to berth's listener. */
  applyControlPlane(route: ControlPlaneRoute): Promise<void>;
  health(): Promise<ProxyHealth>;
  /** What has passed since the proxy began to count; it begins anew at 0 now and then, each series by itself. */
  traffic(): Promise<TrafficSeries[]>;
}

/** Upper bounds of the latency buckets in seconds. */
export const LATENCY_BOUNDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Requests of one service that were answered alike. */
export interface TrafficSeries {
  project: string;
  service: string;
  /** Tells it from the others of the service. */
  key: string;
  status: number;
  /** Requests by latency, not summed up: one more than there are bounds, the last for all above. */
  buckets: number[];
}

export interface Route {
  project: string;
  service: string;
  /** Host names, lower case, without port. */
  hosts: string[];
  upstreams: Upstream[];
  /** How the proxy speaks to the app: HTTP/1.1, or HTTP/2 without TLS (gRPC). */
  protocol: 'http' | 'h2c';
  /** Path of active health checks; without it dead upstreams are noticed passively. */
  healthPath: string | null;
}

export interface Upstream {
  ip: string;
  port: number;
}

export interface ControlPlaneRoute {
  hosts: string[];
  /** Address of berth's listener, e.g. `127.0.0.1:4400`. */
  address: string;
}

export interface ProxyHealth {
  running: boolean;
  version: string | null;
  routes: number;
}
