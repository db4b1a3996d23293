import type { Database } from 'bun:sqlite';
import type { Credential, DatastoreKind, TlsFiles } from '#engines/datastores/port';
import type { Page } from '#kernel/schema';
import type { DatastoreStatus } from './model.ts';

/** What of a datastore is sealed in its row. */
export interface Secrets {
  adminPassword: string;
  readerPassword: string;
  writerPassword: string;
  /** Oldest first; the last one is what apps are given. */
  credentials: Credential[];
  /** Null until its address is known. */
  tls: TlsFiles | null;
}

/** Data that a restore replaced. Times in milliseconds since the epoch. */
export interface Kept {
  database: string;
  backup: string;
  restoredAt: number;
  until: number;
}

export interface DatastoreRow {
  id: string;
  project: string;
  name: string;
  kind: DatastoreKind;
  version: string;
  status: DatastoreStatus;
  memory_mb: number;
  cpus: number;
  storage_limit_mb: number | null;
  addresses: Record<string, string>;
  secrets: Secrets;
  used_bytes: number | null;
  read_only: boolean;
  kept: Kept | null;
  /** When its data was found missing; null again after a restore. */
  lost_at: number | null;
  rotated_at: number | null;
  created_at: number;
  created_by: string;
  updated_at: number;
}

export type DatastorePatch = Partial<
  Omit<DatastoreRow, 'id' | 'project' | 'name' | 'kind' | 'created_at' | 'created_by'>
>;

/** Seals text so that it can't be moved to another row. */
export interface Seal {
  seal(label: string, value: string): Uint8Array;
  open(label: string, sealed: Uint8Array): string;
}

export interface DatastoreStore {
  get(project: string, name: string): DatastoreRow | undefined;
  byId(id: string): DatastoreRow | undefined;
  /** Ordered by name; with a page, at most `limit + 1`. */
  list(project: string, page?: Page): DatastoreRow[];
  all(): DatastoreRow[];
  /** Addresses that those of a project hold. */
  addresses(project: string): string[];
  insert(row: DatastoreRow): void;
  update(id: string, patch: DatastorePatch): void;
  remove(id: string): void;
}

type StoredRow = Omit<DatastoreRow, 'addresses' | 'secrets' | 'read_only' | 'kept'> & {
  addresses: string;
  sealed: Uint8Array;
  read_only: number;
  kept: string | null;
};

export const createDatastoreStore = (db: Database, vault: Seal): DatastoreStore => {
  const read = (row: StoredRow): DatastoreRow => {
    const { sealed, ...plain } = row;
    return {
      ...plain,
      addresses: JSON.parse(row.addresses) as Record<string, string>,
      secrets: JSON.parse(vault.open(label(row.id), sealed)) as Secrets,
      read_only: row.read_only === 1,
      kept: row.kept === null ? null : (JSON.parse(row.kept) as Kept),
    };
  };
  const columnsOf = (id: string, patch: DatastorePatch): Record<string, string | number | null | Uint8Array> => {
    const { addresses, secrets, read_only, kept, ...plain } = patch;
    return {
      ...plain,
      ...(addresses === undefined ? {} : { addresses: JSON.stringify(addresses) }),
      ...(secrets === undefined ? {} : { sealed: vault.seal(label(id), JSON.stringify(secrets)) }),
      ...(read_only === undefined ? {} : { read_only: read_only ? 1 : 0 }),
      ...(kept === undefined ? {} : { kept: kept === null ? null : JSON.stringify(kept) }),
    };
  };

  return {
    get: (project, name) => {
      const row = db
        .query<StoredRow, [string, string]>('SELECT * FROM datastores WHERE project = ?1 AND name = ?2')
        .get(project, name);
      return row === null ? undefined : read(row);
    },
    byId: (id) => {
      const row = db.query<StoredRow, [string]>('SELECT * FROM datastores WHERE id = ?1').get(id);
      return row === null ? undefined : read(row);
    },
    list: (project, page) =>
      db
        .query<StoredRow, [string, string, number]>(
          'SELECT * FROM datastores WHERE project = ?1 AND name > ?2 ORDER BY name LIMIT ?3',
        )
        .all(project, page?.after ?? '', page === undefined ? -1 : page.limit + 1)
        .map(read),
    all: () => db.query<StoredRow, []>('SELECT * FROM datastores ORDER BY project, name').all().map(read),
    addresses: (project) =>
      db
        .query<{ addresses: string }, [string]>('SELECT addresses FROM datastores WHERE project = ?1')
        .all(project)
        .flatMap((row) => Object.values(JSON.parse(row.addresses) as Record<string, string>)),
    insert: (row) => {
      const { id, project, name, kind, created_at, created_by, ...rest } = row;
      const values = { id, project, name, kind, created_at, created_by, ...columnsOf(id, rest) };
      const columns = Object.keys(values);
      db.query(
        `INSERT INTO datastores (${columns.join(', ')}) VALUES (${columns.map((column) => `$${column}`).join(', ')})`,
      ).run(values);
    },
    update: (id, patch) => {
      const values = Object.fromEntries(
        Object.entries(columnsOf(id, patch)).filter(([column]) => UPDATABLE.has(column)),
      );
      const assignments = Object.keys(values).map((column) => `${column} = $${column}`);
      if (assignments.length === 0) return;
      db.query(`UPDATE datastores SET ${assignments.join(', ')} WHERE id = $id`).run({ ...values, id });
    },
    remove: (id) => {
      db.query('DELETE FROM datastores WHERE id = ?1').run(id);
    },
  };
};

/** Columns that a patch may name; keys become SQL, so nothing else passes. */
const UPDATABLE = new Set([
  'version',
  'status',
  'memory_mb',
  'cpus',
  'storage_limit_mb',
  'addresses',
  'sealed',
  'used_bytes',
  'read_only',
  'kept',
  'lost_at',
  'rotated_at',
  'updated_at',
]);

const label = (id: string): string => `datastore\0${id}`;
