import { Type, type Static } from '@sinclair/typebox';
import { DATASTORE_KINDS } from '#engines/datastores/port';
import { ErrorBodySchema, listOf, Name, nullable, oneOf, Timestamp } from '#kernel/schema';
import { AcceptedSchema } from '#modules/operations';

export const DATASTORE_STATUSES = ['provisioning', 'ready', 'failed', 'deleting'] as const;
export type DatastoreStatus = (typeof DATASTORE_STATUSES)[number];

const Kind = oneOf(DATASTORE_KINDS, { description: 'mongo: a Mongo-compatible layer over Postgres' });
const MemoryMb = Type.Integer({ minimum: 64, maximum: 1_048_576, description: 'memory limit in MiB' });
const Cpus = Type.Number({ minimum: 0.1, maximum: 256, description: 'CPU limit in cores' });
const StorageLimit = nullable(
  Type.Integer({
    minimum: 64,
    maximum: 1_073_741_824,
    description: 'MiB on disk, beyond which apps can no longer write; null for no limit',
  }),
);

/** Data that a restore replaced, kept so that it can be swapped back. */
const Kept = Type.Object({
  backup: Type.String({ description: 'key of the backup that was restored' }),
  restored_at: Timestamp,
  until: Timestamp,
});

export const DatastoreSchema = Type.Object({
  project: Name,
  name: Name,
  kind: Kind,
  version: Type.String(),
  status: oneOf(DATASTORE_STATUSES, {
    description:
      'provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id`',
  }),
  host: Type.String({ description: "reachable from the project's own services only" }),
  port: Type.Integer(),
  variables: Type.Array(Type.String(), { description: 'names that every service of the project is given' }),
  memory_mb: MemoryMb,
  cpus: Cpus,
  storage_limit_mb: StorageLimit,
  used_bytes: nullable(Type.Integer({ description: 'on disk, as last measured' })),
  read_only: Type.Boolean({ description: 'the storage limit was passed: apps cannot write' }),
  kept: nullable(Kept),
  last_backup: nullable(
    Type.Object({ key: Type.String(), status: Type.String(), started_at: Timestamp, verified_at: nullable(Timestamp) }),
  ),
  next_backup_at: nullable(Timestamp),
  rotated_at: nullable(Timestamp),
  created_at: Timestamp,
  created_by: Type.String(),
  updated_at: Timestamp,
});

export const DatastoreDetailSchema = Type.Composite([
  DatastoreSchema,
  Type.Object({
    answering: nullable(Type.Boolean({ description: 'whether it answers right now; null while it is not ready' })),
    operation_id: nullable(Type.String({ description: 'the operation that is changing it now' })),
  }),
]);

export const CreateDatastoreBody = Type.Object(
  {
    kind: Kind,
    name: Type.Optional(Name),
    version: Type.Optional(
      Type.String({ pattern: '^[0-9][0-9.]{0,9}$', description: 'the usual one of the kind when omitted' }),
    ),
    memory_mb: Type.Optional(MemoryMb),
    cpus: Type.Optional(Cpus),
    storage_limit_mb: Type.Optional(StorageLimit),
  },
  { additionalProperties: false },
);

const Restarts = {
  restarted_services: Type.Array(Type.String(), {
    description: 'services that restart, one replica after the other, to be given the variables',
  }),
};

export const CreateDatastoreReply = Type.Composite([
  DatastoreSchema,
  Type.Object({
    created: Type.Boolean(),
    ...Restarts,
    operation_id: nullable(Type.String()),
    stream_url: nullable(Type.String()),
  }),
]);

/** 202 of what makes services restart. */
export const AcceptedRestarts = Type.Composite([AcceptedSchema, Type.Object(Restarts)]);

export const UpdateDatastoreBody = Type.Object(
  {
    memory_mb: Type.Optional(MemoryMb),
    cpus: Type.Optional(Cpus),
    storage_limit_mb: Type.Optional(StorageLimit),
  },
  { additionalProperties: false, minProperties: 1 },
);

export const BACKUP_STATUSES = ['running', 'verifying', 'verified', 'failed'] as const;
export type BackupStatus = (typeof BACKUP_STATUSES)[number];
export const BACKUP_CAUSES = ['nightly', 'manual', 'final'] as const;
export type BackupCause = (typeof BACKUP_CAUSES)[number];

