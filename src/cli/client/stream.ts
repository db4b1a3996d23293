import { CliFailure, interrupted } from '../failure.ts';
import { unreachable } from './failures.ts';
import type { Http, RequestOptions } from './http.ts';
import { readEvents, type SseEvent } from './sse.ts';

/** An event of a stream, its data parsed. `event` names the kind. */
export interface StreamEvent<T> {
  id: string;
  event: string;
  data: T;
}

export interface StreamOptions {
  query?: RequestOptions['query'];
  /** Keys of `query` that only choose where a fresh stream begins. */
  startOnly?: readonly string[];
  /** Whether this event is the stream's last. A stream without a last event ends when the server closes it. */
  isLast?: (event: StreamEvent<unknown>) => boolean;
  /** Whether a close by the server means that the stream is to be taken up again. */
  endless?: boolean;
  onReconnect?: (cause: string) => void;
}

/** The server sends a comment every 15 s: after this long without a byte the connection is dead. */
const SILENCE_MS = 45_000;
const RECONNECT_TRIES = 8;

/** Follows a stream to its end, over lost connections: each new one goes on behind the last event (`Last-Event-ID`). */
export async function* followStream<T>(
  http: Http,
  path: string,
  options: StreamOptions,
): AsyncGenerator<StreamEvent<T>> {
  let lastId = '';
  let failures = 0;
  for (;;) {
    const connection = connect(http, path, options, lastId);
    try {
      for await (const event of connection.events()) {
        failures = 0;
        if (event.id !== '') lastId = event.id;
        const parsed: StreamEvent<T> = { ...event, data: JSON.parse(event.data) as T };
        yield parsed;
        if (options.isLast?.(parsed) === true) return;
      }
      if (options.isLast === undefined && options.endless !== true) return;
      failures += 1;
      options.onReconnect?.('the server closed the stream');
    } catch (thrown) {
      if (http.signal.aborted) throw interrupted('interrupted', '');
      failures += 1;
      if (!isLost(thrown) || failures > RECONNECT_TRIES) throw thrown;
      options.onReconnect?.(thrown.body.message);
    } finally {
      connection.close();
    }
    await http.sleep(Math.min(5000, 100 * 2 ** failures), http.signal);
    if (http.signal.aborted) throw interrupted('interrupted', '');
  }
}

const isLost = (thrown: unknown): thrown is CliFailure => thrown instanceof CliFailure && thrown.body.retryable;

const connect = (http: Http, path: string, options: StreamOptions, lastId: string) => {
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  const query = { ...options.query };
  if (lastId !== '') {
    headers['last-event-id'] = lastId;
    for (const key of options.startOnly ?? []) delete query[key];
  }
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let body: ReadableStream<Uint8Array> | null = null;
  const close = (): void => clearTimeout(watchdog);
  async function* events(): AsyncGenerator<SseEvent> {
    const response = await http.open('GET', path, { query, headers });
    body = response.body;
    if (body === null) return;
    const silent = Promise.withResolvers<never>();
    const alive = (): void => {
      clearTimeout(watchdog);
      watchdog = setTimeout(
        () => silent.reject(unreachable(new Error('the stream went silent'), new URL(response.url))),
        SILENCE_MS,
      );
    };
    alive();
    const iterator = readEvents(body, alive);
    silent.promise.catch(() => undefined);
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), silent.promise]);
        if (next.done === true) return;
        yield next.value;
      }
    } catch (thrown) {
      throw thrown instanceof CliFailure ? thrown : unreachable(thrown, new URL(response.url));
    } finally {
      // Not awaited: a dead connection would hold up its own clean-up.
      iterator.return(undefined).catch(() => undefined);
    }
  }
  return { events, close };
};
