import { Database } from 'bun:sqlite';
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, chown, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Extract } from 'tar-stream';
import { messageOf } from '#kernel/errors';
import { CliFailure, localError } from '../failure.ts';
import { DATABASE, MANIFEST, type Manifest } from './archive.ts';

export interface RestoreRequest {
  from: string;
  dataDir: string;
  /** Replaces state that is there; it is kept beside. */
  force: boolean;
  /** Newest schema that this executable knows. */
  newestSchema: number;
  /** Whether a server runs on the data directory. */
  isRunning: () => Promise<boolean>;
  now: number;
}

export interface Restored {
  manifest: Manifest;
  /** Where the state went that was there before. */
  kept: string | null;
}

/**
 * Puts a backup in the place of the data directory. All of it is unpacked and verified beside first; then two renames put it there, so
 * that a failure at any point leaves the old state as it was.
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
  const suffix = randomBytes(6).toString('hex');
  const staging = `${dataDir}.restore-${suffix}`;
  await mkdir(dirname(dataDir), { recursive: true });
  await mkdir(staging, { mode: 0o700 });
  try {
    const manifest = await unpackVerified(request, staging);
    const kept = occupied ? `${dataDir}.before-${new Date(request.now).toISOString().replaceAll(/[:.]/g, '-')}` : null;
    if (kept === null) await rm(dataDir, { recursive: true, force: true });
    else await rename(dataDir, kept);
    await rename(staging, dataDir);
    if (kept !== null) await carryOver(kept, dataDir);
    return { manifest, kept };
  } catch (thrown) {
    throw thrown instanceof CliFailure ? thrown : damaged(request.from, messageOf(thrown), thrown);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
};

const unpackVerified = async (request: RestoreRequest, staging: string): Promise<Manifest> => {
  const sums = new Map<string, string>();
  let manifestText: string | undefined;
  const tar = extract();
  const reading = pipeline(createReadStream(request.from), createGunzip(), tar);
  // The loop below fails with the same error.
  reading.catch(() => undefined);
  for await (const entry of tar) {
    if (entry.header.name === MANIFEST) manifestText = await new Response(entry as unknown as ReadableStream).text();
    else await unpackEntry(entry, staging, sums);
  }
  await reading;
  const manifest = readManifest(manifestText, request);
  for (const { path, sha256 } of manifest.files) {
    if (sums.get(path) !== sha256)
      throw damaged(request.from, `${path} ${sums.has(path) ? 'differs from its checksum' : 'is missing'}`);
    sums.delete(path);
  }
  const extra = [...sums.keys()][0];
  if (extra !== undefined) throw damaged(request.from, `${extra} is not in its manifest`);
  checkDatabase(join(staging, DATABASE), request.from);
  return manifest;
};

type Entry = Extract extends AsyncIterable<infer Item> ? Item : never;

const unpackEntry = async (entry: Entry, staging: string, sums: Map<string, string>): Promise<void> => {
  const { name, type, mode, uid, gid } = entry.header;
  const path = name.replace(/\/$/, '');
  const inside =
    path !== '' &&
    !path.startsWith('/') &&
    !path.split('/').some((part) => part === '' || part === '.' || part === '..');
  if (!inside || (type !== 'file' && type !== 'directory'))
    throw localError(
      `the backup has an entry "${name}" that no backup of berth has`,
      'use a file that berth backup-state made',
    );
  const target = join(staging, path);
  if (type === 'directory') {
    entry.resume();
    await mkdir(target, { recursive: true, mode: 0o700 });
  } else {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const hash = createHash('sha256');
    await pipeline(
      entry,
      async function* hashed(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(target, { mode: 0o600, flags: 'wx', flush: true }),
    );
    sums.set(path, hash.digest('hex'));
  }
  await chmod(target, (mode ?? 0o600) & 0o777);
  // The registry's files belong to the user that its container runs as.
  if (process.getuid?.() === 0 && uid !== undefined && gid !== undefined) await chown(target, uid, gid);
};

const readManifest = (text: string | undefined, request: RestoreRequest): Manifest => {
  if (text === undefined) throw damaged(request.from, 'it has no manifest: it was cut off, or is no backup of berth');
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== 1 || !Array.isArray(manifest.files))
    throw damaged(request.from, 'its manifest has a format that this berth does not know');
  if (manifest.schema > request.newestSchema) {
    throw localError(
      `the backup was made by berth ${manifest.berth} with schema ${manifest.schema}; this one knows up to ${request.newestSchema}`,
      `restore it with berth ${manifest.berth} or later`,
    );
  }
  return manifest;
};

const checkDatabase = (file: string, from: string): void => {
  const db = new Database(file, { readwrite: true, create: false, strict: true });
  try {
    const verdict = db.query<{ integrity_check: string }, []>('PRAGMA integrity_check').get()?.integrity_check;
    if (verdict !== 'ok') throw damaged(from, `its database is not sound: ${verdict ?? 'no answer'}`);
  } finally {
    db.close();
  }
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

const damaged = (file: string, why: string, cause?: unknown): CliFailure =>
  localError(`the backup ${file} cannot be used: ${why}`, 'nothing was changed; use another backup', cause);
