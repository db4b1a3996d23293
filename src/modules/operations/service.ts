import { isoTime, type Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { serviceUrl } from '#kernel/config';
import type { Ctx } from '#kernel/ctx';
import { BerthError, conflict, notFound } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { inScope } from '#kernel/scope';
import type { Journal } from './journal.ts';
import type { Accepted, Operation, OperationEvent, OperationKind } from './model.ts';
import { holdsBack, isOn, isWide, type OperationTarget } from './lanes.ts';
import { canceled } from './runner.ts';
import { operationView, type OperationFilter, type OperationRow, type OperationStore } from './store.ts';

export interface EnqueueRequest {
  kind: OperationKind;
  project: string;
  /** Null for an operation on a datastore or on the whole project. */
  service: string | null;
  datastore?: string;
  /** What the executor needs, as JSON. */
  input: Record<string, unknown>;
}

/** The verbs on operations. */
export interface Operations {
  /** Persists a queued operation and wakes the runner once the caller's transaction, if any, has ended. */
  enqueue(ctx: Ctx, request: EnqueueRequest): Operation;
  get(id: string): Operation | undefined;
  /** NOT_FOUND for a missing operation and for one of a project out of scope alike. */
  require(ctx: Ctx, id: string): Operation;
  list(filter: OperationFilter, page: Page): Operation[];
  /** CONFLICT when it has finished. */
  cancel(ctx: Ctx, id: string): Operation | DryRun;
  /** Ends an operation that waits, because the one of id `by` does what it was for. */
  supersede(id: string, by: string, why: string): void;
  /** Queued and running changes of what is about to be deleted: the whole project, or one of its parts. Not deletions. */
  openChanges(project: string, target?: OperationTarget): string[];
  /** In order; without the lines of the log when `logs` is false. */
  eventsAfter(id: string, seq: number, logs?: boolean): OperationEvent[];
  subscribe(id: string, listener: (event: OperationEvent) => void): () => void;
  /** Calls back when an operation was made, is in another phase, or is over. */
  watch(listener: (id: string) => void): () => void;
  /** Whether something is queued or running for the service. */
  busy(project: string, service: string): boolean;
  view(row: OperationRow): Operation;
}

export interface OperationsDeps {
  store: OperationStore;
  journal: Journal;
  clock: Clock;
  newId: NewId;
  config: Config;
  /** Tells the runner that there is work, or that an operation is to end, and with which error. */
  wake: (id: string, reason: 'queued' | BerthError) => void;
}

export const createOperations = (deps: OperationsDeps): Operations => {
  const { store, journal, clock, newId, config } = deps;
  const view = (row: OperationRow): Operation =>
    operationView(row, row.service === null ? null : serviceUrl(config, row.project, row.service));
  const get = (id: string): Operation | undefined => {
    const row = store.get(id);
    return row === undefined ? undefined : view(row);
  };
  const require = (ctx: Ctx, id: string): Operation => {
    const operation = get(id);
    if (operation === undefined || !inScope(ctx.actor, operation.project)) {
      throw notFound(`no operation "${id}"`, 'list operations with GET /v1/operations');
    }
    return operation;
  };

  return {
    get,
    require,
    view,
    enqueue: (ctx, request) => {
      const row = newRow(newId('op'), request, ctx, clock.now());
      const ahead = store.openOf(row.project).filter((open) => holdsBack(open, row)).length;
      store.insert(row);
      store.appendEvents(row.id, [queuedEvent(row, ahead)]);
      queueMicrotask(() => {
        deps.wake(row.id, 'queued');
        journal.touch(row.id);
      });
      return view(row);
    },
    list: (filter, page) => store.list(filter, page).map(view),
    cancel: (ctx, id) => {
      const operation = require(ctx, id);
      if (operation.status === 'succeeded' || operation.status === 'failed') {
        throw conflict(
          `operation ${id} has ${operation.status} already`,
          'only queued and running operations can be canceled',
        );
      }
      if (ctx.dryRun) return dryRun(`cancel operation ${id}`, [{ action: 'cancel', resource: 'operation', name: id }]);
      store.requestCancel(id);
      journal.log(id, 'berth', `cancel requested by ${ctx.actor.principal}`);
      deps.wake(id, canceled());
      return get(id) ?? operation;
    },
    supersede: (id, by, why) => {
      store.requestCancel(id);
      deps.wake(id, superseded(by, why));
    },
    openChanges: (project, target) =>
      store
        .openOf(project)
        .filter((row) => !row.kind.endsWith('.delete') && (target === undefined || isOn(row, target)))
        .map((row) => row.id),
    eventsAfter: journal.eventsAfter,
    subscribe: (id, listener) => journal.subscribe(id, listener),
    watch: (listener) => journal.watch(listener),
    busy: (project, service) => store.openOf(project).some((row) => isWide(row) || isOn(row, { service })),
  };
};

const superseded = (by: string, why: string): BerthError =>
  new BerthError('CONFLICT', `superseded by ${by}: ${why}`, { hint: `nothing is lost: follow ${by} instead` });

/** The first event of every stream, so that whoever follows a waiting operation sees that it waits. */
const queuedEvent = (row: OperationRow, ahead: number): OperationEvent => {
  const message = ahead === 0 ? 'accepted' : `accepted; operations to wait for: ${ahead}`;
  return { seq: 1, kind: 'phase', data: { seq: 1, ts: isoTime(row.created_at), phase: 'queued', message } };
};

const newRow = (id: string, request: EnqueueRequest, ctx: Ctx, now: number): OperationRow => ({
  id,
  kind: request.kind,
  project: request.project,
  service: request.service,
  datastore: request.datastore ?? null,
  status: 'queued',
  phase: 'queued',
  input: JSON.stringify(request.input),
  attempt: 0,
  cancel_requested: 0,
  created_at: now,
  started_at: null,
  finished_at: null,
  created_by: ctx.actor.principal,
  token_id: ctx.actor.tokenId,
  error: null,
  result: null,
  checkpoint: null,
});

/** The 202 reply for an operation. */
export const accepted = (operation: Operation): Accepted => ({
  operation_id: operation.operation_id,
  stream_url: operation.stream_url,
  service_url: operation.service_url,
});
