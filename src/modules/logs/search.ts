import { setImmediate } from 'node:timers/promises';
import { plainText } from '#kernel/terminal';
import { matcher, type LogFilter, type LogLine } from './model.ts';
import type { LogReader } from './service.ts';

export interface LogQuery extends LogFilter {
  /** Text that the line contains, in whatever case. */
  text?: string | undefined;
  stream?: 'stdout' | 'stderr' | undefined;
  /** Milliseconds since the epoch; lines from then on are left out. */
  until?: number | undefined;
}

export type FoundLine = LogLine & { seq: number };

/** How JSON writes the beginning of a colour, which may stand within a word. */
const ESCAPE = '\\u001b';

/** Tells whether a stored line passes. A quick look at the JSON text spares parsing most of those that don't. */
export const lineMatcher = (query: LogQuery): ((text: string) => LogLine | undefined) => {
  const passes = matcher(query);
  const wanted = query.text?.toLowerCase() ?? '';
  // What JSON escapes cannot be looked for in its text.
  const plain = JSON.stringify(wanted) === `"${wanted}"` ? wanted : '';
  const until = query.until === undefined ? undefined : new Date(query.until).toISOString().slice(0, -1);
  return (text) => {
    if (passes !== undefined && !passes(text)) return undefined;
    if (plain !== '' && !text.includes(ESCAPE) && !text.toLowerCase().includes(plain)) return undefined;
    const line = JSON.parse(text) as LogLine;
    if (query.stream !== undefined && line.stream !== query.stream) return undefined;
    if (until !== undefined && line.ts.slice(0, until.length) >= until) return undefined;
    return plainText(line.line).toLowerCase().includes(wanted) ? line : undefined;
  };
};

/** All stored lines that match, in order, without holding the server up: it goes on with other work between pages. */
export async function* matchingLines(source: LogReader, query: LogQuery): AsyncGenerator<FoundLine[]> {
  const match = lineMatcher(query);
  while (source.open() && source.cursor.seq() < source.end) {
    const page = source.cursor.nextLines();
    if (page === undefined) return;
    const found = page.texts.flatMap((text, index) => {
      const line = match(text);
      return line === undefined ? [] : [{ seq: page.first + index, ...line }];
    });
    yield found;
    await setImmediate();
  }
}

export interface SearchWindow {
  limit: number;
  order: 'newest' | 'oldest';
  /** Sequence number of the last line of the page before. */
  after: number | undefined;
}

/** A page of matching lines, one more than asked for when there are more. */
export const searchLines = async (
  source: LogReader,
  query: LogQuery,
  { limit, order, after }: SearchWindow,
): Promise<FoundLine[]> => {
  let found: FoundLine[] = [];
  for await (const lines of matchingLines(source, query)) {
    if (order === 'oldest') {
      found.push(...lines);
      if (found.length > limit) break;
      continue;
    }
    found.push(...lines.filter(({ seq }) => after === undefined || seq < after));
    if (after !== undefined && (lines.at(-1)?.seq ?? 0) >= after) break;
    found = found.slice(-(limit + 1));
  }
  return order === 'oldest' ? found.slice(0, limit + 1) : found.slice(-(limit + 1)).reverse();
};
