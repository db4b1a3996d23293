import { createHash } from 'node:crypto';
import type { ContainerSpec, Labels, NetworkSpec } from '#engines/runtime/port';

/** The registry's part of the network. */
export interface RegistryNetwork {
  /** A network of its own: builds run on Docker's default bridge, and must not reach the registry. */
  network: NetworkSpec;
  /** Addresses in that network. */
  addresses: { registry: string; collector: string };
}

export interface RegistryPlace extends RegistryNetwork {
  /** Name of the container; the collector's is made from it. */
  name: string;
  image: string;
  /** Port on the host's loopback. */
  port: number;
  /** Directory on the host; the registry's user must be able to write it. */
  dir: string;
  /** `uid:gid` on the host under which the registry writes its data. */
  user: string;
  labels: Labels;
}

export const ROLE_LABEL = 'berth.role';
export const SPEC_LABEL = 'berth.spec';

const MEMORY_BYTES = 256 * 1024 * 1024;
const CONFIG_DIR = '/etc/berth-registry';
const CONFIG_FILE = `${CONFIG_DIR}/config.yml`;

/** The registry's own configuration, as JSON, which is YAML too. */
export const registryConfig = (): string =>
  JSON.stringify(
    {
      version: '0.1',
      log: { level: 'warn', accesslog: { disabled: true } },
      storage: {
        // No cache of blob descriptors: after a collection it would claim blobs that are gone.
        filesystem: { rootdirectory: '/var/lib/registry' },
        delete: { enabled: true },
        maintenance: { uploadpurging: { enabled: true, age: '24h', interval: '6h', dryrun: false } },
      },
      http: { addr: ':5000', headers: { 'X-Content-Type-Options': ['nosniff'] } },
      health: { storagedriver: { enabled: true, interval: '10s', threshold: 3 } },
    },
    undefined,
    2,
  );

export const registrySpec = (place: RegistryPlace): ContainerSpec =>
  withSpecLabel({
    ...base(place),
    name: place.name,
    command: ['serve', CONFIG_FILE],
    labels: { ...place.labels, [ROLE_LABEL]: 'registry' },
    network: { name: place.network.name, ip: place.addresses.registry, aliases: [] },
    loopbackPorts: [{ host: place.port, container: 5000 }],
    restart: 'unless-stopped',
  });

/** Removes blobs that no manifest refers to, and exits. */
export const collectorSpec = (place: RegistryPlace): ContainerSpec => ({
  ...base(place),
  name: `${place.name}-collector`,
  command: ['garbage-collect', '--quiet', CONFIG_FILE],
  labels: { ...place.labels, [ROLE_LABEL]: 'registry-collector' },
  network: { name: place.network.name, ip: place.addresses.collector, aliases: [] },
  loopbackPorts: [],
  restart: 'no',
});

type Base = Omit<ContainerSpec, 'name' | 'labels' | 'network' | 'loopbackPorts' | 'restart'>;

const base = ({ image, dir, user }: RegistryPlace): Base => ({
  image,
  entrypoint: ['registry'],
  // The Go runtime collects garbage harder below the limit, instead of being killed at it.
  env: { OTEL_TRACES_EXPORTER: 'none', GOMEMLIMIT: '200MiB' },
  mounts: [
    { hostPath: dataDir(dir), target: '/var/lib/registry', readOnly: false },
    { hostPath: configDir(dir), target: CONFIG_DIR, readOnly: true },
  ],
  volumes: [],
  memoryBytes: MEMORY_BYTES,
  cpus: 1,
  pidsLimit: 256,
  capAdd: [],
  user,
  readOnlyRoot: true,
  tmpfs: ['/tmp'],
  init: false,
  stopGraceSeconds: 10,
});

export const dataDir = (dir: string): string => `${dir}/data`;
export const configDir = (dir: string): string => `${dir}/config`;

const withSpecLabel = (spec: ContainerSpec): ContainerSpec => {
  const hash = createHash('sha256')
    .update(JSON.stringify([spec, registryConfig()]))
    .digest('hex');
  return { ...spec, labels: { ...spec.labels, [SPEC_LABEL]: hash } };
};
