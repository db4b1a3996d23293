import { conflict, notFound } from '#kernel/errors';
import type { BackupKeys } from './identity.ts';
import { decodeManifest, encodeManifest } from './manifest.ts';
import { dataPath, manifestPath, requireBackupName, shown } from './names.ts';
import type { Place } from './place.ts';
import type { BackupManifest, BackupName, Bytes } from './port.ts';
import { cutOff, verified } from './verified.ts';

/** The files of backups in one place, by name: what reading, writing and listing have in common. */
export interface Shelf {
  readonly place: Place;
  readonly keys: BackupKeys | undefined;
  /** Runs `work` while nobody else writes or removes this backup. Others are refused meanwhile. */
  claim<T>(name: BackupName, work: (manifestPath: string) => Promise<T>): Promise<T>;
  isClaimed(name: BackupName): boolean;
  find(name: BackupName): Promise<BackupManifest | undefined>;
  /** As `find`, but NOT_FOUND when there is none. */
  require(name: BackupName): Promise<BackupManifest>;
  /** Its file, as it is stored, verified. */
  stored(manifest: BackupManifest, signal: AbortSignal): Bytes;
  /** Refuses a backup whose file is missing or has another size. */
  requireWhole(manifest: BackupManifest): Promise<void>;
  writeManifest(manifest: BackupManifest, signal: AbortSignal): Promise<void>;
}

export const createShelf = (place: Place, keys: BackupKeys | undefined): Shelf => {
  /** Manifest paths. */
  const claimed = new Set<string>();

  const find = async (given: BackupName): Promise<BackupManifest | undefined> => {
    const name = requireBackupName(given);
    const bytes = await place.readSmall(manifestPath(name));
    if (bytes === undefined) return undefined;
    const decoded = decodeManifest(name, bytes);
    if ('manifest' in decoded) return decoded.manifest;
    throw conflict(`the manifest of ${shown(name)} cannot be believed: ${decoded.reason}`, 'use another backup');
  };

  return {
    place,
    keys,
    claim: async (name, work) => {
      const path = manifestPath(name);
      if (claimed.has(path))
        throw conflict(`${shown(name)} is being written or removed`, 'retry when it is done', true);
      claimed.add(path);
      try {
        return await work(path);
      } finally {
        claimed.delete(path);
      }
    },
    isClaimed: (name) => claimed.has(manifestPath(name)),
    find,
    require: async (name) => {
      const manifest = await find(name);
      if (manifest !== undefined) return manifest;
      throw notFound(`there is no ${shown(name)}`, 'list the backups of the datastore');
    },
    stored: (manifest, signal) => verified(place.read(fileOf(manifest), signal), manifest, shown(manifest)),
    requireWhole: async (manifest) => {
      const found = await place.size(fileOf(manifest));
      if (found === undefined) throw conflict(`the file of ${shown(manifest)} is missing`, 'use another backup');
      if (found !== manifest.bytes) throw cutOff(shown(manifest), found, manifest.bytes);
    },
    writeManifest: (manifest, signal) =>
      place.write(manifestPath(manifest), once(encodeManifest(manifest)), { signal }),
  };
};

export const fileOf = (manifest: BackupManifest): string =>
  dataPath(manifest, manifest.extension, manifest.encrypted !== null);

async function* once(bytes: Uint8Array): Bytes {
  yield bytes;
}
