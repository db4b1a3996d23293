import { ERR_UNSAFE_FILENAME, ZipReader, type Entry, type FileEntry } from '@zip.js/zip.js/lib/zip-core-reader.js';
import { createListing, mayBeIgnoreFile, pathOf, planOf, type Listed } from './archive-plan.ts';
import { damaged } from './damaged.ts';
import { treeOf, unusable, type SourceFile, type Tree } from './source.ts';

/** The longest target of a link that is worth reading. */
const LONGEST_LINK = 4095;

/** Reads the directory of a zip; the files are unpacked one by one when they are packed anew. */
export const readZip = async (name: string, file: File): Promise<Tree> => {
  const { entries, listing, ignoreTexts } = await damaged.unless(file.name, () => list(file));
  const plan = planOf(listing.entries, ignoreTexts);
  const files = new Map<string, SourceFile>();
  for (const [index, { name: inside, kind, bytes, link }] of listing.entries.entries()) {
    const path = kind === 'directory' ? undefined : plan.keep(inside);
    const entry = entries[index];
    if (path === undefined || entry === undefined || entry.directory) continue;
    files.set(path, { path, bytes, link, executable: executableOf(entry), open: () => contentOf(entry) });
  }
  return treeOf(name, [...files.values()], plan.left);
};

const list = async (file: File) => {
  // Without workers, which would come from other addresses than the page's policy allows.
  const zip = new ZipReader(readerOf(file), { useWebWorkers: false, checkCrc32: true, checkOverlappingEntry: true });
  const listing = createListing(file.name);
  const entries: Entry[] = [];
  const ignoreTexts = new Map<string, string>();
  try {
    const each = zip.getEntriesGenerator({ normalizeFilename: (name) => name.replaceAll('\\', '/') });
    for await (const entry of each) {
      if (entry.encrypted) throw locked(file.name);
      listing.add(await listedOf(entry));
      entries.push(entry);
      if (!entry.directory && mayBeIgnoreFile(entry.filename))
        ignoreTexts.set(pathOf(entry.filename), await textOf(entry));
    }
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message === ERR_UNSAFE_FILENAME) pathOf(unsafeName(thrown));
    throw thrown;
  }
  if (entries.length === 0) throw new Error('it has no entries');
  return { entries, listing, ignoreTexts };
};

const listedOf = async (entry: Entry): Promise<Listed> => {
  const { filename: name, uncompressedSize } = entry;
  if (entry.directory) return { name, kind: 'directory', bytes: 0 };
  if (!entry.symlink) return { name, kind: 'file', bytes: uncompressedSize };
  return { name, kind: 'symlink', bytes: 0, link: uncompressedSize > LONGEST_LINK ? '' : await textOf(entry) };
};

/** Reads parts of the file as they are needed. */
const readerOf = (file: File) => ({
  size: file.size,
  readable: file.stream(),
  createReadable: ({ offset = 0, size = file.size }: { offset?: number; size?: number } = {}) =>
    file.slice(offset, offset + size).stream(),
  readUint8Array: async (index: number, length: number): Promise<Uint8Array> =>
    new Uint8Array(await file.slice(index, index + length).arrayBuffer()),
});

const contentOf = (entry: FileEntry): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  // A failure breaks the stream, and so reaches whoever reads it.
  entry.getData(writable).catch((thrown: unknown) => writable.abort(thrown).catch(() => undefined));
  return readable;
};

const textOf = (entry: FileEntry): Promise<string> => new Response(contentOf(entry)).text();

/** Archives of systems without modes say nothing. */
const executableOf = ({ unixMode, executable }: Entry): boolean | undefined =>
  unixMode === undefined || unixMode === 0 ? undefined : executable;

const unsafeName = (error: Error): string => ('filename' in error ? String(error.filename) : '..');

const locked = (archive: string) =>
  unusable(`${archive} is encrypted`, 'pack it without a password: the server could not open it either');
