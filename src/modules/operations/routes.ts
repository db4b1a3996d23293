import { Type } from '@sinclair/typebox';
import { Elysia, t } from 'elysia';
import type { Ctx } from '#kernel/ctx';
import { ctxOf } from '#http/context';
import { listParams, listReply, pageOf } from '#http/list';
import { route } from '#http/route';
import { encodeFrame, lastEventSeq, replayThenFollow, sseResponse } from '#http/sse';
import { DryRunSchema, listOf, Name, oneOf, type DryRun } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import { OPERATION_KINDS, OPERATION_STATUSES, OperationSchema, type Operation, type OperationEvent } from './model.ts';
import type { Operations } from './service.ts';

export interface OperationRoutesDeps {
  operations: Operations;
}

const OperationPath = Type.Object({ id: Type.String({ pattern: '^op_[0-9a-z]{1,40}$' }) });

const OperationsQuery = Type.Object({
  ...listParams,
  project: Type.Optional(Name),
  service: Type.Optional(Name),
  datastore: Type.Optional(Name),
  status: Type.Optional(oneOf(OPERATION_STATUSES)),
  kind: Type.Optional(oneOf(OPERATION_KINDS)),
});

const StreamQuery = Type.Object({
  logs: Type.Optional(t.BooleanString({ description: 'false leaves the lines of the log out' })),
});

export const operationsRoutes = ({ operations }: OperationRoutesDeps) =>
  new Elysia()
    .get('/v1/operations', ({ request, query }) => listOperations(operations, ctxOf(request), query), {
      query: OperationsQuery,
      response: { 200: listOf('operations', OperationSchema) },
      ...route({
        operationId: 'listOperations',
        capability: 'read',
        tag: 'operations',
        summary: 'List operations, newest first',
        errors: ['NOT_FOUND'],
      }),
    })
    .get('/v1/operations/:id', ({ request, params }) => operations.require(ctxOf(request), params.id), {
      params: OperationPath,
      response: { 200: OperationSchema },
      ...route({
        operationId: 'getOperation',
        capability: 'read',
        tag: 'operations',
        summary: 'Show an operation; poll until `status` is `succeeded` or `failed`',
        errors: ['NOT_FOUND'],
      }),
    })
    .get(
      '/v1/operations/:id/stream',
      ({ request, params, query }) => streamOperation(operations, request, { ...params, ...query }),
      {
        params: OperationPath,
        query: StreamQuery,
        ...route({
          operationId: 'streamOperation',
          capability: 'read',
          tag: 'operations',
          summary: 'Follow an operation: `log`, `phase`, then `done`',
          description: 'Replays from the start, or after `Last-Event-ID`; closes after `done`.',
          errors: ['NOT_FOUND'],
          stream: true,
        }),
      },
    )
    .post(
      '/v1/operations/:id/cancel',
      ({ request, params }) => cancelOperation(operations, ctxOf(request), params.id),
      {
        params: OperationPath,
        response: { 200: Type.Union([OperationSchema, DryRunSchema]) },
        ...route({
          operationId: 'cancelOperation',
          capability: 'deploy',
          tag: 'operations',
          summary: 'Cancel a queued or running operation',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    );

const listOperations = (operations: Operations, ctx: Ctx, query: typeof OperationsQuery.static) => {
  if (query.project !== undefined) requireProject(ctx.actor, query.project);
  const page = pageOf(query);
  const { project, service, datastore, status, kind } = query;
  const found = operations.list({ projects: ctx.actor.projects, project, service, datastore, status, kind }, page);
  return listReply('operations', found, (operation) => operation.operation_id, page);
};

const streamOperation = (
  operations: Operations,
  request: Request,
  { id, logs = true }: { id: string; logs?: boolean | undefined },
): Response => {
  operations.require(ctxOf(request), id);
  return sseResponse({
    request,
    start: replayThenFollow<OperationEvent>({
      after: lastEventSeq(request),
      read: (seq) => eventsOrEnd(operations, id, { seq, logs }),
      subscribe: (listener) =>
        operations.subscribe(id, (event) => {
          if (logs || event.kind !== 'log') listener(event);
        }),
      encode: (event) => encodeFrame({ id: event.seq, event: event.kind, data: event.data }),
      isLast: (event) => event.kind === 'done',
    }),
  });
};

/** Whoever comes back after the end is told of it again, instead of waiting for what will never come. */
const eventsOrEnd = (
  operations: Operations,
  id: string,
  { seq, logs }: { seq: number; logs: boolean },
): OperationEvent[] => {
  const events = operations.eventsAfter(id, seq, logs);
  if (events.length > 0) return events;
  const operation = operations.get(id);
  if (operation === undefined || operation.finished_at === null) return [];
  const { status, error, result } = operation;
  return [{ seq: seq + 1, kind: 'done', data: { status, error, result } }];
};

const cancelOperation = (operations: Operations, ctx: Ctx, id: string): Operation | DryRun => {
  operations.require(ctx, id);
  return operations.cancel(ctx, id);
};
