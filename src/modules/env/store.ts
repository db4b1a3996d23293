import type { Database } from 'bun:sqlite';
import type { Page } from '#kernel/schema';

export interface EnvRow {
  project: string;
  name: string;
  sealed: Uint8Array;
  updated_at: number;
  updated_by: string;
}

export interface EnvStore {
  /** Ordered by name. */
  list(project: string): EnvRow[];
  /** Ordered by name, at most `limit + 1`. */
  page(project: string, page: Page): EnvRow[];
  names(project: string): string[];
  set(row: EnvRow): void;
  unset(project: string, name: string): void;
  /** Whether any value is stored at all. */
  any(): boolean;
}

export const createEnvStore = (db: Database): EnvStore => ({
  list: (project) => db.query<EnvRow, [string]>('SELECT * FROM env WHERE project = ?1 ORDER BY name').all(project),
  page: (project, page) =>
    db
      .query<EnvRow, [string, string, number]>(
        'SELECT * FROM env WHERE project = ?1 AND name > ?2 ORDER BY name LIMIT ?3',
      )
      .all(project, page.after ?? '', page.limit + 1),
  names: (project) =>
    db
      .query<{ name: string }, [string]>('SELECT name FROM env WHERE project = ?1 ORDER BY name')
      .all(project)
      .map((row) => row.name),
  set: (row) => {
    db.query(
      `INSERT INTO env (project, name, sealed, updated_at, updated_by) VALUES ($project, $name, $sealed, $updated_at, $updated_by)
       ON CONFLICT (project, name) DO UPDATE SET sealed = excluded.sealed, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    ).run({ ...row });
  },
  unset: (project, name) => {
    db.query('DELETE FROM env WHERE project = ?1 AND name = ?2').run(project, name);
  },
  any: () => db.query('SELECT 1 FROM env LIMIT 1').get() !== null,
});
