import { createHash } from 'node:crypto';
import type { ContainerSpec, Labels } from '#engines/runtime/port';
import { CONTAINER_PATHS, staticArguments } from './traefik-config-builder/index.ts';

/** Marks Traefik's container among those of one installation. */
export const ROLE_LABELS: Labels = { 'berth.role': 'proxy' };

/** Holds the hash of the specification, so that a changed one is noticed. */
export const SPEC_LABEL = 'berth.spec';

export interface ProxyContainerOptions {
  image: string;
  httpPort: number;
  httpsPort: number;
  apiPort: number;
  acme: { email: string; server: string; caFile: string | null } | null;
  instanceLabels: Labels;
  /** Distinguishes the containers of several installations on one host. */
  containerName: string;
  directories: { dynamic: string; acme: string };
  /** User and group that berth runs as; they own the mounted directories. */
  owner: { uid: number; gid: number };
  cpus: number;
}

/** Traefik's container as data, labelled with the hash of all the rest. */
export const proxyContainer = (options: ProxyContainerOptions): ContainerSpec => {
  const spec = unlabelled(options);
  const hash = createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 32);
  return { ...spec, labels: { ...spec.labels, [SPEC_LABEL]: hash } };
};

const unlabelled = (options: ProxyContainerOptions): ContainerSpec => {
  const { acme } = options;
  const caFile = acme?.caFile ?? null;
  return {
    name: options.containerName,
    image: options.image,
    command: staticArguments({
      httpPort: options.httpPort,
      httpsPort: options.httpsPort,
      apiPort: options.apiPort,
      acme: acme === null ? null : { email: acme.email, server: acme.server, privateCa: caFile !== null },
    }),
    // The Go runtime collects garbage harder below the limit, instead of being killed at it.
    env: { GOMEMLIMIT: '200MiB' },
    labels: { ...options.instanceLabels, ...ROLE_LABELS },
    network: 'host',
    loopbackPorts: [],
    mounts: [
      { hostPath: options.directories.dynamic, target: CONTAINER_PATHS.dynamic, readOnly: true },
      { hostPath: options.directories.acme, target: CONTAINER_PATHS.acme, readOnly: false },
      ...(caFile === null ? [] : [{ hostPath: caFile, target: CONTAINER_PATHS.acmeCa, readOnly: true }]),
    ],
    volumes: [],
    memoryBytes: 256 * 1024 * 1024,
    cpus: options.cpus,
    pidsLimit: 256,
    ...privileges(options),
    readOnlyRoot: true,
    tmpfs: ['/tmp'],
    restart: 'unless-stopped',
    init: false,
    stopGraceSeconds: 15,
  };
};

/**
 * Ports below 1024 need root inside the container, as capabilities don't reach other users there. Root without
 * capabilities can't read another user's private files, hence the second one when berth itself isn't root.
 */
const privileges = (options: ProxyContainerOptions): Pick<ContainerSpec, 'capAdd' | 'user'> => {
  const { uid, gid } = options.owner;
  const lowPort = options.httpPort < 1024 || (options.acme !== null && options.httpsPort < 1024);
  if (uid === 0) return { capAdd: ['NET_BIND_SERVICE'] };
  return lowPort ? { capAdd: ['NET_BIND_SERVICE', 'DAC_OVERRIDE'] } : { capAdd: [], user: `${uid}:${gid}` };
};
