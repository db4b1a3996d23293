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
import { createDockerRuntime } from '#engines/runtime/docker';
import type { Runtime } from '#engines/runtime/port';
import { firewallSpec, LABEL } from '#deploy/index';
import { readHostRoutes } from '#engines/runtime/host-routes';
import type { Config } from '#kernel/config';
import type { Base } from './base.ts';
import { otherRegistryNetwork, registryPlace } from './registry-place.ts';

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
      otherNetwork: otherRegistryNetwork(base, labels, runtime),
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
