import type { Database } from 'bun:sqlite';
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

export interface EventStore {
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
