import { readFile } from 'node:fs/promises';

const LISTEN = '0A';
const ANY_OR_LOOPBACK = new Set([
  '00000000',
  '0100007F',
  '00000000000000000000000000000000',
  '00000000000000000000000001000000',
  '0000000000000000FFFF00000100007F',
]);

export interface ListenTable {
  /** Whether any socket listens on the port, on whatever address. */
  any(port: number): boolean;
  /** Whether a socket listens on the port on all addresses or on loopback. */
  loopback(port: number): boolean;
}

/** Reads the tables of `/proc/net/tcp` and `tcp6`: unlike a trial bind, that needs no right to low ports. */
export const parseListenTable = (texts: string[]): ListenTable => {
  const sockets = texts
    .flatMap((text) => text.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTEN)
    .map((fields) => fields[1]?.split(':') ?? [])
    .map(([address = '', port = '']) => ({ address, port: Number.parseInt(port, 16) }));
  return {
    any: (port) => sockets.some((socket) => socket.port === port),
    loopback: (port) => sockets.some((socket) => socket.port === port && ANY_OR_LOOPBACK.has(socket.address)),
  };
};

export const readListenTable = async (): Promise<ListenTable> =>
  parseListenTable(
    await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(emptyIfMissing))),
  );

/** A kernel without IPv6 has no `tcp6`. */
const emptyIfMissing = (error: unknown): string => {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
  throw error;
};
