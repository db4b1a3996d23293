import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { serviceUrl } from '#kernel/config';
import type { Ctx } from '#kernel/ctx';
import { conflict, notFound } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import type { Page } from '#kernel/schema';
import { inScope } from '#kernel/scope';
import type { Journal } from './journal.ts';
import type { Accepted, Operation, OperationEvent, OperationKind } from './model.ts';
import { operationView, type OperationFilter, type OperationRow, type OperationStore } from './store.ts';

export interface EnqueueRequest {
  kind: OperationKind;
  project: string;
  service: string | null;
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
  cancel(ctx: Ctx, id: string): Operation;
  eventsAfter(id: string, seq: number): OperationEvent[];
  subscribe(id: string, listener: (event: OperationEvent) => void): () => void;
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
  /** Tells the runner that there is work, or that a cancel was asked for. */
  wake: (id: string, reason: 'queued' | 'canceled') => void;
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
      store.insert(row);
      queueMicrotask(() => deps.wake(row.id, 'queued'));
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
      store.requestCancel(id);
      journal.log(id, 'berth', `cancel requested by ${ctx.actor.principal}`);
      deps.wake(id, 'canceled');
      return get(id) ?? operation;
    },
    eventsAfter: (id, seq) => journal.eventsAfter(id, seq),
    subscribe: (id, listener) => journal.subscribe(id, listener),
    busy: (project, service) => store.openOf(project).some((row) => row.service === service || row.service === null),
  };
};

const newRow = (id: string, request: EnqueueRequest, ctx: Ctx, now: number): OperationRow => ({
  id,
  kind: request.kind,
  project: request.project,
  service: request.service,
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
