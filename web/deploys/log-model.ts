import type { Phase } from '#modules/operations';
import { searcher } from '../logs/lines.ts';
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

/** `[2/5] RUN …`, `[build 2/5] COPY …`: numbered, which tells them from what tools write, such as `[INFO] …`. */
const HEAD = /^(\[(?:[^\s\]]+ )?\d+\/\d+\]|exporting to image$)/;
const END = /^(\[(?:[^\s\]]+ )?\d+\/\d+\]|exporting to image:) (?:CACHED|done in .+|stopped|failed.*)$/;

/** What takes the place of lines that were dropped: by the builder, which takes only so much of a step, or by berth. */
const CUT = /^(?:\[output clipped, log limit (.+) reached\]|more than (\d+) lines: the rest is not kept)$/;
/** So many places are enough to see that a build says too much. */
const MOST_CUTS = 100;

/** Why lines are missing, from the line in their place. */
export const cutReason = (line: string): string | undefined => {
  const [match, limit, lines] = CUT.exec(stripAnsi(line)) ?? [];
  if (match === undefined) return undefined;
  return limit === undefined
    ? `of an operation, ${Number(lines).toLocaleString('en')} lines are kept`
    : `the builder takes ${limit.replace(/(\d)(?=[A-Z])/, '$1 ')} of what a step says`;
};

/**
 * The log of an operation, folded by steps. It grows by `add` and changes by `fold`; both raise `version`, by which a view
 * knows to look anew. Made for 100,000 lines: nothing is copied as it grows.
 */
export class LogModel {
  readonly lines: LogEntry[] = [];
  readonly steps: Step[] = [];
  /** Lines that say that others were dropped there. */
  readonly cuts: number[] = [];
  version = 0;
  #rows: Row[] = [];
  #rowsOf = -1;
  #seen = 0;
  #search = { text: '', upTo: 0, found: [] as number[] };
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

  /** The lines that contain a text; capitals count only if some were typed. As the log grows, only what is new is looked at. */
  search(text: string): readonly number[] {
    const find = searcher(text);
    if (this.#search.text !== text) this.#search = { text, upTo: 0, found: [] };
    const state = this.#search;
    if (find === undefined) return state.found;
    for (; state.upTo < this.lines.length; state.upTo += 1)
      if (find(stripAnsi(this.lines[state.upTo]?.line ?? '')) !== -1) state.found.push(state.upTo);
    return state.found;
  }

  /** The last line of the step that failed, or of the whole log when it failed elsewhere. */
  failedAt(): number | undefined {
    const step = this.steps.findLast(
      ({ outcome, kind, from, to }) => outcome === 'failed' && kind === 'step' && to > from,
    );
    if (step !== undefined) return step.to - 1;
    const end = this.steps.findLast(({ outcome, kind }) => outcome === 'failed' && kind === 'phase');
    return end === undefined || end.from === 0 ? undefined : end.from - 1;
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
    if (this.cuts.length < MOST_CUTS && CUT.test(stripAnsi(entry.line))) this.cuts.push(this.lines.length);
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
