/** A packet of gitprotocol-common(5). */
export type Packet = { type: 'data'; payload: Uint8Array } | { type: 'flush' | 'delimiter' | 'end' };

/** Bytes that are no packets. */
export class PacketError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PacketError';
  }
}

/** Takes bytes in pieces of any size, gives packets. */
export interface PacketReader {
  push(bytes: Uint8Array): void;
  /** Undefined until more bytes are there; throws PacketError. */
  next(): Packet | undefined;
  /** The bytes behind the last packet. */
  rest(): Uint8Array;
}

/** Longest packet, its length included: LARGE_PACKET_MAX of git. */
const MAX_BYTES = 65_520;
const LENGTH_BYTES = 4;
const SPECIAL = ['flush', 'delimiter', 'end'] as const;

export const FLUSH: Uint8Array = Buffer.from('0000');

export const createPacketReader = (): PacketReader => {
  let held: Buffer = Buffer.alloc(0);
  return {
    push: (bytes) => {
      held = held.length === 0 ? asBuffer(bytes) : Buffer.concat([held, bytes]);
    },
    next: () => {
      if (held.length < LENGTH_BYTES) return undefined;
      const length = lengthOf(held);
      const special = SPECIAL[length];
      if (special !== undefined) {
        held = held.subarray(LENGTH_BYTES);
        return { type: special };
      }
      if (held.length < length) return undefined;
      const payload = held.subarray(LENGTH_BYTES, length);
      held = held.subarray(length);
      return { type: 'data', payload };
    },
    rest: () => held,
  };
};

const lengthOf = (bytes: Buffer): number => {
  const digits = bytes.toString('latin1', 0, LENGTH_BYTES);
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1;
  if (length < 0 || length === 3 || length > MAX_BYTES) throw new PacketError('the packet has no valid length');
  return length;
};

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** One packet; the payload must fit. */
export const packet = (payload: string | Uint8Array): Uint8Array => {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const length = bytes.length + LENGTH_BYTES;
  if (length > MAX_BYTES) throw new PacketError('the payload is too long for a packet');
  return Buffer.concat([Buffer.from(length.toString(16).padStart(LENGTH_BYTES, '0')), bytes]);
};
