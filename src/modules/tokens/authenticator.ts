import { timingSafeEqual } from 'node:crypto';
import type { Authenticator, Session } from '#http/bearer';
import { createRequestLimit } from '#http/limits';
import type { Clock } from '#kernel/clock';
import { claimedId, hashSecret } from './secret.ts';
import type { TokenRow, TokenStore } from './store.ts';

/** Recognises secrets, out of memory once a token was seen. */
export interface TokenAuthenticator extends Authenticator {
  /** Must be called with every revocation: from then on the token is unknown. */
  forget(id: string): void;
  /** When a token was last used, if that is not written yet. */
  usedAt(id: string): number | undefined;
  /** Writes down when tokens were last used. */
  flush(): void;
}

interface Known extends Session {
  hash: Uint8Array;
  expiresAt: number | null;
}

/** Uses are written this long after the first unwritten one, so that reads cost no write. */
const FLUSH_MS = 60_000;
const MAX_KNOWN = 10_000;

export const createAuthenticator = (store: TokenStore, clock: Clock, perMinute: number): TokenAuthenticator => {
  const known = new Map<string, Known>();
  const used = new Map<string, number>();
  const limit = createRequestLimit(perMinute, clock);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    if (used.size === 0) return;
    try {
      store.touch(used);
      used.clear();
    } catch {
      // The disk may be full. Nobody waits for this, and what fails for them they are told: it is tried again.
      timer = setTimeout(flush, FLUSH_MS).unref();
    }
  };
  const load = (id: string): Known | undefined => {
    const row = store.get(id);
    if (row === undefined || row.revoked_at !== null) return undefined;
    if (known.size >= MAX_KNOWN) known.clear();
    const entry: Known = {
      hash: row.secret_hash,
      expiresAt: row.expires_at,
      actor: actorOf(row),
      bucket: limit.fresh(),
    };
    known.set(id, entry);
    return entry;
  };

  return {
    authenticate: (secret) => {
      const id = claimedId(secret);
      if (id === undefined) return undefined;
      const entry = known.get(id) ?? load(id);
      if (entry === undefined || !timingSafeEqual(hashSecret(secret), entry.hash)) return undefined;
      const now = clock.now();
      if (entry.expiresAt !== null && entry.expiresAt <= now) return undefined;
      used.set(id, now);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
      return entry;
    },
    countRequest: (session) => limit.take(session.bucket),
    forget: (id) => {
      known.delete(id);
    },
    usedAt: (id) => used.get(id),
    flush,
  };
};

const actorOf = (row: TokenRow): Session['actor'] => ({
  tokenId: row.id,
  principal: row.principal,
  capabilities: row.capabilities,
  projects: row.projects,
  expiresAt: row.expires_at,
});
