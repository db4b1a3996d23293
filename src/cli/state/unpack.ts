import { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, chown, mkdir, open, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Extract } from 'tar-stream';
import type { BackupKeys } from '#engines/backups/identity';
import { type CliFailure, localError } from '../failure.ts';
import { bytes } from '../output/format.ts';
import { ABOUT, DATABASE, MANIFEST, type About, type Manifest } from './archive.ts';

export interface UnpackRequest {
  from: string;
  /** Opens an encrypted archive. */
  keys: BackupKeys | undefined;
  /** Newest schema that this executable knows. */
  newestSchema: number;
  /** Where it goes: an empty directory. */
  into: string;
  /** Only the database is written, to look into it; the rest is read and compared. */
  verifyOnly: boolean;
}

type Entry = Extract extends AsyncIterable<infer Item> ? Item : never;

/** Unpacks a state archive and compares all of it with its manifest. What is wrong with it is a CliFailure. */
export const unpackVerified = async (request: UnpackRequest): Promise<Manifest> => {
  const sums = new Map<string, string>();
  let manifestText: string | undefined;
  const tar = extract();
  const reading = pipeline(await openArchive(request), createGunzip(), tar);
  // The loop below fails with the same error.
  reading.catch(() => undefined);
  for await (const entry of tar) {
    if (entry.header.name === MANIFEST) manifestText = await textOf(entry);
    else if (entry.header.name === ABOUT) await requireFit(JSON.parse(await textOf(entry)) as About, request);
    else await unpackEntry(entry, request, sums);
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
  checkDatabase(join(request.into, DATABASE), request.from);
  return manifest;
};

export const damaged = (file: string, why: string, cause?: unknown): CliFailure =>
  localError(`the backup ${file} cannot be used: ${why}`, 'nothing was changed; use another backup', cause);

const AGE = 'age-encryption.org/v1';

const openArchive = async ({ from, keys }: UnpackRequest): Promise<Readable> => {
  const file = createReadStream(from);
  if ((await headOf(from)) !== AGE) return file;
  if (keys === undefined)
    throw localError(`the backup ${from} is encrypted`, 'name the file with its key: --key-file FILE');
  return Readable.from(await keys.decrypt(file));
};

const headOf = async (file: string): Promise<string> => {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(AGE.length), 0, AGE.length, 0);
    return buffer.subarray(0, bytesRead).toString('latin1');
  } finally {
    await handle.close();
  }
};

const textOf = (entry: Entry): Promise<string> => new Response(entry as unknown as ReadableStream).text();

/** Told before anything is written. */
const requireFit = async (about: About, request: UnpackRequest): Promise<void> => {
  requireKnown(about, request);
  if (request.verifyOnly) return;
  const { bavail, bsize } = await statfs(request.into);
  if (bavail * bsize < about.bytes)
    throw localError(
      `the backup needs ${bytes(about.bytes)}, and ${bytes(bavail * bsize)} are free at ${request.into}`,
      'free disk space or use a larger disk; nothing was changed',
    );
};

const unpackEntry = async (
  entry: Entry,
  { into, verifyOnly }: UnpackRequest,
  sums: Map<string, string>,
): Promise<void> => {
  const { name, type, mode, uid, gid } = entry.header;
  const path = name.replace(/\/$/, '');
  const inside =
    path !== '' &&
    !path.startsWith('/') &&
    !path.split('/').some((part) => part === '' || part === '.' || part === '..');
  if (!inside || (type !== 'file' && type !== 'directory'))
    throw localError(
      `the backup has an entry "${name}" that no backup of berth has`,
      'use a file that berth state backup made',
    );
  const target = join(into, path);
  const written = !verifyOnly || path === DATABASE;
  if (type === 'directory') {
    entry.resume();
    if (written) await mkdir(target, { recursive: true, mode: 0o700 });
  } else {
    if (written) await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    sums.set(path, await readEntry(entry, written ? target : undefined));
  }
  if (!written) return;
  await chmod(target, (mode ?? 0o600) & 0o777);
  // The registry's files belong to the user that its container runs as.
  if (process.getuid?.() === 0 && uid !== undefined && gid !== undefined) await chown(target, uid, gid);
};

/** Its checksum; written to `target`, if that is given. */
const readEntry = async (entry: Entry, target: string | undefined): Promise<string> => {
  const hash = createHash('sha256');
  if (target === undefined) {
    for await (const chunk of entry) hash.update(chunk as Uint8Array);
    return hash.digest('hex');
  }
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
  return hash.digest('hex');
};

const readManifest = (text: string | undefined, request: UnpackRequest): Manifest => {
  if (text === undefined) throw damaged(request.from, 'it has no manifest: it was cut off, or is no backup of berth');
  const manifest = JSON.parse(text) as Manifest;
  if (manifest.format !== 1 || !Array.isArray(manifest.files))
    throw damaged(request.from, 'its manifest has a format that this berth does not know');
  requireKnown(manifest, request);
  return manifest;
};

const requireKnown = ({ berth, schema }: Pick<Manifest, 'berth' | 'schema'>, { newestSchema }: UnpackRequest): void => {
  if (schema <= newestSchema) return;
  throw localError(
    `the backup was made by berth ${berth} with schema ${schema}; this one knows up to ${newestSchema}`,
    `restore it with berth ${berth} or later`,
  );
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
