import { Type, type Static } from '@sinclair/typebox';
import { oneOf, Timestamp } from '#kernel/schema';

/** What happens in a project. `<resource>.<verb in the past>`. */
export const EVENT_KINDS = [
  'project.created',
  'project.deleted',
  'deploy.queued',
  'deploy.succeeded',
  'deploy.failed',
  'deploy.rolled_back',
  'deploy.canceled',
  'service.created',
  'service.deleted',
  'service.scaled',
  'service.updated',
  'service.restarted',
  'service.rolled_back',
  'service.operation_failed',
  'replica.exited',
  'replica.restarted',
  'replica.oom_killed',
  'replica.crash_loop',
  'env.changed',
  'datastore.created',
  'datastore.ready',
  'datastore.failed',
  'datastore.updated',
  'datastore.restarted',
  'datastore.rotated',
  'datastore.restored',
  'datastore.restore_undone',
  'datastore.operation_failed',
  'datastore.read_only',
  'datastore.writable',
  'datastore.data_missing',
  'datastore.deleted',
  'backup.verified',
  'backup.failed',
  'backup.deleted',
  'backup.copy_failed',
  'repo.created',
  'repo.updated',
  'repo.deleted',
  'repo.pushed',
  'repo.mirrored',
  'repo.mirror_failed',
  'query.executed',
  'tunnel.opened',
  'tunnel.closed',
  'token.created',
  'token.revoked',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

export const EventSchema = Type.Object({
  id: Type.String({ examples: ['evt_01jd3kq2m5abcdefghjk'] }),
  seq: Type.Integer({ description: 'sequence number; `Last-Event-ID` of the stream' }),
  kind: oneOf(EVENT_KINDS),
  project: Type.String(),
  ts: Timestamp,
  actor: Type.String({ description: 'principal who caused it; `berth` for the system' }),
  data: Type.Record(Type.String(), Type.Unknown()),
});

export type Event = Static<typeof EventSchema>;
