import { afterEach, describe, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { deserialize, Int32, serialize, type Document } from 'bson';
import { decodeHeader, decodeReply, encodeCommand, HEADER_BYTES } from '#engines/datastores/mongo/frames';
import { openWire, type Wire } from '#engines/datastores/mongo/wire';
import { failureOf } from './lab.ts';

const LOGIN = { user: 'app_one', password: 'pä:ss' };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers each command with what `answer` says: a document, bytes as they are, or nothing at all. */
const serve = async (answer: (command: Document, socket: Socket) => Document | Buffer | undefined): Promise<number> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      const reply = answer(deserialize(data.subarray(21)), socket);
      if (reply !== undefined) socket.write(Buffer.isBuffer(reply) ? reply : messageOf(reply, data.readInt32LE(4)));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
};

const messageOf = (document: Document, responseTo: number): Buffer => {
  const message = encodeCommand(7, document);
  message.writeInt32LE(responseTo, 8);
  return message;
};

const open = (port: number, signal = AbortSignal.timeout(5000)): Promise<Wire> =>
  openWire({ host: '127.0.0.1', port, signal }, LOGIN);

describe('a message', () => {
  test('has a header, flags, and one document', () => {
    const message = encodeCommand(5, { ping: 1, $db: 'app' });
    expect(message.readInt32LE(0)).toBe(message.length);
    expect(message.readInt32LE(4)).toBe(5);
    expect(message.readInt32LE(12)).toBe(2013);
    expect(message.readUInt32LE(16)).toBe(0);
    expect(message[20]).toBe(0);
    expect(deserialize(message.subarray(21))).toEqual({ ping: 1, $db: 'app' });
    expect(decodeReply(message.subarray(HEADER_BYTES))).toEqual({ ping: new Int32(1), $db: 'app' });
  });

  test('with a checksum is read without it', () => {
    const message = Buffer.concat([encodeCommand(5, { ok: 1 }), Buffer.alloc(4)]);
    message.writeInt32LE(message.length, 0);
    message.writeUInt32LE(1, 16);
    expect(decodeReply(message.subarray(HEADER_BYTES))).toEqual({ ok: new Int32(1) });
  });

  test('of another kind is none', () => {
    expect(decodeHeader(Buffer.from('HTTP/1.1 400 Bad'))).toBeUndefined();
    expect(decodeHeader(Buffer.alloc(HEADER_BYTES))).toBeUndefined();
  });
});

describe('a connection', () => {
  test('logs in as SASL PLAIN says, and asks once whether that was right', async () => {
    const seen: Document[] = [];
    const port = await serve((command) => {
      seen.push(command);
      return { ok: 1 };
    });
    (await open(port)).close();
    expect(seen[0]).toMatchObject({ saslStart: 1, mechanism: 'PLAIN', $db: '$external' });
    expect(Buffer.from(seen[0]?.['payload'].buffer).toString()).toBe('\0app_one\0pä:ss');
    expect(seen[1]).toEqual({ ping: 1, $db: 'app' });
    expect(seen).toHaveLength(2);
  });

  test('that is refused says so, and is retryable: the role may be about to be made', async () => {
    const port = await serve((command) =>
      'ping' in command
        ? { ok: 0, code: 1, codeName: 'InternalError', errmsg: 'FATAL: no (SQLSTATE 28P01)' }
        : { ok: 1 },
    );
    expect(await failureOf(open(port))).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  });

  test.each<[string, (command: Document, socket: Socket) => Document | Buffer | undefined]>([
    ['speaks HTTP', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['answers another request', () => messageOf({ ok: 1 }, 99)],
    ['claims a length below its header', () => Buffer.alloc(64)],
    ['closes in mid-reply', (_, socket) => void socket.end(messageOf({ ok: 1 }, 1).subarray(0, 20))],
    ['closes at once', (_, socket) => void socket.destroy()],
    ['sends another kind of section', () => withKindOne(messageOf({ ok: 1 }, 1))],
  ])('to what %s does not answer', async (_, answer) => {
    expect(await failureOf(open(await serve(answer)))).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  });

  test('to what says nothing ends in time', async () => {
    const port = await serve(() => undefined);
    expect(await failureOf(open(port, AbortSignal.timeout(100)))).toMatchObject({ kind: 'TIMEOUT' });
    const port2 = await serve(() => messageOf({ ok: 1 }, 1).subarray(0, 30));
    expect(await failureOf(open(port2, AbortSignal.timeout(100)))).toMatchObject({ kind: 'TIMEOUT' });
  });

  test('reads nothing of a reply that is larger than allowed', async () => {
    const huge = serialize({ text: 'x'.repeat(50_000_000) });
    const header = messageOf({ ok: 1 }, 3);
    header.writeInt32LE(21 + huge.byteLength, 0);
    const port = await serve((command, socket) => {
      if (!('find' in command)) return { ok: 1 };
      socket.write(header.subarray(0, 21));
      socket.write(huge);
      return undefined;
    });
    const wire = await open(port);
    expect(await failureOf(wire.call({ find: 'a', $db: 'app' }, 1000))).toMatchObject({ bytes: 21 + huge.byteLength });
    expect(await failureOf(wire.call({ ping: 1, $db: 'app' }))).toMatchObject({ kind: 'INTERNAL_ERROR' });
    expect(wire.detach().bytesRead).toBeLessThan(2_000_000);
  });

  test('puts together a reply that comes byte by byte', async () => {
    const port = await serve((command, socket) => {
      if (!('find' in command)) return { ok: 1 };
      void (async () => {
        for (const byte of messageOf({ ok: 1, text: 'ü' }, 3)) {
          socket.write(Buffer.from([byte]));
          await new Promise(setImmediate);
        }
      })();
      return undefined;
    });
    const wire = await open(port);
    expect((await wire.call({ find: 'a', $db: 'app' })).document['text']).toBe('ü');
    wire.close();
  });
});

const withKindOne = (message: Buffer): Buffer => {
  message[20] = 1;
  return message;
};
