import type Docker from 'dockerode';
import { conflict, notFound } from '#kernel/errors';
import type { Connection } from '#engines/docker/connection';
import { labelFilter } from './events.ts';
import { statusOf } from '#engines/docker/failures';
import { carries } from './labels.ts';
import type { Labels, NetworkSpec, Runtime } from './port.ts';

type NetworkCalls = Pick<Runtime, 'ensureNetwork' | 'removeNetwork' | 'listNetworks' | 'usedSubnets'>;

export const networkCalls = ({ call }: Connection, installation: Labels): NetworkCalls => {
  const find = (name: string): Promise<Docker.NetworkInspectInfo | undefined> =>
    call(`look for network ${name}`, async (docker, abortSignal) => {
      // The filter matches parts of names.
      const found = await docker.listNetworks({ filters: { name: [name] }, abortSignal });
      return found.find(({ Name }) => Name === name);
    });
  const isThere = async (spec: NetworkSpec): Promise<boolean> => {
    const found = await find(spec.name);
    if (found === undefined) return false;
    if (subnetsOf(found).includes(spec.subnet) && carries(found.Labels ?? {}, installation)) return true;
    const message = `a network ${spec.name} is there already, with subnet ${subnetsOf(found).join(', ')}`;
    throw conflict(message, 'remove that network, or choose another name');
  };

  return {
    ensureNetwork: async (spec) => {
      if (await isThere(spec)) return;
      await call(`create network ${spec.name}`, async (docker, abortSignal) => {
        try {
          const body = networkBody({ ...spec, labels: { ...spec.labels, ...installation } });
          await docker.createNetwork({ ...body, abortSignal });
        } catch (error) {
          // Made by somebody else at the same time.
          if (statusOf(error) !== 409 || !(await isThere(spec))) throw error;
        }
      });
    },
    removeNetwork: async (name) => {
      const found = await find(name);
      if (found === undefined) return;
      if (!carries(found.Labels ?? {}, installation))
        throw notFound(`no network ${name} of this installation`, 'check the name');
      await call(`remove network ${name}`, async (docker, abortSignal) => {
        try {
          await docker.getNetwork(found.Id).remove({ abortSignal });
        } catch (error) {
          if (statusOf(error) !== 404) throw error;
        }
      });
    },
    listNetworks: (labels) =>
      call('list networks', async (docker, abortSignal) => {
        const filters = { label: labelFilter({ ...labels, ...installation }) };
        const found = await docker.listNetworks({ filters, abortSignal });
        return found.map((network) => ({
          name: network.Name,
          subnet: subnetsOf(network)[0] ?? '',
          labels: network.Labels ?? {},
        }));
      }),
    usedSubnets: () =>
      call('list networks', async (docker, abortSignal) =>
        (await docker.listNetworks({ abortSignal })).flatMap(subnetsOf),
      ),
  };
};

/** Docker's request body for a project's bridge network. */
export const networkBody = (spec: NetworkSpec): Docker.NetworkCreateOptions => ({
  Name: spec.name,
  CheckDuplicate: true,
  Driver: 'bridge',
  EnableIPv6: false,
  Internal: false,
  Attachable: false,
  IPAM: { Driver: 'default', Config: [{ Subnet: spec.subnet, Gateway: spec.gateway }] },
  Options: {
    'com.docker.network.bridge.name': spec.bridge,
    'com.docker.network.bridge.enable_icc': String(spec.interContainer),
    // Whatever is published without an address stays on loopback.
    'com.docker.network.bridge.host_binding_ipv4': '127.0.0.1',
  },
  Labels: spec.labels,
});

/** IPv4 only: berth's networks have no IPv6. */
const subnetsOf = (network: Docker.NetworkInspectInfo): string[] =>
  (network.IPAM?.Config ?? []).flatMap(({ Subnet }) => (Subnet?.includes('.') ? [Subnet] : []));
