import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DatabaseError } from 'pg';
import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput, messageOf, toBerthError } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { DatastoreInstance } from '../port.ts';
import { sendCancel } from './cancel.ts';
import { type Connect, destroy } from './connect.ts';
import { aborted } from './failures.ts';
import { after } from './limit.ts';
import { fatalError, NO_ENCRYPTION, type Opening, readOpening } from './opening.ts';
import { checkStartup, logIn, type Startup } from './relay-login.ts';

interface Deps {
  clock: Clock;
  log: Log;
  connect: Connect;
}

export type PostgresRelay = (instance: DatastoreInstance, client: Duplex, signal: AbortSignal) => Promise<void>;

/** What a client may take to say what it wants. */
const OPENING_MS = 10_000;
/** Between the end of one side and that of the other. */
const LINGER_MS = 5000;
const SWEEP_BYTES = 8 * 1024 * 1024;
/** SSLRequest and GSSENCRequest, once each. */
const MAX_ENCRYPTION_REQUESTS = 2;

/**
 * Lets a client in without a password: berth logs in as its writing role over TLS, gives the client the server's own
 * greeting, and then passes bytes on. The client sees one database, `app`, whatever user it names.
 */
export const createPostgresRelay =
  (deps: Deps): PostgresRelay =>
  async (instance, client, signal) => {
    // An error of either end is told by the pipelines; before them, by its closing.
    client.on('error', () => undefined);
    const onAbort = (): void => void client.destroy();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      const opening = await openingOf(deps.clock, client);
      if (opening?.kind === 'cancel') await sendCancel(deps.clock, instance, opening.packet);
      if (opening?.kind === 'startup') await serve(deps, { instance, client, signal }, opening);
      client.end();
    } catch (thrown) {
      if (signal.aborted) throw aborted('serve a tunnel', signal.reason);
      refuse(client, thrown);
      throw toBerthError(thrown);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  };

interface Peer {
  instance: DatastoreInstance;
  client: Duplex;
  signal: AbortSignal;
}

/** Undefined when the client went away without a word. */
const openingOf = async (
  clock: Clock,
  client: Duplex,
): Promise<Exclude<Opening, { kind: 'encryption' }> | undefined> => {
  const done = new AbortController();
  let late = false;
  void after(clock, OPENING_MS, done.signal, () => {
    late = true;
    client.destroy();
  });
  try {
    for (let asked = 0; asked <= MAX_ENCRYPTION_REQUESTS; asked += 1) {
      const opening = await nextOpening(client);
      if (late) throw silent();
      if (opening?.kind !== 'encryption') return opening;
      client.write(NO_ENCRYPTION);
    }
    throw invalidInput(
      'the client asked for encryption again and again',
      'use sslmode=disable: the tunnel is encrypted',
    );
  } finally {
    done.abort();
  }
};

const silent = (): BerthError =>
  new BerthError('TIMEOUT', `the client did not begin within ${OPENING_MS / 1000} s`, {
    hint: 'connect a Postgres client to the tunnel',
  });

/** Reads one message and no byte more: the rest stays in the stream. */
const nextOpening = (client: Duplex): Promise<Opening | undefined> =>
  new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const stop = (): void => {
      client.pause();
      client.removeListener('data', onData);
      client.removeListener('close', onClose);
      client.removeListener('end', onClose);
    };
    const onClose = (): void => {
      stop();
      resolve(undefined);
    };
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      try {
        const read = readOpening(bytes);
        if (read === undefined) return;
        stop();
        if (read.rest.length > 0) client.unshift(read.rest);
        resolve(read.opening);
      } catch (thrown) {
        stop();
        reject(thrown);
      }
    };
    client.on('data', onData);
    client.once('close', onClose);
    client.once('end', onClose);
    if (client.destroyed || client.readableEnded) onClose();
    else client.resume();
  });

const serve = async (deps: Deps, peer: Peer, startup: Startup): Promise<void> => {
  checkStartup(startup);
  const { server, greeting } = await logIn(deps.connect, peer, startup);
  const { stream } = server.connection;
  // From here on the bytes are the client's: pg must not read them.
  stream.removeAllListeners('data');
  stream.pause();
  try {
    if (peer.client.destroyed) return;
    peer.client.write(greeting);
    await passOn(deps, peer.client, stream);
  } finally {
    destroy(server);
  }
};

/** Both ways, each at the pace of its slower end; an end that closes takes the other one with it. */
const passOn = async ({ clock, log }: Deps, client: Duplex, server: Duplex): Promise<void> => {
  const over = new AbortController();
  collectAfter(SWEEP_BYTES, [client, server]);
  const oneWay = async (from: Duplex, to: Duplex): Promise<void> => {
    try {
      await pipeline(from, to);
    } catch (thrown) {
      log.debug('a tunnel was cut off', { error: messageOf(thrown) });
    }
    void after(clock, LINGER_MS, over.signal, () => {
      client.destroy();
      server.destroy();
    });
  };
  await Promise.all([oneWay(client, server), oneWay(server, client)]);
  over.abort();
};

/** The collector does not see how much memory chunks of bytes hold: at full speed it would leave hundreds of MB of them. */
const collectAfter = (most: number, streams: readonly Duplex[]): void => {
  let passed = 0;
  const count = (chunk: Buffer): void => {
    passed += chunk.length;
    if (passed < most) return;
    passed = 0;
    Bun.gc(false);
  };
  for (const stream of streams) stream.prependListener('data', count).pause();
};

/** Says why, as the server would, so that the client's user reads it. */
const refuse = (client: Duplex, thrown: unknown): void => {
  if (client.destroyed) return;
  const cause = thrown instanceof BerthError ? thrown.cause : thrown;
  const code = cause instanceof DatabaseError ? cause.code : undefined;
  const hint = thrown instanceof BerthError ? thrown.hint : undefined;
  const wrongInput = thrown instanceof BerthError && thrown.kind === 'INVALID_INPUT';
  client.end(fatalError({ code: code ?? (wrongInput ? '08P01' : '08006'), message: messageOf(thrown), hint }));
};
