import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { BerthError } from '#kernel/errors';
import type { DatastoreInstance } from '../port.ts';
import { REDIS_PORT } from './config.ts';
import { gaveUp, noAnswer, refused } from './failures.ts';
import { encodeCommand } from './resp.ts';
import { addressOf } from './units.ts';

const WHAT = 'open a tunnel to it';
const LOGIN_MS = 10_000;
const MAX_ANSWER = 1024;

/**
 * Logs in as an app, so that a tunnel can do what an app can, and passes everything on. What clients do first works without
 * a password: `HELLO 3` alone, and an `AUTH` that fails leaves the session as it is.
 */
export const relay = async (instance: DatastoreInstance, client: Duplex, signal: AbortSignal): Promise<void> => {
  const upstream = connect({ host: addressOf(instance), port: REDIS_PORT, noDelay: true });
  const onAbort = (): void => void upstream.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await login(upstream, instance, signal);
    await passOn(client, upstream);
  } finally {
    signal.removeEventListener('abort', onAbort);
    upstream.destroy();
    client.destroy();
  }
};

const login = async (upstream: Socket, instance: DatastoreInstance, signal: AbortSignal): Promise<void> => {
  const credential = instance.credentials.at(-1);
  if (credential === undefined) throw refused(WHAT, 'it has no credentials');
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(LOGIN_MS)]);
  try {
    await once(upstream, 'connect', { signal: deadline });
    upstream.write(encodeCommand(['AUTH', credential.user, credential.password]));
    const answer = await firstLine(upstream, deadline);
    if (!answer.startsWith('+')) throw refused(WHAT, answer.slice(1));
  } catch (error) {
    if (deadline.aborted) throw gaveUp(WHAT, deadline.reason);
    throw error instanceof BerthError ? error : noAnswer(WHAT, error);
  }
};

/** The server says nothing by itself after it, so no byte of the client's replies is among these. */
const firstLine = async (upstream: Socket, signal: AbortSignal): Promise<string> => {
  let text = '';
  while (!text.includes('\n') && text.length < MAX_ANSWER) {
    const chunk: Buffer | null = upstream.read();
    if (chunk === null) await once(upstream, 'readable', { signal });
    else text += chunk.toString('latin1');
    if (upstream.readableEnded) throw new Error('the connection was closed');
  }
  return text.trimEnd();
};

/** Both ways, each at the pace of whoever reads, until either end is closed. */
const passOn = async (client: Duplex, upstream: Socket): Promise<void> => {
  const closed = Promise.withResolvers<void>();
  for (const end of [client, upstream]) {
    end.once('close', closed.resolve);
    end.once('error', closed.resolve);
  }
  if (client.destroyed || upstream.destroyed) closed.resolve();
  client.pipe(upstream);
  upstream.pipe(client);
  await closed.promise;
};
