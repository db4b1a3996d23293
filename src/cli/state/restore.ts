import { mkdtemp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { BackupKeys } from '#engines/backups/identity';
import { isDiskFull, messageOf } from '#kernel/errors';
import { CliFailure, localError } from '../failure.ts';
import type { Manifest } from './archive.ts';
import { instanceOf } from './former.ts';
import { damaged, unpackVerified } from './unpack.ts';

export interface VerifyRequest {
  from: string;
  /** Opens an encrypted archive. */
  keys?: BackupKeys | undefined;
  /** Newest schema that this executable knows. */
  newestSchema: number;
}

export interface RestoreRequest extends VerifyRequest {
  dataDir: string;
  /** Replaces state that is there; it is kept beside. */
  force: boolean;
  /** Whether a server runs on the data directory. */
  isRunning: () => Promise<boolean>;
  /** Throws when something of another installation than `restored` would be in the way of it. */
  requireGone: (restored: string) => Promise<void>;
  now: number;
}

export interface Restored {
  manifest: Manifest;
  /** Where the state went that was there before. */
  kept: string | null;
}

/** Tells the server, at its next start, that data of datastores may have to come out of their backups. */
const RESTORED = 'restored.json';

/** Reads all of an archive, and compares. */
export const verifyState = async (request: VerifyRequest): Promise<Manifest> => {
  const into = await mkdtemp(join(tmpdir(), 'berth-verify-'));
  try {
    return await unpackVerified({ ...request, keys: request.keys, into, verifyOnly: true });
  } catch (thrown) {
    throw asFailure(thrown, request.from);
  } finally {
    await rm(into, { recursive: true, force: true });
  }
};

/**
 * Puts a backup in the place of the data directory. All of it is unpacked and verified beside first; then two renames put it there, so
 * that a failure at any point leaves the old state as it was, and the same call can be made again.
 */
export const restoreState = async (request: RestoreRequest): Promise<Restored> => {
  const { dataDir } = request;
  if (await request.isRunning())
    throw localError(`a server runs on ${dataDir}`, 'stop it first (systemctl stop berth), then restore');
  const occupied = await isOccupied(dataDir);
  if (occupied && !request.force)
    throw localError(
      `${dataDir} is not empty`,
      'add --force to put the backup in its place; what is there is kept beside',
    );
  const staging = `${dataDir}.restore`;
  await mkdir(dirname(dataDir), { recursive: true });
  // One that was killed has left half of it.
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  try {
    const manifest = await unpackVerified({ ...request, keys: request.keys, into: staging, verifyOnly: false });
    const restored = instanceOf(staging);
    if (restored !== undefined) await request.requireGone(restored);
    const former = instanceOf(dataDir) ?? restored;
    await writeFile(join(staging, RESTORED), JSON.stringify({ created_at: manifest.created_at }), { mode: 0o600 });
    const kept = occupied ? `${dataDir}.before-${new Date(request.now).toISOString().replaceAll(/[:.]/g, '-')}` : null;
    if (kept === null) await rm(dataDir, { recursive: true, force: true });
    else await rename(dataDir, kept);
    await rename(staging, dataDir);
    if (kept !== null && former === restored) await carryOver(kept, dataDir);
    return { manifest, kept };
  } catch (thrown) {
    throw asFailure(thrown, request.from);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
};

const asFailure = (thrown: unknown, from: string): CliFailure => {
  if (thrown instanceof CliFailure) return thrown;
  if (isDiskFull(thrown))
    return localError('the disk is full', 'free space or use a larger disk, then run it again', thrown);
  return damaged(from, messageOf(thrown), thrown);
};

/** What a backup may leave out, and the state before had: better kept in use than lost from sight. */
const CARRIED = ['registry', 'logs', 'backups'];

const carryOver = async (from: string, to: string): Promise<void> => {
  const [before, restored] = await Promise.all([readdir(from), readdir(to)]);
  for (const name of CARRIED) {
    if (before.includes(name) && !restored.includes(name)) await rename(join(from, name), join(to, name));
  }
};

const isOccupied = async (folder: string): Promise<boolean> => {
  try {
    return (await readdir(folder)).length > 0;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return false;
    throw thrown;
  }
};
