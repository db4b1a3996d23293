import type { Database } from 'bun:sqlite';
import type { Page } from '#kernel/schema';
import type { EventKind } from './model.ts';

export interface EventRow {
  seq: number;
  id: string;
  project: string;
  kind: EventKind;
  ts: number;
  actor: string;
  /** JSON object. */
  data: string;
}

export interface EventFilter {
  /** Project names in the caller's scope, or `['*']`. */
  projects: readonly string[];
  /** Whether what concerns the whole server is shown too. */
  server: boolean;
  project?: string | undefined;
  /** A kind, or the part before its dot. */
  kind?: string | undefined;
  actor?: string | undefined;
  /** Milliseconds since the epoch. */
  since?: number | undefined;
  until?: number | undefined;
}

export interface EventStore {
  /** Newest first, at most `page.limit + 1`. The cursor is the sequence number. */
  list(filter: EventFilter, page: Page): EventRow[];
  insert(row: Omit<EventRow, 'seq'>): void;
  /** Those after `seq`, oldest first. */
  after(project: string, seq: number, limit: number): EventRow[];
  /** The newest, oldest first. */
  newest(project: string, count: number): EventRow[];
  /** Sequence number of the last event before `ts` (milliseconds); 0 when there is none. */
  lastBefore(project: string, ts: number): number;
  lastSeq(project: string): number;
  /** Drops all but the newest of a project, counted apart: many queries push nothing else out. */
  prune(project: string, keep: { queries: number; others: number }): void;
  /** The projects that have events after `seq`, with the newest number of all. */
  touchedAfter(seq: number): { projects: string[]; last: number };
}

/** The one kind that anybody who may read can make any number of. */
const QUERY: EventKind = 'query.executed';

export const createEventStore = (db: Database): EventStore => ({
  list: (filter, page) => listEvents(db, filter, page),
  insert: (row) => {
    db.query(
      'INSERT INTO events (id, project, kind, ts, actor, data) VALUES ($id, $project, $kind, $ts, $actor, $data)',
    ).run({ ...row });
  },
  after: (project, seq, limit) =>
    db
      .query<EventRow, [string, number, number]>(
        'SELECT * FROM events WHERE project = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3',
      )
      .all(project, seq, limit),
  newest: (project, count) =>
    db
      .query<EventRow, [string, number]>('SELECT * FROM events WHERE project = ?1 ORDER BY seq DESC LIMIT ?2')
      .all(project, count)
      .reverse(),
  lastBefore: (project, ts) =>
    db
      .query<{ seq: number | null }, [string, number]>(
        'SELECT max(seq) AS seq FROM events WHERE project = ?1 AND ts < ?2',
      )
      .get(project, ts)?.seq ?? 0,
  lastSeq: (project) =>
    db.query<{ seq: number | null }, [string]>('SELECT max(seq) AS seq FROM events WHERE project = ?1').get(project)
      ?.seq ?? 0,
  prune: (project, { queries, others }) => {
    for (const [is, keep] of [
      ['=', queries],
      ['<>', others],
    ] as const) {
      db.query(
        `DELETE FROM events WHERE project = ?1 AND kind ${is} ?3 AND seq <=
         (SELECT seq FROM events WHERE project = ?1 AND kind ${is} ?3 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`,
      ).run(project, keep, QUERY);
    }
  },
  touchedAfter: (seq) => {
    const rows = db
      .query<{ project: string; last: number }, [number]>(
        'SELECT project, max(seq) AS last FROM events WHERE seq > ?1 GROUP BY project',
      )
      .all(seq);
    return { projects: rows.map((row) => row.project), last: Math.max(seq, ...rows.map((row) => row.last)) };
  },
});

const listEvents = (db: Database, filter: EventFilter, page: Page): EventRow[] => {
  const where: string[] = [];
  const values: (string | number)[] = [];
  const add = (sql: string, ...given: (string | number)[]): void => {
    where.push(sql);
    values.push(...given);
  };
  if (!filter.server) add("project <> '*'");
  if (!filter.projects.includes('*'))
    add('project IN (SELECT value FROM json_each(?))', JSON.stringify(filter.projects));
  if (filter.project !== undefined) add('project = ?', filter.project);
  if (filter.kind !== undefined)
    add("(kind = ? OR substr(kind, 1, length(?) + 1) = ? || '.')", filter.kind, filter.kind, filter.kind);
  if (filter.actor !== undefined) add('actor = ?', filter.actor);
  if (filter.since !== undefined) add('ts >= ?', filter.since);
  if (filter.until !== undefined) add('ts < ?', filter.until);
  if (page.after !== undefined) add('seq < ?', Number(page.after));
  const clause = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  return db
    .query<EventRow, (string | number)[]>(`SELECT * FROM events ${clause} ORDER BY seq DESC LIMIT ?`)
    .all(...values, page.limit + 1);
};
