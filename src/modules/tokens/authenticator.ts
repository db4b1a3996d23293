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
  id: string;
  hash: Uint8Array;
  expiresAt: number | null;
  /** Milliseconds since the epoch of a use that is not written yet. */
  usedAt: number | undefined;
}

/** Uses are written this long after the first unwritten one, so that reads cost no write. */
const FLUSH_MS = 60_000;
const PREFIX = 'tok_';
const MAX_KNOWN = 10_000;

export const createAuthenticator = (store: TokenStore, clock: Clock, perMinute: number): TokenAuthenticator => {
  const known = new Map<string, Known>();
  /** Those with a use that is not written yet. */
  let used: Known[] = [];
  const limit = createRequestLimit(perMinute, clock);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    if (used.length === 0) return;
    try {
      store.touch(new Map(used.map((entry) => [entry.id, entry.usedAt ?? 0])));
      for (const entry of used) entry.usedAt = undefined;
      used = [];
    } catch {
      // The disk may be full. Nobody waits for this, and what fails for them they are told: it is tried again.
      timer = setTimeout(flush, FLUSH_MS).unref();
    }
  };
  const load = (claimed: string): Known | undefined => {
    const row = store.get(`${PREFIX}${claimed}`);
    if (row === undefined || row.revoked_at !== null) return undefined;
    if (known.size >= MAX_KNOWN) known.clear();
    const entry: Known = {
      id: row.id,
      hash: row.secret_hash,
      expiresAt: row.expires_at,
      actor: actorOf(row),
      bucket: limit.fresh(),
      usedAt: undefined,
    };
    known.set(claimed, entry);
    return entry;
  };

  const noteUse = (entry: Known): Known | undefined => {
    const now = clock.now();
    if (entry.expiresAt !== null && entry.expiresAt <= now) return undefined;
    if (entry.usedAt === undefined) used.push(entry);
    entry.usedAt = now;
    timer ??= setTimeout(flush, FLUSH_MS).unref();
    return entry;
  };

  return {
    authenticate: (secret) => {
      const claimed = claimedId(secret);
      if (claimed === undefined) return undefined;
      const entry = known.get(claimed) ?? load(claimed);
      if (entry === undefined || !timingSafeEqual(hashSecret(secret), entry.hash)) return undefined;
      return noteUse(entry);
    },
    resume: (id) => {
      const claimed = id.slice(PREFIX.length);
      const entry = known.get(claimed) ?? load(claimed);
      return entry === undefined ? undefined : noteUse(entry);
    },
    countRequest: (session) => limit.take(session.bucket),
    forget: (id) => {
      known.delete(id.slice(PREFIX.length));
    },
    usedAt: (id) => used.find((entry) => entry.id === id)?.usedAt,
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
