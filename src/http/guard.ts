import type { Ctx } from '#kernel/ctx';
import { BerthError, invalidInput, notFound } from '#kernel/errors';
import { requireCapability, requireProject } from '#kernel/scope';
import { MAX_JSON_BYTES, bodyTooLarge } from './body.ts';
import { markBasic, setState, type RequestState } from './context.ts';
import { readFlags } from './flags.ts';
import { REPLY_HEADERS } from './json-text.ts';
import { createRouteTable, type DeclaredRoute, type RouteMatch, type RouteTable } from './route-table.ts';
import type { Streams } from './streams.ts';
import { authenticate, type Admitted, type AuthenticateDeps } from './authenticate.ts';
import { PUBLIC_ACTOR } from './bearer.ts';

export interface GuardDeps extends AuthenticateDeps {
  streams: Streams;
  newRequestId: () => string;
  /** Whether this executable is on trial after an upgrade: what it accepted could be lost with it. */
  onTrial?: () => boolean;
  onFault: RequestState['onFault'];
}

/** The part of the framework's context that the guard needs. */
export interface GuardContext {
  request: Request;
  /** The path as the framework's router will read it. */
  path: string;
  set: { headers: Record<string, string | number | string[]> };
}

/** The one place where requests are let in. */
export interface Guard {
  /** Reads the assembled app's routes. */
  load(routes: readonly DeclaredRoute[]): RouteTable;
  /** Runs before anything else sees the request; throws what the caller gets. */
  onRequest(context: GuardContext): Response | undefined;
}

export const createGuard = (deps: GuardDeps): Guard => {
  let table: RouteTable = createRouteTable([]);
  return {
    load: (routes) => {
      table = createRouteTable(routes);
      return table;
    },
    onRequest: (context) => {
      const { request, path } = context;
      const requestId = deps.newRequestId();
      // What every reply carries.
      context.set.headers = { 'x-request-id': requestId, ...REPLY_HEADERS };
      if (request.url.startsWith('/')) throw noHost();
      const match = table.find(request.method === 'HEAD' ? 'GET' : request.method, path);
      if (match === undefined) return refuseUnknown(deps, table, context);
      const { meta } = match.entry;
      if (meta.basic) markBasic(request);
      const admitted = meta.capability === 'public' ? undefined : authenticate(deps, request, meta);
      setState(request, admit(deps, { request, match, admitted, requestId }));
      return undefined;
    },
  };
};

interface Admission {
  request: Request;
  match: RouteMatch;
  admitted: Admitted | undefined;
  requestId: string;
}

const admit = (deps: GuardDeps, { request, match, admitted, requestId }: Admission): RequestState => {
  const { entry, params } = match;
  const actor = admitted?.session.actor ?? PUBLIC_ACTOR;
  const { capability } = entry.meta;
  if (capability !== 'public' && capability !== 'any') requireCapability(actor, capability);
  for (const name in params) if (params[name] === null) throw malformedPath();
  const { project } = params;
  if (project !== undefined) requireProject(actor, project);
  if (request.method === 'HEAD' && entry.meta.stream) throw wrongMethod('HEAD', ['GET']);
  const { dryRun } = readFlags(entry, request);
  if (entry.mutates && !dryRun && deps.onTrial?.() === true) throw upgrading();
  if (entry.mutates && !entry.meta.upload) checkLength(request);
  const ctx: Ctx = { actor, requestId, dryRun };
  return { ctx, entry, browser: admitted?.browser, streams: deps.streams, onFault: deps.onFault };
};

const BEARER_OR_COOKIE = { basic: false, bearerOnly: false };

/** Outside of `/v1` nothing is secret about which paths there are; inside, only token holders learn it. */
const refuseUnknown = (deps: GuardDeps, table: RouteTable, context: GuardContext): Response => {
  const { request, path } = context;
  if (path === '/v1' || path.startsWith('/v1/')) authenticate(deps, request, BEARER_OR_COOKIE);
  const methods = table.methodsOf(path);
  if (methods.length === 0) {
    throw notFound(
      `no such path: ${path.slice(0, 200)}`,
      'see GET /v1/openapi for all paths, or /skill.md for a guide',
    );
  }
  context.set.headers['allow'] = allowOf(methods);
  if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow: allowOf(methods) } });
  throw wrongMethod(request.method, methods);
};

const allowOf = (methods: readonly string[]): string =>
  [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');

const wrongMethod = (method: string, methods: readonly string[]): BerthError =>
  new BerthError('INVALID_INPUT', `this path does not take ${method.slice(0, 20)}`, {
    hint: `use ${methods.join(' or ')}`,
    httpStatus: 405,
  });

const upgrading = (): BerthError =>
  new BerthError(
    'INTERNAL_ERROR',
    'the server is being upgraded and takes no changes until the new version is confirmed',
    {
      hint: 'send the same request again in a few seconds',
      retryable: true,
      retryAfterSeconds: 2,
      httpStatus: 503,
    },
  );

/** The runtime then gives the path alone as URL, in which the router finds other segments than the guard. */
const noHost = (): BerthError =>
  invalidInput('the Host header is missing or malformed', 'send the header "Host: <name of the server>"');

const malformedPath = (): BerthError =>
  invalidInput('the path is not valid percent-encoded UTF-8', 'encode path segments as UTF-8, or use plain names');

const checkLength = (request: Request): void => {
  const length = request.headers.get('content-length');
  if (length !== null && Number(length) > MAX_JSON_BYTES) throw bodyTooLarge();
};
