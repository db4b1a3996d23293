import { invalidInput } from '#kernel/errors';

/** A block of IPv4 addresses, first and last included. */
interface Block {
  first: number;
  last: number;
}

export interface Allotment {
  /** In CIDR. */
  subnet: string;
  /** The host's address in it: the first one. */
  gateway: string;
}

/** The first subnet of prefix length `size` in `pool` that overlaps none of `used` (CIDRs); undefined when none is left. */
export const allocateSubnet = (pool: string, size: number, used: string[]): Allotment | undefined => {
  const whole = parseCidr(pool);
  // A /30 is the smallest network with room for a gateway and a container.
  if (!Number.isInteger(size) || size > 30 || blockSize(size) > whole.last - whole.first + 1) {
    throw invalidInput(`a /${size} network does not fit into the pool ${pool}`, 'choose a network size up to 30');
  }
  const taken = used.map(parseCidr).sort((left, right) => left.first - right.first);
  let first = whole.first;
  for (const block of taken) {
    if (block.last < first) continue;
    if (block.first > first + blockSize(size) - 1) break;
    first = alignUp(block.last + 1, blockSize(size));
  }
  if (first + blockSize(size) - 1 > whole.last) return undefined;
  return { subnet: `${formatAddress(first)}/${size}`, gateway: formatAddress(first + 1) };
};

/** Whether `subnet` overlaps none of `used` (CIDRs). */
export const isFreeSubnet = (subnet: string, used: string[]): boolean =>
  allocateSubnet(subnet, Number(subnet.split('/')[1]), used) !== undefined;

/** The addresses that containers may have: without the network's own, the gateway's and the broadcast address. */
export function* hostAddresses(subnet: string): Generator<string, void, undefined> {
  const { first, last } = parseCidr(subnet);
  for (let address = first + 2; address < last; address += 1) yield formatAddress(address);
}

/** The lowest address of `subnet` that is not in `taken`. */
export const nextFreeAddress = (subnet: string, taken: Iterable<string>): string | undefined => {
  const occupied = new Set(taken);
  for (const address of hostAddresses(subnet)) if (!occupied.has(address)) return address;
  return undefined;
};

/** The destinations of the host's routing table, in CIDR, from the text of `/proc/net/route`; the default route is none. */
export const parseRoutes = (table: string): string[] =>
  table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, destination, , , , , , mask] = line.trim().split(/\s+/);
      if (destination === undefined || mask === undefined) return [];
      const size = prefixLength(fromHexLittleEndian(mask));
      return size === 0 ? [] : [`${formatAddress(fromHexLittleEndian(destination))}/${size}`];
    });

const blockSize = (size: number): number => 2 ** (32 - size);

const alignUp = (address: number, step: number): number => Math.ceil(address / step) * step;

const parseCidr = (cidr: string): Block => {
  const [, address = '', prefix = ''] = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(cidr) ?? [];
  const octets = address.split('.').map(Number);
  const size = Number(prefix);
  if (octets.length !== 4 || octets.some((octet) => octet > 255) || size > 32) {
    throw invalidInput(`"${cidr}" is no IPv4 CIDR`, 'write it as 10.208.0.0/12');
  }
  const value = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  const first = value - (value % blockSize(size));
  return { first, last: first + blockSize(size) - 1 };
};

const formatAddress = (value: number): string =>
  [value / 2 ** 24, value / 2 ** 16, value / 2 ** 8, value].map((part) => Math.floor(part) % 256).join('.');

/** The kernel prints addresses byte by byte backwards (on little-endian machines, all that berth is built for). */
const fromHexLittleEndian = (hex: string): number =>
  [6, 4, 2, 0].reduce((sum, at) => sum * 256 + Number.parseInt(hex.slice(at, at + 2), 16), 0);

const prefixLength = (mask: number): number => 32 - Math.round(Math.log2(2 ** 32 - mask));
