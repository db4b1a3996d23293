import type { Database } from 'bun:sqlite';
import { isoTime } from '#kernel/clock';
import type { ErrorBody } from '#kernel/errors';
import type { Page } from '#kernel/schema';
import type { Operation, OperationEvent, OperationKind, OperationStatus, Phase } from './model.ts';

export interface OperationRow {
  id: string;
  kind: OperationKind;
  project: string;
  service: string | null;
  /** Null for operations on services and on whole projects. */
  datastore: string | null;
  status: OperationStatus;
  phase: Phase;
  input: string;
  attempt: number;
  cancel_requested: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  created_by: string;
  token_id: string;
  error: string | null;
  result: string | null;
  /** What a later attempt must know, as JSON: see `Checkpoint`. */
  checkpoint: string | null;
}

/** How far an operation got; written in the transaction that makes it so. */
export interface Checkpoint {
  /** The release that the deploy made; null when it has got no further than its release command. */
  release: string | null;
  /** Whether the service points at it already. */
  committed: boolean;
}

export interface OperationFilter {
  /** Project names in the caller's scope, or `['*']`. */
  projects: readonly string[];
  project?: string | undefined;
  service?: string | undefined;
  datastore?: string | undefined;
  status?: OperationStatus | undefined;
  kind?: OperationKind | undefined;
}

export interface OperationStore {
  insert(row: OperationRow): void;
  get(id: string): OperationRow | undefined;
  /** Newest first, at most `page.limit + 1` rows. */
  list(filter: OperationFilter, page: Page): OperationRow[];
  /** Queued and running ones, oldest first. */
  open(): OperationRow[];
  openOf(project: string): OperationRow[];
  start(id: string, at: number): void;
  requeue(id: string): void;
  setPhase(id: string, phase: Phase): void;
  setCheckpoint(id: string, checkpoint: Checkpoint): void;
  requestCancel(id: string): void;
  finish(
    id: string,
    end: {
      status: OperationStatus;
      phase: Phase;
      error: ErrorBody | null;
      result: Record<string, unknown> | null;
      at: number;
    },
  ): void;
  appendEvents(id: string, events: readonly OperationEvent[]): void;
  /** In order; without the lines of the log when `logs` is false. */
  eventsAfter(id: string, seq: number, logs?: boolean): OperationEvent[];
  lastSeq(id: string): number;
  /** Drops every operation of a deleted project but one, so that a new project of its name starts without a past. */
  forget(project: string, exceptId: string): void;
  /** Drops finished operations beyond the newest `keep` of a project, with their events. */
  prune(project: string, keep: number): void;
}

