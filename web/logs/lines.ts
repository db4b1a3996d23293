import type { LogLine } from '#modules/logs';
import { stripAnsi } from '../ui/ansi.ts';

/** A line with its place in the service's log. */
export interface NumberedLine extends LogLine {
  seq: number;
}

/** So many lines are kept; the oldest go. */
export const MOST_LINES = 100_000;
/** Trimmed in lumps, so that not every line moves everything. */
const LUMP = 2_000;

/** Lines that are kept in the page, in order and without repetitions. */
export interface Lines {
  readonly all: readonly NumberedLine[];
  /** Lines that were dropped from the front since the beginning. */
  readonly dropped: number;
  /** Grows with each change. */
  readonly version: number;
  /** Adds those behind the last; returns how many were new. */
  append(lines: readonly NumberedLine[]): number;
  /** The sequence number of the last one seen, kept or not. */
  lastSeq(): number | undefined;
  subscribe(listener: () => void): () => void;
}

export const createLines = (passes: (line: NumberedLine) => boolean = () => true, most = MOST_LINES): Lines => {
  const listeners = new Set<() => void>();
  let all: NumberedLine[] = [];
  let last: number | undefined;
  let dropped = 0;
  let version = 0;
  return {
    get all() {
      return all;
    },
    get dropped() {
      return dropped;
    },
    get version() {
      return version;
    },
    lastSeq: () => last,
    append: (lines) => {
      let added = 0;
      for (const line of lines) {
        if (last !== undefined && line.seq <= last) continue;
        last = line.seq;
        if (!passes(line)) continue;
        all.push(line);
        added += 1;
      }
      if (added === 0) return 0;
      const over = all.length - most;
      if (over > 0 && (over >= LUMP || most < LUMP)) {
        all = all.slice(over);
        dropped += over;
      }
      version += 1;
      for (const listener of listeners) listener();
      return added;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** What is searched and written into files. */
export const plainText = ({ line }: { line: string }): string => stripAnsi(line);

/** Tells whether a text has what was typed; capitals count only if some were typed. Undefined for nothing typed. */
export const searcher = (typed: string): ((text: string) => number) | undefined => {
  if (typed === '') return undefined;
  const exact = typed !== typed.toLowerCase();
  return (text) => (exact ? text : text.toLowerCase()).indexOf(typed);
};

/** A line as it is written into a file. */
export const asText = (line: NumberedLine): string => `${line.ts} ${line.replica} ${line.stream} ${plainText(line)}`;
