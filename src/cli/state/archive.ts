import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, type Stats } from 'node:fs';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack as createPack, type Pack } from 'tar-stream';

/** Last entry of a state archive: what must be in it, byte for byte. */
export interface Manifest {
  format: 1;
  /** Version of the berth that made it. */
  berth: string;
  /** Schema version of its database. */
  schema: number;
  created_at: string;
  with_images: boolean;
  /** Missing in archives of before there were datastores. */
  with_backups?: boolean;
  files: { path: string; size: number; sha256: string }[];
}

export const MANIFEST = 'manifest.json';
export const DATABASE = 'berth.db';

/** Made again by itself, or worthless on another machine. The database is taken as a snapshot instead of its files. */
const LEFT_OUT = [
  /^berth\.db(?:$|[-.])/,
  /^logs$/,
  /^uploads$/,
  /^builds$/,
  /^datastores\/templates$/,
  /^[^/]*\.lock$/,
  /^lock$/,
  /^[^/]*\.sock$/,
];
const IMAGES = 'registry';
const BACKUPS = 'backups';
/** A backup of a datastore that is being written. */
const UNFINISHED = /^backups\/.*\.part$/;

interface Source {
  /** Path in the archive. */
  path: string;
  file: string;
  directory: boolean;
}

export interface ArchiveRequest {
  dataDir: string;
  /** Consistent copy of the database. */
  snapshot: string;
  to: string;
  facts: Omit<Manifest, 'files'>;
  onFile: (path: string, bytes: number) => void;
}

/** Writes the archive beside its place and moves it there once it is whole. Only its owner can read it: it holds keys. */
export const writeArchive = async (request: ArchiveRequest): Promise<Manifest> => {
  const part = `${request.to}.${randomBytes(6).toString('hex')}.part`;
  const tar = createPack();
  try {
    const output = createWriteStream(part, { mode: 0o600, flags: 'wx' });
    const written = pipeline(tar, createGzip(), output);
    // When an entry cannot be read, that is the error to report.
    written.catch(() => undefined);
    const manifest = await addEntries(tar, request).catch((thrown: unknown) => {
      tar.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)));
      throw thrown;
    });
    await written;
    await sync(part);
    await rename(part, request.to);
    return manifest;
  } finally {
    await rm(part, { force: true });
  }
};

const addEntries = async (tar: Pack, request: ArchiveRequest): Promise<Manifest> => {
  const sources = await listState(request.dataDir, leftOut(request.facts));
  sources.unshift({ path: DATABASE, file: request.snapshot, directory: false });
  const files: Manifest['files'] = [];
  for (const source of sources) {
    const added = await addSource(tar, source);
    if (added === undefined) continue;
    files.push(added);
    request.onFile(added.path, added.size);
  }
  const manifest: Manifest = { ...request.facts, files };
  tar.entry({ name: MANIFEST, mode: 0o600 }, JSON.stringify(manifest, null, 2));
  tar.finalize();
  return manifest;
};

/** Whether a path of the data directory stays out of the archive, with all that is below it. */
const leftOut =
  ({ with_images, with_backups = false }: ArchiveRequest['facts']) =>
  (path: string): boolean =>
    (path === IMAGES && !with_images) ||
    (path === BACKUPS && !with_backups) ||
    UNFINISHED.test(path) ||
    LEFT_OUT.some((rule) => rule.test(path));

/** What of the data directory belongs into a backup, parents before what is in them. */
const listState = async (dataDir: string, isLeftOut: (path: string) => boolean): Promise<Source[]> => {
  const found: Source[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const name of (await readdir(join(dataDir, folder))).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (isLeftOut(path)) continue;
      const stats = await statOf(join(dataDir, path), path);
      if (stats === undefined) continue;
      if (stats.isDirectory()) {
        found.push({ path, file: join(dataDir, path), directory: true });
        await walk(path);
      } else if (stats.isFile()) found.push({ path, file: join(dataDir, path), directory: false });
    }
  };
  await walk('');
  return found;
};

/** Undefined for a backup of a datastore whose time was over while the archive was made. */
const statOf = async (file: string, path: string): Promise<Stats | undefined> => {
  try {
    return await lstat(file);
  } catch (thrown) {
    const gone = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
    if (gone && `${path}/`.startsWith(`${BACKUPS}/`)) return undefined;
    throw thrown;
  }
};

const addSource = async (
  tar: Pack,
  { path, file, directory }: Source,
): Promise<Manifest['files'][number] | undefined> => {
  const stats = await statOf(file, path);
  if (stats === undefined) return undefined;
  const common = { mode: stats.mode & 0o777, uid: stats.uid, gid: stats.gid, mtime: stats.mtime };
  if (directory) {
    await new Promise<void>((resolve, reject) => {
      tar.entry({ ...common, name: `${path}/`, type: 'directory' }, (error) => (error ? reject(error) : resolve()));
    });
    return undefined;
  }
  const hash = createHash('sha256');
  const mode = path === DATABASE ? 0o600 : common.mode;
  const entry = tar.entry({ ...common, name: path, type: 'file', size: stats.size, mode }) as unknown as Writable;
  if (stats.size === 0) entry.end();
  else {
    await pipeline(
      createReadStream(file, { end: stats.size - 1 }),
      async function* hashed(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      entry,
    );
  }
  return { path, size: stats.size, sha256: hash.digest('hex') };
};

const sync = async (file: string): Promise<void> => {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
