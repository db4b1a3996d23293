import { at, send, type Query } from '../api.ts';
import { createSseParser } from '../sse.ts';
import { MOST_LINES, type NumberedLine } from './lines.ts';

const BATCH = 5_000;

/**
 * Reads what is stored of a service's log: one bounded request, which does not stay open. `onLines` gets them in batches
 * as they arrive.
 */
export const readStored = async (
  { project, service, query }: { project: string; service: string; query: Query },
  onLines: (lines: NumberedLine[]) => void,
  signal: AbortSignal,
): Promise<{ cut: boolean }> => {
  const own = new AbortController();
  const stop = (): void => own.abort();
  signal.addEventListener('abort', stop);
  try {
    const response = await send('GET', at('projects', project, 'services', service, 'logs'), {
      query: { ...query, follow: false },
      signal: own.signal,
    });
    if (response.body === null) return { cut: false };
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let batch: NumberedLine[] = [];
    let count = 0;
    const parse = createSseParser(({ id, event, data }) => {
      if (event !== 'log' || count > MOST_LINES) return;
      count += 1;
      // One more than are shown tells that there are more.
      if (count <= MOST_LINES) batch.push(lineOf(id, data));
    });
    const flush = (): void => {
      if (batch.length > 0) onLines(batch);
      batch = [];
    };
    for (;;) {
      const chunk = await reader.read();
      if (chunk.done) break;
      parse(decoder.decode(chunk.value, { stream: true }));
      if (batch.length >= BATCH) flush();
      if (count > MOST_LINES) {
        flush();
        return { cut: true };
      }
    }
    flush();
    return { cut: false };
  } finally {
    own.abort();
    signal.removeEventListener('abort', stop);
  }
};

const names = new Map<string, string>();

/** The same few names stand in every line: one text each, not 100,000. */
const shared = (name: string): string => {
  const known = names.get(name);
  if (known !== undefined) return known;
  names.set(name, name);
  return name;
};

const lineOf = (id: string, data: string): NumberedLine => {
  const { ts, replica, release, stream, line } = JSON.parse(data) as NumberedLine;
  return { seq: Number(id), ts, replica: shared(replica), release: shared(release), stream, line };
};
