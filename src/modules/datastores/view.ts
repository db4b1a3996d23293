import type { DatastoreEngine } from '#engines/datastores/port';
import { isoTime } from '#kernel/clock';
import type { BackupRow } from './backup-store.ts';
import type { Backup, Datastore } from './model.ts';
import type { DatastoreRow } from './store.ts';

/** The name by which a project's services reach a datastore. `.internal` is reserved for such use (ICANN, 2024). */
export const hostOf = (name: string): string => `${name}.db.internal`;

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

export interface DatastoreFacts {
  engine: DatastoreEngine;
  variables: string[];
  lastBackup: BackupRow | undefined;
  /** Milliseconds since the epoch; null when none is planned. */
  nextBackupAt: number | null;
}

export const datastoreView = (row: DatastoreRow, facts: DatastoreFacts): Datastore => ({
  project: row.project,
  name: row.name,
  kind: row.kind,
  version: row.version,
  status: row.status,
  host: hostOf(row.name),
  port: facts.engine.port,
  variables: facts.variables,
  memory_mb: row.memory_mb,
  cpus: row.cpus,
  storage_limit_mb: row.storage_limit_mb,
  used_bytes: row.used_bytes,
  read_only: row.read_only,
  kept:
    row.kept === null
      ? null
      : { backup: row.kept.backup, restored_at: isoTime(row.kept.restoredAt), until: isoTime(row.kept.until) },
  last_backup:
    facts.lastBackup === undefined
      ? null
      : {
          key: facts.lastBackup.key,
          status: facts.lastBackup.status,
          started_at: isoTime(facts.lastBackup.started_at),
          verified_at: isoOrNull(facts.lastBackup.verified_at),
        },
  next_backup_at: isoOrNull(facts.nextBackupAt),
  rotated_at: isoOrNull(row.rotated_at),
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
  updated_at: isoTime(row.updated_at),
});

/** `expiresAt` in milliseconds since the epoch; null when the backup is kept until further notice. */
export const backupView = (row: BackupRow, expiresAt: number | null): Backup => ({
  key: row.key,
  datastore: row.datastore,
  kind: row.kind,
  version: row.version,
  cause: row.cause,
  status: row.status,
  bytes: row.bytes,
  sha256: row.sha256,
  encrypted: row.encrypted_to !== null,
  places: row.places,
  rows: row.rows,
  objects: row.objects,
  started_at: isoTime(row.started_at),
  finished_at: isoOrNull(row.finished_at),
  verified_at: isoOrNull(row.verified_at),
  duration_ms: row.finished_at === null ? null : row.finished_at - row.started_at,
  expires_at: isoOrNull(expiresAt),
  error: row.error,
  operation_id: row.operation_id,
  created_by: row.created_by,
});
