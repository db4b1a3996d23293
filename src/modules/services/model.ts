import { Type, type Static } from '@sinclair/typebox';
import { Name, nullable, oneOf, Timestamp } from '#kernel/schema';

export const ServiceStatus = oneOf(['empty', 'deploying', 'running', 'degraded', 'down', 'stopped'], {
  description:
    'empty: no release yet; deploying: an operation is changing it; degraded: fewer replicas run than wanted; down: none runs; stopped: scaled to 0',
});

/** What a user can set on a service. */
export const ServiceSettings = {
  replicas: Type.Integer({ minimum: 0, maximum: 1000, description: 'desired replica count' }),
  health_path: nullable(
    Type.String({
      pattern: '^/[\\x21-\\x7e]{0,255}$',
      description: 'path that must answer 2xx or 3xx; begins with /, without spaces; null probes TCP only',
    }),
  ),
  health_timeout_seconds: Type.Integer({
    minimum: 1,
    maximum: 600,
    description: 'time that a new replica has to become healthy',
  }),
  drain_seconds: Type.Integer({ minimum: 0, maximum: 300, description: 'time that in-flight requests have to end' }),
  memory_mb: Type.Integer({ minimum: 16, maximum: 1_048_576, description: 'memory limit of one replica in MiB' }),
  cpus: Type.Number({ minimum: 0.05, maximum: 256, description: 'CPU limit of one replica in cores' }),
  protocol: oneOf(['http', 'h2c'], { description: 'h2c: HTTP/2 without TLS to the app, for gRPC' }),
};

export const ServiceSchema = Type.Object({
  project: Name,
  name: Name,
  status: ServiceStatus,
  service_url: Type.String(),
  ...ServiceSettings,
  running_replicas: Type.Integer(),
  live_release: nullable(Type.String()),
  previous_release: nullable(Type.String()),
  build_cache_bytes: Type.Integer({
    description: 'build cache that the service used, as counted after the last build',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const ReplicaSchema = Type.Object({
  name: Type.String(),
  release: Type.String(),
  slot: Type.Integer({ description: 'number of the replica within its service, from 1' }),
  state: oneOf(['starting', 'live', 'draining', 'exited']),
  running: Type.Boolean(),
  restarts: Type.Integer(),
  exit_code: nullable(Type.Integer()),
  oom_killed: Type.Boolean(),
  started_at: nullable(Type.String()),
  memory_bytes: nullable(Type.Integer()),
  memory_limit_bytes: nullable(Type.Integer()),
  cpu: nullable(Type.Number({ description: 'share of one core' })),
});

export const ServiceDetailSchema = Type.Composite([
  ServiceSchema,
  Type.Object({ replica_states: Type.Array(ReplicaSchema) }),
]);

/** Body of `scaleService`: the replica count, the settings, or both; at least one. */
export const ScaleServiceBody = Type.Partial(Type.Object(ServiceSettings), {
  additionalProperties: false,
  minProperties: 1,
});

export const RollbackBody = Type.Object(
  {
    release: Type.Optional(
      Type.String({ description: 'id of the release to go back to; the previous one when omitted' }),
    ),
  },
  { additionalProperties: false },
);

export type Service = Static<typeof ServiceSchema>;
export type ServiceDetail = Static<typeof ServiceDetailSchema>;
export type ReplicaView = Static<typeof ReplicaSchema>;
export type Settings = Static<typeof ScaleServiceBody>;
