import { BerthError, messageOf, toBerthError } from '#kernel/errors';
import type { Streams } from './streams.ts';
import { finishTunnel, maybeTunnel, tunnelHandler } from './tunnels.ts';

export type Peer = (request: Request) => string | undefined;

export interface ServerOptions {
  hostname: string;
  /** 0 picks a free one. */
  port: number;
  fetch: (request: Request) => Response | Promise<Response>;
  streams: Streams;
  /** Called once with the way to learn a request's peer address. */
  bindPeer: (peerOf: Peer) => void;
}

export interface Listener {
  readonly port: number;
  readonly url: string;
  /** Ends streams, lets requests in flight end for `graceMs`, then closes what is left. */
  stop(graceMs?: number): Promise<void>;
}

/** Seconds without a byte after which a connection counts as dead; open streams send a heartbeat more often. */
const IDLE_SECONDS = 255;

/** Uploads are bounded where they are read, so that they get an error object and not a bare 413. */
const UNBOUNDED_BODY = Number.MAX_SAFE_INTEGER;

/** The HTTP listener of the API. */
export const createServer = (options: ServerOptions): Listener => {
  const server = listen(options);
  options.bindPeer((request) => server.requestIP(request)?.address);
  return {
    port: server.port ?? options.port,
    url: `http://${options.hostname}:${server.port}`,
    stop: async (graceMs = 5000) => {
      options.streams.endAll();
      const timer = setTimeout(() => void server.stop(true), graceMs);
      await server.stop(false);
      clearTimeout(timer);
    },
  };
};

const listen = ({ hostname, port, fetch }: ServerOptions) => {
  try {
    return Bun.serve({
      hostname,
      port,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: UNBOUNDED_BODY,
      development: false,
      fetch: (request, server) =>
        maybeTunnel(request.url)
          ? Promise.resolve(fetch(request)).then((response) => finishTunnel(server, request, response))
          : fetch(request),
      websocket: tunnelHandler,
      error: (thrown) => {
        const error = toBerthError(thrown);
        return Response.json(error.toBody(), { status: error.httpStatus });
      },
    });
  } catch (thrown) {
    throw new BerthError('CONFLICT', `cannot listen on ${hostname}:${port}: ${messageOf(thrown)}`, {
      hint: 'stop what listens there (see: berth doctor), or choose another address with --listen',
      cause: thrown,
    });
  }
};

/** Splits `host:port`. */
export const parseListen = (listen: string): { hostname: string; port: number } => {
  const at = listen.lastIndexOf(':');
  return { hostname: listen.slice(0, at), port: Number(listen.slice(at + 1)) };
};
