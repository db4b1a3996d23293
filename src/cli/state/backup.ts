import { Database } from 'bun:sqlite';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { BackupKeys } from '#engines/backups/identity';
import { localError } from '../failure.ts';
import { VERSION } from '../version.ts';
import { DATABASE, writeArchive, type Manifest } from './archive.ts';

export interface BackupRequest {
  dataDir: string;
  to: string;
  withImages: boolean;
  /** Backups of datastores. */
  withBackups: boolean;
  /** Encrypts the archive. */
  keys?: BackupKeys | undefined;
  /** Replaces a file that exists. */
  force: boolean;
  now: number;
  onFile: (path: string, bytes: number) => void;
}

/** Backs up a server's state while it runs: SQLite gives a consistent snapshot of the database. */
export const backupState = async (request: BackupRequest): Promise<Manifest> => {
  const { dataDir } = request;
  const to = resolve(request.to);
  if (!(await exists(join(dataDir, DATABASE))))
    throw localError(`${dataDir} holds no state of berth`, 'give the data directory of the server: --data-dir DIR');
  if (`${to}/`.startsWith(`${dataDir}/`))
    throw localError(
      'a backup inside the data directory would contain itself',
      'write it elsewhere, best on another disk',
    );
  if (!request.force && (await exists(to)))
    throw localError(`${to} exists`, 'choose another name, or add --force to replace it');
  // A directory of its own: SQLite makes the snapshot with the umask's mode, and it holds secrets.
  const scratch = await mkdtemp(join(dirname(to), '.berth-backup-'));
  try {
    const snapshot = join(scratch, DATABASE);
    const schema = snapshotDatabase(join(dataDir, DATABASE), snapshot);
    const facts = {
      format: 1,
      berth: VERSION,
      schema,
      created_at: new Date(request.now).toISOString(),
      with_images: request.withImages,
      with_backups: request.withBackups,
    } as const;
    return await writeArchive({ dataDir, snapshot, to, facts, keys: request.keys, onFile: request.onFile });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
};

const snapshotDatabase = (from: string, to: string): number => {
  const db = new Database(from, { readwrite: true, create: false, strict: true });
  try {
    db.exec('PRAGMA busy_timeout = 10000');
    const schema = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
    db.query('VACUUM INTO ?1').run(to);
    return schema;
  } finally {
    db.close();
  }
};

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (thrown: unknown) => {
      if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return false;
      throw thrown;
    },
  );
