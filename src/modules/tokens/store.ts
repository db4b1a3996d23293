import type { Database } from 'bun:sqlite';
import type { Page } from '#kernel/schema';
import type { Capability } from '#kernel/scope';

export interface TokenRow {
  id: string;
  principal: string;
  secret_hash: Uint8Array;
  capabilities: Capability[];
  projects: string[];
  created_at: number;
  created_by: string;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

export interface TokenStore {
  get(id: string): TokenRow | undefined;
  /**
   * Those not revoked that reach into no project beyond `scope`, names or `['*']`; newest first, at most `page.limit + 1`. The
   * cursor is the id.
   */
  list(scope: readonly string[], page: Page): TokenRow[];
  count(): number;
  /** Tokens with the capability `admin` on all projects that neither expire nor are revoked. */
  lastingAdmins(): string[];
  insert(row: TokenRow): void;
  revoke(id: string, at: number): void;
  update(id: string, row: Pick<TokenRow, 'capabilities' | 'projects' | 'expires_at'>): void;
  touch(used: ReadonlyMap<string, number>): void;
}

type StoredRow = Omit<TokenRow, 'capabilities' | 'projects'> & { capabilities: string; projects: string };

export const createTokenStore = (db: Database): TokenStore => ({
  get: (id) => {
    const row = db.query<StoredRow, [string]>('SELECT * FROM tokens WHERE id = ?1').get(id);
    return row === null ? undefined : fromStored(row);
  },
  list: (scope, page) =>
    db
      .query<StoredRow, [string, number, number, string]>(
        `SELECT * FROM tokens WHERE revoked_at IS NULL AND id < ?1
         AND (?3 OR NOT EXISTS (SELECT 1 FROM json_each(projects) WHERE value NOT IN (SELECT value FROM json_each(?4))))
         ORDER BY id DESC LIMIT ?2`,
      )
      .all(page.after ?? '~', page.limit + 1, scope.includes('*') ? 1 : 0, JSON.stringify(scope))
      .map(fromStored),
  count: () => db.query<{ n: number }, []>('SELECT count(*) AS n FROM tokens').get()?.n ?? 0,
  lastingAdmins: () =>
    db
      .query<StoredRow, []>('SELECT * FROM tokens WHERE revoked_at IS NULL AND expires_at IS NULL')
      .all()
      .map(fromStored)
      .filter((row) => row.capabilities.includes('admin') && row.projects.includes('*'))
      .map((row) => row.id),
  insert: (row) => {
    db.query(
      `INSERT INTO tokens (id, principal, secret_hash, capabilities, projects, created_at, created_by, last_used_at, expires_at, revoked_at)
       VALUES ($id, $principal, $secret_hash, $capabilities, $projects, $created_at, $created_by, $last_used_at, $expires_at, $revoked_at)`,
    ).run({ ...row, capabilities: JSON.stringify(row.capabilities), projects: JSON.stringify(row.projects) });
  },
  revoke: (id, at) => {
    db.query('UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL').run(id, at);
  },
  update: (id, { capabilities, projects, expires_at: expires }) => {
    db.query('UPDATE tokens SET capabilities = ?2, projects = ?3, expires_at = ?4 WHERE id = ?1').run(
      id,
      JSON.stringify(capabilities),
      JSON.stringify(projects),
      expires,
    );
  },
  touch: (used) => {
    const update = db.query('UPDATE tokens SET last_used_at = ?2 WHERE id = ?1');
    db.transaction(() => {
      for (const [id, at] of used) update.run(id, at);
    }).immediate();
  },
});

const fromStored = (row: StoredRow): TokenRow => ({
  ...row,
  capabilities: JSON.parse(row.capabilities) as Capability[],
  projects: JSON.parse(row.projects) as string[],
});
