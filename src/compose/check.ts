import type { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { VERSION } from '#cli/version';
import type { Config } from '#kernel/config';
import { NEWEST_SCHEMA, openDatabase, schemaVersion } from '#kernel/database';
import { BerthError, conflict, messageOf } from '#kernel/errors';
import { createLog } from '#kernel/log';
import { openVault } from '#modules/env';

export interface CheckedState {
  version: string;
  /** Newest schema that this executable knows, and the one that the copy has now. */
  schema: number;
  database: number;
  listen: string;
  proxyApiPort: number;
}

const PATIENCE_MS = 10_000;

/**
 * Tries this executable on a copy of a server's state, migrations included: CONFLICT says what does not fit. Of the server itself
 * it only reads the key, and asks the engine for an answer.
 */
export const checkState = async (config: Config, copy: string): Promise<CheckedState> => {
  const db = openMigrated(join(copy, 'berth.db'));
  try {
    requireSound(db);
    const log = createLog('error', () => undefined, Date.now);
    if (hasSecrets(db)) openVault({ dataDir: config.dataDir, hasValues: () => true, log });
    await requireEngine(config.dockerSocket);
    const { listen, proxyApiPort } = config;
    return { version: VERSION, schema: NEWEST_SCHEMA, database: schemaVersion(db), listen, proxyApiPort };
  } finally {
    db.close();
  }
};

const openMigrated = (file: string): Database => {
  try {
    return openDatabase(file, { keepCopy: false });
  } catch (thrown) {
    if (thrown instanceof BerthError) throw thrown;
    throw conflict(
      `the state cannot be migrated: ${messageOf(thrown)}`,
      'stay with the version that runs, and report this',
    );
  }
};

const requireSound = (db: Database): void => {
  const verdict = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').get()?.integrity_check;
  if (verdict !== 'ok')
    throw conflict(`the database is not sound: ${verdict ?? 'no answer'}`, 'restore a backup of the state');
  const broken = db.query<{ table: string }, []>('PRAGMA foreign_key_check').all();
  if (broken.length > 0)
    throw conflict(
      `${broken.length} rows of ${broken[0]?.table} refer to rows that are not there`,
      'report this: the migration of this version does not fit the state',
    );
};

const hasSecrets = (db: Database): boolean =>
  (db.query<{ n: number }, []>('SELECT (SELECT count(*) FROM env) + (SELECT count(*) FROM datastores) AS n').get()?.n ??
    0) > 0;

const requireEngine = async (socket: string): Promise<void> => {
  const hint = 'start the Docker engine, then try again';
  try {
    const answer = await fetch('http://docker/_ping', { unix: socket, signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  } catch (thrown) {
    throw conflict(`the Docker engine at ${socket} does not answer: ${messageOf(thrown)}`, hint);
  }
};
