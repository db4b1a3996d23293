import { createReadStream, mkdirSync } from 'node:fs';
import { chmod, link, mkdir, rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Extract, type Header } from 'tar-stream';
import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput } from '#kernel/errors';
import { createIgnore, hasExcludedPart, IGNORE_FILE } from '#kernel/source-rules';
import { entryParts, refuseEntry, show } from './entry-path.ts';
import { writeNewFile } from './file-writer.ts';
import { createMeter, DEFAULT_LIMITS, type Meter, type UnpackLimits } from './limits.ts';
import { Tree } from './tree.ts';
import { createTreeDigest } from './tree-digest.ts';

export interface UnpackOptions {
  /** File with the gzipped tar. */
  archive: string;
  /** Directory to create; it must not exist. Gone again after any failure. */
  into: string;
  limits?: Partial<UnpackLimits>;
  clock: Clock;
  signal: AbortSignal;
}

export interface Unpacked {
  files: number;
  bytes: number;
  /** sha256 over paths, modes and contents: the same for the same source, however it was packed. */
  digest: string;
}

type Entry = Extract extends AsyncIterable<infer Source> ? Source : never;

/** Unpacks a hostile archive: nothing is written, linked or followed outside `into`, and every resource is bounded. */
export const unpack = async (options: UnpackOptions): Promise<Unpacked> => {
  await mkdir(options.into, { mode: 0o755 });
  try {
    const meter = createMeter({ ...DEFAULT_LIMITS, ...options.limits }, options.clock);
    const unpacking = new Unpacking(options.into, meter);
    await readArchive(options, meter, unpacking);
    return await unpacking.finish();
  } catch (thrown) {
    await rm(options.into, { recursive: true, force: true });
    throw thrown;
  }
};

const CHUNK_BYTES = 256 * 1024;

const readArchive = async (options: UnpackOptions, meter: Meter, unpacking: Unpacking): Promise<void> => {
  const entries = extract();
  const ended = new AbortController();
  const pumping = pipeline(
    [
      createReadStream(options.archive, { highWaterMark: CHUNK_BYTES }),
      meter.compressed,
      createGunzip({ chunkSize: CHUNK_BYTES }),
      meter.plain,
      entries,
    ],
    { signal: AbortSignal.any([ended.signal, options.signal]) },
  );
  // Handled from the start: it may fail while an entry is still being written.
  const pumped = outcomeOf(pumping);
  const added = await outcomeOf(addAll(entries, unpacking));
  if (added !== undefined) ended.abort();
  const broken = await pumped;
  if (options.signal.aborted) throw options.signal.reason;
  const first = added !== undefined && isNamed(added.thrown) ? added : (broken ?? added);
  if (first !== undefined) throw isNamed(first.thrown) ? first.thrown : unreadable(first.thrown);
};

/** Small files are written by blocking calls: nothing else may wait longer for its turn than this. */
const TURN_MS = 20;

const addAll = async (entries: Extract, unpacking: Unpacking): Promise<void> => {
  let turn = performance.now();
  for await (const entry of entries) {
    await unpacking.add(entry);
    if (performance.now() - turn < TURN_MS) continue;
    await setImmediate();
    turn = performance.now();
  }
};

const outcomeOf = (work: Promise<void>): Promise<{ thrown: unknown } | undefined> =>
  work.then(
    () => undefined,
    (thrown: unknown) => ({ thrown }),
  );

class Unpacking {
  readonly #root: string;
  readonly #meter: Meter;
  readonly #tree = new Tree();
  readonly #digest = createTreeDigest();

  constructor(root: string, meter: Meter) {
    this.#root = root;
    this.#meter = meter;
  }

  async add(entry: Entry): Promise<void> {
    const { name, type } = entry.header;
    this.#meter.countEntry();
    const parts = entryParts(name);
    const path = parts.join('/');
    if (path === '' || hasExcludedPart(path)) {
      if (path === '' && type !== 'directory') throw refuseEntry(name, 'stands for the root but is no directory');
      entry.resume();
      return;
    }
    for (const parent of this.#tree.addParents(name, parts)) mkdirSync(join(this.#root, parent), { mode: 0o755 });
    await this.#addNode(entry, path);
  }

  async #addNode(entry: Entry, path: string): Promise<void> {
    const { name } = entry.header;
    const kind = kindOf(entry.header);
    switch (kind) {
      case 'file':
      case 'contiguous-file':
        return this.#addFile(entry, path);
      case 'directory':
        entry.resume();
        return this.#addDirectory(name, path);
      case 'symlink':
        entry.resume();
        this.#tree.put(name, path, { kind: 'link', target: linkTarget(entry.header) });
        return this.#forgetFile(path);
      case 'link':
        entry.resume();
        return this.#addHardLink(entry.header, path);
      default:
        throw refuseEntry(name, `is of the kind ${show(kind)}, which a source cannot contain`);
    }
  }

