import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
  type AuthInfo,
  type McpRequestContext,
  type Server,
} from '@modelcontextprotocol/server';
import type { RequestState } from '#http/context';
import { originOf } from '#http/origin';
import { readBearer } from '#http/bearer';
import type { Caller } from './caller.ts';
import { createMcpServer } from './server.ts';

export interface McpHttpDeps {
  /** The API itself: every tool passes its guard again, with the caller's own token. */
  handle: (request: Request) => Promise<Response>;
  /** Host names, besides those of this machine, whose pages may call. */
  hosts: readonly string[];
  newSessionId: () => string;
}

/** What is known of one request while it is served; the SDK hands it through. */
interface Exchange {
  request: Request;
  caller: Caller;
  tokenId: string;
  era: McpRequestContext['era'];
}

const SESSION = 'mcp-session-id';

/** Streamable HTTP: the revision without sessions, and those before it, without anything kept between requests. */
export const createMcpHttp = (deps: McpHttpDeps) => {
  const underWay = createUnderWay();
  const handler = createMcpHandler(({ era, authInfo }) => serverFor(era, authInfo, underWay), {
    // Always a stream: a reply in one piece would be silent for as long as a build takes.
    responseMode: 'sse',
    // Nothing here changes by itself: a subscription would only hold a connection.
    maxSubscriptions: 0,
  });
  return async (request: Request, state: Pick<RequestState, 'ctx' | 'streams'>): Promise<Response> => {
    const refused = originValidationResponse(request, [...localhostAllowedOrigins(), ...deps.hosts]);
    if (refused !== undefined) return refused;
    const exchange = createExchange(deps, underWay, request, state);
    const response = await handler.fetch(request, {
      authInfo: { token: '', clientId: exchange.tokenId, scopes: [], extra: { exchange } },
    });
    // Names nothing that is kept: it tells the calls of one client from those of another, so that they can be cancelled.
    if (exchange.era === 'legacy' && response.ok && !request.headers.has(SESSION))
      response.headers.set(SESSION, deps.newSessionId());
    return begunAtOnce(response);
  };
};

const HELLO = new TextEncoder().encode(': hello\n\n');

/** Headers leave with the first bytes of a body: a stream says something before its first message is ready. */
const begunAtOnce = (response: Response): Response => {
  const { status, headers, body } = response;
  if (body === null || headers.get('content-type') !== 'text/event-stream') return response;
  const hello = new TransformStream<Uint8Array, Uint8Array>({ start: (controller) => controller.enqueue(HELLO) });
  return new Response(body.pipeThrough(hello), { status, headers });
};

const serverFor = (era: McpRequestContext['era'], authInfo: AuthInfo | undefined, underWay: UnderWay): Server => {
  const exchange = authInfo?.extra?.['exchange'] as Exchange;
  exchange.era = era;
  const server = createMcpServer(exchange.caller);
  // Before 2026-07-28 a cancellation comes in a request of its own; since then the connection just ends.
  if (era === 'legacy')
    server.setNotificationHandler('notifications/cancelled', ({ params }) => {
      if (params.requestId !== undefined) underWay.cancel(keyOf(exchange, params.requestId), params.reason);
    });
  return server;
};

const createExchange = (
  deps: McpHttpDeps,
  underWay: UnderWay,
  request: Request,
  { ctx, streams }: Pick<RequestState, 'ctx' | 'streams'>,
): Exchange => {
  const ended = new AbortController();
  const { tokenId, expiresAt } = ctx.actor;
  const exchange: Exchange = {
    request,
    tokenId,
    era: 'modern',
    caller: {
      surface: 'http',
      endpoint: originOf(request),
      token: readBearer(request),
      fetch: (url, init) => deps.handle(new Request(url, init)),
      ended: ended.signal,
      endsWithConnection: () => exchange.era === 'modern',
      enlist: (id, cancel) => {
        const forget = underWay.add(keyOf(exchange, id), cancel);
        const leave = streams.add({ tokenId, expiresAt, end: () => ended.abort() });
        return () => {
          forget();
          leave();
        };
      },
      note: () => undefined,
      cwd: '/',
    },
  };
  return exchange;
};

/** The calls under way, so that another request of the same client can cancel one. */
interface UnderWay {
  add(key: string | undefined, cancel: (reason: unknown) => void): () => void;
  cancel(key: string | undefined, reason: unknown): void;
}

const createUnderWay = (): UnderWay => {
  const calls = new Map<string, (reason: unknown) => void>();
  return {
    add: (key, cancel) => {
      if (key === undefined) return () => undefined;
      calls.set(key, cancel);
      return () => {
        if (calls.get(key) === cancel) calls.delete(key);
      };
    },
    cancel: (key, reason) => {
      if (key !== undefined) calls.get(key)?.(reason);
    },
  };
};

/** Nobody reaches the calls of another token. A client without a session cannot be told from its siblings. */
const keyOf = ({ request, tokenId }: Exchange, id: string | number): string | undefined => {
  const session = request.headers.get(SESSION);
  return session === null ? undefined : JSON.stringify([tokenId, session, id]);
};
