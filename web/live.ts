import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { LiveEvent, LiveKind } from '#modules/live';
import { ApiError, asApiError, send } from './api.ts';
import { createSseParser } from './sse.ts';

export type { LiveEvent } from '#modules/live';

/** What can be followed; see `GET /v1/live`. */
export type Topic =
  | 'projects'
  | 'operations'
  | 'admin'
  | `project:${string}`
  | `events:${string}`
  | `operation:${string}`
  | `logs:${string}/${string}`
  | `usage:${string}/${string}`;

/** The newest event of a kind, of those that came together. */
export const newest = <K extends LiveKind>(
  events: readonly LiveEvent[],
  kind: K,
): Extract<LiveEvent, { kind: K }> | undefined =>
  events.findLast((event): event is Extract<LiveEvent, { kind: K }> => event.kind === kind);

export type Connection =
  | { state: 'idle' | 'connecting' | 'live' }
  /** Lost; the next try is at `retryAt`. */
  | { state: 'lost'; retryAt: number };

export interface Listener {
  events: (events: readonly LiveEvent[]) => void;
  /** The stream begins anew: what is sent whole comes whole again. */
  opened?: () => void;
}

interface Followed {
  listeners: Set<Listener>;
  cursor: string | null;
}

const topics = new Map<string, Followed>();
const watchers = new Set<() => void>();
let connection: Connection = { state: 'idle' };
let current: AbortController | undefined;
let reopening: ReturnType<typeof setTimeout> | undefined;
let failures = 0;

/** So many subscriptions of one render make one connection. */
const GATHER_MS = 20;
/** The server sends something every 15 s: without, the connection is dead. */
const SILENCE_MS = 40_000;
const LONGEST_WAIT_MS = 15_000;

/**
 * Follows a topic; the returned function stops it. Everything that is followed on a page shares one connection, and a
 * lost one goes on behind the last event of each topic. Events come in batches, at most one a frame; those of a topic that
 * somebody else begins to follow too may come again: tell them apart by their `seq`, or take them as states.
 */
export const follow = (topic: Topic, listener: Listener, cursor: string | null = null): (() => void) => {
  let followed = topics.get(topic);
  if (followed === undefined) {
    followed = { listeners: new Set(), cursor };
    topics.set(topic, followed);
  } else if (cursor === null) followed.cursor = null;
  followed.listeners.add(listener);
  reopenSoon(GATHER_MS);
  return () => {
    followed.listeners.delete(listener);
    if (followed.listeners.size > 0 || topics.get(topic) !== followed) return;
    topics.delete(topic);
    // What nobody follows any more may stay until the next change, unless it was the last.
    if (topics.size === 0) reopenSoon(GATHER_MS);
  };
};

/** Follows while the component is there; undefined follows nothing. */
export const useLive = (topic: Topic | undefined, events: Listener['events'], opened?: () => void): void => {
  const latest = useRef({ events, opened });
  latest.current = { events, opened };
  useEffect(() => {
    if (topic === undefined) return undefined;
    return follow(topic, {
      events: (batch) => latest.current.events(batch),
      opened: () => latest.current.opened?.(),
    });
  }, [topic]);
};

export const useConnection = (): Connection =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => connection,
  );

/** Tries again at once. */
export const reconnect = (): void => reopenSoon(0);

let onResumed = (): void => undefined;

/** Sets what happens when a lost connection is there again: what is not followed may have changed meanwhile. */
export const whenResumed = (listener: () => void): void => {
  onResumed = listener;
};

let onOpened = (): void => undefined;

/** Sets what happens when a stream begins: a change of rights ends the streams that there are, and those to come know nothing of it. */
export const whenOpened = (listener: () => void): void => {
  onOpened = listener;
};

/** The browser knows of a network that came, and of somebody who looks again, before any wait is over. */
export const watchNetwork = (): void => {
  addEventListener('online', () => {
    if (connection.state !== 'idle') reconnect();
  });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && connection.state === 'lost') reconnect();
  });
};

/** Forgets everything: for signing out. */
export const stopLive = (): void => {
  clearTimeout(reopening);
  current?.abort();
  current = undefined;
  tell({ state: 'idle' });
};

const tell = (next: Connection): void => {
  connection = next;
  for (const watcher of watchers) watcher();
};

const reopenSoon = (ms: number): void => {
  clearTimeout(reopening);
  reopening = setTimeout(() => void open(), ms);
};

const open = async (): Promise<void> => {
  current?.abort();
  current = undefined;
  if (topics.size === 0) return tell({ state: 'idle' });
  const controller = new AbortController();
  current = controller;
  if (connection.state === 'idle') tell({ state: 'connecting' });
  try {
    await read(controller);
    // The server ends a connection after an hour, and when it stops.
    if (current === controller) lost(new ApiError({ code: 'CLOSED', message: 'closed', hint: '', retryable: true }, 0));
  } catch (thrown) {
    if (current === controller) lost(asApiError(thrown));
  }
  return undefined;
};

const lost = ({ status }: ApiError): void => {
  current = undefined;
  // Signed out: whoever signs in again starts anew.
  if (status === 401) return tell({ state: 'idle' });
  failures += 1;
  const wait = failures === 1 ? 250 : Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures);
  const jittered = wait * (0.75 + Math.random() / 2);
  // Streams end in good order too, after an hour or with other rights: only when none follows it is lost.
  tell(failures === 1 ? { state: 'connecting' } : { state: 'lost', retryAt: Date.now() + jittered });
  return reopenSoon(jittered);
};

const read = async (controller: AbortController): Promise<void> => {
  const wanted = [...topics].map(([topic, { cursor }]) => (cursor === null ? topic : `${topic}@${cursor}`));
  const { signal } = controller;
  const response = await withinTime(
    send('GET', '/v1/live', { query: { topics: wanted.join(',') }, signal }),
    controller,
  );
  const resumed = failures > 0;
  failures = 0;
  tell({ state: 'live' });
  onOpened();
  for (const { listeners } of topics.values()) for (const listener of listeners) listener.opened?.();
  if (resumed) onResumed();
  const parse = createSseParser(({ data }) => deliver(JSON.parse(data) as LiveEvent));
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  if (reader === undefined) return;
  for (;;) {
    const chunk = await withinTime(reader.read(), controller);
    if (chunk.done) return;
    parse(decoder.decode(chunk.value, { stream: true }));
  }
};

const withinTime = async <T>(promise: Promise<T>, controller: AbortController): Promise<T> => {
  const timer = setTimeout(() => controller.abort(new Error('the connection is silent')), SILENCE_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
};

/** What has come and is not told yet, of whichever connection: its cursor counts already, and its order too. */
let waiting: LiveEvent[] = [];
let frame = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
/** A hidden page gets no frames. */
const NO_FRAME_MS = 200;

/** Gathers the events of a frame: 100,000 lines must not be 100,000 renders. */
const deliver = (event: LiveEvent): void => {
  const followed = topics.get(event.topic);
  if (followed === undefined) return;
  if (event.cursor !== null) followed.cursor = event.cursor;
  if (waiting.length === 0) {
    frame = requestAnimationFrame(flush);
    timer = setTimeout(flush, NO_FRAME_MS);
  }
  waiting.push(event);
};

const flush = (): void => {
  cancelAnimationFrame(frame);
  clearTimeout(timer);
  const events = waiting;
  waiting = [];
  for (const [topic, { listeners }] of topics) {
    const own = events.filter((event) => event.topic === topic);
    if (own.length > 0) for (const listener of listeners) listener.events(own);
  }
};
