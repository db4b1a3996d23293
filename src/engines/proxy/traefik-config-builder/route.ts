import { invalidInput } from '#kernel/errors';
import type { ControlPlaneRoute, Route } from '../port.ts';
import {
  CERT_RESOLVER,
  type DynamicConfig,
  type HealthCheck,
  type Middleware,
  type Router,
  type TlsStoreConfig,
} from './model.ts';
import { checkAddress, checkHealthPath, checkHosts, checkName, checkSecret, checkUpstream } from './validate.ts';

/** Carries the shared secret by which berth knows that a request came through Traefik. */
const PROXY_HEADER = 'X-Berth-Proxy';

/** Never the name of a route, since names of projects start with a letter. */
export const CONTROL_PLANE = '_control-plane';

/** Name of the file with the certificate for hosts that have none. */
export const DEFAULT_CERTIFICATE = '_default-certificate';

const APP_PRIORITY = 100;
const CONTROL_PLANE_PRIORITY = 1000;

interface RouteOptions {
  /** HTTPS with a certificate by ACME; otherwise plain HTTP. */
  tls: boolean;
}

/** Name of a route in Traefik and, with `.yml`, of its file. Neither part can contain a dot. */
export const routeName = (project: string, service: string): string =>
  `${checkName('project', project)}.${checkName('service', service)}`;

/** The configuration of one app's route. With no upstreams, Traefik answers 503. */
export const routeConfig = (route: Route, options: RouteOptions): DynamicConfig => {
  const name = routeName(route.project, route.service);
  const hosts = checkHosts(route.hosts);
  const scheme = route.protocol === 'h2c' ? 'h2c' : 'http';
  const addresses = route.upstreams.map(({ ip, port }) => checkUpstream(ip, port));
  if (new Set(addresses).size < addresses.length) {
    throw invalidInput('a route names one upstream twice', 'give every upstream of the route once');
  }
  return assemble({
    name,
    hosts,
    priority: APP_PRIORITY,
    tls: options.tls,
    urls: addresses.map((address) => `${scheme}://${address}`),
    healthCheck: healthCheck(route, hosts),
    middleware: ['retry', retry(addresses.length)],
  });
};

/** The configuration that routes the API's host names to berth, with the secret that marks requests as Traefik's. */
export const controlPlaneConfig = (
  route: ControlPlaneRoute,
  options: RouteOptions & { proxySecret: string },
): DynamicConfig =>
  assemble({
    name: CONTROL_PLANE,
    hosts: checkHosts(route.hosts),
    priority: CONTROL_PLANE_PRIORITY,
    tls: options.tls,
    urls: [`http://${checkAddress(route.address)}`],
    healthCheck: null,
    middleware: [
      'proxy-secret',
      { headers: { customRequestHeaders: { [PROXY_HEADER]: checkSecret(options.proxySecret) } } },
    ],
  });

/** Traefik takes the PEM texts in place of file names. */
export const defaultCertificateConfig = (certificatePem: string, keyPem: string): TlsStoreConfig => ({
  tls: { stores: { default: { defaultCertificate: { certFile: certificatePem, keyFile: keyPem } } } },
});

interface Parts {
  name: string;
  hosts: string[];
  priority: number;
  tls: boolean;
  urls: string[];
  healthCheck: HealthCheck | null;
  middleware: [string, Middleware];
}

/** One router per host, so that a host whose certificate can't be had does not hold up the certificates of the others. */
const assemble = (parts: Parts): DynamicConfig => {
  const middleware = `${parts.name}.${parts.middleware[0]}`;
  const router = (host: string): Router => ({
    entryPoints: [parts.tls ? 'websecure' : 'web'],
    rule: `Host(\`${host}\`)`,
    priority: parts.priority,
    service: parts.name,
    middlewares: [middleware],
    ...(parts.tls ? { tls: { certResolver: CERT_RESOLVER } } : {}),
  });
  return {
    http: {
      routers: Object.fromEntries(parts.hosts.map((host, index) => [`${parts.name}.${index}`, router(host)])),
      services: {
        [parts.name]: {
          loadBalancer: {
            servers: parts.urls.map((url) => ({ url })),
            passHostHeader: true,
            // Every write of the app goes out at once, so that streams of any content type flow.
            responseForwarding: { flushInterval: '-1ms' },
            ...(parts.healthCheck === null ? {} : { healthCheck: parts.healthCheck }),
          },
        },
      },
      middlewares: { [middleware]: parts.middleware[1] },
    },
  };
};

/**
 * Active checks, where there is a choice to make: a lone upstream that is slow to answer its check would turn waiting
 * requests into 503s. Redirects count as healthy and are not followed.
 */
const healthCheck = (route: Route, hosts: string[]): HealthCheck | null => {
  if (route.healthPath === null) return null;
  const path = checkHealthPath(route.healthPath);
  if (route.upstreams.length < 2) return null;
  const [hostname = ''] = hosts;
  return { path, hostname, interval: '10s', unhealthyInterval: '2s', timeout: '3s', followRedirects: false };
};

/**
 * Traefik sends a request again only while nothing of it has been written to an upstream (no connection was made), so
 * a retry can never run an app's work twice. Every retry takes the next upstream in turn; as other requests take turns
 * too, one dead upstream of two can be met several times in a row, hence the many cheap attempts.
 */
const retry = (upstreams: number): Middleware => ({
  retry: { attempts: upstreams < 2 ? 4 : 12, initialInterval: '20ms' },
});
