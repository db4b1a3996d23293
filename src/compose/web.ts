import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebFiles, WebManifest } from '#modules/dashboard';

/** Where `bun scripts/web.ts` leaves the dashboard, seen from the sources. */
const BUILT = join(import.meta.dir, '../../dist/web');

/**
 * The dashboard's files: those of the executable (scripts/build/chunks.ts puts them there before berth starts), or what was
 * built beside the sources. Undefined when it was not built.
 */
export const openWeb = (): WebFiles | undefined =>
  (Reflect.get(globalThis, 'berthWeb') as WebFiles | undefined) ?? fromFolder(BUILT);

const fromFolder = (folder: string): WebFiles | undefined => {
  const text = textOf(join(folder, 'manifest.json'));
  if (text === undefined) return undefined;
  return {
    // Read anew each time: it is built anew while one works on it.
    get manifest() {
      return JSON.parse(textOf(join(folder, 'manifest.json')) ?? text) as WebManifest;
    },
    read: (file) => readFileSync(join(folder, file)),
  };
};

const textOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
};