  #addDirectory(name: string, path: string): void {
    const known = this.#tree.get(path) !== undefined;
    this.#tree.put(name, path, { kind: 'dir' });
    if (!known) mkdirSync(join(this.#root, path), { mode: 0o755 });
  }

  async #addFile(entry: Entry, path: string): Promise<void> {
    const { name, size, mode } = entry.header;
    if (this.#tree.get(path)?.kind === 'file') await this.#forgetFile(path);
    this.#tree.put(name, path, { kind: 'file', size });
    const executable = (mode & 0o100) !== 0;
    const file = join(this.#root, path);
    this.#digest.addFile(path, executable, await writeNewFile({ file, size, executable, content: entry }));
  }

  /** A hard link becomes a file of its own name on the same content; its size counts again, because a build copies it. */
  async #addHardLink(header: Header, path: string): Promise<void> {
    const target = entryParts(linkTarget(header)).join('/');
    const node = this.#tree.get(target);
    if (node?.kind !== 'file')
      throw refuseEntry(header.name, 'is a hard link to something that is no file of the archive');
    if (target === path) return;
    this.#meter.countCopy(node.size);
    if (this.#tree.get(path)?.kind === 'file') await this.#forgetFile(path);
    this.#tree.put(header.name, path, node);
    await link(join(this.#root, target), join(this.#root, path));
    this.#digest.addCopy(path, target);
  }

  /** Removes the file that an earlier entry left at `path`, so that no write ever reuses it. */
  async #forgetFile(path: string): Promise<void> {
    if (this.#digest.forget(path)) await unlink(join(this.#root, path));
  }

  async finish(): Promise<Unpacked> {
    await this.#dropIgnored();
    for (const [path, node] of this.#tree.entries()) {
      if (node.kind !== 'link') continue;
      this.#tree.checkLink(path);
      await symlink(node.target, join(this.#root, path));
      this.#digest.addLink(path, node.target);
    }
    const files = [...this.#tree.entries()].filter(([, node]) => node.kind !== 'dir');
    if (files.length === 0) throw invalidInput('the archive has no files', 'pack the directory that holds your source');
    const bytes = files.reduce((sum, [, node]) => sum + (node.kind === 'file' ? node.size : 0), 0);
    await chmod(this.#root, 0o755);
    return { files: files.length, bytes, digest: this.#digest.finish() };
  }

  async #dropIgnored(): Promise<void> {
    if (this.#tree.get(IGNORE_FILE)?.kind !== 'file') return;
    const ignored = createIgnore(await Bun.file(join(this.#root, IGNORE_FILE)).text());
    // A Map may lose entries while it is walked.
    for (const [path] of this.#tree.entries()) {
      if (!ignored(path)) continue;
      this.#tree.drop(path);
      this.#digest.forget(path);
      await rm(join(this.#root, path), { recursive: true, force: true });
    }
  }
}

// Kinds that the parser has no name for come as null, whatever its types say.
const kindOf = ({ type }: { type: string | null }): string => type ?? 'unknown';

const linkTarget = (header: Header): string => {
  // The parser gives null for none, whatever its types say.
  const target: string | null = header.linkname;
  if (target === null || target === '' || target.includes('\0') || Buffer.byteLength(target) > 4095) {
    throw refuseEntry(header.name, 'is a link without a usable target');
  }
  return target;
};

/** Whether it names its cause itself: a refusal, or the file system. All else comes from the parsers. */
const isNamed = (thrown: unknown): boolean =>
  thrown instanceof BerthError || (thrown instanceof Error && 'syscall' in thrown);

const unreadable = (cause: unknown): BerthError =>
  new BerthError('INVALID_INPUT', 'the source is not a complete gzipped tar archive', {
    hint: 'send the source directory packed as .tar.gz, for example with: tar -czf source.tar.gz -C <directory> .',
    cause,
  });
