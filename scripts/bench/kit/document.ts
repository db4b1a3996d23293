import { figures, ratioText, targetText, verdict, type Row } from './row.ts';

/** What the figures were measured on and when. */
export interface Machine {
  line: string;
  date: string;
}

const TABLE_BEGIN = '<!-- figures: written by `bun run bench --write` -->';
const TABLE_END = '<!-- end of figures -->';
const HEAD = ['| what | baseline | berth | ratio | target | |', '|---|---|---|---|---|---|'];

/**
 * The document with these rows in its table: a row takes the place of the one that says the same, and new ones come last.
 * What is around the table stays as it is.
 */
export const withRows = (document: string, rows: readonly Row[], machine: Machine): string => {
  const begin = document.indexOf(TABLE_BEGIN);
  const end = document.indexOf(TABLE_END);
  if (begin < 0 || end < begin) throw new Error(`the document lacks the lines ${TABLE_BEGIN} and ${TABLE_END}`);
  const sections = parseSections(document.slice(begin + TABLE_BEGIN.length, end));
  for (const row of rows) sections.set(row.what, { line: tableLine(row), notes: noteLines(row, machine) });
  const body = [...HEAD, ...[...sections.values()].map((section) => section.line)];
  const notes = [...sections.values()].flatMap((section) => section.notes);
  return `${document.slice(0, begin)}${TABLE_BEGIN}\n${body.join('\n')}\n\n${notes.join('\n')}\n${document.slice(end)}`;
};

interface Section {
  line: string;
  notes: string[];
}

const parseSections = (text: string): Map<string, Section> => {
  const sections = new Map<string, Section>();
  for (const line of text.split('\n')) {
    if (HEAD.includes(line)) continue;
    const row = /^\| (?<what>.+?) \|/.exec(line)?.groups?.['what'];
    if (row !== undefined) sections.set(row, { line, notes: [] });
    const noted = /^- \*\*(?<what>.+?)\*\*/.exec(line)?.groups?.['what'];
    if (noted !== undefined) sections.get(noted)?.notes.push(line);
  }
  return sections;
};

const tableLine = (row: Row): string =>
  `| ${[
    row.what,
    figures(row.baseline, row.unit),
    figures(row.berth, row.unit),
    ratioText(row),
    targetText(row),
    verdict(row),
  ].join(' | ')} |`;

const noteLines = (row: Row, machine: Machine): string[] => [
  `- **${row.what}**: ${[...(row.notes ?? []), `${row.berth.count} runs`, machine.date, machine.line].join('; ')}.`,
];
