import { Type, type Static } from '@sinclair/typebox';
import { ErrorBodySchema, nullable, oneOf, Timestamp } from '#kernel/schema';

export const OPERATION_KINDS = [
  'deploy',
  'rollback',
  'restart',
  'scale',
  'env.restart',
  'service.delete',
  'project.delete',
  'datastore.create',
  'datastore.update',
  'datastore.restart',
  'datastore.rotate',
  'datastore.backup',
  'datastore.restore',
  'datastore.undo_restore',
  'datastore.delete',
] as const;

export type OperationKind = (typeof OPERATION_KINDS)[number];

export const OPERATION_STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;
export type OperationStatus = (typeof OPERATION_STATUSES)[number];

/**
 * Deploy phases of the contract; other changes of services use `queued`, `rolling_out` and the finished three. Those of
 * datastores name what is done, and end `ready` or `failed`.
 */
export const PHASES = [
  'queued',
  'building',
  'pushing',
  'rolling_out',
  'healthy',
  'rolled_back',
  'failed',
  'provisioning',
  'dumping',
  'verifying',
  'restoring',
  'swapping',
  'rotating',
  'deleting',
  'ready',
] as const;
export type Phase = (typeof PHASES)[number];

export const OperationSchema = Type.Object({
  operation_id: Type.String({ examples: ['op_01jd3kq2m5abcdefghjk'] }),
  kind: oneOf(OPERATION_KINDS),
  project: Type.String(),
  service: nullable(Type.String()),
  datastore: nullable(Type.String()),
  status: oneOf(OPERATION_STATUSES),
  phase: oneOf(PHASES),
  created_at: Timestamp,
  started_at: nullable(Timestamp),
  finished_at: nullable(Timestamp),
  created_by: Type.String(),
  error: nullable(ErrorBodySchema),
  result: nullable(Type.Record(Type.String(), Type.Unknown())),
  stream_url: Type.String(),
  service_url: nullable(Type.String()),
});

/** The 202 reply of every long operation. */
export const AcceptedSchema = Type.Object({
  operation_id: Type.String(),
  stream_url: Type.String(),
  service_url: nullable(Type.String()),
});

export type Operation = Static<typeof OperationSchema>;
export type Accepted = Static<typeof AcceptedSchema>;

export type LogSource = 'build' | 'push' | 'rollout' | 'app' | 'berth';

/** One event of an operation's stream, as stored and as sent. `seq` counts from 1 without gaps. */
export type OperationEvent =
  | { seq: number; kind: 'log'; data: { seq: number; ts: string; source: LogSource; line: string } }
  | { seq: number; kind: 'phase'; data: { seq: number; ts: string; phase: Phase; message: string } }
  | {
      seq: number;
      kind: 'done';
      data: { status: OperationStatus; error: Operation['error']; result: Operation['result'] };
    };
