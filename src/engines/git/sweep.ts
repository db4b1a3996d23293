import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { INCOMING } from './mirror.ts';

/** A running git holds a lock for moments; one of this age is of a process that was killed, or lost its power. */
const LOCK_MS = 120_000;
/** Longer than any pause that a running git makes between two writes. */
const REST_MS = 3_600_000;

/**
 * Takes away what killed processes left: locks, which would refuse every later push to their ref, and half-received
 * objects, which only take space. Git looks at none of them.
 */
export const sweep = async (path: string, now: number): Promise<void> => {
  const locks = [...(await entriesOf(path)), ...(await entriesOf(join(path, 'refs'), true))].filter((name) =>
    name.endsWith('.lock'),
  );
  const objects = await entriesOf(join(path, 'objects'));
  const quarantines = objects.filter((name) => /^(?:tmp_objdir-)?incoming-/.test(basename(name)));
  const packs = await entriesOf(join(path, 'objects', 'pack'));
  const rests = packs.filter((name) => /^(?:tmp_|\.tmp-)|\.keep$/.test(basename(name)));
  await Promise.all([
    ...locks.map((name) => removeOld(name, now - LOCK_MS)),
    ...[...quarantines, ...rests, join(path, INCOMING)].map((name) => removeOld(name, now - REST_MS)),
  ]);
};

const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const entriesOf = async (dir: string, recursive = false): Promise<string[]> =>
  (await readdir(dir, { recursive }).catch(ignoreMissing([]))).map((name) => join(dir, name));

const removeOld = async (path: string, before: number): Promise<void> => {
  if ((await youngest(path)) < before) await rm(path, { recursive: true, force: true });
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
