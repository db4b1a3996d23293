import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { bridgePrefix, firstAddress, LABEL } from '#deploy/index';
import type { RegistryNetwork, RegistryPlace } from '#engines/registry/container';
import { takenSubnets } from '#engines/runtime/host-routes';
import type { Labels, Runtime } from '#engines/runtime/port';
import { allocateSubnet, hostAddresses, isFreeSubnet } from '#engines/runtime/subnets';
import type { Config } from '#kernel/config';
import { BerthError } from '#kernel/errors';
import { createProjectStore } from '#modules/projects';
import type { Base } from './base.ts';

/** Nobody on the host has this id; the registry needs to write its own directory and nothing else. */
const REGISTRY_UID = 65_532;

/** Where the image registry of this installation lives: its directory, and a network that is allotted once. */
export const registryPlace = (
  { config, instance, meta }: Base,
  labels: Labels,
  hostRoutes: string[],
): RegistryPlace => {
  const subnet = meta.ensure('registry_subnet', () => allot(config, hostRoutes));
  const uid = process.getuid?.() === 0 ? REGISTRY_UID : (process.getuid?.() ?? REGISTRY_UID);
  const dir = join(config.dataDir, 'registry');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (process.getuid?.() === 0) chownSync(dir, uid, uid);
  return {
    ...registryNetwork(instance, subnet, labels),
    name: `berth-${instance}-registry`,
    image: config.registryImage,
    port: config.registryPort,
    dir,
    user: `${uid}:${uid}`,
    labels,
  };
};

/**
 * Allots the registry another network when somebody else took its own while it was not there; undefined when that is not
 * what is wrong.
 */
export const otherRegistryNetwork =
  ({ config, db, instance, log, meta }: Base, labels: Labels, runtime: Pick<Runtime, 'usedSubnets'>) =>
  async (): Promise<RegistryNetwork | undefined> => {
    const own = meta.get('registry_subnet') ?? '';
    const foreign = await takenSubnets(runtime);
    if (isFreeSubnet(own, foreign)) return undefined;
    const subnet = allot(config, [...foreign, ...createProjectStore(db).subnets()]);
    meta.replace('registry_subnet', subnet);
    log.info('the image registry got another subnet: its own was taken', { own, subnet });
    return registryNetwork(instance, subnet, labels);
  };

const registryNetwork = (instance: string, subnet: string, labels: Labels): RegistryNetwork => {
  // The first address is the gateway's, which hostAddresses leaves out.
  const [registry = '', collector = ''] = hostAddresses(subnet);
  return {
    network: {
      name: `berth-${instance}-system`,
      subnet,
      gateway: firstAddress(subnet),
      bridge: `${bridgePrefix(instance)}system`,
      labels: { ...labels, [LABEL.role]: 'system-network' },
      interContainer: false,
    },
    addresses: { registry, collector },
  };
};

const allot = (config: Config, used: string[]): string => {
  const allotted = allocateSubnet(config.networkPool, config.networkSize, used);
  if (allotted !== undefined) return allotted.subnet;
  throw new BerthError('QUOTA_EXCEEDED', `the pool ${config.networkPool} has no free network`, {
    hint: 'set --network-pool to private addresses that this host does not use',
  });
};
