import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMPRESSION_LEVEL } from '#cli/pack/pack';
import type { Benchmark } from './kit/bench.ts';
import { summarise } from './kit/stats.ts';

const FILES = 10_000;
const BYTES = 200e6;

/** A folder as large as sources get, packed as `berth deploy` packs it, beside `tar` and `gzip` at the same level. */
export const cliPack: Benchmark = async (bench) => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-pack-'));
  bench.scope.defer(async () => rmSync(dir, { recursive: true, force: true }));
  const source = join(dir, 'source');
  writeSource(source);
  const tar: number[] = [];
  const berth: number[] = [];
  const resident: number[] = [];
  const sizes = { tar: 0, berth: 0 };
  for (let run = 0; run <= bench.runs; run += 1) {
    const baseline = await tarOnce(source);
    const own = await packOnce(source);
    sizes.tar = baseline.bytes;
    sizes.berth = own.bytes;
    if (run === 0) continue;
    tar.push(speed(baseline.ms));
    berth.push(speed(own.ms));
    resident.push(own.mb);
    bench.say(
      `cli-pack ${run}: tar ${baseline.ms.toFixed(0)} ms, berth ${own.ms.toFixed(0)} ms, ${own.mb.toFixed(0)} MB`,
    );
  }
  const what = `packing ${FILES.toLocaleString('en')} files of ${BYTES / 1e6} MB for a deploy`;
  return [
    {
      what,
      unit: 'MB/s',
      berth: summarise(berth),
      baseline: summarise(tar),
      target: { kind: 'ratio', atLeast: 0.9 },
      notes: [
        `baseline: \`tar c | gzip -${COMPRESSION_LEVEL}\`; archives of ${mb(sizes.tar)} and ${mb(sizes.berth)} MB`,
        'from the folder on disk to the last byte of the archive; listing it is a part of it',
      ],
    },
    {
      what: `${what}: memory of the client`,
      unit: 'MB',
      berth: summarise(resident),
      target: { kind: 'value', atMost: 120 },
    },
  ];
};

const speed = (ms: number): number => BYTES / 1e6 / (ms / 1000);
const mb = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** Text of real programs, each file another part of it, with a few large ones, as in sources with assets. */
const writeSource = (dir: string): void => {
  const text = libraryText();
  const small = (BYTES * 0.75) / (FILES - 10);
  for (let index = 0; index < FILES; index += 1) {
    const folder = join(dir, `part${index % 100}`);
    if (index < 100) mkdirSync(folder, { recursive: true });
    const bytes = Math.round(index < 10 ? (BYTES * 0.25) / 10 : small * (0.5 + (index % 101) / 100));
    const from = (index * 7919) % (text.length - bytes);
    writeFileSync(join(folder, `file${index}.js`), text.subarray(from, from + bytes));
  }
};

const libraryText = (): Buffer => {
  const root = join(import.meta.dir, '../../node_modules');
  const texts: Buffer[] = [];
  let bytes = 0;
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.(?:js|d\.ts|md)$/.test(name) || name.includes('.cache')) continue;
    const text = readFileSync(join(root, name));
    texts.push(text);
    bytes += text.length;
    if (bytes > 30e6) break;
  }
  return Buffer.concat(texts);
};

const tarOnce = async (dir: string): Promise<{ ms: number; bytes: number }> => {
  const begun = performance.now();
  const tar = Bun.spawn(['tar', `--use-compress-program=gzip -${COMPRESSION_LEVEL}`, '-cf', '-', '-C', dir, '.'], {
    stdout: 'pipe',
  });
  let bytes = 0;
  for await (const chunk of tar.stdout) bytes += chunk.byteLength;
  if ((await tar.exited) !== 0) throw new Error('tar failed');
  return { ms: performance.now() - begun, bytes };
};

const packOnce = async (dir: string): Promise<{ ms: number; bytes: number; mb: number }> => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'processes/pack.ts'), dir], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('packing failed');
  return JSON.parse(text) as { ms: number; bytes: number; mb: number };
};
