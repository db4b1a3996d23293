/** The parts of Traefik 3.6's dynamic configuration that berth writes, under Traefik's own names. */
export interface DynamicConfig {
  http: {
    routers: Record<string, Router>;
    services: Record<string, Service>;
    middlewares: Record<string, Middleware>;
  };
}

export interface Router {
  entryPoints: EntryPointName[];
  rule: string;
  priority: number;
  service: string;
  middlewares: string[];
  tls?: { certResolver: typeof CERT_RESOLVER };
}

export interface Service {
  loadBalancer: LoadBalancer;
}

export interface LoadBalancer {
  servers: { url: string }[];
  passHostHeader: true;
  responseForwarding: { flushInterval: string };
  healthCheck?: HealthCheck;
}

export interface HealthCheck {
  path: string;
  hostname: string;
  interval: string;
  unhealthyInterval: string;
  timeout: string;
  followRedirects: false;
}

export type Middleware =
  | { retry: { attempts: number; initialInterval: string } }
  | { headers: { customRequestHeaders: Record<string, string> } };

export type EntryPointName = 'web' | 'websecure';

/** The certificate for hosts that have none, as PEM. */
export interface TlsStoreConfig {
  tls: { stores: { default: { defaultCertificate: { certFile: string; keyFile: string } } } };
}

/** Name of the one certificate resolver. */
export const CERT_RESOLVER = 'acme';
