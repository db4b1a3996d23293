import { mkdtemp, mkdir, readdir, readFile, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { systemClock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import { type Unpacked, unpack, type UnpackOptions } from '#engines/source/unpack';

export type Entry = Parameters<ReturnType<typeof pack>['entry']>[0] & { content?: string | Buffer };

/** A gzipped tar of the entries as they are given, however hostile. */
export const tarGz = async (entries: Entry[]): Promise<Buffer> => gzipSync(await tar(entries));

export const tar = async (entries: Entry[]): Promise<Buffer> => {
  const out = pack();
  for (const { content, ...header } of entries) {
    if (content === undefined) out.entry({ ...header, size: header.size ?? 0 }).end(null);
    else out.entry(header, content);
  }
  out.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of out) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** One raw tar header, for what a well-behaved packer would not write. */
export const rawHeader = (fields: {
  name: string;
  type: string;
  size?: number;
  linkname?: string;
  mode?: number;
}): Buffer => {
  const block = Buffer.alloc(512);
  block.write(fields.name, 0, 100);
  block.write(`${(fields.mode ?? 0o644).toString(8).padStart(7, '0')}\0`, 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${(fields.size ?? 0).toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write('        ', 148);
  block.write(fields.type, 156);
  block.write(fields.linkname ?? '', 157, 100);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
};

/** Content padded to whole blocks. */
export const padded = (content: string | Buffer): Buffer => {
  const bytes = Buffer.from(content);
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.byteLength % 512)) % 512)]);
};

export const paxRecord = (key: string, value: string): string => {
  const body = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(body);
  length += String(length + String(length).length).length;
  return `${length}${body}`;
};

/** A pax header for the entry that follows it. */
export const paxHeader = (records: Record<string, string>, type = 'x'): Buffer => {
  const body = Object.entries(records)
    .map(([key, value]) => paxRecord(key, value))
    .join('');
  return Buffer.concat([rawHeader({ name: 'pax', type, size: Buffer.byteLength(body) }), padded(body)]);
};

export const END = Buffer.alloc(1024);

/** A data directory with the secrets of others in it, and a place to unpack to in its midst. */
export interface Lab {
  into: string;
  unpack(archive: Buffer, options?: Partial<UnpackOptions>): Promise<Unpacked>;
  /** The error with which an archive is refused; fails when it is accepted, or when anything around `into` changed. */
  refusal(archive: Buffer, options?: Partial<UnpackOptions>): Promise<BerthError>;
  read(path: string): Promise<string>;
  /** Every path below `into`, with what it is. */
  tree(): Promise<Record<string, string>>;
  /** Everything in the data directory but the unpacked source. */
  surroundings(): Promise<Record<string, string>>;
  /** Links below `into` that lead out of it. */
  escapes(): Promise<string[]>;
  close(): Promise<void>;
}

export const openLab = async (): Promise<Lab> => {
  const base = await mkdtemp(join(tmpdir(), 'berth-source-'));
  const into = join(base, 'data/work/op_1/src');
  const archive = join(base, 'upload.tar.gz');
  await mkdir(join(base, 'data/work/op_1'), { recursive: true });
  await mkdir(join(base, 'data/work/op_2/src'), { recursive: true });
  await writeFile(join(base, 'data/secret.key'), 'the key', { mode: 0o600 });
  await writeFile(join(base, 'data/work/op_2/src/app.js'), 'the app of another');

  const run = async (bytes: Buffer, options: Partial<UnpackOptions> = {}): Promise<Unpacked> => {
    await writeFile(archive, bytes);
    return unpack({ archive, into, clock: systemClock, signal: new AbortController().signal, ...options });
  };
  return {
    into,
    unpack: run,
    refusal: async (bytes, options) => {
      const before = await snapshot(join(base, 'data'));
      const error: unknown = await run(bytes, options).then(
        () => new Error('the archive was accepted'),
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof BerthError)) throw error;
      const after = await snapshot(join(base, 'data'));
      if (JSON.stringify(before) !== JSON.stringify(after)) {
        throw new Error(`the data directory changed: ${JSON.stringify({ before, after })}`);
      }
      return error;
    },
    read: (path) => readFile(join(into, path), 'utf8'),
    tree: () => snapshot(into),
    surroundings: async () => {
      const all = Object.entries(await snapshot(join(base, 'data')));
      return Object.fromEntries(all.filter(([path]) => !path.startsWith('work/op_1/')));
    },
    escapes: async () => {
      const links = Object.entries(await snapshot(into)).filter(([, what]) => what.startsWith('->'));
      const real = await Promise.all(links.map(([path]) => realpath(join(into, path)).catch(() => into)));
      return real.filter((path) => path !== into && !path.startsWith(`${into}/`));
    },
    close: () => rm(base, { recursive: true, force: true }),
  };
};

const snapshot = async (dir: string): Promise<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    found[path.slice(dir.length + 1)] = await describeFile(path, entry.isSymbolicLink(), entry.isDirectory());
  }
  return Object.fromEntries(Object.entries(found).sort(([left], [right]) => (left < right ? -1 : 1)));
};

const describeFile = async (path: string, isLink: boolean, isDir: boolean): Promise<string> => {
  if (isLink) return `-> ${await readlink(path)}`;
  const mode = ((await stat(path)).mode & 0o7777).toString(8);
  return isDir ? `dir ${mode}` : `file ${mode} ${await readFile(path, 'utf8')}`;
};