export const BackupSchema = Type.Object({
  key: Type.String({ examples: ['bkp_01jd3kq2m5abcdefghjk'] }),
  datastore: Name,
  kind: Kind,
  version: Type.String(),
  cause: oneOf(BACKUP_CAUSES, { description: 'final: made before the datastore was deleted' }),
  status: oneOf(BACKUP_STATUSES, { description: 'verified: restored into a scratch instance, counted and compared' }),
  bytes: nullable(Type.Integer()),
  sha256: nullable(Type.String({ description: 'of the file as stored' })),
  encrypted: Type.Boolean(),
  places: Type.Array(oneOf(['disk', 's3'])),
  rows: nullable(Type.Integer({ description: 'rows, keys or documents in it' })),
  objects: nullable(Type.Record(Type.String(), Type.Integer(), { description: 'rows by table or collection' })),
  started_at: Timestamp,
  finished_at: nullable(Timestamp),
  verified_at: nullable(Timestamp),
  duration_ms: nullable(Type.Integer({ description: 'from the start to the last byte on disk' })),
  expires_at: nullable(Timestamp),
  error: nullable(ErrorBodySchema),
  operation_id: Type.String(),
  created_by: Type.String(),
});

export const CreateBackupReply = Type.Composite([AcceptedSchema, Type.Object({ key: Type.String() })]);

const BackupKey = Type.String({ pattern: '^bkp_[0-9a-z]{1,40}$', description: 'key of a backup' });

export const RestoreBody = Type.Object(
  {
    key: BackupKey,
    keep_hours: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 720, description: 'how long the data of before is kept; 24 when omitted' }),
    ),
  },
  { additionalProperties: false },
);

export const ForkBody = Type.Object(
  {
    name: Name,
    key: Type.Optional(BackupKey),
    memory_mb: Type.Optional(MemoryMb),
    cpus: Type.Optional(Cpus),
    storage_limit_mb: Type.Optional(StorageLimit),
  },
  { additionalProperties: false },
);

const Cell = Type.Unknown({ description: 'a JSON value' });

export const QueryBody = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: 1_048_576,
      description: 'one SQL statement, one Redis command, or one Mongo command as JSON',
    }),
    params: Type.Optional(Type.Array(Cell, { maxItems: 1000, description: 'values of $1, $2 …' })),
    read_only: Type.Optional(Type.Boolean({ description: 'refuse writes although the token may write' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'rows at most; 500 when omitted' })),
    timeout_seconds: Type.Optional(Type.Number({ minimum: 0.1, maximum: 300, description: '30 when omitted' })),
  },
  { additionalProperties: false },
);

export const QueryReply = Type.Object({
  columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() })),
  rows: Type.Array(Type.Array(Cell)),
  row_count: Type.Integer({ description: 'rows in the reply; rows changed by a statement that returns none' }),
  truncated: Type.Boolean({ description: 'there are more rows' }),
  duration_ms: Type.Number(),
});

const ColumnInfo = Type.Object({
  name: Type.String(),
  type: Type.String(),
  nullable: Type.Boolean(),
  default: nullable(Type.String()),
  primary_key: Type.Boolean(),
});

export const TableSchema = Type.Object({
  name: Type.String(),
  type: Type.String({ description: 'table, view …; the type of a Redis key; collection' }),
  schema: Type.Optional(Type.String()),
  row_estimate: Type.Optional(Type.Integer({ description: '-1 when never analysed' })),
  size_bytes: Type.Optional(Type.Integer()),
  columns: Type.Optional(Type.Array(ColumnInfo)),
  ttl_seconds: Type.Optional(nullable(Type.Number({ description: 'null: does not expire' }))),
});

export const TablesReply = listOf('tables', TableSchema);

export type Datastore = Static<typeof DatastoreSchema>;
export type DatastoreDetail = Static<typeof DatastoreDetailSchema>;
export type CreateDatastore = Static<typeof CreateDatastoreBody>;
export type CreatedDatastore = Static<typeof CreateDatastoreReply>;
export type UpdateDatastore = Static<typeof UpdateDatastoreBody>;
export type Backup = Static<typeof BackupSchema>;
export type RestoreRequest = Static<typeof RestoreBody>;
export type ForkRequest = Static<typeof ForkBody>;
export type QueryInput = Static<typeof QueryBody>;
export type QueryReply = Static<typeof QueryReply>;
export type Tables = Static<typeof TablesReply>;
