#!/usr/bin/env bun
/**
 * Compiles berth into single executables under dist/.
 *   bun run build          dist/downloads: for all four platforms, compressed too, with their checksums
 *   bun run build --host   dist/berth: for this machine
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { executableName, ownPlatform, PLATFORMS, type Platform } from '../src/kernel/platform.ts';
import type { ReleaseExecutable } from '../src/kernel/release-manifest.ts';
import { stage } from './build/chunks.ts';
import { withoutZeros } from './build/elf.ts';
import { withoutSignature } from './build/macho.ts';
import { describeExecutable } from './build/parcels.ts';

const DOWNLOADS = 'dist/downloads';

const compile = async (entry: string, outfile: string, platform?: Platform): Promise<void> => {
  const target = platform?.replace('amd64', 'x64') as 'linux-x64' | undefined;
  const part = `${outfile}.part`;
  const result = await Bun.build({
    entrypoints: [entry],
    format: 'esm',
    compile: {
      outfile: part,
      // A stray .env or bunfig.toml of the folder that a user stands in must not change berth.
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(target === undefined ? {} : { target: `bun-${target}` as const }),
    },
  });
  if (!result.success) throw new AggregateError(result.logs, `cannot compile ${outfile}`);
  mend(part, platform ?? ownPlatform());
  chmodSync(part, 0o755);
  // In one step, because tests may be running the one that is there.
  renameSync(part, outfile);
};

/** What Bun leaves to be done. */
const mend = (file: string, platform: Platform | undefined): void => {
  if (platform?.startsWith('linux') === true) writeFileSync(file, withoutZeros(readFileSync(file)));
  if (platform === 'darwin-amd64') writeFileSync(file, withoutSignature(readFileSync(file)));
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

const buildAll = async (entry: string): Promise<void> => {
  rmSync(DOWNLOADS, { recursive: true, force: true });
  mkdirSync(DOWNLOADS);
  const executables: ReleaseExecutable[] = [];
  for (const platform of PLATFORMS) {
    await compile(entry, join(DOWNLOADS, executableName(platform)), platform);
    const executable = await describeExecutable(DOWNLOADS, platform);
    executables.push(executable);
    const packed = executable.packed.map(({ packing, bytes }) => `${packing} ${megabytes(bytes)}`);
    console.log(`${DOWNLOADS}/${executable.name}  ${megabytes(executable.bytes)}  ${packed.join('  ')}`);
  }
  // Last: what it lists is whole.
  writeFileSync(
    join(DOWNLOADS, 'manifest.json'),
    `${JSON.stringify({ version: manifest.version, executables }, null, 2)}\n`,
  );
};

const { values } = parseArgs({ options: { host: { type: 'boolean', default: false } } });
const begun = performance.now();
mkdirSync('dist', { recursive: true });
const folder = `dist/.stage-${process.pid}`;
try {
  const entry = await stage(folder);
  if (values.host) {
    await compile(entry, 'dist/berth');
    console.log(`dist/berth  ${megabytes(statSync('dist/berth').size)}`);
  } else await buildAll(entry);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${((performance.now() - begun) / 1000).toFixed(1)} s`);
