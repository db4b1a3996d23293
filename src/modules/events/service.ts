import type { Database } from 'bun:sqlite';
import type { Clock } from '#kernel/clock';
import { isoTime } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import type { NewId } from '#kernel/ids';
import type { Page } from '#kernel/schema';
import { holds } from '#kernel/scope';
import type { Event, EventKind } from './model.ts';
import { createEventStore, type EventFilter, type EventRow } from './store.ts';

/** Events that a project keeps. */
export const KEPT_EVENTS = { queries: 10_000, others: 5000 };
/** Retention runs once per so many events. */
const PRUNE_EVERY = 100;

export interface EmitRequest {
  project: string;
  kind: EventKind;
  /** Principal who caused it. */
  actor: string;
  /** Never a secret. */
  data?: Record<string, unknown>;
}

/** What happened, per project: recorded in the caller's transaction, told after its commit. */
export interface Events {
  emit(request: EmitRequest): void;
  /** Those after `seq`, oldest first. */
  after(project: string, seq: number, limit: number): Event[];
  /** The newest, oldest first. */
  recent(project: string, count: number): Event[];
  /** Newest first, at most `page.limit + 1`, of the projects in the caller's scope; for admins of all, of the server too. */
  list(ctx: Ctx, filter: Omit<EventFilter, 'projects' | 'server'>, page: Page): Event[];
  /** Where a reader begins that wants the newest `count`, or those since `ts`. */
  startOf(project: string, from: { tail: number } | { since: number }): number;
  /** `wake` is called after new events of the project are committed; then read them with `after`. */
  subscribe(project: string, wake: () => void): () => void;
  /** Like `subscribe`, for all projects. */
  watch(wake: (project: string) => void): () => void;
  /** Drops a project's history. */
  forget(project: string): void;
}

export interface EventsDeps {
  db: Database;
  clock: Clock;
  newId: NewId;
}

export const createEvents = ({ db, clock, newId }: EventsDeps): Events => {
  const store = createEventStore(db);
  const listeners = new Map<string, Set<() => void>>();
  const watchers = new Set<(project: string) => void>();
  let told = store.touchedAfter(0).last;
  let scheduled = false;
  let sincePrune = 0;

  // A transaction may still roll back, so nobody is told of the insert itself: what is in the table afterwards is told.
  const announce = (): void => {
    if (db.inTransaction) {
      setTimeout(announce, 1);
      return;
    }
    scheduled = false;
    const touched = store.touchedAfter(told);
    told = touched.last;
    for (const project of touched.projects) {
      for (const wake of listeners.get(project) ?? []) wake();
      for (const wake of watchers) wake(project);
    }
  };
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(announce);
  };

  return {
    emit: ({ project, kind, actor, data }) => {
      store.insert({ id: newId('evt'), project, kind, ts: clock.now(), actor, data: JSON.stringify(data ?? {}) });
      sincePrune += 1;
      if (sincePrune % PRUNE_EVERY === 0) store.prune(project, KEPT_EVENTS);
      schedule();
    },
    after: (project, seq, limit) => store.after(project, seq, limit).map(eventView),
    recent: (project, count) => store.newest(project, count).map(eventView),
    list: (ctx, filter, page) => {
      const { actor } = ctx;
      const server = actor.projects.includes('*') && holds(actor, 'admin');
      return store.list({ ...filter, projects: actor.projects, server }, page).map(eventView);
    },
    startOf: (project, from) => {
      if ('since' in from) return store.lastBefore(project, from.since);
      const first = store.newest(project, from.tail)[0];
      return first === undefined ? store.lastSeq(project) : first.seq - 1;
    },
    subscribe: (project, wake) => {
      const set = listeners.get(project) ?? new Set();
      listeners.set(project, set.add(wake));
      return () => {
        set.delete(wake);
        if (set.size === 0 && listeners.get(project) === set) listeners.delete(project);
      };
    },
    watch: (wake) => {
      watchers.add(wake);
      return () => watchers.delete(wake);
    },
    forget: (project) => store.prune(project, { queries: 0, others: 0 }),
  };
};

const eventView = (row: EventRow): Event => ({
  id: row.id,
  seq: row.seq,
  kind: row.kind,
  project: row.project,
  ts: isoTime(row.ts),
  actor: row.actor,
  data: JSON.parse(row.data) as Record<string, unknown>,
});
