import type { Summary } from './stats.ts';

/** What must be reached: by the ratio of the medians, by their difference, or by berth's own worst figure. */
export type Target =
  | { kind: 'ratio'; atMost: number }
  | { kind: 'ratio'; atLeast: number }
  | { kind: 'excess'; atMost: number }
  | { kind: 'value'; atMost: number }
  | { kind: 'value'; atLeast: number };

/** One line of the table. */
export interface Row {
  /** Says what was measured; finds the line in the document again. */
  what: string;
  unit: string;
  berth: Summary;
  baseline?: Summary;
  target: Target;
  /** How it came about, in a few words: shown below the line, and under the table in the document. */
  notes?: string[];
}

/** berth's median in units of the baseline's. */
export const ratioOf = ({ berth, baseline }: Row): number | undefined =>
  baseline === undefined ? undefined : berth.median / baseline.median;

export const isMet = (row: Row): boolean => {
  const { target } = row;
  if (target.kind === 'value')
    return 'atMost' in target ? row.berth.p95 <= target.atMost : row.berth.p95 >= target.atLeast;
  const ratio = ratioOf(row);
  if (ratio === undefined || row.baseline === undefined)
    throw new Error(`${row.what} is to be compared with a baseline, but has no baseline`);
  if (target.kind === 'excess') return row.berth.median - row.baseline.median <= target.atMost;
  return 'atMost' in target ? ratio <= target.atMost : ratio >= target.atLeast;
};

export const targetText = ({ target, unit }: Row): string => {
  if (target.kind === 'value')
    return 'atMost' in target
      ? `≤ ${withUnit(String(target.atMost), unit)}`
      : `≥ ${withUnit(String(target.atLeast), unit)}`;
  if (target.kind === 'excess') return `≤ ${withUnit(String(target.atMost), unit)} more`;
  return 'atMost' in target ? `≤ ${target.atMost} ×` : `≥ ${target.atLeast} ×`;
};

/** `812 / 954 ms`: the median, and what 95 % stay within. */
export const figures = (summary: Summary | undefined, unit: string): string => {
  if (summary === undefined) return '–';
  const both = [summary.median, summary.p95].map(figure);
  return withUnit(both[0] === both[1] ? (both[0] ?? '') : both.join(' / '), unit);
};

const withUnit = (text: string, unit: string): string => (unit === '' ? text : `${text} ${unit}`);

const figure = (value: number): string => {
  if (value === 0) return '0';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
};

export const ratioText = (row: Row): string => {
  const ratio = ratioOf(row);
  return ratio === undefined ? '–' : `${ratio.toFixed(2)} ×`;
};

export const verdict = (row: Row): 'ok' | 'MISSED' => (isMet(row) ? 'ok' : 'MISSED');
