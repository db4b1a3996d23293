import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitDeps } from './deps.ts';
import type { Git, RepoId } from './port.ts';
import { sweep } from './sweep.ts';

/** How a repository lies on the disk. */
export interface Shape {
  packs: number;
  packBytes: number;
  /** An estimate. */
  looseObjects: number;
  bitmap: boolean;
}

/** Git's own default is 50 packs; each of them slows every reading down. */
const MAX_PACKS = 30;
const MAX_LOOSE = 2000;
/** From here on a clone is felt to be slower without a bitmap. */
const BITMAP_BYTES = 8 * 1024 ** 2;
const REPACK_MS = 3_600_000;

export const needsRepack = ({ packs, packBytes, looseObjects, bitmap }: Shape): boolean =>
  packs > MAX_PACKS || looseObjects > MAX_LOOSE || (packBytes > BITMAP_BYTES && !bitmap);

export const createMaintain = ({ git, places, clock }: GitDeps): Pick<Git, 'maintain'> => {
  /** What could not be made better the last time: the same work would do nothing again. */
  const settled = new Map<RepoId, string>();
  const maintain: Git['maintain'] = async (repo, signal) => {
    const path = places.existing(repo);
    await sweep(path, clock.now());
    await git.run({ repo, signal, args: ['pack-refs', '--all', '--prune'] });
    const shape = await shapeOf(path);
    if (!needsRepack(shape) || settled.get(repo) === JSON.stringify(shape)) return;
    const limits = { repo, signal, deadlineMs: REPACK_MS };
    // Keeps what nothing refers to for two weeks (gc.pruneExpire): a push under way may be about to refer to it.
    await git.run({ ...limits, args: ['gc', '--quiet'], settings: { 'gc.autoDetach': 'false' } });
    await git.run({ ...limits, args: ['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress'] });
    const after = await shapeOf(path);
    if (needsRepack(after)) settled.set(repo, JSON.stringify(after));
    else settled.delete(repo);
  };
  return { maintain };
};

const shapeOf = async (path: string): Promise<Shape> => {
  const objects = join(path, 'objects');
  const packFiles = await readdir(join(objects, 'pack'));
  const packs = packFiles.filter((name) => name.endsWith('.pack'));
  const sizes = await Promise.all(packs.map(async (name) => (await stat(join(objects, 'pack', name))).size));
  // Ids are spread evenly over 256 directories; git looks at this one too.
  const sample = (await readdir(objects)).includes('17') ? await readdir(join(objects, '17')) : [];
  return {
    packs: packs.length,
    packBytes: sizes.reduce((sum, size) => sum + size, 0),
    looseObjects: sample.length * 256,
    bitmap: packFiles.some((name) => name.endsWith('.bitmap')),
  };
};
