import { BerthError } from '#kernel/errors';
import { readBasic, readBearer, type Authenticator, type Session } from './bearer.ts';
import { readCookie } from './cookie.ts';
import { tooMany, type MinuteLimit } from './limits.ts';
import { requireOwnPage } from './own-page.ts';

/** A browser that has signed in, as its cookie says. */
export interface SignedIn {
  id: string;
  /** The token as it is now. */
  token: Session;
  /** When its open streams end at the latest, in milliseconds since the epoch. */
  streamsUntil: number;
}

export interface SessionReader {
  /** Undefined when it has ended, or never was. */
  resolve(cookie: string): SignedIn | undefined;
}

export interface AuthenticateDeps {
  authenticator: Authenticator;
  sessions: SessionReader;
  /** Failed attempts per client address. */
  attempts: MinuteLimit;
  addressOf: (request: Request) => string;
}

export interface Admitted {
  session: Session;
  /** Undefined for a request with a token of its own. */
  browser: SignedIn | undefined;
}

export interface Accepts {
  /** The token as the password of HTTP Basic. */
  basic: boolean;
  /** No cookies. */
  bearerOnly: boolean;
}

/** Finds out who asks: by a token, or by the cookie of a browser that signed in with one. Throws UNAUTHENTICATED. */
export const authenticate = (deps: AuthenticateDeps, request: Request, accepts: Accepts): Admitted => {
  if (!accepts.basic && !accepts.bearerOnly && !request.headers.has('authorization')) {
    const cookie = readCookie(request);
    if (cookie !== undefined) return byCookie(deps, request, cookie);
  }
  const secret = accepts.basic ? readBasic(request) : readBearer(request);
  const session = deps.authenticator.authenticate(secret);
  if (session === undefined) throw failedAttempt(deps, request, invalidToken(accepts.basic));
  deps.authenticator.countRequest(session);
  return { session, browser: undefined };
};

const byCookie = (deps: AuthenticateDeps, request: Request, cookie: string): Admitted => {
  requireOwnPage(request);
  const found = deps.sessions.resolve(cookie);
  // No attempt to count: nobody guesses 256 bits, but open pages go on asking when their session was ended elsewhere.
  if (found === undefined) throw sessionEnded();
  deps.authenticator.countRequest(found.token);
  return { session: found.token, browser: found };
};

/** Counts a wrong secret, and gives what to throw: past the limit, to wait. */
export const failedAttempt = (
  { attempts, addressOf }: Pick<AuthenticateDeps, 'attempts' | 'addressOf'>,
  request: Request,
  otherwise: BerthError,
): BerthError => {
  const address = addressOf(request);
  const waitMs = attempts.waitMs(address);
  if (waitMs > 0) return tooMany('too many requests with invalid tokens from this address', waitMs);
  attempts.count(address);
  return otherwise;
};

const invalidToken = (basic: boolean): BerthError =>
  new BerthError('UNAUTHENTICATED', 'the bearer token is not valid: unknown, revoked or expired', {
    hint: basic
      ? 'use a valid token as the password; ask an admin for a new one'
      : 'send a valid token as "Authorization: Bearer <token>"; ask an admin for a new one',
  });

const sessionEnded = (): BerthError =>
  new BerthError('UNAUTHENTICATED', 'the session has ended', { hint: 'sign in again' });
