import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
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
  files: { path: string; size: number; sha256: string }[];
}

export const MANIFEST = 'manifest.json';
export const DATABASE = 'berth.db';

/** Made again by itself, or worthless on another machine. The database is taken as a snapshot instead of its files. */
const LEFT_OUT = [/^berth\.db(?:$|[-.])/, /^logs$/, /^uploads$/, /^builds$/, /\.lock$/, /^lock$/, /\.sock$/];
const IMAGES = /^registry$/;

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
  const sources = await listState(request.dataDir, request.facts.with_images);
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

/** What of the data directory belongs into a backup, parents before what is in them. */
const listState = async (dataDir: string, withImages: boolean): Promise<Source[]> => {
  const found: Source[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const name of (await readdir(join(dataDir, folder))).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const leftOut = folder === '' && (LEFT_OUT.some((rule) => rule.test(name)) || (!withImages && IMAGES.test(name)));
      if (leftOut) continue;
      const stats = await lstat(join(dataDir, path));
      if (stats.isDirectory()) {
        found.push({ path, file: join(dataDir, path), directory: true });
        await walk(path);
      } else if (stats.isFile()) found.push({ path, file: join(dataDir, path), directory: false });
    }
  };
  await walk('');
  return found;
};

const addSource = async (
  tar: Pack,
  { path, file, directory }: Source,
): Promise<Manifest['files'][number] | undefined> => {
  const stats = await lstat(file);
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
