import type { Duplex } from 'node:stream';
import type { Server, ServerWebSocket, WebSocketHandler } from 'bun';
import { invalidInput } from '#kernel/errors';
import { createTunnelEnd, TUNNEL_WINDOW, type TunnelEnd } from '#kernel/tunnel';
import { stateOf } from './context.ts';

/** Serves one tunnel; resolves when it has ended. `signal` aborts when the token is revoked or the server stops. */
export type ServeTunnel = (stream: Duplex, signal: AbortSignal) => Promise<void>;

interface TunnelData {
  serve: ServeTunnel;
  request: Request;
  end?: TunnelEnd;
}

const asked = new WeakMap<Request, ServeTunnel>();

/** A route's reply that makes its connection a tunnel of bytes over WebSocket (RFC 6455). INVALID_INPUT without an upgrade. */
export const tunnelReply = (request: Request, serve: ServeTunnel): Response => {
  if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket')
    throw invalidInput('this path is for WebSocket connections', 'use berth db tunnel, or any WebSocket client');
  asked.set(request, serve);
  return new Response(null, { status: 204 });
};

/** Paths that may become tunnels: only for them the listener looks at what the route has decided. */
export const maybeTunnel = (url: string): boolean => url.endsWith('/tunnel');

/** Upgrades the connection when the route asked for it; gives back the route's own reply otherwise. */
export const finishTunnel = (
  server: Server<TunnelData>,
  request: Request,
  response: Response,
): Response | undefined => {
  const serve = asked.get(request);
  if (serve === undefined) return response;
  asked.delete(request);
  if (server.upgrade(request, { data: { serve, request } })) return undefined;
  return Response.json(invalidInput('the WebSocket handshake is not valid', 'see RFC 6455, section 4.1').toBody(), {
    status: 400,
  });
};

/** What happens on upgraded connections. */
export const tunnelHandler: WebSocketHandler<TunnelData> = {
  maxPayloadLength: TUNNEL_WINDOW,
  // Acknowledgements bound what is under way: this is never reached by a client that keeps to them.
  backpressureLimit: 4 * TUNNEL_WINDOW,
  closeOnBackpressureLimit: true,
  // Pings go out by themselves meanwhile: it ends connections whose other side has vanished.
  idleTimeout: 120,
  perMessageDeflate: false,
  open: (socket) => {
    const { request, serve } = socket.data;
    const { streams, ctx, onFault } = stateOf(request);
    const ending = new AbortController();
    const end = createTunnelEnd({ send: (message) => void socket.send(message), close: () => socket.close() });
    socket.data.end = end;
    const { tokenId, expiresAt } = ctx.actor;
    const leave = streams.add({
      tokenId,
      expiresAt,
      end: () => {
        ending.abort();
        end.stream.destroy();
      },
    });
    end.stream.on('error', () => socket.close());
    serve(end.stream, ending.signal)
      .catch((thrown: unknown) => onFault('a tunnel ended badly', thrown))
      .finally(() => {
        leave();
        end.stream.destroy();
      });
  },
  message: (socket: ServerWebSocket<TunnelData>, message) => socket.data.end?.message(message),
  close: (socket) => socket.data.end?.closed(),
};
