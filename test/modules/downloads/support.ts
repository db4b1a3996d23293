import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { Platform } from '#kernel/platform';
import { createCatalogue, createTransfers } from '#modules/downloads';
import { createWorld } from '#test/app/world.ts';
import { atEnd } from '#test/support/preload.ts';

export const VERSION = '1.2.3';

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'downloads-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

interface Made {
  version?: string;
  platforms?: readonly Platform[];
  /** Without compressed forms. */
  plain?: boolean;
}

/** A folder as `bun run build` leaves it, with two of the four platforms. */
export const makeFolder = (content: Uint8Array, made: Made = {}): string => {
  const folder = temporaryFolder();
  const add = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(folder, name), bytes);
    return { name, bytes: bytes.length, sha256: sha256(bytes) };
  };
  const executables = (made.platforms ?? ['linux-amd64', 'darwin-arm64']).map((platform) => ({
    platform,
    ...add(`berth-${platform}`, content),
    packed:
      made.plain === true
        ? []
        : [
            { ...add(`berth-${platform}.gz`, gzipSync(content)), packing: 'gzip' },
            { ...add(`berth-${platform}.zst`, zstdCompressSync(content)), packing: 'zstd' },
          ],
  }));
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ version: made.version ?? VERSION, executables }));
  return folder;
};

interface Options {
  folder?: string | undefined;
  own?: string;
  atOnce?: number;
}

/** A server on a port of its own, which hands out what is in `folder`. */
export const openDownloads = ({ folder, own, atOnce = 10 }: Options) => {
  const logged: string[] = [];
  const log = { debug: () => {}, info: () => {}, error: () => {}, warn: (line: string) => void logged.push(line) };
  const world = createWorld({
    app: {
      downloads: {
        catalogue: createCatalogue({
          folder,
          version: VERSION,
          own: own === undefined ? undefined : { platform: 'linux-arm64', file: own },
          log,
        }),
        transfers: createTransfers(atOnce, (request) => world.peer.of(request) !== undefined),
      },
    },
  });
  const { url } = world.listen();
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${url}${path}`, {
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      decompress: false,
    } as RequestInit);
  return { world, url, get, logged };
};
