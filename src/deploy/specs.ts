import type { Config } from '#kernel/config';
import { serviceUrl } from '#kernel/config';
import type { FirewallSpec } from '#engines/firewall/rules';
import { APP_CAPABILITIES } from '#engines/runtime/container-spec';
import type { ContainerSpec, Labels, Mount, NetworkSpec } from '#engines/runtime/port';
import type { ServiceRow } from '#modules/services';

/** Labels that say which installation, project and service a Docker object belongs to. */
export const LABEL = {
  instance: 'dev.berth.instance',
  role: 'dev.berth.role',
  project: 'dev.berth.project',
  service: 'dev.berth.service',
  operation: 'dev.berth.operation',
} as const;

/**
 * What the names of an installation's bridges begin with, so that its firewall rules match its own alone. The kernel allows
 * 15 characters: 4 + 4 of the installation + 7 of the network.
 */
export const bridgePrefix = (instance: string): string => `brth${instance.slice(-4)}`;

const PIDS_LIMIT = 512;
/** From SIGTERM to SIGKILL. */
export const STOP_GRACE_SECONDS = 10;
export const DEFAULT_PORT = 8080;

export interface ReplicaRequest {
  config: Config;
  instance: string;
  service: ServiceRow;
  network: string;
  /** Local image id or reference. */
  image: string;
  operationId: string;
  slot: number;
  ip: string;
  env: Record<string, string>;
  mounts: Mount[];
}

/** The port that an app must listen on: `PORT` of the project, 8080 unless it sets another number. */
export const appPort = (env: Record<string, string>): number => {
  const port = Number(env.PORT);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : DEFAULT_PORT;
};

/** Precedence: platform < datastores and project env (merged by the caller); `PORT` is always there. */
export const replicaEnv = (
  config: Config,
  service: ServiceRow,
  env: Record<string, string>,
): Record<string, string> => ({
  BERTH_PROJECT: service.project,
  BERTH_SERVICE: service.name,
  BERTH_SERVICE_URL: serviceUrl(config, service.project, service.name),
  ...env,
  PORT: String(appPort(env)),
});

/** What the local names of an installation's builds begin with; each ends with its operation's id. */
export const buildPrefix = (instance: string): string => `berth/${instance}/`;

export const replicaName = (service: ServiceRow, slot: number, operationId: string): string =>
  `berth-${service.project}-${service.name}-${slot}-${operationId.slice(-10)}`;

/** The container of one replica. Nothing of it comes from the user but the image, the env and the limits. */
export const replicaSpec = (request: ReplicaRequest): ContainerSpec => {
  const { service } = request;
  return {
    name: replicaName(service, request.slot, request.operationId),
    image: request.image,
    env: replicaEnv(request.config, service, request.env),
    labels: {
      ...serviceLabels(request.instance, service.project, service.name),
      [LABEL.operation]: request.operationId,
    },
    network: { name: request.network, ip: request.ip, aliases: [service.name] },
    loopbackPorts: [],
    mounts: request.mounts,
    volumes: [],
    memoryBytes: service.memory_mb * 1024 * 1024,
    cpus: service.cpus,
    pidsLimit: PIDS_LIMIT,
    capAdd: [...APP_CAPABILITIES],
    readOnlyRoot: false,
    tmpfs: [],
    // So that an app that dies before it is healthy stays as it died; `keepRunning` follows once it is.
    restart: 'no',
    init: true,
    stopGraceSeconds: STOP_GRACE_SECONDS,
  };
};

export const serviceLabels = (instance: string, project: string, service: string): Labels => ({
  [LABEL.instance]: instance,
  [LABEL.role]: 'replica',
  [LABEL.project]: project,
  [LABEL.service]: service,
});

/** Labels that select every replica of this installation. */
export const replicaSelector = (instance: string): Labels => ({ [LABEL.instance]: instance, [LABEL.role]: 'replica' });

/** Labels that select every project network of this installation. */
export const networkSelector = (instance: string): Labels => ({
  [LABEL.instance]: instance,
  [LABEL.role]: 'project-network',
});

/** The network of a project; its name and subnet were allotted when the project was made. */
export const projectNetwork = (
  instance: string,
  project: { name: string; network: string; subnet: string },
): NetworkSpec => ({
  name: project.network,
  subnet: project.subnet,
  gateway: firstAddress(project.subnet),
  bridge: bridgeName(instance, project.network),
  labels: { [LABEL.instance]: instance, [LABEL.role]: 'project-network', [LABEL.project]: project.name },
  interContainer: true,
});

/** What the host's packet filter needs to know of this installation. */
export const firewallSpec = (instance: string, entryPorts: number[]): FirewallSpec => ({
  chains: `BERTH-${instance.slice(-4).toUpperCase()}`,
  bridges: bridgePrefix(instance),
  entryPorts,
  nameservers: [],
});

const bridgeName = (instance: string, network: string): string =>
  bridgePrefix(instance) + Bun.hash.xxHash64(network).toString(36).slice(-7).padStart(7, '0');

/** The gateway's address: the first of a subnet in CIDR. */
export const firstAddress = (subnet: string): string => {
  const [address = ''] = subnet.split('/');
  const parts = address.split('.').map(Number);
  return [...parts.slice(0, 3), (parts[3] ?? 0) + 1].join('.');
};
