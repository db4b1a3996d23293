import { request as requestHttp, type IncomingMessage, type ClientRequest } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { getCACertificates } from 'node:tls';
import type { Clock } from '#kernel/clock';
import { BerthError, messageOf } from '#kernel/errors';
import type { OutsideReply, OutsideRequest, OutsideUrl } from './port.ts';

interface Connection {
  clock: Clock;
  ca: string | undefined;
}

interface Target {
  url: OutsideUrl;
  /** Checked; tried in this order until one takes the connection. */
  addresses: readonly string[];
  request: OutsideRequest;
}

/** Addresses beyond that are not tried. */
const MAX_TRIES = 4;

export const getFrom = async (connection: Connection, { url, addresses, request }: Target): Promise<OutsideReply> => {
  const over = new AbortController();
  const stop = (): void => over.abort();
  request.signal?.throwIfAborted();
  request.signal?.addEventListener('abort', stop, { once: true });
  let late = false;
  const timeOut = async (): Promise<void> => {
    await connection.clock.sleep(request.deadlineMs, over.signal);
    late = !over.signal.aborted;
    stop();
  };
  void timeOut();
  let failure: unknown;
  try {
    for (const address of addresses.slice(0, MAX_TRIES)) {
      if (over.signal.aborted) break;
      try {
        return await attempt(connection, { url, address, request, signal: over.signal });
      } catch (thrown) {
        failure = thrown;
      }
    }
  } finally {
    stop();
    request.signal?.removeEventListener('abort', stop);
  }
  request.signal?.throwIfAborted();
  throw late ? noAnswer(request.deadlineMs) : unreachable(failure);
};

interface Attempt {
  url: OutsideUrl;
  address: string;
  request: OutsideRequest;
  signal: AbortSignal;
}

const attempt = async (connection: Connection, { url, address, request, signal }: Attempt): Promise<OutsideReply> => {
  const { promise, resolve, reject } = Promise.withResolvers<OutsideReply>();
  const outgoing = open(connection, { url, address, request, signal });
  outgoing.on('error', reject);
  outgoing.on('response', (incoming) => {
    const pinned = { host: url.host, port: url.port, address };
    readBody(incoming, request.maxBytes).then((body) => resolve({ ...headOf(incoming), body, pinned }), reject);
  });
  outgoing.end();
  try {
    return await promise;
  } finally {
    outgoing.destroy();
  }
};

/** The connection is opened to the address itself; the name only reaches the TLS handshake and the header. */
const open = ({ ca }: Connection, { url, address, request, signal }: Attempt): ClientRequest => {
  const options = {
    host: address,
    port: url.port,
    path: request.path,
    method: 'GET',
    agent: false as const,
    signal,
    headers: { 'user-agent': 'git/2 (berth)', accept: '*/*', ...request.headers, host: hostHeader(url) },
  };
  if (url.scheme === 'http') return requestHttp(options);
  const named = isIP(url.host) === 0 ? { servername: url.host } : {};
  return requestHttps({ ...options, ...named, rejectUnauthorized: true, ca: ca ?? systemCertificates() });
};

const hostHeader = ({ href }: OutsideUrl): string => new URL(href).host;

let certificates: string[] | undefined;

/** Those of the machine, which git trusts too; Bun's own when it has none. */
const systemCertificates = (): string[] => {
  if (certificates === undefined) {
    const system = getCACertificates('system');
    certificates = system.length > 0 ? system : getCACertificates('bundled');
  }
  return certificates;
};

const headOf = (incoming: IncomingMessage): Pick<OutsideReply, 'status' | 'location' | 'contentType'> => ({
  status: incoming.statusCode ?? 0,
  location: incoming.headers.location ?? null,
  contentType: incoming.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? null,
});

const readBody = async (incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
};

const noAnswer = (deadlineMs: number): BerthError =>
  new BerthError('TIMEOUT', `the address did not answer within ${Math.round(deadlineMs / 1000)} s`, {
    hint: 'retry; if it persists, look whether the address answers elsewhere',
    retryable: true,
  });

const unreachable = (cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `the address cannot be reached: ${messageOf(cause)}`, {
    hint: 'look whether the address answers elsewhere, and whether its certificate is valid; then retry',
    retryable: true,
    httpStatus: 502,
    cause,
  });
