import { connect as connectTcp } from 'node:net';
import type { Clock } from '#kernel/clock';
import { type DatastoreInstance } from '../port.ts';
import { addressOf, POSTGRES_PORT } from './connect.ts';

const CANCEL_MS = 2000;
const CANCEL_REQUEST = 80_877_102;

/** What the server gave a session so that others can cancel what it runs: BackendKeyData. */
export interface BackendKey {
  processId: number;
  secretKey: number;
}

/** https://www.postgresql.org/docs/17/protocol-message-formats.html, CancelRequest. */
export const cancelRequest = ({ processId, secretKey }: BackendKey): Buffer => {
  const packet = Buffer.alloc(16);
  packet.writeInt32BE(16, 0);
  packet.writeInt32BE(CANCEL_REQUEST, 4);
  packet.writeInt32BE(processId, 8);
  packet.writeInt32BE(secretKey, 12);
  return packet;
};

/**
 * Sends a CancelRequest on a connection of its own; resolves when the server has closed it, which is after it acted, or
 * when it could not be reached: cancelling has no answer. It goes over the project's own network, and needs no TLS.
 */
export const sendCancel = (clock: Clock, instance: DatastoreInstance, packet: Buffer): Promise<void> =>
  new Promise((resolve) => {
    const socket = connectTcp(POSTGRES_PORT, addressOf(instance, 'main'));
    const over = new AbortController();
    socket.on('error', () => undefined);
    socket.once('connect', () => socket.write(packet));
    socket.resume();
    socket.once('close', () => {
      over.abort();
      resolve();
    });
    void clock.sleep(CANCEL_MS, over.signal).then(() => socket.destroy());
  });

/** The key of a connected client, which pg holds but does not declare. */
export const backendKeyOf = (client: object): BackendKey | undefined => {
  if (!('processID' in client) || !('secretKey' in client)) return undefined;
  const { processID, secretKey } = client;
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return undefined;
  return { processId: processID, secretKey };
};
