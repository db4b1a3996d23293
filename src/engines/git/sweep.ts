import { readFile, readdir, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { INCOMING } from './mirror.ts';

/** A running git holds a lock for moments. */
const LOCK_MS = 120_000;
/** Longer than any pause that a running git makes between two writes. */
const REST_MS = 3_600_000;

/**
 * Takes away what killed processes left: locks, which would refuse every later push to their ref, and half-received
 * objects, which only take space. At once when no git runs in the repository, else what is old.
 */
export const sweep = async (path: string, now: number): Promise<void> => {
  // First what there is, then who runs: what somebody begins in between is not on the list.
  const { locks, rests } = await leftIn(path);
  await removeOld(join(path, INCOMING), now - REST_MS);
  if (locks.length + rests.length === 0) return;
  const idle = !(await isInUse(path));
  await Promise.all([
    ...locks.map((name) => removeOld(name, idle ? Infinity : now - LOCK_MS)),
    ...rests.map((name) => removeOld(name, idle ? Infinity : now - REST_MS)),
  ]);
};

const leftIn = async (path: string): Promise<{ locks: string[]; rests: string[] }> => {
  const [top, refs, objects, packs] = await Promise.all([
    entriesOf(path),
    entriesOf(join(path, 'refs'), true),
    entriesOf(join(path, 'objects')),
    entriesOf(join(path, 'objects', 'pack')),
  ]);
  return {
    locks: [...top, ...refs].filter((name) => name.endsWith('.lock')),
    rests: [
      // Notes of fast-import on its own end.
      ...top.filter((name) => /^fast_import_crash_\d+$/.test(basename(name))),
      ...objects.filter((name) => /^(?:tmp_objdir-)?incoming-/.test(basename(name))),
      ...packs.filter((name) => /^(?:tmp_|\.tmp-)|\.keep$/.test(basename(name))),
    ],
  };
};

/** Whether a process works in the repository, one of a berth before this one included. Where nobody can tell: true. */
const isInUse = async (path: string): Promise<boolean> => {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return true;
  const uses = await Promise.all(
    pids.map(async (pid) => {
      const [cwd, argv] = await Promise.all([
        readlink(`/proc/${pid}/cwd`).catch(() => ''),
        readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
      ]);
      return cwd === path || cwd.startsWith(`${path}/`) || argv.includes(path);
    }),
  );
  return uses.includes(true);
};

const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const entriesOf = async (dir: string, recursive = false): Promise<string[]> =>
  (await readdir(dir, { recursive }).catch(ignoreMissing([]))).map((name) => join(dir, name));

const removeOld = async (path: string, before: number): Promise<void> => {
  if (before === Infinity || (await youngest(path)) < before) await rm(path, { recursive: true, force: true });
};

/** When the path, or anything below it, was last written to. */
const youngest = async (path: string): Promise<number> => {
  const found = await stat(path).catch(ignoreMissing(undefined));
  if (found === undefined) return Infinity;
  if (!found.isDirectory()) return found.mtimeMs;
  const below = await Promise.all((await entriesOf(path, true)).map(youngestFile));
  return Math.max(found.mtimeMs, ...below);
};

const youngestFile = async (path: string): Promise<number> =>
  (await stat(path).catch(ignoreMissing(undefined)))?.mtimeMs ?? Infinity;

/** Others clean up too. */
const ignoreMissing =
  <T>(instead: T) =>
  (thrown: unknown): T => {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return instead;
    throw thrown;
  };
