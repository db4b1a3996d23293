import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { MANIFEST } from './release-manifest.ts';

/**
 * Where the clients lie that a server hands out, or will lie once they are there. `setting` is its `downloads_dir`, `executable` what it
 * runs; undefined from source.
 */
export const downloadsFolder = (setting: string, executable: string | undefined): string => {
  if (setting !== '') return resolve(setting);
  if (executable === undefined) return join(import.meta.dir, '../../dist/downloads');
  const beside = join(dirname(executable), 'downloads');
  const places = [beside, join(dirname(executable), '../lib/berth/downloads')];
  return places.find((place) => existsSync(join(place, MANIFEST))) ?? beside;
};
