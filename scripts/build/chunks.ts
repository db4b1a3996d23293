import { type BuildArtifact, type BunPlugin } from 'bun';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import type { WebManifest } from '#modules/dashboard';
import { buildWeb, GZIP_LEVEL } from './web.ts';

/** Parts of dockerode for engines behind ssh and for its own BuildKit session, which berth never asks for. */
const UNUSED = /^(?:ssh2|@grpc\/grpc-js|@grpc\/proto-loader)$/;

const withoutUnused: BunPlugin = {
  name: 'without unused packages',
  setup: (build) => {
    build.onResolve({ filter: UNUSED }, ({ path }) => ({ path, namespace: 'unused' }));
    build.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
  },
};

const PREFIX = 'berth/';

/**
 * Bundles the sources into chunks, compresses each, and writes a program that unpacks them as they are imported: an
 * eighth of what they take otherwise, and a command loads what it needs of them (decisions/028). Gives its entry point.
 */
export const stage = async (folder: string): Promise<string> => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const result = await Bun.build({
    entrypoints: ['src/main.ts'],
    target: 'bun',
    format: 'esm',
    splitting: true,
    // Names stay, because they are what a stack trace in a server's log says.
    minify: { syntax: true, whitespace: true, identifiers: false },
    naming: { entry: '[name].js', chunk: 'chunk-[hash].js' },
    plugins: [withoutUnused],
  });
  const odd = result.outputs.filter(({ kind }) => kind !== 'chunk' && kind !== 'entry-point');
  if (odd.length > 0)
    throw new Error(`not code, and lost to the executable: ${odd.map(({ path }) => path).join(', ')}`);
  const { index, archive } = await pack(result.outputs);
  writeFileSync(join(folder, 'chunks.bin'), archive);
  const manifest = await buildWeb(join(folder, 'web'));
  const web = packWeb(join(folder, 'web'), manifest);
  writeFileSync(join(folder, 'web.bin'), web.archive);
  const entry = join(folder, 'berth.ts');
  writeFileSync(entry, loader(index, { manifest, index: web.index }));
  return entry;
};

/** The dashboard's files, the smallest form of each: the loader makes the others of it when they are asked for. */
const packWeb = (folder: string, { page, assets }: WebManifest): { index: Index; archive: Buffer } => {
  const index: Index = {};
  const parts: Buffer[] = [];
  let at = 0;
  for (const file of [page, ...assets].map(nameOf)) {
    const part = readFileSync(join(folder, file));
    index[file] = [at, part.length];
    at += part.length;
    parts.push(part);
  }
  return { index, archive: Buffer.concat(parts) };
};

const nameOf = ({ file, brotli }: WebManifest['page']): string => (brotli === null ? file : `${file}.br`);

/** Offset and length of each chunk in the archive. */
type Index = Record<string, [at: number, bytes: number]>;

const pack = async (outputs: readonly BuildArtifact[]): Promise<{ index: Index; archive: Buffer }> => {
  const names = outputs.map(({ path }) => basename(path));
  const index: Index = {};
  const parts: Buffer[] = [];
  let at = 0;
  for (const output of outputs) {
    const code = withNames(await output.text(), names);
    const part = zstdCompressSync(code, { params: { [constants.ZSTD_c_compressionLevel]: 19 } });
    index[basename(output.path)] = [at, part.length];
    at += part.length;
    parts.push(part);
  }
  return { index, archive: Buffer.concat(parts) };
};

/** Chunks import each other by file; in the executable they have names instead. */
const withNames = (code: string, names: readonly string[]): string =>
  code.replaceAll(/"\.\/((?:chunk-)?[\w]+\.js)"/g, (whole, name: string) =>
    names.includes(name) ? `"${PREFIX}${name}"` : whole,
  );

const loader = (
  index: Index,
  web: { manifest: WebManifest; index: Index },
): string => `import { readFileSync } from 'node:fs';
import { brotliDecompressSync, gzipSync, zstdDecompressSync } from 'node:zlib';
import file from './chunks.bin' with { type: 'file' };
import webFile from './web.bin' with { type: 'file' };

const archive = readFileSync(file);
const index: Record<string, [number, number]> = ${JSON.stringify(index)};
Bun.plugin({
  name: 'chunks',
  setup: (build) => {
    for (const [name, [at, bytes]] of Object.entries(index)) {
      build.module('${PREFIX}' + name, () => ({
        contents: zstdDecompressSync(archive.subarray(at, at + bytes)).toString(),
        loader: 'js',
      }));
    }
  },
});
const webIndex: Record<string, [number, number]> = ${JSON.stringify(web.index)};
let web: Buffer | undefined;
const stored = (name: string): Buffer | undefined => {
  const place = webIndex[name];
  if (place === undefined) return undefined;
  web ??= readFileSync(webFile);
  return web.subarray(place[0], place[0] + place[1]);
};
const made = new Map<string, Buffer>();
globalThis.berthWeb = {
  manifest: ${JSON.stringify(web.manifest)},
  read: (name) => {
    const file = stored(name) ?? made.get(name);
    if (file !== undefined) return file;
    const plain = name.endsWith('.gz') ? name.slice(0, -3) : name;
    const small = stored(plain + '.br');
    if (small === undefined) return undefined;
    const bytes = brotliDecompressSync(small);
    const wanted = plain === name ? bytes : gzipSync(bytes, { level: ${GZIP_LEVEL} });
    made.set(name, wanted);
    return wanted;
  },
};
const entry = '${PREFIX}main.js';
await import(entry);
`;
