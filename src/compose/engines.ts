import { chownSync, mkdirSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { loadOrCreateIdentity, openBackups } from '#engines/backups/index';
import type { Backups } from '#engines/backups/port';
import { createBuildkitBuilder } from '#engines/builder/buildkit';
import type { ImageBuilder } from '#engines/builder/port';
import { createIptablesFirewall } from '#engines/firewall/iptables';
import { readNameservers } from '#engines/firewall/nameservers';
import type { Firewall } from '#engines/firewall/port';
import type { Proxy } from '#engines/proxy/port';
import { createTraefikProxy } from '#engines/proxy/traefik';
import { createDockerRegistry, type DockerRegistry } from '#engines/registry/docker';
import type { RegistryPlace } from '#engines/registry/container';
import { createDockerRuntime } from '#engines/runtime/docker';
import type { Labels, Runtime } from '#engines/runtime/port';
import { allocateSubnet, hostAddresses } from '#engines/runtime/subnets';
import { bridgePrefix, firewallSpec, firstAddress, LABEL } from '#deploy/index';
import { readHostRoutes } from '#engines/runtime/host-routes';
import type { Config } from '#kernel/config';
import { BerthError } from '#kernel/errors';
import type { Meta } from '#kernel/meta';
import type { Base } from './base.ts';

/** The real engines of a server. */
export interface Engines {
  runtime: Runtime;
  builder: ImageBuilder;
  registry: DockerRegistry;
  proxy: Proxy;
  firewall: Firewall | null;
  /** Where backups are kept. */
  storage: Backups;
}

const MIB = 1024 ** 2;

/** Nobody on the host has this id; the registry needs to write its own directory and nothing else. */
const REGISTRY_UID = 65_532;

const registryPlace = ({ config, instance, meta }: Base, labels: Labels, hostRoutes: string[]): RegistryPlace => {
  const registrySubnet = allotRegistrySubnet(meta, config, hostRoutes);
  const uid = process.getuid?.() === 0 ? REGISTRY_UID : (process.getuid?.() ?? REGISTRY_UID);
  const dir = join(config.dataDir, 'registry');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) chownSync(dir, uid, uid);
  const [registry = '', collector = ''] = [...take(hostAddresses(registrySubnet.subnet), 3)].filter(
    (ip) => ip !== registrySubnet.gateway,
  );
  return {
    name: `berth-${instance}-registry`,
    image: config.registryImage,
    port: config.registryPort,
    network: {
      name: `berth-${instance}-system`,
      subnet: registrySubnet.subnet,
      gateway: registrySubnet.gateway,
      bridge: `${bridgePrefix(instance)}system`,
      labels: { ...labels, [LABEL.role]: 'system-network' },
      interContainer: false,
    },
    addresses: { registry, collector },
    dir,
    user: `${uid}:${uid}`,
    labels,
  };
};

function* take<T>(items: Iterable<T>, count: number): Generator<T, void, undefined> {
  let left = count;
  for (const item of items) {
    if (left === 0) return;
    left -= 1;
    yield item;
  }
}

/** Three quarters of the machine's, unless set: the rest is for berth, the proxy and the apps. */
const buildMemory = (config: Config): number =>
  config.buildMemoryMb > 0 ? config.buildMemoryMb * MIB : Math.floor((totalmem() * 3) / 4);

export const createEngines = async (base: Base): Promise<Engines> => {
  const { config, instance, clock, log } = base;
  const labels = { [LABEL.instance]: instance };
  const socketPath = config.dockerSocket;
  const runtime = createDockerRuntime({ socketPath, clock, log, installation: labels });
  return {
    runtime,
    builder: createBuildkitBuilder({ socketPath, clock, log, limits: { memoryBytes: buildMemory(config) } }),
    registry: createDockerRegistry({
      socketPath,
      runtime,
      clock,
      log,
      place: registryPlace(base, labels, await readHostRoutes()),
    }),
    proxy: createTraefikProxy({
      runtime,
      clock,
      log,
      dataDir: config.dataDir,
      image: config.traefikImage,
      httpPort: config.httpPort,
      httpsPort: config.httpsPort,
      apiPort: config.proxyApiPort,
      acme:
        config.acmeEmail === ''
          ? null
          : {
              email: config.acmeEmail,
              server: config.acmeServer,
              caFile: config.acmeCaFile === '' ? null : config.acmeCaFile,
            },
      instanceLabels: labels,
      containerName: `berth-${instance}-proxy`,
      proxySecret: base.proxySecret,
    }),
    firewall: config.firewall
      ? createIptablesFirewall({
          ...firewallSpec(instance, [config.httpPort, config.httpsPort]),
          nameservers: await readNameservers(),
          log,
        })
      : null,
    storage: await openBackupStorage(base),
  };
};

const openBackupStorage = async ({ config, clock }: Base): Promise<Backups> =>
  openBackups({
    disk: {
      dir: join(config.dataDir, 'backups'),
      floor: { bytes: config.minFreeBytes, percent: config.minFreePercent },
    },
    keys: config.backupKeyFile === '' ? undefined : await loadOrCreateIdentity(config.backupKeyFile),
    s3:
      config.backupS3Endpoint === ''
        ? undefined
        : {
            endpoint: config.backupS3Endpoint,
            region: config.backupS3Region,
            bucket: config.backupS3Bucket,
            accessKeyId: config.backupS3AccessKey,
            secretAccessKey: config.backupS3SecretKey,
            prefix: config.backupS3Prefix,
            clock,
          },
    clock,
  });

/** Allots the registry's network once; it stays the same from then on. */
const allotRegistrySubnet = (meta: Meta, config: Config, hostRoutes: string[]): { subnet: string; gateway: string } => {
  const known = meta.get('registry_subnet') !== undefined;
  const allotted = allocateSubnet(config.networkPool, config.networkSize, known ? [] : hostRoutes);
  if (allotted === undefined) {
    throw new BerthError('QUOTA_EXCEEDED', `the pool ${config.networkPool} has no free network`, {
      hint: 'set --network-pool to private addresses that this host does not use',
    });
  }
  const subnet = meta.ensure('registry_subnet', () => allotted.subnet);
  return { subnet, gateway: firstAddress(subnet) };
};
