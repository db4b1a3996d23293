import { BlockList, isIPv4 } from 'node:net';

/** Why berth does not reach an address. */
export type AddressKind = 'loopback' | 'private' | 'link-local' | 'metadata' | 'multicast' | 'reserved' | 'own';

const BLOCKS: Record<Exclude<AddressKind, 'own'>, readonly string[]> = {
  // Azure's and Alibaba's are no link-local addresses; fd00:ec2::254 is Amazon's.
  metadata: ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32', 'fd00:ec2::254/128'],
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  multicast: ['224.0.0.0/4', 'ff00::/8'],
  // IANA's registries of special-purpose addresses (RFC 6890); 6to4 and Teredo carry IPv4 addresses inside.
  reserved: [
    '0.0.0.0/8',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '240.0.0.0/4',
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
  ],
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** A list of `address/length`; INVALID ones throw what node:net throws. */
export const blockList = (cidrs: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', length = ''] = cidr.split('/');
    list.addSubnet(address, Number(length), familyOf(address));
  }
  return list;
};

export const inList = (list: BlockList, address: string): boolean => list.check(address, familyOf(address));

const LISTS = Object.entries(BLOCKS).map(([kind, cidrs]) => [kind as AddressKind, blockList(cidrs)] as const);
const GLOBAL_IPV6 = blockList(['2000::/3']);
const TRANSLATED_IPV6 = blockList(['64:ff9b::/96']);

/** Why an address is no public one; undefined when it is. */
export const kindOf = (address: string): AddressKind | undefined => {
  // A scope (`fe80::1%eth0`) only belongs to link-local addresses.
  if (address.includes('%')) return 'link-local';
  const known = LISTS.find(([, list]) => inList(list, address));
  if (known !== undefined) return known[0];
  if (isIPv4(address)) return undefined;
  // What networks without IPv4 make of public IPv4 addresses (RFC 6052).
  if (inList(TRANSLATED_IPV6, address)) return kindOf(embeddedIPv4(address));
  return inList(GLOBAL_IPV6, address) ? undefined : 'reserved';
};

const embeddedIPv4 = (address: string): string => {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [high = 0, low = 0] = text
    .slice(text.lastIndexOf('::') + 2)
    .split(':')
    .slice(-2)
    .map((part) => Number.parseInt(part || '0', 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};
