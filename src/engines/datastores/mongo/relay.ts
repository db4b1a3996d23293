import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Wire } from './wire.ts';

/**
 * Passes bytes between a client and an authenticated connection, each way at the slower end's pace, until either end has
 * closed. The client sees a server that asks for no login: its own `hello` and commands go through as they are.
 */
export const relayThrough = async (wire: Wire, client: Duplex, signal: AbortSignal): Promise<void> => {
  const server = wire.detach();
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const oneWay = async (from: Duplex, to: Duplex): Promise<void> => {
    try {
      await pipeline(from, to, { signal: both });
    } catch (thrown) {
      // A client that goes away in the middle of a reply is how most of them end; only the end itself matters.
      if (!both.aborted && !isEnd(thrown)) throw thrown;
    } finally {
      ended.abort();
    }
  };
  try {
    await Promise.all([oneWay(client, server), oneWay(server, client)]);
  } finally {
    server.destroy();
    client.destroy();
  }
};

const ENDS = new Set(['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE', 'ABORT_ERR']);

const isEnd = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' && ENDS.has(thrown.code);
