import type { FileChange } from './diff.tsx';

/** One line of a hunk, with its number on each side. */
export interface PatchLine {
  kind: 'same' | 'added' | 'removed' | 'note';
  text: string;
  before: number | null;
  after: number | null;
}

export interface Hunk {
  /** `@@ -1,4 +1,5 @@ function x`. */
  head: string;
  lines: PatchLine[];
}

export interface FilePatch {
  hunks: Hunk[];
  binary: boolean;
  lines: number;
}

/**
 * Takes a unified diff by git apart, file by file, in git's order. Within a hunk each line begins with one of ` +-\`, so
 * that no content can be taken for the head of a file.
 */
export const parsePatch = (patch: string): FilePatch[] => {
  const files: FilePatch[] = [];
  let hunk: Hunk | undefined;
  let before = 0;
  let after = 0;
  for (const line of patch.split('\n')) {
    const file = files.at(-1);
    if (line.startsWith('diff --git ')) {
      files.push({ hunks: [], binary: false, lines: 0 });
      hunk = undefined;
    } else if (file === undefined) continue;
    else if (line.startsWith('@@ ')) {
      const [, from = '1', to = '1'] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line) ?? [];
      before = Number(from);
      after = Number(to);
      hunk = { head: line, lines: [] };
      file.hunks.push(hunk);
    } else if (hunk === undefined) {
      if (/^(?:Binary files |GIT binary patch)/.test(line)) file.binary = true;
    } else {
      const taken = takeLine(line, before, after);
      if (taken === undefined) continue;
      hunk.lines.push(taken);
      file.lines += 1;
      if (taken.before !== null) before += 1;
      if (taken.after !== null) after += 1;
    }
  }
  return files;
};

const takeLine = (line: string, before: number, after: number): PatchLine | undefined => {
  const text = line.slice(1);
  if (line.startsWith('+')) return { kind: 'added', text, before: null, after };
  if (line.startsWith('-')) return { kind: 'removed', text, before, after: null };
  if (line.startsWith(' ')) return { kind: 'same', text, before, after };
  if (line.startsWith('\\')) return { kind: 'note', text: text.trim(), before: null, after: null };
  return undefined;
};

/**
 * The patches of the changed files. Both lists are in git's order; what changes its type is a deletion and an addition in
 * the patch. Undefined where the patch was cut.
 */
export const patchesOf = (files: readonly FileChange[], patch: string): (FilePatch | undefined)[] => {
  const parsed = parsePatch(patch);
  let at = 0;
  return files.map(({ change }) => {
    const own = parsed[at];
    at += 1;
    if (change !== 'type_changed') return own;
    const second = parsed[at];
    at += 1;
    if (own === undefined || second === undefined) return own;
    return {
      hunks: [...own.hunks, ...second.hunks],
      binary: own.binary || second.binary,
      lines: own.lines + second.lines,
    };
  });
};
