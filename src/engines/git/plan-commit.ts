import { conflict, invalidInput, type BerthError } from '#kernel/errors';
import { badPath, nameOf, requireWritablePath } from './names.ts';
import type { CommitAction, ObjectId } from './port.ts';
import { checkSpecialFile, isSpecialFile } from './special-files.ts';

/** What the commit that is built upon has at a path. */
export interface BaseEntry {
  mode: string;
  id: ObjectId;
}

/** One line for fast-import. Removals come first, then what is put at paths. */
export type Step =
  | { step: 'remove'; path: string }
  | { step: 'put'; path: string; mode: string; id: ObjectId }
  | { step: 'write'; path: string; mode: string; content: Uint8Array };

const DIRECTORY = '040000';
const FILE = '100644';
const EXECUTABLE = '100755';
const isFile = (mode: string): boolean => mode === FILE || mode === EXECUTABLE;

/** Paths whose entries in the base a plan of these actions needs: each path and the folders above it. */
export const pathsOf = (actions: readonly CommitAction[]): string[] => {
  const paths = new Set<string>();
  for (const action of actions) {
    for (const path of action.action === 'move' ? [action.from, action.path] : [action.path]) {
      paths.add(path);
      for (const folder of foldersAbove(path)) paths.add(folder);
    }
  }
  return [...paths];
};

const foldersAbove = (path: string): string[] => {
  const folders: string[] = [];
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) folders.push(path.slice(0, end));
  return folders;
};

/** Refuses what is wrong with actions whatever is in the repository. */
export const checkActions = (actions: readonly CommitAction[]): void => {
  if (actions.length === 0) throw invalidInput('the commit has no files', 'give at least one');
  const seen = new Set<string>();
  const once = (kind: string, path: string): void => {
    if (seen.has(`${kind} ${path}`)) throw badPath(path, 'is given more than once', 'give each path once');
    seen.add(`${kind} ${path}`);
  };
  for (const action of actions) {
    requireWritablePath(action.path);
    switch (action.action) {
      case 'write':
        once('write', action.path);
        checkSpecialFile(action.path, action.content);
        break;
      case 'delete':
        once('remove', action.path);
        break;
      case 'move':
        requireWritablePath(action.from);
        once('remove', action.from);
        once('move', action.path);
        checkMove(action);
        break;
      case 'mode':
        once('mode', action.path);
        break;
    }
  }
};

const checkMove = ({ from, path }: { from: string; path: string }): void => {
  if (from === path || path.startsWith(`${from}/`))
    throw badPath(from, 'is moved to itself or into itself', 'give another path to move to');
  if (isSpecialFile(path) && nameOf(from) !== nameOf(path))
    throw badPath(path, 'has a meaning to git, and nothing may be moved there', 'write it with its content instead');
};

/**
 * Turns actions into steps. All of them speak about the base, so their order does not matter, and a swap of two files is two
 * moves. INVALID_INPUT for what the base does not have, or has in the way.
 */
export const planCommit = (actions: readonly CommitAction[], base: ReadonlyMap<string, BaseEntry>): Step[] => {
  const removed = removedPaths(actions);
  for (const path of removed) {
    if (!base.has(path)) throw missing(path);
    if (foldersAbove(path).some((folder) => removed.has(folder)))
      throw badPath(path, 'is in a folder that is removed too', 'give the folder alone, or what is in it');
  }
  const left = (path: string): BaseEntry | undefined =>
    removed.has(path) || foldersAbove(path).some((folder) => removed.has(folder)) ? undefined : base.get(path);

  const placed = new Map<string, Step & { step: 'put' | 'write' }>();
  for (const action of actions) {
    if (action.action !== 'move') continue;
    if (left(action.path) !== undefined)
      throw badPath(
        action.path,
        'exists, nothing can be moved there',
        'delete it in the same commit, or choose another path',
      );
    const moved = base.get(action.from);
    if (moved === undefined) throw missing(action.from);
    placed.set(action.path, { step: 'put', path: action.path, ...moved });
  }
  for (const action of actions) {
    if (action.action !== 'write') continue;
    const there = placed.get(action.path)?.mode ?? left(action.path)?.mode;
    if (there === DIRECTORY)
      throw badPath(action.path, 'is a folder', 'delete it in the same commit, or write a file in it');
    placed.set(action.path, {
      step: 'write',
      path: action.path,
      mode: modeOf(action.executable, there),
      content: action.content,
    });
  }
  for (const action of actions) {
    if (action.action === 'mode') setMode(placed, { action, there: left(action.path) });
  }
  for (const path of placed.keys()) requireFolders(path, { placed, left });
  return [...[...removed].map((path): Step => ({ step: 'remove', path })), ...placed.values()];
};

/** A file keeps its mode; what was something else becomes a plain file. */
const modeOf = (executable: boolean | undefined, there: string | undefined): string => {
  if (executable !== undefined) return executable ? EXECUTABLE : FILE;
  return there !== undefined && isFile(there) ? there : FILE;
};

const setMode = (
  placed: Map<string, Step & { step: 'put' | 'write' }>,
  { action, there }: { action: Extract<CommitAction, { action: 'mode' }>; there: BaseEntry | undefined },
): void => {
  const { path, executable } = action;
  const step = placed.get(path) ?? (there === undefined ? undefined : { step: 'put' as const, path, ...there });
  if (step === undefined) throw missing(path);
  if (!isFile(step.mode)) throw badPath(path, 'is no regular file', 'only files can be executable');
  placed.set(path, { ...step, mode: modeOf(executable, undefined) });
};

/** Whatever is above a path must be a folder, or nothing. */
const requireFolders = (
  path: string,
  {
    placed,
    left,
  }: { placed: ReadonlyMap<string, Step & { mode: string }>; left: (path: string) => BaseEntry | undefined },
): void => {
  for (const folder of foldersAbove(path)) {
    const mode = placed.get(folder)?.mode ?? left(folder)?.mode;
    if (mode === undefined || (mode === DIRECTORY && !placed.has(folder))) continue;
    throw badPath(
      folder,
      mode === DIRECTORY
        ? 'is moved there, and written into too'
        : `is not a folder, so "${nameOf(path)}" cannot be in it`,
      'delete it in the same commit, or choose another path',
    );
  }
};

const removedPaths = (actions: readonly CommitAction[]): Set<string> => {
  const removed = new Set<string>();
  for (const action of actions) {
    if (action.action === 'delete') removed.add(action.path);
    if (action.action === 'move') removed.add(action.from);
  }
  return removed;
};

const missing = (path: string): BerthError =>
  badPath(path, 'does not exist', 'list the files of the branch, and mind which branch the commit is for');

export const branchMoved = (branch: string, actual: ObjectId | null, expected: ObjectId | null): BerthError =>
  conflict(
    actual === null
      ? `branch "${branch}" does not exist, so it is not at ${expected ?? ''}`
      : expected === null
        ? `branch "${branch}" exists already, at ${actual}`
        : `branch "${branch}" is at ${actual}, not at ${expected}`,
    actual === null
      ? 'leave expected_head out to make the branch'
      : `look at what has changed since, then send the commit again with expected_head ${actual}`,
  );
