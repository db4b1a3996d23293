import { createReadStream, type Dirent } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Header, pack, type Pack } from 'tar-stream';

export interface ContextLayer {
  /** Directory on the host. */
  dir: string;
  /** Where its content goes inside the context: empty for the root. */
  prefix: string;
  /** What to leave out, by the path relative to `dir`. */
  ignore?: ContextIgnore;
}

export interface ContextIgnore {
  ignores(path: string): boolean;
  /** Whether something below an ignored directory may be wanted all the same. */
  mayRestore: boolean;
}

export interface ContextFile {
  path: string;
  content: string | Uint8Array;
  /** 0o644 by default. */
  mode?: number;
}

export interface ContextOptions {
  /** A later layer wins over an earlier one. */
  layers: ContextLayer[];
  /** Files from memory; they win over every layer. */
  files: ContextFile[];
  /** The time that every entry gets; `sourceTime` gives one for a source. */
  mtime?: Date;
}

/** Before it zip cannot store a time; also the time of contexts that have no source. */
const EARLIEST_SECONDS = 946_684_800;
const SPAN_SECONDS = 600_000_000;

/**
 * A time between 2000 and 2019 for a source by its digest: the same content gives the same layers, and other content
 * another time, because web servers make ETags of size and time.
 */
export const sourceTime = (digest: string): Date =>
  new Date((EARLIEST_SECONDS + (Number.parseInt(digest.slice(0, 12), 16) % SPAN_SECONDS)) * 1000);

/** Streams a build context as an uncompressed tar: sorted, with fixed owners and times, links kept and never followed. */
export const packContext = (options: ContextOptions): Readable => {
  const tar = pack();
  const mtime = options.mtime ?? new Date(EARLIEST_SECONDS * 1000);
  writeAll(tar, options, mtime).then(
    () => tar.finalize(),
    (thrown: unknown) => tar.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))),
  );
  return Readable.from(tar, { objectMode: false, highWaterMark: 256 * 1024 });
};

type Item =
  | { kind: 'dir' }
  | { kind: 'file'; source: string }
  | { kind: 'link'; source: string }
  | { kind: 'memory'; content: Buffer; mode: number };

const writeAll = async (tar: Pack, options: ContextOptions, mtime: Date): Promise<void> => {
  const items = await collect(options);
  for (const path of [...items.keys()].sort()) {
    const item = items.get(path);
    if (item !== undefined) await writeItem(tar, path, item, mtime);
  }
};

const collect = async ({ layers, files }: ContextOptions): Promise<Map<string, Item>> => {
  const items = new Map<string, Item>();
  for (const layer of layers) {
    addParents(items, layer.prefix === '' ? '' : `${layer.prefix}/.`);
    await walk(layer, '', items);
  }
  for (const { path, content, mode } of files) {
    addParents(items, path);
    items.set(path, { kind: 'memory', content: Buffer.from(content), mode: mode ?? 0o644 });
  }
  return items;
};

const addParents = (items: Map<string, Item>, path: string): void => {
  const parts = path.split('/').slice(0, -1);
  for (let depth = 1; depth <= parts.length; depth += 1) items.set(parts.slice(0, depth).join('/'), { kind: 'dir' });
};

const walk = async (layer: ContextLayer, below: string, items: Map<string, Item>): Promise<void> => {
  const children = await readdir(join(layer.dir, below), { withFileTypes: true });
  const deeper: string[] = [];
  for (const child of children) {
    const path = below === '' ? child.name : `${below}/${child.name}`;
    const ignored = layer.ignore?.ignores(path) ?? false;
    if (child.isDirectory() && (!ignored || layer.ignore?.mayRestore === true)) deeper.push(path);
    const item = ignored ? undefined : itemOf(child, join(layer.dir, path));
    if (item !== undefined) items.set(layer.prefix === '' ? path : `${layer.prefix}/${path}`, item);
  }
  await Promise.all(deeper.map((path) => walk(layer, path, items)));
};

// Sockets, pipes and devices have no meaning in a build, and no archive can have brought them.
const itemOf = (child: Dirent, source: string): Item | undefined => {
  if (child.isDirectory()) return { kind: 'dir' };
  if (child.isFile()) return { kind: 'file', source };
  return child.isSymbolicLink() ? { kind: 'link', source } : undefined;
};

type EntryHeader = Partial<Header> & { name: string };

const WHOLE_FILE_BYTES = 1024 * 1024;

const writeItem = async (tar: Pack, path: string, item: Item, mtime: Date): Promise<void> => {
  const common = { name: path, mtime, uid: 0, gid: 0, uname: 'root', gname: 'root' };
  switch (item.kind) {
    case 'dir':
      return writeEntry(tar, { ...common, type: 'directory', mode: 0o755 });
    case 'link':
      return writeEntry(tar, { ...common, type: 'symlink', mode: 0o777, linkname: await readlink(item.source) });
    case 'memory':
      return writeEntry(tar, { ...common, type: 'file', mode: item.mode }, item.content);
    case 'file':
      return writeFileItem(tar, common, item.source);
  }
};

const writeFileItem = async (tar: Pack, common: EntryHeader, source: string): Promise<void> => {
  const { size, mode } = await lstat(source);
  const header: EntryHeader = { ...common, type: 'file', mode: (mode & 0o100) === 0 ? 0o644 : 0o755 };
  if (size <= WHOLE_FILE_BYTES) return writeEntry(tar, header, await readFile(source));
  const sink = tar.entry({ ...header, size }) as unknown as NodeJS.WritableStream;
  await pipeline(createReadStream(source), sink);
};

const writeEntry = (tar: Pack, header: EntryHeader, content?: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => (error ? reject(error) : resolve());
    if (content === undefined) tar.entry({ ...header, size: 0 }, done);
    else tar.entry({ ...header, size: content.byteLength }, content, done);
  });
