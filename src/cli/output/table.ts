import { inert } from './style.ts';

export interface Column<Row> {
  title: string;
  value: (row: Row) => string | number | null | undefined;
  /** May be cut when the table is wider than the terminal; the widest is cut first. */
  flexible?: boolean;
  align?: 'right';
}

const GAP = '  ';
const NARROWEST = 8;

/** Lays rows out in columns that fit `width`; the titles come first. Cells are made inert and single-line. */
export const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string => {
  const cells = [
    columns.map((column) => column.title),
    ...rows.map((row) => columns.map((column) => cellText(column.value(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => Bun.stringWidth(line[index] ?? ''))));
  shrink(columns, widths, width);
  const lines = cells.map((line) =>
    line
      .map((cell, index) => fit(cell, widths[index] ?? 0, columns[index]?.align))
      .join(GAP)
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
};

const cellText = (value: string | number | null | undefined): string => {
  const text = value === null || value === undefined || value === '' ? '-' : String(value);
  return inert(text.replaceAll(/\s*\n\s*/g, ' '), false);
};

const shrink = (
  columns: readonly Column<never>[] | readonly Column<unknown>[],
  widths: number[],
  width: number,
): void => {
  const total = (): number => widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1);
  while (total() > width) {
    const candidates = widths
      .map((each, index) => ({ each, index }))
      .filter(({ each, index }) => columns[index]?.flexible === true && each > NARROWEST);
    const widest = candidates.sort((a, b) => b.each - a.each)[0];
    if (widest === undefined) return;
    widths[widest.index] = Math.max(NARROWEST, widest.each - (total() - width));
  }
};

const fit = (text: string, width: number, align: 'right' | undefined): string => {
  const shown = Bun.stringWidth(text) <= width ? text : `${cut(text, width - 1)}…`;
  const padding = ' '.repeat(Math.max(0, width - Bun.stringWidth(shown)));
  return align === 'right' ? padding + shown : shown + padding;
};

const cut = (text: string, width: number): string => {
  let kept = '';
  for (const character of text) {
    if (Bun.stringWidth(kept + character) > width) break;
    kept += character;
  }
  return kept;
};
