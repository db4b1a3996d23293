import type { QueryReply } from '#modules/datastores';

export type Columns = QueryReply['columns'];
export type Rows = QueryReply['rows'];

/** What a cell says; null says `NULL`, told from the text by its look. */
export const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
};

const SHOWN_CHARACTERS = 300;

/** In one line, for a grid. */
export const cellLine = (value: unknown): string => {
  const text = cellText(value);
  const cut = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  return cut.replaceAll(/\r\n|[\r\n]/g, '↵').replaceAll('\t', '⇥');
};

const NUMBERS = /^(?:smallint|integer|bigint|int\d*|numeric|decimal|real|double|float|number|long|money|oid)/i;

export const isNumeric = (type: string): boolean => NUMBERS.test(type);

/** RFC 4180. NULL is an empty field, and empty text a quoted one, so that both come back as they were. */
export const toCsv = (columns: Columns, rows: Rows): string =>
  [columns.map(({ name }) => quoted(name)), ...rows.map((row) => columns.map((_, index) => field(row[index])))]
    .map((fields) => `${fields.join(',')}\r\n`)
    .join('');

const field = (value: unknown): string => (value === null || value === undefined ? '' : quoted(cellText(value)));

const quoted = (text: string): string =>
  text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

/** Objects by column. Columns of the same name get a number, because an object has each key once. */
export const toJson = (columns: Columns, rows: Rows): string => {
  const keys = uniqueNames(columns.map(({ name }) => name));
  return `${JSON.stringify(
    rows.map((row) => Object.fromEntries(keys.map((key, index) => [key, row[index] ?? null]))),
    null,
    2,
  )}\n`;
};

const uniqueNames = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let count = 2; seen.has(unique); count += 1) unique = `${name}_${count}`;
    seen.add(unique);
    return unique;
  });
};

const MOST_CHARACTERS = 42;
const CHARACTER_PX = 7.6;
const PADDING_PX = 26;
const MEASURED_ROWS = 60;

/** Pixels of each column, by what the first rows hold. */
export const widthsOf = (columns: Columns, rows: Rows): number[] =>
  columns.map(({ name, type }, index) => {
    const longest = rows
      .slice(0, MEASURED_ROWS)
      .reduce((most, row) => Math.max(most, cellLine(row[index]).length), name.length + type.length + 2);
    return Math.ceil(Math.min(MOST_CHARACTERS, Math.max(5, longest)) * CHARACTER_PX + PADDING_PX);
  });

/** Hands text to the browser as a file. */
export const saveAs = (name: string, type: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};
