import type { FileChange } from './port.ts';

/** Options that make git print what ChangeReader reads. */
export const CHANGE_OPTIONS = [
  '-r',
  '-z',
  '--raw',
  '--numstat',
  '--find-renames',
  '--no-ext-diff',
  '--no-textconv',
] as const;

/** Reads `--raw --numstat -z` (git-diff(1), "Raw output format"), field by field. */
export class ChangeReader {
  readonly files: FileChange[] = [];
  /** There were more than `max`. */
  truncated = false;
  readonly #max: number;
  /** By the bytes of the path: the counts come after all the changes. */
  readonly #byPath = new Map<string, FileChange>();
  #pending: Pending | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** False for a field that belongs to something else. */
  take(field: Buffer): boolean {
    if (this.#pending !== undefined) {
      this.#takePath(this.#pending, field);
      return true;
    }
    const text = field.toString('latin1');
    const raw = RAW.exec(text);
    if (raw !== null) {
      this.#pending = { kind: 'raw', status: raw[1] ?? 'M', paths: [] };
      return true;
    }
    const counts = COUNTS.exec(text);
    if (counts === null) return false;
    const [, additions, deletions, path] = counts;
    const pending: Pending = {
      kind: 'counts',
      additions: numberOf(additions),
      deletions: numberOf(deletions),
      paths: [],
    };
    // A rename's two paths follow as fields of their own.
    if (path === '') this.#pending = pending;
    else this.#count(pending, path ?? '');
    return true;
  }

  #takePath(pending: Pending, field: Buffer): void {
    pending.paths.push(field.toString('latin1'));
    if (pending.paths.length < (pending.kind === 'counts' || MOVED.has(pending.status) ? 2 : 1)) return;
    this.#pending = undefined;
    const path = pending.paths.at(-1) ?? '';
    if (pending.kind === 'counts') this.#count(pending, path);
    else this.#add(pending, path);
  }

  #add({ status, paths }: RawChange, path: string): void {
    if (this.files.length >= this.#max) {
      this.truncated = true;
      return;
    }
    const file: FileChange = {
      path: decode(path),
      ...(paths.length === 2 ? { from: decode(paths[0] ?? '') } : {}),
      change: CHANGES[status] ?? 'modified',
      additions: null,
      deletions: null,
    };
    this.files.push(file);
    this.#byPath.set(path, file);
  }

  #count({ additions, deletions }: Counts, path: string): void {
    const file = this.#byPath.get(path);
    if (file !== undefined) Object.assign(file, { additions, deletions });
  }
}

interface RawChange {
  kind: 'raw';
  status: string;
  paths: string[];
}

interface Counts {
  kind: 'counts';
  additions: number | null;
  deletions: number | null;
  paths: string[];
}

type Pending = RawChange | Counts;

/** After a commit's message a line feed comes first. */
const RAW = /^\n?:\d+ \d+ [0-9a-f.]+ [0-9a-f.]+ ([A-Z])\d*$/;
const COUNTS = /^\n?(\d+|-)\t(\d+|-)\t([\s\S]*)$/;
const MOVED = new Set(['R', 'C']);
const CHANGES: Record<string, FileChange['change']> = {
  A: 'added',
  C: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  T: 'type_changed',
};

/** `-` for a binary file. */
const numberOf = (digits: string | undefined): number | null =>
  digits === undefined || digits === '-' ? null : Number(digits);

const decode = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8');
