import type { Database } from 'bun:sqlite';
import { createHash, randomBytes } from 'node:crypto';
import type { SessionReader } from '#http/authenticate';
import type { Authenticator, Session } from '#http/bearer';
import type { Clock } from '#kernel/clock';
import { isoTime } from '#kernel/clock';
import type { Actor, Ctx } from '#kernel/ctx';
import { isDiskFull, notFound } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import type { BrowserSession, Ended, ListedSession } from './model.ts';
import { createSessionStore, type SessionRow } from './store.ts';

/** Browsers that have signed in with a token. What they may do is what the token may do at each request. */
export interface Sessions extends SessionReader {
  /** Begins a session of a token that was just recognised, in the place of the one with the cookie `replaced`. */
  begin(token: Session, replaced: string | undefined): { cookie: string; seconds: number; session: BrowserSession };
  /** NOT_FOUND when it has ended meanwhile. */
  show(ctx: Ctx, id: string): BrowserSession;
  /** Those of the caller's token, newest first, at most `page.limit + 1`. */
  list(ctx: Ctx, current: string | undefined, page: Page): ListedSession[];
  end(ctx: Ctx, id: string): Ended;
  /** All of the caller's token. */
  endAll(ctx: Ctx): Ended | DryRun;
}

export interface SessionEvent {
  project: string;
  kind: 'session.created' | 'session.ended';
  actor: string;
  data: Record<string, unknown>;
}

export interface SessionsDeps {
  db: Database;
  clock: Clock;
  newId: NewId;
  authenticator: Authenticator;
  emit: (event: SessionEvent) => void;
  /** Ends what a session has open. */
  onEnded: (sessionId: string) => void;
}

const HOUR_MS = 3_600_000;
const IDLE_MS = 12 * HOUR_MS;
const LONGEST_MS = 7 * 24 * HOUR_MS;
/** Streams end so often, and are opened anew, which counts as a use. */
const STREAM_MS = HOUR_MS;
/** Uses are written so often at most, so that reads cost no write. */
const TOUCH_MS = 60_000;
const PER_TOKEN = 100;

export const createSessions = (deps: SessionsDeps): Sessions => {
  const { clock, authenticator } = deps;
  const store = createSessionStore(deps.db);
  const changes = createChanges(deps);

  const noteUse = (row: SessionRow, now: number): void => {
    if (now - row.last_used_at < TOUCH_MS) return;
    try {
      store.touch(row.id, now);
    } catch (thrown) {
      // A page that only looks goes on while the disk is full.
      if (!isDiskFull(thrown)) throw thrown;
    }
  };

  return {
    resolve: (cookie) => {
      const row = store.byHash(hashOf(cookie));
      if (row === undefined) return undefined;
      const now = clock.now();
      if (endOf(row) <= now) return undefined;
      const token = authenticator.resume(row.token_id);
      if (token === undefined) return undefined;
      noteUse(row, now);
      return { id: row.id, token, streamsUntil: Math.min(row.expires_at, now + STREAM_MS) };
    },
    begin: (token, replaced) => {
      const before = replaced === undefined ? undefined : store.byHash(hashOf(replaced));
      const { row, cookie } = changes.begin(token.actor, before?.id);
      return { cookie, seconds: (row.expires_at - row.created_at) / 1000, session: sessionView(row, token.actor) };
    },
    show: (ctx, id) => {
      const row = store.get(id);
      if (row === undefined) throw notFound('the session has ended', 'sign in again');
      return sessionView(row, ctx.actor);
    },
    list: (ctx, current, page) =>
      store
        .ofToken(ctx.actor.tokenId, clock.now() - IDLE_MS, page)
        .map((row) => ({ ...timesOf(row), id: row.id, current: row.id === current })),
    end: (ctx, id) => changes.end(ctx.actor, [id]),
    endAll: (ctx) => {
      const { tokenId } = ctx.actor;
      if (!ctx.dryRun) return changes.endAll(ctx.actor);
      const rows = store.ofToken(tokenId, 0, { limit: PER_TOKEN, after: undefined });
      return dryRun(
        `end ${rows.length} sessions of token ${tokenId}`,
        rows.map(({ id }) => ({ action: 'delete', resource: 'session', name: id })),
      );
    },
  };
};

/** What changes sessions on record, each with its events in one transaction. */
const createChanges = ({ db, clock, newId, emit, onEnded }: SessionsDeps) => {
  const store = createSessionStore(db);
  const emitFor = (actor: Actor, kind: SessionEvent['kind'], id: string): void => {
    const data = { session: id, token: actor.tokenId };
    for (const project of actor.projects) emit({ project, kind, actor: actor.principal, data });
  };
  const ended = (ids: readonly string[]): Ended => {
    for (const id of ids) onEnded(id);
    return { ended: ids.length };
  };
  return {
    begin: (actor: Actor, before: string | undefined): { row: SessionRow; cookie: string } => {
      const now = clock.now();
      const cookie = randomBytes(32).toString('base64url');
      const row: SessionRow = {
        id: newId('ses'),
        hash: hashOf(cookie),
        token_id: actor.tokenId,
        created_at: now,
        last_used_at: now,
        expires_at: Math.min(now + LONGEST_MS, actor.expiresAt ?? Infinity),
      };
      const over = db
        .transaction(() => {
          store.removeBefore(now - IDLE_MS, now);
          if (before !== undefined) store.remove(before);
          store.insert(row);
          emitFor(actor, 'session.created', row.id);
          return store.removeOf(actor.tokenId, PER_TOKEN);
        })
        .immediate();
      ended(before === undefined ? over : [...over, before]);
      return { row, cookie };
    },
    end: (actor: Actor, ids: readonly string[]): Ended => {
      db.transaction(() => {
        for (const id of ids) {
          store.remove(id);
          emitFor(actor, 'session.ended', id);
        }
      }).immediate();
      return ended(ids);
    },
    endAll: (actor: Actor): Ended => {
      const ids = db
        .transaction(() => {
          const removed = store.removeOf(actor.tokenId, 0);
          for (const id of removed) emitFor(actor, 'session.ended', id);
          return removed;
        })
        .immediate();
      return ended(ids);
    },
  };
};

/** Plain SHA-256 is enough for 256 random bits. */
const hashOf = (cookie: string): Uint8Array => createHash('sha256').update(cookie).digest();

const endOf = (row: SessionRow): number => Math.min(row.expires_at, row.last_used_at + IDLE_MS);

const timesOf = (row: SessionRow) => ({
  created_at: isoTime(row.created_at),
  last_used_at: isoTime(row.last_used_at),
  expires_at: isoTime(endOf(row)),
});

const sessionView = (row: SessionRow, actor: Actor): BrowserSession => {
  const { created_at, expires_at } = timesOf(row);
  return {
    id: row.id,
    token_id: actor.tokenId,
    principal: actor.principal,
    capabilities: [...actor.capabilities],
    projects: [...actor.projects],
    token_expires_at: actor.expiresAt === null ? null : isoTime(actor.expiresAt),
    created_at,
    expires_at,
  };
};
