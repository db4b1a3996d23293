import type { Config } from '#kernel/config';
import { fail, ok, warn, type Check, type Verdict } from './check.ts';
import type { Probes } from './probes.ts';

interface Port {
  id: string;
  title: string;
  flag: string;
  /** Undefined when the configuration does not use it. */
  at: (config: Config) => { host: string; port: number } | undefined;
  /** Beginnings of the programs that hold it when berth runs (`berth-linux-amd64`); Docker forwards published ports by its proxy. */
  owners: readonly string[];
}

const PORTS: readonly Port[] = [
  {
    id: 'api',
    title: 'Port of the API',
    flag: 'listen',
    at: (config) => listenAddress(config),
    owners: ['berth', 'bun'],
  },
  {
    id: 'http',
    title: 'Port of HTTP',
    flag: 'http-port',
    at: (config) => ({ host: '127.0.0.1', port: config.httpPort }),
    owners: ['traefik'],
  },
  {
    id: 'https',
    title: 'Port of HTTPS',
    flag: 'https-port',
    at: (config) => (config.acmeEmail === '' ? undefined : { host: '127.0.0.1', port: config.httpsPort }),
    owners: ['traefik'],
  },
  {
    id: 'proxy-api',
    title: "Port of the proxy's API",
    flag: 'proxy-api-port',
    at: (config) => ({ host: '127.0.0.1', port: config.proxyApiPort }),
    owners: ['traefik'],
  },
  {
    id: 'registry',
    title: 'Port of the registry',
    flag: 'registry-port',
    at: (config) => ({ host: '127.0.0.1', port: config.registryPort }),
    owners: ['docker-proxy', 'registry', 'dockerd'],
  },
];

/** Where to connect to for the control API. */
export const listenAddress = (config: Config): { host: string; port: number } => {
  const colon = config.listen.lastIndexOf(':');
  const host = config.listen.slice(0, colon);
  return {
    host: ['0.0.0.0', '*', '[::]'].includes(host) ? '127.0.0.1' : host,
    port: Number(config.listen.slice(colon + 1)),
  };
};

export const ports: readonly Check[] = PORTS.map((port) => ({
  id: `port-${port.id}`,
  title: port.title,
  run: async (probes, { config }) => {
    const address = config === undefined ? undefined : port.at(config);
    return address === undefined ? undefined : examine(probes, port, address);
  },
}));

const examine = async (probes: Probes, port: Port, address: { host: string; port: number }): Promise<Verdict> => {
  const shown = String(address.port);
  if (!(await probes.connects(address.host, address.port))) {
    if (address.port < 1024 && probes.uid() !== 0)
      return warn(`${shown} is free, but needs root`, 'run the server as root or with CAP_NET_BIND_SERVICE');
    return ok(`${shown} is free`);
  }
  const holders = await probes.listeners(address.port);
  if (holders.length === 0)
    return warn(`${shown} is taken; by whom, this user may not see`, 'run berth doctor as root');
  if (holders.every((holder) => port.owners.some((owner) => holder.startsWith(owner))))
    return ok(`${shown}, held by ${holders.join(', ')}`);
  return fail(`${shown} is taken by ${holders.join(', ')}`, `stop it, or choose another port with --${port.flag}`);
};
