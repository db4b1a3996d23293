import { conflict } from '#kernel/errors';
import type { BackupKeys } from './identity.ts';
import { dataPath, manifestPath, requireBackupName, requireExtension, shown } from './names.ts';
import type { Place } from './place.ts';
import type {
  BackupAbout,
  BackupManifest,
  BackupName,
  BackupPlace,
  BackupVerification,
  Bytes,
  OpenRequest,
  PutRequest,
} from './port.ts';
import { folderOf, listShelf, removeFromShelf, removeLeftOvers, type ShelfListing } from './shelf-listing.ts';
import { createShelf, fileOf, type Shelf } from './shelf.ts';
import { watched } from './streams.ts';
import { createMeter } from './verified.ts';

/** Backups in one place: names, encryption, checksums and manifests. */
export interface Vault {
  readonly kind: BackupPlace;
  put(name: BackupName, request: PutRequest): Promise<BackupManifest>;
  open(name: BackupName, request: OpenRequest): Promise<Bytes>;
  /** The manifest; undefined when there is no such backup. */
  find(name: BackupName): Promise<BackupManifest | undefined>;
  confirm(name: BackupName, verification: BackupVerification): Promise<BackupManifest>;
  list(filter: { project?: string; datastore?: string }): Promise<ShelfListing>;
  remove(name: BackupName): Promise<void>;
  removeParts(): Promise<number>;
  usedBytes(project: string): Promise<number>;
  /** The file as it is stored, verified. */
  stored(manifest: BackupManifest, signal: AbortSignal): Bytes;
  /** Takes a backup over from another place, as it is stored there. */
  adopt(manifest: BackupManifest, stored: Bytes, signal: AbortSignal): Promise<void>;
}

export interface VaultOptions {
  place: Place;
  /** Without keys, backups are stored as they come. */
  keys: BackupKeys | undefined;
  /** How old a file without manifest must be before it counts as left over: others may write into a bucket. */
  leftOverMs: number;
  now: () => number;
}

export const createVault = ({ place, keys, leftOverMs, now }: VaultOptions): Vault => {
  const shelf = createShelf(place, keys);
  return {
    kind: place.kind,
    put: (name, request) => put(shelf, name, request),
    open: (name, request) => open(shelf, requireBackupName(name), request),
    find: shelf.find,
    confirm: (name, verification) =>
      shelf.claim(requireBackupName(name), async () => {
        const manifest = { ...(await shelf.require(name)), verification };
        await shelf.writeManifest(manifest, new AbortController().signal);
        return manifest;
      }),
    list: (filter) => listShelf(shelf, filter),
    remove: async (name) => removeFromShelf(shelf, requireBackupName(name)),
    removeParts: () => removeLeftOvers(shelf, now, leftOverMs),
    usedBytes: async (project) => (await place.list(folderOf(project))).reduce((sum, { bytes }) => sum + bytes, 0),
    stored: shelf.stored,
    adopt: (manifest, stored, signal) =>
      shelf.claim(manifest, async () => {
        await place.write(fileOf(manifest), stored, { estimate: manifest.bytes, signal });
        await finish(shelf, manifest, signal);
      }),
  };
};

const open = async ({ keys, ...shelf }: Shelf, name: BackupName, { expected, signal }: OpenRequest): Promise<Bytes> => {
  const manifest = await shelf.require(name);
  if (expected !== undefined && (expected.sha256 !== manifest.sha256 || expected.bytes !== manifest.bytes))
    throw conflict(
      `${shown(name)} is not the file that was recorded when it was made`,
      'it or its manifest was exchanged; use another backup',
    );
  await shelf.requireWhole(manifest);
  if (manifest.encrypted === null) return shelf.stored(manifest, signal);
  return requireKeys(keys, manifest.encrypted, name).decrypt(shelf.stored(manifest, signal));
};

const put = async (shelf: Shelf, given: BackupName, request: PutRequest): Promise<BackupManifest> => {
  let begun = false;
  const bytes = ending(request.bytes, {
    begin: () => {
      begun = true;
    },
  });
  try {
    const name = requireBackupName(given);
    requireExtension(request.extension);
    return await shelf.claim(name, (path) => putNew(shelf, { name, path }, { ...request, bytes }));
  } finally {
    // A source that was never read has something to give up too.
    if (!begun) await request.bytes[Symbol.asyncIterator]().return?.();
  }
};

const putNew = async (
  shelf: Shelf,
  { name, path }: { name: BackupName; path: string },
  { extension, estimate, signal, ...request }: PutRequest,
): Promise<BackupManifest> => {
  const { place, keys } = shelf;
  if ((await place.size(path)) !== undefined) throw conflict(`${shown(name)} exists already`, 'choose another key');
  const stored = createMeter();
  let plainBytes = 0;
  let about: BackupAbout | undefined;
  const counted = watched(request.bytes, (chunk) => {
    plainBytes += chunk.byteLength;
  });
  const source = ending(counted, {
    end: async () => {
      about = await request.about();
    },
  });
  const bytes = keys === undefined ? source : await keys.encrypt(source);
  await place.write(dataPath(name, extension, keys !== undefined), watched(bytes, stored.see), { estimate, signal });
  if (about === undefined) throw new Error('the place has not read the backup to its end');
  const manifest: BackupManifest = {
    format: 1,
    ...about,
    ...name,
    extension,
    ...stored.end(),
    plain_bytes: plainBytes,
    encrypted: keys?.recipient ?? null,
    verification: null,
  };
  return finish(shelf, manifest, signal);
};

/** The manifest, last: from then on there is a backup. Without it, its file goes. */
const finish = async (shelf: Shelf, manifest: BackupManifest, signal: AbortSignal): Promise<BackupManifest> => {
  try {
    await shelf.requireWhole(manifest);
    await shelf.writeManifest(manifest, signal);
    return manifest;
  } catch (thrown) {
    // Whatever this cannot remove is left over without a manifest, or a manifest without a file, which `open` refuses.
    await shelf.place.remove(manifestPath(manifest)).catch(() => undefined);
    await shelf.place.remove(fileOf(manifest)).catch(() => undefined);
    throw thrown;
  }
};

/** Tells when reading begins and when it has ended; the reader waits for the latter, and fails when that fails. */
async function* ending(bytes: Bytes, { begin, end }: { begin?: () => void; end?: () => Promise<void> }): Bytes {
  begin?.();
  yield* bytes;
  await end?.();
}

const requireKeys = (keys: BackupKeys | undefined, recipient: string, name: BackupName): BackupKeys => {
  if (keys === undefined)
    throw conflict(
      `${shown(name)} is encrypted for ${recipient}, and berth has no key`,
      'set backup_key_file to the file with the identity of that recipient, then restart berth',
    );
  if (keys.recipients.includes(recipient)) return keys;
  throw conflict(
    `${shown(name)} is encrypted for ${recipient}, which is none of the identities in backup_key_file`,
    'add the identity of that recipient as a further line of backup_key_file, then restart berth',
  );
};
