import type { Database } from 'bun:sqlite';
import type { DatastoreKind } from '#engines/datastores/port';
import type { ErrorBody } from '#kernel/errors';
import type { Page } from '#kernel/schema';
import type { BackupCause, BackupStatus } from './model.ts';

export type BackupPlace = 'disk' | 's3';

export interface BackupRow {
  key: string;
  project: string;
  datastore: string;
  /** Tells the backups of a datastore from those of an earlier one of the same name. */
  datastore_id: string;
  kind: DatastoreKind;
  version: string;
  cause: BackupCause;
  status: BackupStatus;
  operation_id: string;
  bytes: number | null;
  sha256: string | null;
  encrypted_to: string | null;
  places: BackupPlace[];
  rows: number | null;
  objects: Record<string, number> | null;
  started_at: number;
  finished_at: number | null;
  verified_at: number | null;
  error: ErrorBody | null;
  created_by: string;
}

export type BackupPatch = Partial<Omit<BackupRow, 'key' | 'project' | 'datastore' | 'datastore_id'>>;

export interface BackupStore {
  get(project: string, key: string): BackupRow | undefined;
  /** Newest first; with a page, at most `limit + 1`. */
  list(project: string, datastore: string, page?: Page): BackupRow[];
  all(): BackupRow[];
  ofProject(project: string): BackupRow[];
  newest(project: string, datastore: string): BackupRow | undefined;
  insert(row: BackupRow): void;
  update(key: string, patch: BackupPatch): void;
  remove(key: string): void;
}

type StoredRow = Omit<BackupRow, 'places' | 'objects' | 'error'> & {
  places: string;
  objects: string | null;
  error: string | null;
};

export const createBackupStore = (db: Database): BackupStore => ({
  get: (project, key) => {
    const row = db
      .query<StoredRow, [string, string]>('SELECT * FROM backups WHERE project = ?1 AND key = ?2')
      .get(project, key);
    return row === null ? undefined : read(row);
  },
  list: (project, datastore, page) =>
    db
      .query<StoredRow, [string, string, string | null, number]>(
        'SELECT * FROM backups WHERE project = ?1 AND datastore = ?2 AND (?3 IS NULL OR key < ?3) ORDER BY key DESC LIMIT ?4',
      )
      .all(project, datastore, page?.after ?? null, page === undefined ? -1 : page.limit + 1)
      .map(read),
  all: () => db.query<StoredRow, []>('SELECT * FROM backups ORDER BY key').all().map(read),
  ofProject: (project) =>
    db.query<StoredRow, [string]>('SELECT * FROM backups WHERE project = ?1 ORDER BY key').all(project).map(read),
  newest: (project, datastore) => {
    const row = db
      .query<StoredRow, [string, string]>(
        'SELECT * FROM backups WHERE project = ?1 AND datastore = ?2 ORDER BY key DESC LIMIT 1',
      )
      .get(project, datastore);
    return row === null ? undefined : read(row);
  },
  insert: (row) => {
    const values = { ...row, ...texts(row) };
    const columns = Object.keys(values);
    db.query(
      `INSERT INTO backups (${columns.join(', ')}) VALUES (${columns.map((column) => `$${column}`).join(', ')})`,
    ).run(values as Record<string, string | number | null>);
  },
  update: (key, patch) => {
    const values = Object.fromEntries(
      Object.entries({ ...patch, ...texts(patch) }).filter(([column]) => UPDATABLE.has(column)),
    ) as Record<string, string | number | null>;
    const assignments = Object.keys(values).map((column) => `${column} = $${column}`);
    if (assignments.length === 0) return;
    db.query(`UPDATE backups SET ${assignments.join(', ')} WHERE key = $key`).run({ ...values, key });
  },
  remove: (key) => {
    db.query('DELETE FROM backups WHERE key = ?1').run(key);
  },
});

/** Columns that a patch may name; keys become SQL, so nothing else passes. */
const UPDATABLE = new Set([
  'kind',
  'version',
  'cause',
  'status',
  'operation_id',
  'bytes',
  'sha256',
  'encrypted_to',
  'places',
  'rows',
  'objects',
  'started_at',
  'finished_at',
  'verified_at',
  'error',
]);

const texts = ({ places, objects, error }: BackupPatch): Partial<Record<keyof StoredRow, string | null>> => ({
  ...(places === undefined ? {} : { places: JSON.stringify(places) }),
  ...(objects === undefined ? {} : { objects: objects === null ? null : JSON.stringify(objects) }),
  ...(error === undefined ? {} : { error: error === null ? null : JSON.stringify(error) }),
});

const read = (row: StoredRow): BackupRow => ({
  ...row,
  places: JSON.parse(row.places) as BackupPlace[],
  objects: row.objects === null ? null : (JSON.parse(row.objects) as Record<string, number>),
  error: row.error === null ? null : (JSON.parse(row.error) as ErrorBody),
});