export const createOperationStore = (db: Database): OperationStore => {
  const insertEvent = db.query<void, [string, number, string, string]>(
    'INSERT INTO operation_events (operation_id, seq, kind, data) VALUES (?1, ?2, ?3, ?4)',
  );
  return {
    insert: (row) => {
      db.query(
        `INSERT INTO operations (id, kind, project, service, datastore, status, phase, input, attempt, cancel_requested, created_at, started_at, finished_at, created_by, token_id, error, result)
         VALUES ($id, $kind, $project, $service, $datastore, $status, $phase, $input, $attempt, $cancel_requested, $created_at, $started_at, $finished_at, $created_by, $token_id, $error, $result)`,
      ).run({ ...row });
    },
    get: (id) => db.query<OperationRow, [string]>('SELECT * FROM operations WHERE id = ?1').get(id) ?? undefined,
    list: (filter, page) => listOperations(db, filter, page),
    open: () =>
      db.query<OperationRow, []>("SELECT * FROM operations WHERE status IN ('queued', 'running') ORDER BY id").all(),
    openOf: (project) =>
      db
        .query<OperationRow, [string]>(
          "SELECT * FROM operations WHERE project = ?1 AND status IN ('queued', 'running') ORDER BY id",
        )
        .all(project),
    start: (id, at) => {
      db.query(
        "UPDATE operations SET status = 'running', started_at = coalesce(started_at, ?2), attempt = attempt + 1 WHERE id = ?1",
      ).run(id, at);
    },
    requeue: (id) => {
      db.query("UPDATE operations SET status = 'queued', phase = 'queued' WHERE id = ?1").run(id);
    },
    setPhase: (id, phase) => {
      db.query('UPDATE operations SET phase = ?2 WHERE id = ?1').run(id, phase);
    },
    setCheckpoint: (id, checkpoint) => {
      db.query('UPDATE operations SET checkpoint = ?2 WHERE id = ?1').run(id, JSON.stringify(checkpoint));
    },
    requestCancel: (id) => {
      db.query('UPDATE operations SET cancel_requested = 1 WHERE id = ?1').run(id);
    },
    finish: (id, end) => {
      db.query(
        'UPDATE operations SET status = ?2, phase = ?3, error = ?4, result = ?5, finished_at = ?6 WHERE id = ?1',
      ).run(
        id,
        end.status,
        end.phase,
        end.error === null ? null : JSON.stringify(end.error),
        end.result === null ? null : JSON.stringify(end.result),
        end.at,
      );
    },
    appendEvents: (id, events) => {
      db.transaction(() => {
        for (const event of events) insertEvent.run(id, event.seq, event.kind, JSON.stringify(event.data));
      }).immediate();
    },
    eventsAfter: (id, seq, logs = true) =>
      db
        .query<{ seq: number; kind: OperationEvent['kind']; data: string }, [string, number, boolean]>(
          "SELECT seq, kind, data FROM operation_events WHERE operation_id = ?1 AND seq > ?2 AND (?3 OR kind <> 'log') ORDER BY seq",
        )
        .all(id, seq, logs)
        .map((row) => ({ seq: row.seq, kind: row.kind, data: JSON.parse(row.data) as never })),
    lastSeq: (id) =>
      db
        .query<{ seq: number | null }, [string]>('SELECT max(seq) AS seq FROM operation_events WHERE operation_id = ?1')
        .get(id)?.seq ?? 0,
    forget: (project, exceptId) => {
      db.query('DELETE FROM operations WHERE project = ?1 AND id <> ?2').run(project, exceptId);
    },
    prune: (project, keep) => {
      db.query(
        `DELETE FROM operations WHERE project = ?1 AND status IN ('succeeded', 'failed')
         AND id < (SELECT id FROM operations WHERE project = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
      ).run(project, keep);
    },
  };
};

const listOperations = (db: Database, filter: OperationFilter, page: Page): OperationRow[] => {
  const where: string[] = [];
  const values: (string | number)[] = [];
  const add = (sql: string, value: string): void => {
    where.push(sql);
    values.push(value);
  };
  if (!filter.projects.includes('*'))
    add('project IN (SELECT value FROM json_each(?))', JSON.stringify(filter.projects));
  if (filter.project !== undefined) add('project = ?', filter.project);
  if (filter.service !== undefined) add('service = ?', filter.service);
  if (filter.datastore !== undefined) add('datastore = ?', filter.datastore);
  if (filter.status !== undefined) add('status = ?', filter.status);
  if (filter.kind !== undefined) add('kind = ?', filter.kind);
  if (page.after !== undefined) add('id < ?', page.after);
  const clause = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  values.push(page.limit + 1);
  return db
    .query<OperationRow, (string | number)[]>(`SELECT * FROM operations ${clause} ORDER BY id DESC LIMIT ?`)
    .all(...values);
};

/** The row as callers see it. */
export const operationView = (row: OperationRow, serviceUrl: string | null): Operation => ({
  operation_id: row.id,
  kind: row.kind,
  project: row.project,
  service: row.service,
  datastore: row.datastore,
  status: row.status,
  phase: row.phase,
  created_at: isoTime(row.created_at),
  started_at: row.started_at === null ? null : isoTime(row.started_at),
  finished_at: row.finished_at === null ? null : isoTime(row.finished_at),
  created_by: row.created_by,
  error: row.error === null ? null : (JSON.parse(row.error) as ErrorBody),
  result: row.result === null ? null : (JSON.parse(row.result) as Record<string, unknown>),
  stream_url: `/v1/operations/${row.id}/stream`,
  service_url: serviceUrl,
});
