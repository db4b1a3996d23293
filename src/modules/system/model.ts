import { Type, type Static } from '@sinclair/typebox';
import { nullable, oneOf } from '#kernel/schema';

const CheckState = oneOf(['ok', 'failing'], { description: 'failing: no answer, or not in time' });

export const HealthSchema = Type.Object({
  status: oneOf(['ok', 'degraded'], { description: 'degraded: the API answers, something behind it does not' }),
  version: Type.String({ examples: ['0.1.0'] }),
  schema: Type.Integer({ description: 'version of the schema of the state', examples: [4] }),
  checks: Type.Object({ database: CheckState, engine: CheckState, proxy: CheckState, registry: CheckState }),
});

/** Figures are null when what knows them does not answer in time. */
const Bytes = nullable(Type.Integer());

export const CapacitySchema = Type.Object({
  problem: nullable(Type.String({ description: 'why the platform is not ready' })),
  cpus: nullable(Type.Integer()),
  memory_bytes: Bytes,
  memory_available_bytes: Bytes,
  disks: Type.Array(
    Type.Object({
      path: Type.String(),
      holds: Type.String({ description: 'what of berth lies there' }),
      total_bytes: Type.Integer(),
      free_bytes: Type.Integer(),
    }),
  ),
  containers_running: nullable(Type.Integer({ description: 'of the whole engine' })),
  projects: Type.Integer(),
  services: Type.Integer(),
  replicas: Type.Integer(),
  datastores: Type.Object({
    ready: Type.Integer(),
    failed: Type.Integer({ description: 'could not be made' }),
    read_only: Type.Integer({ description: 'have passed their storage limit' }),
    used_bytes: Type.Integer({ description: 'on disk, as last measured' }),
    never_backed_up: Type.Integer({ description: 'ready ones without a verified backup' }),
    oldest_backup_at: nullable(
      Type.String({
        format: 'date-time',
        description: 'start of the newest verified backup of the one that is worst off',
      }),
    ),
    last_backup_failed: Type.Integer({ description: 'ready ones whose newest backup failed' }),
  }),
  builds: Type.Object({ running: Type.Integer(), queued: Type.Integer(), concurrency: Type.Integer() }),
  build_cache_bytes: Bytes,
  registry_bytes: Bytes,
  open_streams: Type.Integer(),
  quotas: Type.Object({
    services_per_project: Type.Integer(),
    replicas_per_service: Type.Integer(),
    datastores_per_project: Type.Integer(),
    repos_per_project: Type.Integer(),
    upload_bytes: Type.Integer(),
    build_timeout_seconds: Type.Integer(),
    build_cache_bytes: Type.Integer({ description: 'of all services together' }),
    build_cache_bytes_per_service: Type.Integer(),
    requests_per_minute: Type.Integer({ description: 'per token; 0: no limit' }),
  }),
  versions: Type.Object({
    berth: Type.String(),
    bun: Type.String(),
    sqlite: Type.String(),
    engine: nullable(Type.String()),
    engine_api: nullable(Type.String()),
    proxy: nullable(Type.String()),
  }),
});

export const DiskSchema = Type.Object({
  projects: Type.Array(
    Type.Object({
      project: Type.String(),
      total_bytes: Type.Integer(),
      image_bytes: Type.Integer({
        description: 'of all releases that are kept; layers that they share count each time',
      }),
      build_cache_bytes: Type.Integer(),
      log_bytes: Type.Integer(),
      datastore_bytes: Type.Integer({ description: 'as last measured' }),
      backup_bytes: Type.Integer(),
      repo_bytes: Type.Integer(),
    }),
    { description: 'the largest first' },
  ),
});

export const ChecksSchema = Type.Object({
  status: oneOf(['ok', 'warn', 'fail'] as const, { description: 'the worst of them' }),
  checks: Type.Array(
    Type.Object({
      id: Type.String({ examples: ['engine'] }),
      title: Type.String(),
      status: oneOf(['ok', 'warn', 'fail'] as const),
      detail: Type.String(),
      next: nullable(Type.String({ description: 'what to do about it' })),
    }),
  ),
});

export type Disk = Static<typeof DiskSchema>;
export type Checks = Static<typeof ChecksSchema>;
export type Health = Static<typeof HealthSchema>;
export type Capacity = Static<typeof CapacitySchema>;
