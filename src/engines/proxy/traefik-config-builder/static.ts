import { LATENCY_BOUNDS } from '../port.ts';
import { CERT_RESOLVER } from './model.ts';

/** Paths inside Traefik's container. */
export const CONTAINER_PATHS = {
  dynamic: '/etc/berth/dynamic',
  acme: '/var/lib/acme',
  acmeCa: '/etc/berth/acme-ca.pem',
} as const;

interface StaticOptions {
  httpPort: number;
  httpsPort: number;
  apiPort: number;
  acme: { email: string; server: string; privateCa: boolean } | null;
}

/** Traefik's static configuration as command-line arguments; it changes only by a new container. */
export const staticArguments = (options: StaticOptions): string[] => [
  '--global.checkNewVersion=false',
  '--global.sendAnonymousUsage=false',
  '--log.level=ERROR',
  '--log.format=json',
  `--providers.file.directory=${CONTAINER_PATHS.dynamic}`,
  '--providers.file.watch=true',
  '--providers.providersThrottleDuration=0s',
  ...apiArguments(options.apiPort),
  ...upstreamArguments(),
  ...entryPointArguments('web', options.httpPort),
  ...(options.acme === null ? [] : tlsArguments(options, options.acme)),
];

/** API and metrics, for berth alone: on loopback, without a dashboard, without labels that a request can choose. */
const apiArguments = (port: number): string[] => [
  `--entryPoints.traefik.address=127.0.0.1:${port}`,
  '--api.insecure=true',
  '--api.dashboard=false',
  '--metrics.prometheus=true',
  '--metrics.prometheus.entryPoint=traefik',
  '--metrics.prometheus.addEntryPointsLabels=false',
  '--metrics.prometheus.addRoutersLabels=false',
  '--metrics.prometheus.addServicesLabels=true',
  `--metrics.prometheus.buckets=${LATENCY_BOUNDS.join(',')}`,
];

/**
 * An upstream is on this host, so a connection that takes a second will not come. Idle connections are given up
 * before common servers do so (gunicorn after 2 s, Node after 5 s): a request sent into a closing one would be lost.
 */
const upstreamArguments = (): string[] => [
  '--serversTransport.forwardingTimeouts.dialTimeout=1s',
  '--serversTransport.forwardingTimeouts.responseHeaderTimeout=0s',
  '--serversTransport.forwardingTimeouts.idleConnTimeout=1500ms',
  '--serversTransport.maxIdleConnsPerHost=200',
];

/**
 * Requests may take as long as they like in both directions. Encoded characters but NUL pass unchanged, as apps expect;
 * routes are chosen by host alone, so no path reaches another one. `.` and `..` are resolved before anything sees them.
 */
const entryPointArguments = (name: string, port: number): string[] =>
  [
    `address=:${port}`,
    'transport.respondingTimeouts.readTimeout=0s',
    'transport.respondingTimeouts.writeTimeout=0s',
    'transport.respondingTimeouts.idleTimeout=180s',
    'transport.lifeCycle.graceTimeOut=10s',
    'http.sanitizePath=true',
    'http.encodedCharacters.allowEncodedSlash=true',
    'http.encodedCharacters.allowEncodedBackSlash=true',
    'http.encodedCharacters.allowEncodedNullCharacter=false',
    'http.encodedCharacters.allowEncodedSemicolon=true',
    'http.encodedCharacters.allowEncodedPercent=true',
    'http.encodedCharacters.allowEncodedQuestionMark=true',
    'http.encodedCharacters.allowEncodedHash=true',
    // Otherwise Traefik turns a `;` of the query into `&`, and so one value into two.
    'http.encodeQuerySemicolons=true',
  ].map((setting) => `--entryPoints.${name}.${setting}`);

/** The ACME challenge has the one priority above that of the redirect, so it is answered over plain HTTP. */
const tlsArguments = (options: StaticOptions, acme: NonNullable<StaticOptions['acme']>): string[] => {
  const resolver = `--certificatesResolvers.${CERT_RESOLVER}.acme`;
  return [
    ...entryPointArguments('websecure', options.httpsPort),
    '--entryPoints.web.http.redirections.entryPoint.to=websecure',
    '--entryPoints.web.http.redirections.entryPoint.scheme=https',
    '--entryPoints.web.http.redirections.entryPoint.permanent=true',
    `${resolver}.email=${acme.email}`,
    `${resolver}.caServer=${acme.server}`,
    `${resolver}.storage=${CONTAINER_PATHS.acme}/acme.json`,
    `${resolver}.keyType=EC256`,
    `${resolver}.httpChallenge.entryPoint=web`,
    ...(acme.privateCa ? [`${resolver}.caCertificates=${CONTAINER_PATHS.acmeCa}`] : []),
  ];
};
