import { invalidInput } from '#kernel/errors';
import { stateOf, type RequestState } from './context.ts';
import { createReader, type SseStart } from './sse-reader.ts';
import type { OpenStream } from './streams.ts';

export type { SseReader } from './sse-reader.ts';

export interface SseFrame {
  id: string | number;
  event: string;
  /** Sent as one line of JSON. */
  data: unknown;
}

const encoder = new TextEncoder();

/** Encodes an event once; the bytes can go to any number of readers. */
export const encodeFrame = (frame: SseFrame): Uint8Array =>
  encoder.encode(`id: ${frame.id}\nevent: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n\n`);

export interface SseOptions {
  request: Request;
  /**
   * Feeds the reader. What it returns runs once at the end, whoever caused it. An async start may await
   * `reader.write` to replay at the reader's pace; it must stop once `reader.ended`.
   */
  start: SseStart;
  heartbeatMs?: number;
}

/**
 * A reply of server-sent events. It ends when `start` ends the reader, the client goes away, the token that opened it
 * is revoked or expires, the server stops, or the client reads too slowly: it then resumes with Last-Event-ID.
 */
export const sseResponse = (options: SseOptions): Response => {
  const state = stateOf(options.request);
  const stream = createReader({
    start: options.start,
    heartbeatMs: options.heartbeatMs ?? 15_000,
    enlist: (end) => state.streams.add({ ...lifetimeOf(state), end }),
    clientGone: options.request.signal,
    onFault: (thrown) => state.onFault('a stream failed', thrown),
  });
  return new Response(stream, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  });
};

/** What a stream ends with: the token, and the session of a browser. */
const lifetimeOf = ({ ctx: { actor }, browser }: RequestState): Omit<OpenStream, 'end'> => {
  const { tokenId, expiresAt } = actor;
  if (browser === undefined) return { tokenId, expiresAt };
  return { tokenId, sessionId: browser.id, expiresAt: Math.min(expiresAt ?? Infinity, browser.streamsUntil) };
};

/** The id after which to go on: header `Last-Event-ID`, else the query parameter `last_event_id`. */
export const lastEventId = (request: Request): string | undefined => {
  const header = request.headers.get('last-event-id');
  if (header !== null && header !== '') return header;
  return new URL(request.url).searchParams.get('last_event_id') ?? undefined;
};

/** `lastEventId` as a sequence number, 0 when there is none. */
export const lastEventSeq = (request: Request): number => {
  const text = lastEventId(request);
  if (text === undefined) return 0;
  const seq = Number(text);
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw invalidInput(
      `Last-Event-ID must be the id of an event of this stream, not "${text.slice(0, 40)}"`,
      'send the last id that you got, or omit it to start over',
    );
  }
  return seq;
};

export interface FollowOptions<E extends { seq: number }> {
  /** Sequence number to go on after. */
  after: number;
  /** Stored events after `seq` in order, some or all of them; empty when there are no more. */
  read: (seq: number) => readonly E[];
  /** Calls back for each new event, from the moment it is called, until the returned function is. */
  subscribe: (listener: (event: E) => void) => () => void;
  encode: (event: E) => Uint8Array;
  /** Says that the stream closes after this event. */
  isLast?: (event: E) => boolean;
}

/** A `start` that replays what is stored at the reader's pace, and then follows, without a gap or a repetition. */
export const replayThenFollow =
  <E extends { seq: number }>(options: FollowOptions<E>): SseStart =>
  async (reader) => {
    let seq = options.after;
    for (let page = options.read(seq); page.length > 0; page = options.read(seq)) {
      for (const event of page) {
        if (!(await reader.write(options.encode(event)))) return undefined;
        seq = event.seq;
        if (options.isLast?.(event) === true) {
          reader.end();
          return undefined;
        }
      }
    }
    return options.subscribe((event) => {
      if (event.seq <= seq) return;
      seq = event.seq;
      reader.send(options.encode(event));
      if (options.isLast?.(event) === true) reader.end();
    });
  };
