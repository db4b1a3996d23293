import type { Database } from 'bun:sqlite';
import type { Page } from '#kernel/schema';

export interface SessionRow {
  id: string;
  /** SHA-256 of the cookie's value. */
  hash: Uint8Array;
  token_id: string;
  created_at: number;
  last_used_at: number;
  /** The latest end, whatever the use. */
  expires_at: number;
}

export interface SessionStore {
  byHash(hash: Uint8Array): SessionRow | undefined;
  get(id: string): SessionRow | undefined;
  insert(row: SessionRow): void;
  touch(id: string, at: number): void;
  remove(id: string): void;
  /** Those of a token that were used after `usedAfter`, newest first, at most `page.limit + 1`. The cursor is the id. */
  ofToken(tokenId: string, usedAfter: number, page: Page): SessionRow[];
  /** Removes all of a token but the newest `keep`, and gives their ids. */
  removeOf(tokenId: string, keep: number): string[];
  /** Removes those whose last use, or whose latest end, lies before. */
  removeBefore(usedBefore: number, expiredBefore: number): void;
}

export const createSessionStore = (db: Database): SessionStore => ({
  byHash: (hash) => db.query<SessionRow, [Uint8Array]>('SELECT * FROM sessions WHERE hash = ?1').get(hash) ?? undefined,
  get: (id) => db.query<SessionRow, [string]>('SELECT * FROM sessions WHERE id = ?1').get(id) ?? undefined,
  insert: (row) => {
    db.query(
      `INSERT INTO sessions (id, hash, token_id, created_at, last_used_at, expires_at)
       VALUES ($id, $hash, $token_id, $created_at, $last_used_at, $expires_at)`,
    ).run({ ...row });
  },
  touch: (id, at) => {
    db.query('UPDATE sessions SET last_used_at = ?2 WHERE id = ?1').run(id, at);
  },
  remove: (id) => {
    db.query('DELETE FROM sessions WHERE id = ?1').run(id);
  },
  ofToken: (tokenId, usedAfter, page) =>
    db
      .query<SessionRow, [string, number, string, number]>(
        `SELECT * FROM sessions WHERE token_id = ?1 AND last_used_at > ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4`,
      )
      .all(tokenId, usedAfter, page.after ?? '~', page.limit + 1),
  removeOf: (tokenId, keep) =>
    db
      .query<{ id: string }, [string, number]>(
        `DELETE FROM sessions WHERE token_id = ?1 AND id NOT IN
         (SELECT id FROM sessions WHERE token_id = ?1 ORDER BY id DESC LIMIT ?2) RETURNING id`,
      )
      .all(tokenId, keep)
      .map(({ id }) => id),
  removeBefore: (usedBefore, expiredBefore) => {
    db.query('DELETE FROM sessions WHERE last_used_at < ?1 OR expires_at < ?2').run(usedBefore, expiredBefore);
  },
});
