import type { Database } from 'bun:sqlite';
import { conflict } from '#kernel/errors';
import type { Page } from '#kernel/schema';
import { projectNotFound } from '#kernel/scope';

export interface ProjectRow {
  name: string;
  state: 'active' | 'deleting';
  /** Name of its Docker network. */
  network: string;
  /** In CIDR. */
  subnet: string;
  created_at: number;
  created_by: string;
}

export interface ProjectStore {
  get(name: string): ProjectRow | undefined;
  /** NOT_FOUND when it is missing. */
  require(name: string): ProjectRow;
  /** NOT_FOUND when it is missing, CONFLICT while it is being deleted: what every change inside a project asks first. */
  requireActive(name: string): ProjectRow;
  /** Ordered by name, at most `limit + 1`; `scope` are the names that the caller may see, or `['*']`. */
  list(scope: readonly string[], page: Page): ProjectRow[];
  all(): ProjectRow[];
  subnets(): string[];
  insert(row: ProjectRow): void;
  setState(name: string, state: ProjectRow['state']): void;
  setSubnet(name: string, subnet: string): void;
  remove(name: string): void;
}

export const createProjectStore = (db: Database): ProjectStore => {
  const get = (name: string): ProjectRow | undefined =>
    db.query<ProjectRow, [string]>('SELECT * FROM projects WHERE name = ?1').get(name) ?? undefined;
  const require = (name: string): ProjectRow => {
    const row = get(name);
    if (row === undefined) throw projectNotFound(name);
    return row;
  };
  return {
    get,
    require,
    requireActive: (name) => {
      const row = require(name);
      if (row.state === 'deleting') throw beingDeleted(name);
      return row;
    },
    list: (scope, page) =>
      db
        .query<ProjectRow, [string, number, string, number]>(
          `SELECT * FROM projects WHERE name > ?1 AND (?2 OR name IN (SELECT value FROM json_each(?3)))
           ORDER BY name LIMIT ?4`,
        )
        .all(page.after ?? '', scope.includes('*') ? 1 : 0, JSON.stringify(scope), page.limit + 1),
    all: () => db.query<ProjectRow, []>('SELECT * FROM projects ORDER BY name').all(),
    subnets: () =>
      db
        .query<{ subnet: string }, []>('SELECT subnet FROM projects')
        .all()
        .map((row) => row.subnet),
    insert: (row) => {
      db.query(
        `INSERT INTO projects (name, state, network, subnet, created_at, created_by)
         VALUES ($name, $state, $network, $subnet, $created_at, $created_by)`,
      ).run({ ...row });
    },
    setState: (name, state) => {
      db.query('UPDATE projects SET state = ?2 WHERE name = ?1').run(name, state);
    },
    setSubnet: (name, subnet) => {
      db.query('UPDATE projects SET subnet = ?2 WHERE name = ?1').run(name, subnet);
    },
    remove: (name) => {
      db.query('DELETE FROM projects WHERE name = ?1').run(name);
    },
  };
};

export const beingDeleted = (name: string) =>
  conflict(`project "${name}" is being deleted`, 'wait until it is gone, then create it anew', true);
