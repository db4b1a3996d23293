import { invalidInput } from '#kernel/errors';

/**
 * The messages with which a Postgres connection begins, and those that answer them.
 * https://www.postgresql.org/docs/17/protocol-message-formats.html
 */
export type Opening =
  /** SSLRequest or GSSENCRequest: the client would like to encrypt. */
  | { kind: 'encryption' }
  | { kind: 'cancel'; packet: Buffer }
  | { kind: 'startup'; minor: number; parameters: ReadonlyMap<string, string> };

/** As of Postgres itself (MAX_STARTUP_PACKET_LENGTH). */
const MAX_LENGTH = 10_000;
const HEADER = 8;
const SSL_REQUEST = 80_877_103;
const GSS_REQUEST = 80_877_104;
const CANCEL_REQUEST = 80_877_102;
const MAJOR = 3;

/** Takes the first message off; undefined while it is not there as a whole. Nonsense is INVALID_INPUT. */
export const readOpening = (bytes: Buffer): { opening: Opening; rest: Buffer } | undefined => {
  if (bytes.length < HEADER) return undefined;
  const length = bytes.readInt32BE(0);
  if (length < HEADER || length > MAX_LENGTH) {
    throw invalidInput(
      'what came is not the beginning of a Postgres connection',
      'connect a Postgres client, without TLS: sslmode=disable or prefer',
    );
  }
  if (bytes.length < length) return undefined;
  return { opening: openingOf(bytes.subarray(0, length)), rest: bytes.subarray(length) };
};

const openingOf = (packet: Buffer): Opening => {
  const code = packet.readInt32BE(4);
  if (code === SSL_REQUEST || code === GSS_REQUEST) return { kind: 'encryption' };
  if (code === CANCEL_REQUEST) return { kind: 'cancel', packet };
  if (code >>> 16 !== MAJOR) {
    throw invalidInput(
      `protocol ${code >>> 16}.${code & 0xffff} is not supported`,
      'use a client that speaks protocol 3',
    );
  }
  return { kind: 'startup', minor: code & 0xffff, parameters: parametersOf(packet.subarray(HEADER)) };
};

/** Pairs of strings that end with a zero, until an empty name. */
const parametersOf = (bytes: Buffer): ReadonlyMap<string, string> => {
  const texts = bytes.toString('utf8').split('\0');
  const parameters = new Map<string, string>();
  for (let at = 0; at + 1 < texts.length; at += 2) {
    const [name = '', value = ''] = texts.slice(at, at + 2);
    if (name === '') break;
    parameters.set(name, value);
  }
  return parameters;
};

export const NO_ENCRYPTION = Buffer.from('N');

export const authenticationOk = (): Buffer => message('R', int32(0));

export const parameterStatus = (name: string, value: string): Buffer => message('S', text(name), text(value));

export const backendKeyData = (key: { processId: number; secretKey: number }): Buffer =>
  message('K', int32(key.processId), int32(key.secretKey));

export const readyForQuery = (): Buffer => message('Z', Buffer.from('I'));

/** For a client that asked for a later minor version, or for options of the protocol (`_pq_.…`). */
export const negotiateProtocolVersion = (unknownOptions: readonly string[]): Buffer =>
  message('v', int32(MAJOR << 16), int32(unknownOptions.length), ...unknownOptions.map(text));

export const fatalError = (fields: { code: string; message: string; hint?: string | undefined }): Buffer => {
  const field = (type: string, value: string): Buffer => Buffer.concat([Buffer.from(type), text(value)]);
  const hint = fields.hint === undefined ? [] : [field('H', fields.hint)];
  const severity = [field('S', 'FATAL'), field('V', 'FATAL')];
  return message('E', ...severity, field('C', fields.code), field('M', fields.message), ...hint, Buffer.alloc(1));
};

const message = (type: string, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

const text = (value: string): Buffer => Buffer.from(`${value}\0`);
