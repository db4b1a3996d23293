import { usageError } from './failure.ts';

/**
 * Reads the text of a `.env` file: comments, `export`, single, double and backtick quotes that may span lines, escapes inside double
 * quotes. `$NAME` stays as it is. A line that is no assignment is an error, because a forgotten quote would swallow the next ones.
 */
export const parseDotenv = (text: string): Record<string, string> => {
  const source = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
  const values = new Map<string, string>();
  let position = 0;
  while (position < source.length) {
    const assignment = readAssignment(source, position);
    if (assignment.name !== undefined) values.set(assignment.name, assignment.value);
    position = assignment.next;
  }
  return Object.fromEntries(values);
};

interface Assignment {
  name: string | undefined;
  value: string;
  next: number;
}

const BLANK = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;
const NAME = /[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_][A-Za-z0-9_]*)[^\S\n]*=[^\S\n]*/y;
const BARE = /[^\n]*/y;
const QUOTED: Record<string, RegExp> = { "'": /'([^']*)'/y, '"': /"((?:\\[\s\S]|[^"\\])*)"/y, '`': /`([^`]*)`/y };
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' };

const readAssignment = (source: string, start: number): Assignment => {
  const blank = matchAt(BLANK, source, start);
  if (blank !== undefined) return { name: undefined, value: '', next: start + blank[0].length };
  const head = matchAt(NAME, source, start);
  if (head?.[1] === undefined) throw wrongLine(source, start, 'is no NAME=value');
  const at = start + head[0].length;
  const quote = source[at] ?? '';
  const quoted = QUOTED[quote];
  if (quoted === undefined) return readBare(source, head[1], at);
  const match = matchAt(quoted, source, at);
  if (match === undefined) throw wrongLine(source, at, `has a ${quote} that is never closed`);
  const end = at + match[0].length;
  const rest = matchAt(BLANK, source, end);
  if (rest === undefined) throw wrongLine(source, end, 'has text after its closing quote');
  return {
    name: head[1],
    value: quote === '"' ? unescape(match[1] ?? '') : (match[1] ?? ''),
    next: end + rest[0].length,
  };
};

const readBare = (source: string, name: string, at: number): Assignment => {
  const line = matchAt(BARE, source, at)?.[0] ?? '';
  const value = line.startsWith('#') ? '' : line.replace(/\s+#.*$/, '').trim();
  return { name, value, next: at + line.length + 1 };
};

const unescape = (text: string): string =>
  text.replaceAll(
    /\\([\s\S])/g,
    (whole, letter: string) => ESCAPES[letter] ?? ('"\\$`'.includes(letter) ? letter : whole),
  );

const matchAt = (pattern: RegExp, source: string, at: number): RegExpExecArray | undefined => {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
};

/** Names the line, never its text: it may be a secret. */
const wrongLine = (source: string, at: number, what: string): Error =>
  usageError(
    `line ${source.slice(0, at).split('\n').length} of the file ${what}`,
    'write NAME=value, and quote values that span lines',
  );
