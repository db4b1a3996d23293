import type { Phase } from '#modules/operations';
import { stripAnsi } from '../ui/ansi.ts';

export interface LogEntry {
  seq: number;
  ts: string;
  source: string;
  line: string;
}

/** A part of the log that can be folded: a phase, or a step of the build. */
export interface Step {
  title: string;
  /** Index of its first line. */
  from: number;
  /** Index behind its last line. */
  to: number;
  kind: 'phase' | 'step';
  outcome: 'open' | 'done' | 'cached' | 'failed' | 'stopped';
  /** What the step said at its end: `done in 3.2s`. */
  said: string;
  folded: boolean;
}

/** A row of the view: the head of a step, or a line. */
export type Row = { step: Step } | { line: number };

const HEAD = /^(\[[^\]]+\]|exporting to image$) ?(.*)$/;
const END = /^(\[[^\]]+\]|exporting to image:) (?:(CACHED)|(done in .+)|(stopped)|(failed.*))$/;

/**
 * The log of an operation, folded by steps. It grows by `add` and changes by `fold`; both raise `version`, by which a view
 * knows to look anew. Made for 100,000 lines: nothing is copied as it grows.
 */
export class LogModel {
  readonly lines: LogEntry[] = [];
  readonly steps: Step[] = [];
  version = 0;
  #rows: Row[] = [];
  #rowsOf = -1;
  #seen = 0;
  readonly #byLabel = new Map<string, Step>();

  /** Adds what is new; repetitions of what it has are left out. */
  add(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      if (entry.seq <= this.#seen) continue;
      this.#seen = entry.seq;
      this.#place(entry);
    }
    this.version += 1;
  }

  /** Begins a phase; the lines behind it are its own. */
  phase(seq: number, phase: Phase, title: string): void {
    if (seq <= this.#seen) return;
    this.#seen = seq;
    this.#begin({ title, kind: 'phase', outcome: phase === 'failed' || phase === 'rolled_back' ? 'failed' : 'done' });
    this.version += 1;
  }

  fold(step: Step, folded: boolean): void {
    step.folded = folded;
    this.version += 1;
  }

  foldAll(folded: boolean): void {
    for (const step of this.steps) step.folded = folded && step.to > step.from;
    this.version += 1;
  }

  /** What the view shows, in order. */
  rows(): readonly Row[] {
    if (this.#rowsOf === this.version) return this.#rows;
    this.#rowsOf = this.version;
    const rows: Row[] = [];
    const first = this.steps[0]?.from ?? this.lines.length;
    for (let line = 0; line < first; line += 1) rows.push({ line });
    for (const step of this.steps) {
      rows.push({ step });
      if (!step.folded) for (let line = step.from; line < step.to; line += 1) rows.push({ line });
    }
    this.#rows = rows;
    return rows;
  }

  /** The row that shows a line; its step is unfolded. */
  rowOf(line: number): number {
    const step = this.steps.findLast(({ from, to }) => from <= line && line < to);
    if (step?.folded === true) this.fold(step, false);
    return this.rows().findIndex((row) => 'line' in row && row.line === line);
  }

  /** The lines that contain a text, whatever its case. */
  search(text: string): number[] {
    const wanted = text.toLowerCase();
    if (wanted === '') return [];
    const found: number[] = [];
    for (const [index, { line }] of this.lines.entries())
      if (stripAnsi(line).toLowerCase().includes(wanted)) found.push(index);
    return found;
  }

  /** The whole log, to be kept or sent on. */
  text(): string {
    return this.lines.map(({ ts, line }) => `${ts} ${stripAnsi(line)}\n`).join('');
  }

  #place(entry: LogEntry): void {
    if (entry.source === 'build') {
      const end = END.exec(entry.line);
      const step = end === null ? undefined : this.#byLabel.get((end[1] ?? '').replace(/:$/, ''));
      if (end !== null && step !== undefined) return this.#finish(step, entry.line.slice((end[1] ?? '').length + 1));
      const head = end === null ? HEAD.exec(entry.line) : null;
      if (head !== null) {
        const begun = this.#begin({ title: entry.line, kind: 'step', outcome: 'open' });
        this.#byLabel.set(head[1] ?? '', begun);
        return undefined;
      }
    }
    this.lines.push(entry);
    const last = this.steps.at(-1);
    if (last !== undefined) last.to = this.lines.length;
    return undefined;
  }

  #finish(step: Step, said: string): void {
    step.said = said;
    step.outcome =
      said === 'CACHED' ? 'cached' : said === 'stopped' ? 'stopped' : said.startsWith('failed') ? 'failed' : 'done';
  }

  #begin(part: Pick<Step, 'title' | 'kind' | 'outcome'>): Step {
    const at = this.lines.length;
    const step: Step = { ...part, from: at, to: at, said: '', folded: false };
    this.steps.push(step);
    return step;
  }
}
