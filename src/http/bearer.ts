import type { Actor } from '#kernel/ctx';
import { BerthError } from '#kernel/errors';
import type { Bucket } from './limits.ts';

/** A token that was recognised. */
export interface Session {
  actor: Actor;
  /** How many requests it may still send. */
  bucket: Bucket;
}

export interface Authenticator {
  /** Undefined for a secret that is unknown, revoked or expired. */
  authenticate(secret: string): Session | undefined;
  /** A token whose secret was shown before, by its id; undefined once it is revoked or expired. */
  resume(tokenId: string): Session | undefined;
  /** Throws QUOTA_EXCEEDED past the token's limit. */
  countRequest(session: Session): void;
}

/** Who calls public routes. */
export const PUBLIC_ACTOR: Actor = {
  tokenId: 'public',
  principal: 'anonymous',
  capabilities: [],
  projects: [],
  expiresAt: null,
};

/** How nearly every client writes it, and how long the secret may be. */
const USUAL = 'Bearer ';
const LONGEST = USUAL.length + 200;
const SCHEME = /^bearer +([\x21-\x7e]{1,200})$/i;

/** The secret of `Authorization: Bearer <secret>`; UNAUTHENTICATED without one. */
export const readBearer = (request: Request): string => {
  const header = request.headers.get('authorization');
  // On the hot path the expression would cost as much as the rest of the guard.
  if (header !== null && header.startsWith(USUAL) && header.length <= LONGEST && isOneWord(header))
    return header.slice(USUAL.length);
  const secret = header === null ? undefined : SCHEME.exec(header)?.[1];
  if (secret !== undefined) return secret;
  throw new BerthError(
    'UNAUTHENTICATED',
    header === null ? 'no bearer token' : 'the Authorization header is no bearer token',
    {
      hint: 'send the header "Authorization: Bearer <token>"',
    },
  );
};

const BASIC = /^basic +([A-Za-z0-9+/]{1,600}={0,2})$/i;
const SECRET = /^[\x21-\x7e]{1,200}$/;

/** The secret as the password of HTTP Basic with any user name (RFC 7617), or as bearer token. */
export const readBasic = (request: Request): string => {
  const header = request.headers.get('authorization') ?? '';
  if (/^bearer /i.test(header)) return readBearer(request);
  const [, encoded] = BASIC.exec(header) ?? [];
  const pair = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const at = pair.indexOf(':');
  const password = at === -1 ? '' : pair.slice(at + 1);
  if (SECRET.test(password)) return password;
  throw new BerthError('UNAUTHENTICATED', header === '' ? 'no token' : 'the password is no token', {
    hint: 'use any user name, and a token as the password; "berth clone" does it for you',
  });
};

const isOneWord = (header: string): boolean => header.length > USUAL.length && !header.includes(' ', USUAL.length);
