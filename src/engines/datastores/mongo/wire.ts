import { createConnection, type Socket } from 'node:net';
import type { Document } from 'bson';
import { decodeHeader, decodeReply, encodeCommand, HEADER_BYTES, numberOf, plainLogin } from './frames.ts';
import { commandFailure, noAnswer, ReplyTooLarge, timedOut } from './failures.ts';

/** Replies to berth's own commands are small; consoles bring their own cap. */
const OWN_REPLY_BYTES = 4 * 1024 * 1024;

export interface Login {
  user: string;
  password: string;
}

export interface WireOptions {
  host: string;
  port: number;
  /** Ends the connection, whatever it is doing. The server then gives up the connection's cursors. */
  signal: AbortSignal;
}

/**
 * One connection to a server that speaks the MongoDB protocol, with one command at a time. Berth has its own instead of the
 * driver's because it must count what arrives before it is in memory, give up at a deadline in the middle of a reply, and
 * hand an authenticated connection over to a client; a pool, monitoring of servers and retries would be in the way.
 */
export interface Wire {
  /** Sends a command; throws when the server says no (INVALID_INPUT in its words) or the reply is larger than `maxBytes`. */
  call(command: Document, maxBytes?: number): Promise<Reply>;
  /** The socket, between two commands: it is the caller's now. */
  detach(): Socket;
  close(): void;
}

export interface Reply {
  document: Document;
  /** Bytes of the message. */
  bytes: number;
}

/** Connects and logs in. PLAIN is not checked by FerretDB before the first command, so this sends a ping too. */
export const openWire = async (options: WireOptions, login: Login): Promise<Wire> => {
  const wire = await connectWire(options);
  try {
    await wire.call(plainLogin(login));
    await wire.call({ ping: 1, $db: 'app' });
    return wire;
  } catch (thrown) {
    wire.close();
    throw thrown;
  }
};

const connectWire = async ({ host, port, signal }: WireOptions): Promise<Wire> => {
  signal.throwIfAborted();
  const socket = createConnection({ host, port, noDelay: true });
  // A connection that breaks between two commands has nobody to tell: the next command finds it destroyed.
  socket.on('error', () => undefined);
  const onAbort = (): void => {
    socket.destroy();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', onAbort));
  try {
    await until(socket, ['connect']);
    return wireOf(socket, signal);
  } catch (thrown) {
    socket.destroy();
    throw signal.aborted ? timedOut(signal.reason) : thrown;
  }
};

const wireOf = (socket: Socket, signal: AbortSignal): Wire => {
  let requestId = 0;
  return {
    call: async (command, maxBytes = OWN_REPLY_BYTES) => {
      requestId += 1;
      try {
        socket.write(encodeCommand(requestId, command));
        return checked(await readReply(socket, requestId, maxBytes));
      } catch (thrown) {
        if (signal.aborted) throw timedOut(signal.reason);
        throw thrown;
      }
    },
    detach: () => socket,
    close: () => {
      socket.destroy();
    },
  };
};

const readReply = async (socket: Socket, requestId: number, maxBytes: number): Promise<Reply> => {
  const header = decodeHeader(await readExactly(socket, HEADER_BYTES));
  if (header === undefined || header.responseTo !== requestId) {
    socket.destroy();
    throw noAnswer(new Error('the reply is no OP_MSG to the command'));
  }
  if (header.length > maxBytes) {
    socket.destroy();
    throw new ReplyTooLarge(header.length);
  }
  const document = decodeReply(await readExactly(socket, header.length - HEADER_BYTES));
  if (document === undefined) throw noAnswer(new Error('the reply is not one document'));
  return { document, bytes: header.length };
};

/** A refused command is an error, and so is a connection that does not exist any more. */
const checked = (reply: Reply): Reply => {
  if (numberOf(reply.document['ok']) !== 1) throw commandFailure(reply.document);
  return reply;
};

const readExactly = async (socket: Socket, count: number): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let missing = count;
  while (missing > 0) {
    const chunk: unknown = socket.read(Math.min(missing, Math.max(socket.readableLength, 1)));
    if (Buffer.isBuffer(chunk)) {
      parts.push(chunk);
      missing -= chunk.byteLength;
    } else {
      await until(socket, ['readable']);
    }
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, count);
};

/** Waits for one of `events`; rejects when the connection fails or ends first. */
const until = (socket: Socket, events: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => (): void => {
      for (const event of events) socket.off(event, done);
      socket.off('error', fail);
      socket.off('end', ended);
      socket.off('close', ended);
      outcome();
    };
    let cause: unknown;
    const done = settle(resolve);
    const ended = settle(() => reject(noAnswer(cause ?? new Error('the connection was closed'))));
    const fail = (error: Error): void => {
      cause = error;
      ended();
    };
    if (socket.destroyed || socket.readableEnded) {
      ended();
      return;
    }
    for (const event of events) socket.once(event, done);
    socket.once('error', fail);
    socket.once('end', ended);
    socket.once('close', ended);
  });
