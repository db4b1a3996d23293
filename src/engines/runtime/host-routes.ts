import { readFile } from 'node:fs/promises';
import type { Runtime } from './port.ts';
import { parseRoutes } from './subnets.ts';

/** Every IPv4 network (CIDR) that this host has a route to, besides the default route: none of them may be allotted. */
export const readHostRoutes = async (): Promise<string[]> => parseRoutes(await readFile('/proc/net/route', 'utf8'));

/** Every network (CIDR) that this host or its engine uses already. */
export const takenSubnets = async (runtime: Pick<Runtime, 'usedSubnets'>): Promise<string[]> => [
  ...(await readHostRoutes()),
  ...(await runtime.usedSubnets()),
];
