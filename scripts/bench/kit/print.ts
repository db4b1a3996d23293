import { figures, ratioText, targetText, verdict, type Row } from './row.ts';

/** Rows as aligned text for a terminal, the notes of each below it. */
export const printable = (rows: readonly Row[]): string => {
  const head = ['', 'baseline', 'berth', 'ratio', 'target', ''];
  const cells = rows.map((row) => [
    row.what,
    figures(row.baseline, row.unit),
    figures(row.berth, row.unit),
    ratioText(row),
    targetText(row),
    verdict(row),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((line) => (line[column] ?? '').length)));
  const text = (line: string[]): string =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const body = cells.flatMap((line, index) => [text(line), ...(rows[index]?.notes ?? []).map((note) => `    ${note}`)]);
  return [text(head), ...body].join('\n');
};
