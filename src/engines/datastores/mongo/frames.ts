import { Binary, deserialize, Long, serialize, type Document } from 'bson';

/**
 * The MongoDB wire protocol, as far as berth's own commands need it: OP_MSG with one document, both ways.
 * https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
 */
const OP_MSG = 2013;
/** Length of the message, request id, id that it answers, opcode: four little-endian int32. */
export const HEADER_BYTES = 16;
/** Flags, and the kind of the one section. */
const PREFIX_BYTES = HEADER_BYTES + 5;
/** The last four bytes are a checksum; the only flag of a reply that changes how it is read. */
const CHECKSUM_PRESENT = 1;
/** No document nests deeper than this in MongoDB; `bson` reads and writes recursively. */
export const MAX_DEPTH = 100;

/** A command as one message. Its first field names it; `$db` says where. */
export const encodeCommand = (requestId: number, command: Document): Buffer => {
  const body = serialize(command, { ignoreUndefined: true });
  const message = Buffer.alloc(PREFIX_BYTES + body.byteLength);
  message.writeInt32LE(message.byteLength, 0);
  message.writeInt32LE(requestId, 4);
  message.writeInt32LE(OP_MSG, 12);
  message.set(body, PREFIX_BYTES);
  return message;
};

export interface Header {
  /** Of the whole message. */
  length: number;
  responseTo: number;
}

/** Reads the header of a reply; undefined when what answers does not speak the protocol. */
export const decodeHeader = (bytes: Buffer): Header | undefined => {
  const length = bytes.readInt32LE(0);
  if (length < PREFIX_BYTES || bytes.readInt32LE(12) !== OP_MSG) return undefined;
  return { length, responseTo: bytes.readInt32LE(8) };
};

/**
 * The document of a reply, from what follows its header. Numbers keep their BSON types (`Int32`, `Double`, `Long`), so that
 * a result can name them.
 */
export const decodeReply = (bytes: Buffer): Document | undefined => {
  const hasChecksum = (bytes.readUInt32LE(0) & CHECKSUM_PRESENT) !== 0;
  const isDocument = bytes.readUInt8(4) === 0;
  if (!isDocument) return undefined;
  const document = bytes.subarray(5, hasChecksum ? -4 : undefined);
  return deserialize(document, { promoteValues: false, promoteLongs: false, bsonRegExp: true });
};

/** A number of a reply, whatever its type: servers differ in which they use. */
export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  if (value instanceof Long) return value.toNumber();
  if (typeof value === 'object' && value !== null && 'value' in value && typeof value.value === 'number') {
    return value.value;
  }
  return undefined;
};

/**
 * Logs in with the SASL mechanism PLAIN: no authorization identity, user and password, each ended by a NUL but the last.
 * https://www.rfc-editor.org/rfc/rfc4616 and the drivers' specification of authentication,
 * https://github.com/mongodb/specifications/blob/master/source/auth/auth.md (SASL PLAIN).
 */
export const plainLogin = ({ user, password }: { user: string; password: string }): Document => ({
  saslStart: 1,
  mechanism: 'PLAIN',
  payload: new Binary(Buffer.from(`\0${user}\0${password}`)),
  autoAuthorize: 1,
  $db: '$external',
});
