import type { SseReader } from '#http/sse';
import type { Event, Events } from '#modules/events';
import type { LogReader } from '#modules/logs';
import type { OperationEvent, Operations } from '#modules/operations';
import { frameOf, rawFrame } from './model.ts';
import type { Wanted } from './topics.ts';

/** Ends what a topic holds. */
export type Stop = () => void;

/** Lines of one event at most: what a page can take in without stopping. */
const BATCH_LINES = 1000;
const EVENTS_PAGE = 200;
const EVENTS_TAIL = 50;

/** Encoded once per event, whoever follows it. */
const encodedEvents = new WeakMap<object, Uint8Array>();

const once = (key: object, encode: () => Uint8Array): Uint8Array => {
  const known = encodedEvents.get(key);
  if (known !== undefined) return known;
  const frame = encode();
  encodedEvents.set(key, frame);
  return frame;
};

/** The events of a project: those after the cursor, or the newest; then all that come. */
export const followEvents = async (
  events: Events,
  reader: SseReader,
  { name, cursor }: Wanted,
  project: string,
): Promise<Stop> => {
  let seen = cursor ?? events.startOf(project, { tail: EVENTS_TAIL });
  const frame = (event: Event): Uint8Array => frameOf('event', name, String(event.seq), { event });
  for (
    let page = events.after(project, seen, EVENTS_PAGE);
    page.length > 0;
    page = events.after(project, seen, EVENTS_PAGE)
  ) {
    for (const event of page) {
      if (!(await reader.write(frame(event)))) return () => undefined;
      seen = event.seq;
    }
  }
  return events.subscribe(project, () => {
    for (
      let page = events.after(project, seen, EVENTS_PAGE);
      page.length > 0;
      page = events.after(project, seen, EVENTS_PAGE)
    ) {
      for (const event of page) reader.send(frame(event));
      seen = page.at(-1)?.seq ?? seen;
    }
  });
};

/** An operation's events: lines in batches, phases and the end between them, in order and without a gap. */
export const followOperation = async (
  operations: Operations,
  reader: SseReader,
  { name, cursor }: Wanted,
  id: string,
): Promise<Stop> => {
  let seen = cursor ?? 0;
  for (let events = operations.eventsAfter(id, seen); events.length > 0; events = operations.eventsAfter(id, seen)) {
    for (const batch of batchesOf(events)) {
      if (!(await reader.write(operationFrame(name, batch)))) return () => undefined;
      seen = batch.at(-1)?.seq ?? seen;
    }
  }
  return operations.subscribe(id, (event) => {
    if (event.seq <= seen) return;
    seen = event.seq;
    reader.send(once(event, () => operationFrame(name, [event])));
  });
};

/** Runs of lines, and each other event by itself. */
const batchesOf = (events: readonly OperationEvent[]): OperationEvent[][] => {
  const batches: OperationEvent[][] = [];
  for (const event of events) {
    const last = batches.at(-1);
    if (event.kind === 'log' && last?.[0]?.kind === 'log' && last.length < BATCH_LINES) last.push(event);
    else batches.push([event]);
  }
  return batches;
};

const operationFrame = (topic: string, batch: readonly OperationEvent[]): Uint8Array => {
  const cursor = String(batch.at(-1)?.seq ?? 0);
  const [first] = batch;
  if (first?.kind === 'phase') return frameOf('phase', topic, cursor, { phase: first.data });
  if (first?.kind === 'done') return frameOf('done', topic, cursor, { done: first.data });
  return frameOf('lines', topic, cursor, {
    lines: batch.flatMap((event) => (event.kind === 'log' ? [event.data] : [])),
  });
};

/** A service's log from where `source` stands, at the pace of the reader. Ends by itself when the log is removed. */
export const followLog = (source: LogReader, reader: SseReader, { name }: Wanted): Stop => {
  const ended = new AbortController();
  const leave = (): void => {
    if (ended.signal.aborted) return;
    ended.abort();
    source.leave();
  };
  const run = async (): Promise<void> => {
    while (!ended.signal.aborted && !reader.ended && source.open()) {
      const page = source.cursor.nextLines();
      if (page === undefined) await source.wait();
      else if (page.texts.length > 0) await writeLines(reader, name, page);
    }
    leave();
  };
  run().catch((thrown: unknown) => {
    leave();
    // An unreadable file ends the stream: the page opens it anew, and is told what is wrong then.
    reader.end();
    source.onFault(thrown);
  });
  return leave;
};

interface Lines {
  first: number;
  texts: readonly string[];
}

const writeLines = async (reader: SseReader, topic: string, { first, texts }: Lines): Promise<void> => {
  if (texts.length <= BATCH_LINES) {
    await reader.write(once(texts, () => linesFrame(topic, first, texts)));
    return;
  }
  for (let at = 0; at < texts.length && !reader.ended; at += BATCH_LINES)
    await reader.write(linesFrame(topic, first + at, texts.slice(at, at + BATCH_LINES)));
};

/** The lines are JSON already; their number goes in front. */
const linesFrame = (topic: string, first: number, texts: readonly string[]): Uint8Array => {
  const lines = texts.map((text, index) => `{"seq":${first + index},${text.slice(1)}`);
  return rawFrame('lines', topic, String(first + texts.length - 1), `"lines":[${lines.join(',')}]}`);
};
