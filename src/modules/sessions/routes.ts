import { Elysia } from 'elysia';
import { Type } from '@sinclair/typebox';
import { failedAttempt, type AuthenticateDeps } from '#http/authenticate';
import { ctxOf, stateOf } from '#http/context';
import { dropCookie, keepCookie, readCookie } from '#http/cookie';
import { ListQuery, listReply, pageOf } from '#http/list';
import { originOf } from '#http/origin';
import { requireOwnPage } from '#http/own-page';
import { route } from '#http/route';
import { BerthError, invalidInput, notFound } from '#kernel/errors';
import { DryRunSchema, listOf } from '#kernel/schema';
import { BrowserSessionSchema, EndedSchema, SessionSchema, SignInBody, type BrowserSession } from './model.ts';
import type { Sessions } from './service.ts';

export interface SessionRoutesDeps extends Pick<AuthenticateDeps, 'authenticator' | 'attempts' | 'addressOf'> {
  sessions: Sessions;
}

const tag = 'sessions';

interface Reply {
  headers: Record<string, string | number | string[]>;
}

export const sessionsRoutes = (deps: SessionRoutesDeps) =>
  new Elysia()
    .post('/v1/session', ({ request, body, set }) => signIn(deps, request, { token: body.token, set }), {
      body: SignInBody,
      response: { 200: BrowserSessionSchema },
      ...route({
        operationId: 'createSession',
        capability: 'public',
        tag,
        summary: 'Sign a browser in with a token',
        page: true,
        idempotent: false,
      }),
    })
    .get('/v1/session', ({ request }) => deps.sessions.show(ctxOf(request), currentOf(request)), {
      response: { 200: BrowserSessionSchema },
      ...route({
        operationId: 'getSession',
        capability: 'any',
        tag,
        summary: 'Show the session of this browser',
        page: true,
      }),
    })
    .delete('/v1/session', ({ request, set }) => signOut(deps, request, set), {
      response: { 200: EndedSchema },
      ...route({
        operationId: 'endSession',
        capability: 'any',
        tag,
        summary: 'Sign this browser out',
        page: true,
        idempotent: false,
      }),
    })
    .get('/v1/sessions', ({ request, query }) => listSessions(deps.sessions, request, query), {
      query: ListQuery,
      response: { 200: listOf('sessions', SessionSchema) },
      ...route({
        operationId: 'listSessions',
        capability: 'any',
        tag,
        summary: 'List the browsers that are signed in with the token of this request, newest first',
      }),
    })
    .delete('/v1/sessions', ({ request }) => deps.sessions.endAll(ctxOf(request)), {
      response: { 200: Type.Union([EndedSchema, DryRunSchema]) },
      ...route({
        operationId: 'endSessions',
        capability: 'any',
        tag,
        summary: 'Sign out all browsers that are signed in with the token of this request',
        dryRun: true,
      }),
    });

const signIn = (
  deps: SessionRoutesDeps,
  request: Request,
  { token, set }: { token: string; set: Reply },
): BrowserSession => {
  requireKeptCookie(request);
  requireOwnPage(request);
  const recognised = deps.authenticator.authenticate(token.trim());
  if (recognised === undefined) throw failedAttempt(deps, request, unknownToken());
  deps.authenticator.countRequest(recognised);
  const { cookie, seconds, session } = deps.sessions.begin(recognised, readCookie(request));
  set.headers['set-cookie'] = keepCookie(cookie, seconds);
  return session;
};

const signOut = ({ sessions }: SessionRoutesDeps, request: Request, set: Reply) => {
  const ended = sessions.end(ctxOf(request), currentOf(request));
  set.headers['set-cookie'] = dropCookie();
  return ended;
};

const listSessions = (sessions: Sessions, request: Request, query: typeof ListQuery.static) => {
  const page = pageOf(query);
  const found = sessions.list(ctxOf(request), stateOf(request).browser?.id, page);
  return listReply('sessions', found, (session) => session.id, page);
};

const currentOf = (request: Request): string => {
  const { browser } = stateOf(request);
  if (browser !== undefined) return browser.id;
  throw notFound('this request came with a token, and not from a browser’s session', 'see GET /v1/whoami instead');
};

/** Browsers keep `__Host-` cookies of TLS, and of their own machine (W3C Secure Contexts, 3.1); elsewhere nobody would stay signed in. */
const requireKeptCookie = (request: Request): void => {
  const { protocol, hostname, port } = new URL(originOf(request));
  if (protocol === 'https:' || isOwnMachine(hostname)) return;
  throw invalidInput(
    'browsers keep no session over plain http, and the token would cross the network in the clear',
    `open it with https, or through a tunnel: ssh -L ${port || 4400}:127.0.0.1:${port || 4400} ${hostname}, then http://localhost:${port || 4400}`,
  );
};

const isOwnMachine = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);

const unknownToken = (): BerthError =>
  new BerthError('UNAUTHENTICATED', 'the token is not valid: unknown, revoked or expired', {
    hint: 'check that it was copied whole, or ask an admin for a new one',
  });
