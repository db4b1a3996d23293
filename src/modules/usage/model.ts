import { Type, type Static } from '@sinclair/typebox';
import { nullable, Timestamp } from '#kernel/schema';

export const UsagePointSchema = Type.Object({
  ts: Type.String({ format: 'date-time', description: 'start of the interval' }),
  requests_per_second: Type.Number(),
  error_rate: nullable(
    Type.Number({ description: 'share of the requests that were answered 5xx; null without requests' }),
  ),
  p50_ms: nullable(Type.Number({ description: 'half of the requests were answered within; null without requests' })),
  p95_ms: nullable(Type.Number()),
  cpu: nullable(Type.Number({ description: 'cores that all replicas used together; null when nothing ran' })),
  memory_bytes: nullable(Type.Integer({ description: 'of all replicas together, the most in the interval' })),
  replicas: Type.Integer({ description: 'running ones, the most in the interval' }),
  restarts: Type.Integer({ description: 'of replicas that had exited' }),
});

export const ReplicaPointSchema = Type.Object({
  ts: Timestamp,
  cpu: Type.Number({ description: 'in cores' }),
  memory_bytes: Type.Integer(),
  restarts: Type.Integer(),
});

export const UsageSchema = Type.Object({
  project: Type.String(),
  service: Type.String(),
  from: Timestamp,
  to: Timestamp,
  step_seconds: Type.Integer({ description: 'length of the intervals; those without a measurement are left out' }),
  points: Type.Array(UsagePointSchema),
  replicas: Type.Array(Type.Object({ name: Type.String(), points: Type.Array(ReplicaPointSchema) }), {
    description: 'those of the last day, in the same intervals',
  }),
});

export type UsagePoint = Static<typeof UsagePointSchema>;
export type ReplicaPoint = Static<typeof ReplicaPointSchema>;
export type Usage = Static<typeof UsageSchema>;
