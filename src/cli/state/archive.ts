import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, type Stats } from 'node:fs';
import { lstat, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack as createPack, type Pack } from 'tar-stream';
import type { BackupKeys } from '#engines/backups/identity';
import { isGone } from './gone.ts';
import { isRepo, repoSources, type Source } from './repo-sources.ts';

/** First entry of a state archive: what has to be known before the rest is read. */
export interface About extends Omit<Manifest, 'files'> {
  /** What it takes when it is unpacked, as far as that was known when the archive was begun. */
  bytes: number;
}

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

export const ABOUT = 'about.json';
export const MANIFEST = 'manifest.json';
export const DATABASE = 'berth.db';

/** Made again by itself, or worthless on another machine. The database is taken as a snapshot instead of its files. */
const LEFT_OUT = [
  /^berth\.db(?:$|[-.])/,
  /^logs$/,
  /^uploads$/,
  /^builds$/,
  // Of an upgrade: what is under way is about this machine's executables.
  /^\.?upgrade[-.]/,
  /^restored\.json$/,
  // An image that is being pushed.
  /^registry\/.*\/_uploads$/,
  /^datastores\/templates$/,
  // A repository that is being made or deleted.
  /^repos\/\./,
  /^[^/]*\.lock$/,
  /^lock$/,
  /^[^/]*\.sock$/,
];
export const IMAGES = 'registry';
const BACKUPS = 'backups';
const REPOS = 'repos';
/** A backup of a datastore that is being written. */
const UNFINISHED = /^backups\/.*\.part$/;

export interface ArchiveRequest {
  dataDir: string;
  /** Consistent copy of the database. */
  snapshot: string;
  to: string;
  facts: Omit<Manifest, 'files'>;
  /** Encrypts the archive. */
  keys: BackupKeys | undefined;
  onFile: (path: string, bytes: number) => void;
}

/** Writes the archive beside its place and moves it there once it is whole. Only its owner can read it: it holds keys. */
export const writeArchive = async (request: ArchiveRequest): Promise<Manifest> => {
  const part = `${request.to}.${randomBytes(6).toString('hex')}.part`;
  const tar = createPack();
  try {
    const output = createWriteStream(part, { mode: 0o600, flags: 'wx' });
    const { keys } = request;
    const written =
      keys === undefined
        ? pipeline(tar, createGzip(), output)
        : pipeline(tar, createGzip(), (bytes: AsyncIterable<Buffer>) => encrypted(keys, bytes), output);
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

async function* encrypted(keys: BackupKeys, bytes: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  yield* await keys.encrypt(bytes);
}

const addEntries = async (tar: Pack, request: ArchiveRequest): Promise<Manifest> => {
  const files: Manifest['files'] = [];
  const about: About = { ...request.facts, bytes: await sizeOf(request) };
  tar.entry({ name: ABOUT, mode: 0o600 }, JSON.stringify(about));
  for await (const source of stateSources(request)) {
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

const sizeOf = async (request: ArchiveRequest): Promise<number> => {
  let total = 0;
  for await (const { path, file, directory } of stateSources(request))
    if (!directory) total += (await unlessGone(lstat(file), path))?.size ?? 0;
  return total;
};

/** Whether a path of the data directory stays out of the archive, with all that is below it. */
const leftOut =
  ({ with_images, with_backups = false }: ArchiveRequest['facts']) =>
  (path: string): boolean =>
    (path === IMAGES && !with_images) ||
    (path === BACKUPS && !with_backups) ||
    UNFINISHED.test(path) ||
    LEFT_OUT.some((rule) => rule.test(path));

/** What belongs into a backup, parents before what is in them. Looked for bit by bit: what it yields is read right then. */
async function* stateSources({ dataDir, snapshot, facts }: ArchiveRequest): AsyncGenerator<Source> {
  const isLeftOut = leftOut(facts);
  async function* walk(folder: string): AsyncGenerator<Source> {
    const names = (await unlessGone(readdir(join(dataDir, folder)), folder)) ?? [];
    for (const name of names.sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (isLeftOut(path)) continue;
      const file = join(dataDir, path);
      const stats = await unlessGone(lstat(file), path);
      if (stats === undefined) continue;
      if (isRepo(path)) yield* repoSources(path, file);
      else if (stats.isDirectory()) {
        yield { path, file, directory: true };
        yield* walk(path);
      } else if (stats.isFile()) yield { path, file, directory: false };
    }
  }
  yield { path: DATABASE, file: snapshot, directory: false };
  yield* walk('');
}

/** Undefined for what may come to its end while the archive is made: backups of datastores, repositories, old images. */
const unlessGone = async <T>(result: Promise<T>, path: string): Promise<T | undefined> => {
  try {
    return await result;
  } catch (thrown) {
    if (isGone(thrown) && [BACKUPS, REPOS, IMAGES].some((folder) => `${path}/`.startsWith(`${folder}/`)))
      return undefined;
    throw thrown;
  }
};

const addSource = async (tar: Pack, source: Source): Promise<Manifest['files'][number] | undefined> => {
  const { path } = source;
  // Opened first: its size is that of what is read, whatever takes its place meanwhile.
  const handle = await unlessGone(open(source.file, 'r'), path);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!source.directory) return await addFile(tar, source, { handle, stats });
    await new Promise<void>((resolve, reject) => {
      const header = { ...headerOf(stats), name: `${path}/`, type: 'directory' } as const;
      tar.entry(header, (error) => (error ? reject(error) : resolve()));
    });
    return undefined;
  } finally {
    await handle.close();
  }
};

const headerOf = ({ mode, uid, gid, mtime }: Stats) => ({ mode: mode & 0o777, uid, gid, mtime });

const addFile = async (
  tar: Pack,
  { path, content }: Source,
  { handle, stats }: { handle: FileHandle; stats: Stats },
): Promise<Manifest['files'][number]> => {
  const hash = createHash('sha256');
  const common = headerOf(stats);
  const size = content?.length ?? stats.size;
  const mode = path === DATABASE ? 0o600 : common.mode;
  const entry = tar.entry({ ...common, name: path, type: 'file', size, mode }) as unknown as Writable;
  if (size === 0) entry.end();
  else {
    await pipeline(
      content === undefined ? handle.createReadStream({ autoClose: false, end: size - 1 }) : Readable.from([content]),
      async function* hashed(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      entry,
    );
  }
  return { path, size, sha256: hash.digest('hex') };
};

const sync = async (file: string): Promise<void> => {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
