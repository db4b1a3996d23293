import { describe, expect, test } from 'bun:test';
import { readHostRoutes } from '#engines/runtime/host-routes';
import { allocateSubnet, hostAddresses, nextFreeAddress, parseRoutes } from '#engines/runtime/subnets';

const POOL = '10.208.0.0/12';

describe('allocateSubnet', () => {
  test('gives the first subnet of an unused pool, and its first address to the gateway', () => {
    expect(allocateSubnet(POOL, 23, [])).toEqual({ subnet: '10.208.0.0/23', gateway: '10.208.0.1' });
  });
  test.each<[string, string[], string]>([
    ['one inside', ['10.208.0.128/25'], '10.208.2.0/23'],
    ['one that covers several', ['10.208.0.0/20'], '10.208.16.0/23'],
    ['one that begins before the pool', ['10.0.0.0/8'], 'none'],
    ['a gap between two', ['10.208.4.0/23', '10.208.0.0/23'], '10.208.2.0/23'],
    ['a gap that is too small', ['10.208.0.0/24', '10.208.2.0/24', '10.208.4.0/24'], '10.208.6.0/23'],
    ['a single address of a host route', ['10.208.1.255/32'], '10.208.2.0/23'],
    ['the last address before it', ['10.207.255.255/32'], '10.208.0.0/23'],
    ['overlapping ones', ['10.208.0.0/21', '10.208.4.0/22', '10.208.0.0/24'], '10.208.8.0/23'],
    ['elsewhere', ['172.17.0.0/16', '192.168.0.0/16', '0.0.0.0/32'], '10.208.0.0/23'],
    ['one written with host bits', ['10.208.0.77/23'], '10.208.2.0/23'],
  ])('steps around %s', (_, used, subnet) => {
    expect(allocateSubnet(POOL, 23, used)?.subnet ?? 'none').toBe(subnet);
  });
  test('gives 200 projects subnets that do not overlap, around the networks of the host', () => {
    const used = ['10.208.8.0/21', '10.209.0.0/24', '172.17.0.0/16'];
    for (let i = 0; i < 200; i += 1) used.push(allocateSubnet(POOL, 23, used)?.subnet ?? 'none');
    const blocks = used.map((cidr) => {
      const [address = '', size = ''] = cidr.split('/');
      const first = address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
      return { first, end: first + 2 ** (32 - Number(size)) };
    });
    const sorted = blocks.toSorted((left, right) => left.first - right.first);
    expect(sorted.every(({ end }, at) => end <= (sorted[at + 1]?.first ?? Infinity))).toBe(true);
  });
  test('gives nothing once the pool is used up', () => {
    const used: string[] = [];
    for (let next = allocateSubnet('10.0.0.0/24', 26, used); next; next = allocateSubnet('10.0.0.0/24', 26, used)) {
      used.push(next.subnet);
    }
    expect(used).toEqual(['10.0.0.0/26', '10.0.0.64/26', '10.0.0.128/26', '10.0.0.192/26']);
  });
  test('works at the ends of the address space, and for the whole pool', () => {
    expect(allocateSubnet('255.255.255.0/24', 25, ['255.255.255.0/25'])?.subnet).toBe('255.255.255.128/25');
    expect(allocateSubnet('255.255.255.0/24', 25, ['255.255.255.128/25', '255.255.255.0/25'])).toBeUndefined();
    expect(allocateSubnet('10.1.0.0/16', 16, [])?.subnet).toBe('10.1.0.0/16');
    expect(allocateSubnet('10.1.0.0/29', 30, ['10.1.0.0/30'])).toEqual({ subnet: '10.1.0.4/30', gateway: '10.1.0.5' });
  });
  test.each<[string, number]>([
    ['10.0.0.0/24', 23],
    ['10.0.0.0/24', 31],
    ['10.0.0.0/24', 24.5],
    ['10.0.0.0/33', 34],
    ['10.0.0.256/24', 25],
    ['10.0.0/24', 25],
    ['', 24],
  ])('refuses the pool "%s" with size %d', (pool, size) => {
    expect(() => allocateSubnet(pool, size, [])).toThrow();
  });
});

describe('addresses', () => {
  test('of a subnet leave out its own, the gateway and the broadcast address', () => {
    expect([...hostAddresses('10.0.0.0/29')]).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6']);
    expect([...hostAddresses('10.0.0.0/30')]).toEqual(['10.0.0.2']);
    expect([...hostAddresses('10.208.0.0/23')]).toHaveLength(509);
  });
  test('are handed out from the lowest, until none is left', () => {
    expect(nextFreeAddress('10.0.0.0/29', [])).toBe('10.0.0.2');
    expect(nextFreeAddress('10.0.0.0/29', ['10.0.0.3', '10.0.0.2'])).toBe('10.0.0.4');
    expect(nextFreeAddress('10.0.0.0/30', ['10.0.0.2'])).toBeUndefined();
    expect(nextFreeAddress('10.0.0.0/23', new Set([...hostAddresses('10.0.0.0/24'), '10.0.0.255']))).toBe('10.0.1.0');
  });
});

describe('routes of the host', () => {
  const TABLE = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0',
    'tun0\t0002D00A\t00000000\t0001\t0\t0\t0\t00FEFFFF\t0\t0\t0',
    'tun0\t0100000A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0',
    '',
  ].join('\n');
  test('are read as CIDRs, without the default route', () => {
    expect(parseRoutes(TABLE)).toEqual(['172.17.0.0/16', '10.208.2.0/23', '10.0.0.1/32']);
  });
  test('of this host can be read', async () => {
    for (const route of await readHostRoutes()) expect(route).toMatch(/^\d+\.\d+\.\d+\.\d+\/\d+$/);
  });
});
