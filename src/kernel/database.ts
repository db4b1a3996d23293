import { Database } from 'bun:sqlite';
import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync } from 'node:fs';
import { BerthError } from './errors.ts';
import initial from './migrations/001-initial.sql' with { type: 'text' };
import buildCaches from './migrations/002-build-caches.sql' with { type: 'text' };
import datastores from './migrations/003-datastores.sql' with { type: 'text' };
import repos from './migrations/004-repos.sql' with { type: 'text' };
import sessions from './migrations/005-sessions.sql' with { type: 'text' };
import releaseDetails from './migrations/006-release-details.sql' with { type: 'text' };

export interface Migration {
  version: number;
  sql: string;
}

/** Forward only. A migration that has shipped is never edited. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: initial },
  { version: 2, sql: buildCaches },
  { version: 3, sql: datastores },
  { version: 4, sql: repos },
  { version: 5, sql: sessions },
  { version: 6, sql: releaseDetails },
];

/** The newest schema that this executable knows. */
export const NEWEST_SCHEMA = MIGRATIONS.at(-1)?.version ?? 0;

/** The first SQLite release without the WAL-reset bug with several connections. */
const OLDEST_SQLITE = [3, 51, 3] as const;

export interface OpenOptions {
  migrations?: readonly Migration[];
  /** Whether the file is kept as it was before a migration; it is, unless this says no. */
  keepCopy?: boolean;
}

/**
 * Opens the state database and brings its schema up to date. Before a migration, the file is copied to `<path>.v<N>`,
 * so that the executable before this one can still start. A newer schema than this executable knows is refused.
 */
export const openDatabase = (path: string, options: OpenOptions = {}): Database => {
  const existed = path !== ':memory:' && existsSync(path);
  const db = new Database(path, { create: true, strict: true });
  requireSqlite(sqliteVersion(db));
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000;',
  );
  migrate(db, options.migrations ?? MIGRATIONS, existed && options.keepCopy !== false ? path : undefined);
  return db;
};

export const sqliteVersion = (db: Database): string => {
  const row = db.query<{ version: string }, []>('SELECT sqlite_version() AS version').get();
  return row?.version ?? '0.0.0';
};

/** Version of the schema that a database has; 0 for an empty one. */
export const schemaVersion = (db: Database): number =>
  db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;

const requireSqlite = (version: string): void => {
  const parts = version.split('.').map(Number);
  for (const [index, wanted] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part > wanted) return;
    if (part < wanted) {
      throw new BerthError('INTERNAL_ERROR', `SQLite ${version} is older than ${OLDEST_SQLITE.join('.')}`, {
        hint: 'use the official berth executable',
      });
    }
  }
};

const migrate = (db: Database, migrations: readonly Migration[], snapshotOf: string | undefined): void => {
  const current = schemaVersion(db);
  const latest = migrations.at(-1)?.version ?? 0;
  if (current > latest) {
    throw new BerthError('CONFLICT', `the state has schema ${current}, this executable knows up to ${latest}`, {
      hint: `start a newer berth, or restore the snapshot berth.db.v${latest} that the upgrade made`,
    });
  }
  const pending = migrations.filter((migration) => migration.version > current);
  if (pending.length === 0) return;
  if (snapshotOf !== undefined && current > 0) {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    keepCopy(snapshotOf, `${snapshotOf}.v${current}`);
  }
  db.transaction(() => {
    for (const migration of pending) {
      db.exec(migration.sql);
      db.exec(`PRAGMA user_version = ${migration.version}`);
    }
  }).immediate();
};

/** Whole or not there, whatever happens meanwhile: the way back of an upgrade relies on it. */
const keepCopy = (from: string, to: string): void => {
  const part = `${to}.part`;
  copyFileSync(from, part);
  const handle = openSync(part, 'r');
  fsyncSync(handle);
  closeSync(handle);
  renameSync(part, to);
};
