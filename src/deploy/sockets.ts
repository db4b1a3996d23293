import { readFile } from 'node:fs/promises';

/** A TCP socket as the kernel lists it in /proc/net/tcp (Documentation/networking/proc_net_tcp.rst). */
export interface TcpSocket {
  localIp: string;
  localPort: number;
  remoteIp: string;
  remotePort: number;
  state: number;
}

const ESTABLISHED = 1;
const LISTEN = 10;

/** Parses /proc/net/tcp or tcp6. IPv4-mapped addresses become IPv4; other IPv6 addresses stay in the kernel's hex. */
export const parseTcpTable = (text: string): TcpSocket[] => {
  const sockets: TcpSocket[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, local, remote, state] = line.trim().split(/\s+/);
    if (local === undefined || remote === undefined || state === undefined) continue;
    const [localIp, localPort] = parseAddress(local);
    const [remoteIp, remotePort] = parseAddress(remote);
    sockets.push({ localIp, localPort, remoteIp, remotePort, state: Number.parseInt(state, 16) });
  }
  return sockets;
};

const parseAddress = (text: string): [string, number] => {
  const [hex = '', port = '0'] = text.split(':');
  return [parseIp(hex), Number.parseInt(port, 16)];
};

const MAPPED = '0000000000000000FFFF0000';

const parseIp = (hex: string): string => {
  if (hex.length === 8) return littleEndianIp(hex);
  if (hex.startsWith(MAPPED)) return littleEndianIp(hex.slice(MAPPED.length));
  if (/^0+$/.test(hex)) return '::';
  return hex === '00000000000000000000000001000000' ? '::1' : hex;
};

const littleEndianIp = (hex: string): string =>
  [6, 4, 2, 0].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join('.');

/** Established connections from this host to `ip:port`: what the proxy still has open to a replica. */
export const countConnections = async (ip: string, port: number): Promise<number> => {
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable));
  return tables
    .flat()
    .filter((socket) => socket.state === ESTABLISHED && socket.remoteIp === ip && socket.remotePort === port).length;
};

/** What the processes in the network namespace of `pid` listen on, e.g. `127.0.0.1:3000`. Docker's resolver is left out. */
export const listeningSockets = async (pid: number): Promise<{ ip: string; port: number }[]> => {
  const tables = await Promise.all([`/proc/${pid}/net/tcp`, `/proc/${pid}/net/tcp6`].map(readTable));
  return tables
    .flat()
    .filter((socket) => socket.state === LISTEN && socket.localIp !== '127.0.0.11')
    .map((socket) => ({ ip: socket.localIp, port: socket.localPort }));
};

const readTable = async (path: string): Promise<TcpSocket[]> => {
  try {
    return parseTcpTable(await readFile(path, 'utf8'));
  } catch (error) {
    // The process can end between the inspection and this read; IPv6 may be off.
    if (
      error instanceof Error &&
      'code' in error &&
      (error.code === 'ENOENT' || error.code === 'ESRCH' || error.code === 'EINVAL')
    )
      return [];
    throw error;
  }
};
