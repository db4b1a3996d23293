import { BerthError, messageOf } from '#kernel/errors';
import { MANIFEST_ENDING, manifestPath, nameOfPath, requireBackupName } from './names.ts';
import type { BackupListing, BackupManifest, BackupName } from './port.ts';
import type { Shelf } from './shelf.ts';

export interface ShelfListing {
  manifests: BackupManifest[];
  unreadable: BackupListing['unreadable'];
}

/** Manifests that are read at once: in a bucket, each costs a round trip. */
const LANES = 8;

export const listShelf = async (
  { place, find }: Shelf,
  { project, datastore }: { project?: string; datastore?: string },
): Promise<ShelfListing> => {
  const objects = await place.list(folderOf(project, datastore));
  const listing: ShelfListing = { manifests: [], unreadable: [] };
  const paths = objects.map((each) => each.path).filter((path) => path.endsWith(MANIFEST_ENDING));
  await inLanes(paths.sort(), async (path) => {
    const found = await readListed(path, find);
    if (typeof found === 'string') listing.unreadable.push({ place: place.kind, file: path, reason: found });
    else if (found !== undefined) listing.manifests.push(found);
  });
  return listing;
};

/** By the files that are there, not by what a manifest says. The manifest goes first. */
export const removeFromShelf = ({ place, claim }: Shelf, name: BackupName): Promise<void> =>
  claim(name, async (manifest) => {
    await place.remove(manifest);
    for (const { path } of await place.list(folderOf(name.project, name.datastore)))
      if (nameOfPath(path)?.key === name.key) await place.remove(path);
  });

/** Removes unfinished files, and those older than `ageMs` that have no manifest. Returns how many there were. */
export const removeLeftOvers = async (shelf: Shelf, now: () => number, ageMs: number): Promise<number> => {
  const { place } = shelf;
  let removed = await place.removeUnfinished();
  for (const { path, modified } of await place.list('')) {
    const name = nameOfPath(path);
    // Files have fractions of a millisecond, which the clock has not.
    const isYoung = now() - Math.floor(modified) < ageMs;
    if (name === undefined || path.endsWith(MANIFEST_ENDING) || isYoung || shelf.isClaimed(name)) continue;
    // Claimed first, looked at second: it may have been finished since it was listed.
    removed += await shelf.claim(name, async (manifest) => {
      if ((await place.size(manifest)) !== undefined) return 0;
      await place.remove(path);
      return 1;
    });
  }
  return removed;
};

export const folderOf = (project?: string, datastore?: string): string => {
  if (project === undefined) return '';
  requireBackupName({ project, datastore: datastore ?? 'any', key: 'any' });
  return datastore === undefined ? project : `${project}/${datastore}`;
};

/** The manifest at a path, or why it cannot be read; undefined when it has gone meanwhile. */
const readListed = async (path: string, find: Shelf['find']): Promise<BackupManifest | string | undefined> => {
  const name = nameOfPath(path);
  if (name === undefined || manifestPath(name) !== path) return 'it is not where berth keeps manifests';
  try {
    return await find(name);
  } catch (thrown) {
    if (thrown instanceof BerthError && thrown.retryable) throw thrown;
    return messageOf(thrown);
  }
};

const inLanes = async (items: readonly string[], work: (item: string) => Promise<void>): Promise<void> => {
  const queue = [...items];
  const lane = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
};
