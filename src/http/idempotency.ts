import type { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock';
import { BerthError, conflict, invalidInput } from '#kernel/errors';
import { stateOf, type RequestState } from './context.ts';

const KEPT_MS = 24 * 60 * 60 * 1000;
const HEADER = 'idempotency-key';

/** A reply that was given before. */
export interface StoredReply {
  status: number;
  body: string;
}

/** Lets a mutation be sent again with the same `Idempotency-Key`, for 24 hours, without being done again. */
export interface Idempotency {
  /** Before the handler: the reply to give instead of running it, or undefined. */
  begin(request: Request): StoredReply | undefined;
  /** After the handler, with its reply. */
  finish(request: Request, status: number, body: unknown): void;
}

interface Row {
  request: string;
  status: number | null;
  body: string | null;
}

/** A key without a reply was under way when berth ended: it is free again. */
export const createIdempotency = (db: Database, clock: Clock): Idempotency => {
  db.query('DELETE FROM idempotency WHERE status IS NULL').run();
  const held = new WeakMap<Request, { tokenId: string; key: string }>();

  const reserve = (tokenId: string, key: string, fingerprint: string): StoredReply | undefined => {
    const now = clock.now();
    db.query('DELETE FROM idempotency WHERE created_at < ?1').run(now - KEPT_MS);
    const row = db
      .query<Row, [string, string]>('SELECT request, status, body FROM idempotency WHERE token_id = ?1 AND key = ?2')
      .get(tokenId, key);
    if (row === null) {
      db.query('INSERT INTO idempotency (token_id, key, request, created_at) VALUES (?1, ?2, ?3, ?4)').run(
        tokenId,
        key,
        fingerprint,
        now,
      );
      return undefined;
    }
    return replay(row, fingerprint);
  };

  return {
    begin: (request) => {
      const key = request.headers.get(HEADER);
      if (key === null) return undefined;
      const state = stateOf(request);
      requireValid(key, state);
      if (state.ctx.dryRun) return undefined;
      const { tokenId } = state.ctx.actor;
      const reply = reserve(tokenId, key, fingerprintOf(request, state));
      if (reply === undefined) held.set(request, { tokenId, key });
      return reply;
    },
    finish: (request, status, body) => {
      const hold = held.get(request);
      if (hold === undefined) return;
      held.delete(request);
      if (!worthKeeping(status, stateOf(request))) {
        db.query('DELETE FROM idempotency WHERE token_id = ?1 AND key = ?2').run(hold.tokenId, hold.key);
        return;
      }
      db.query('UPDATE idempotency SET status = ?3, body = ?4 WHERE token_id = ?1 AND key = ?2').run(
        hold.tokenId,
        hold.key,
        status,
        storedBody(body),
      );
    },
  };
};

/** A retry of what failed on berth's side, for lack of quota, or while uploading, is a new try. */
const worthKeeping = (status: number, state: RequestState): boolean =>
  state.entry.meta.upload ? status < 300 : status < 500 && status !== 429;

const requireValid = (key: string, state: RequestState): void => {
  if (state.entry.meta.idempotent === false) {
    throw invalidInput(`${state.entry.operationId} takes no Idempotency-Key`, 'send the request without it');
  }
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalidInput('the Idempotency-Key must be 1 to 255 printable ASCII characters without spaces', 'use a UUID');
  }
};

/** An upload counts by its address alone: a source that was packed again differs in its bytes. */
const fingerprintOf = (request: Request, state: RequestState): string => {
  const url = new URL(request.url);
  return createHash('sha256')
    .update(`${request.method} ${url.pathname}${url.search}\n${state.bodyDigest ?? ''}`)
    .digest('hex');
};

const replay = (row: Row, fingerprint: string): StoredReply => {
  if (row.request !== fingerprint) {
    throw conflict('this Idempotency-Key was used for another request', 'use a new key for a new request');
  }
  if (row.status === null || row.body === null) {
    throw new BerthError('CONFLICT', 'the first request with this Idempotency-Key is still under way', {
      hint: 'wait a second, then send it again',
      retryable: true,
      retryAfterSeconds: 1,
    });
  }
  const body = JSON.parse(row.body) as { secret_of?: string };
  if (body.secret_of === undefined) return { status: row.status, body: row.body };
  throw conflict(
    `the first request with this Idempotency-Key made ${body.secret_of}, and its secret is shown only once`,
    `if the secret is lost, revoke it with DELETE /v1/tokens/${body.secret_of} and create a token with a new key`,
  );
};

/** A reply with a secret is not kept: only what it was about. */
const storedBody = (body: unknown): string => {
  if (typeof body === 'object' && body !== null && 'secret' in body && 'id' in body) {
    return JSON.stringify({ secret_of: body.id });
  }
  return JSON.stringify(body ?? null);
};
