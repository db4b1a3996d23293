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

/**
 * Lays rows out in columns that fit `width`; the titles come first. Where they cannot fit, each row becomes a block with a
 * line a column. Cells are made inert and single-line.
 */
export const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string => {
  const body = rows.map((row) => columns.map((column) => cellText(column.value(row))));
  const cells = [columns.map((column) => column.title), ...body];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => Bun.stringWidth(line[index] ?? ''))));
  shrink(columns, widths, width);
  if (rows.length > 0 && totalOf(widths) > width) return blocks(columns, body, width);
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

type Columns = readonly Pick<Column<never>, 'title' | 'flexible'>[];

const totalOf = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, 0) + GAP.length * (widths.length - 1);

const shrink = (columns: Columns, widths: number[], width: number): void => {
  while (totalOf(widths) > width) {
    const candidates = widths
      .map((each, index) => ({ each, index }))
      .filter(({ each, index }) => columns[index]?.flexible === true && each > NARROWEST);
    const widest = candidates.sort((a, b) => b.each - a.each)[0];
    if (widest === undefined) return;
    widths[widest.index] = Math.max(NARROWEST, widest.each - (totalOf(widths) - width));
  }
};

/** Names and ids stay whole, to be copied; only what may be cut in a table is cut here. */
const blocks = (columns: Columns, body: readonly (readonly string[])[], width: number): string => {
  const titles = Math.max(...columns.map(({ title }) => Bun.stringWidth(title)));
  const room = Math.max(NARROWEST, width - titles - GAP.length);
  return body
    .map((line) =>
      line
        .map((cell, index) => ({ cell, column: columns[index] }))
        .filter(({ cell, column }) => cell !== '-' && cell.trim() !== '' && column !== undefined)
        .map(({ cell, column }) => {
          const shown = column?.flexible === true && Bun.stringWidth(cell) > room ? fit(cell, room, undefined) : cell;
          return `${fit(column?.title ?? '', titles, undefined)}${GAP}${shown}\n`;
        })
        .join(''),
    )
    .join('\n');
};

const fit = (text: string, width: number, align: 'right' | undefined): string => {
  const shown = Bun.stringWidth(text) <= width ? text : `${cut(text, width - 1)}…`;
  const padding = ' '.repeat(Math.max(0, width - Bun.stringWidth(shown)));
  return align === 'right' ? padding + shown : shown + padding;
};

/** Between characters as people see them: one may be several code points. */
const cut = (text: string, width: number): string => {
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Bun.stringWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return kept;
};
