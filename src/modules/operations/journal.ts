import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import { isoTime } from '#kernel/clock';
import type { LogSource, OperationEvent, Phase } from './model.ts';
import type { OperationStore } from './store.ts';

type Listener = (event: OperationEvent) => void;

/** Log lines wait this long, so that a chatty build costs one transaction for many lines. */
const FLUSH_MS = 100;
const RETRY_MS = 1000;
/** Lines an operation keeps; later ones are counted, not stored. The tail of a failure is in its error object. */
const MAX_LOG_LINES = 100_000;

/** The events of operations: numbered, stored, and told to whoever listens. */
export interface Journal {
  log(id: string, source: LogSource, line: string): void;
  phase(id: string, phase: Phase, message: string): void;
  done(id: string, data: Extract<OperationEvent, { kind: 'done' }>['data']): void;
  /** In order; without the lines of the log when `logs` is false. */
  eventsAfter(id: string, seq: number, logs?: boolean): OperationEvent[];
  subscribe(id: string, listener: Listener): () => void;
  /** Calls back when an operation is in another phase, or is over. */
  watch(listener: (id: string) => void): () => void;
  /** Tells the watchers of an operation that changed without an event. */
  touch(id: string): void;
  /** Writes what waits. */
  flush(): void;
}

interface Stream {
  seq: number;
  logLines: number;
  pending: OperationEvent[];
}

export const createJournal = (store: OperationStore, clock: Clock, log: Log): Journal => {
  const streams = new Map<string, Stream>();
  const listeners = new Map<string, Set<Listener>>();
  const watchers = new Set<(id: string) => void>();
  const touch = (id: string): void => {
    for (const watcher of watchers) watcher(id);
  };
  let timer: ReturnType<typeof setTimeout> | undefined;

  const streamOf = (id: string): Stream => {
    let stream = streams.get(id);
    if (stream === undefined) {
      stream = { seq: store.lastSeq(id), logLines: 0, pending: [] };
      streams.set(id, stream);
    }
    return stream;
  };
  const flushOne = (id: string, stream: Stream): void => {
    if (stream.pending.length === 0) return;
    store.appendEvents(id, stream.pending);
    stream.pending = [];
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [id, stream] of streams) flushOne(id, stream);
  };
  /** Nobody awaits this one: what cannot be written (the disk is full, say) waits for the next try. */
  const flushLater = (delayMs: number): void => {
    timer ??= setTimeout(() => {
      try {
        flush();
      } catch (error) {
        log.error('cannot write events of operations; trying again', error);
        flushLater(RETRY_MS);
      }
    }, delayMs);
  };
  /** An event that its caller is told could not be written must not turn up later: the caller tries again. */
  const writeOrTakeBack = (id: string, stream: Stream): void => {
    try {
      flushOne(id, stream);
    } catch (error) {
      stream.pending.pop();
      stream.seq -= 1;
      flushLater(RETRY_MS);
      throw error;
    }
  };
  const append = (id: string, make: (seq: number) => OperationEvent, urgent: boolean): void => {
    const stream = streamOf(id);
    stream.seq += 1;
    const event = make(stream.seq);
    stream.pending.push(event);
    if (urgent) writeOrTakeBack(id, stream);
    else flushLater(FLUSH_MS);
    for (const listener of listeners.get(id) ?? []) listener(event);
    if (event.kind !== 'log') touch(id);
  };
  const now = (): string => isoTime(clock.now());

  return {
    log: (id, source, line) => {
      const stream = streamOf(id);
      stream.logLines += 1;
      if (stream.logLines > MAX_LOG_LINES) return;
      const shown = stream.logLines === MAX_LOG_LINES ? `more than ${MAX_LOG_LINES} lines: the rest is not kept` : line;
      append(id, (seq) => ({ seq, kind: 'log', data: { seq, ts: now(), source, line: shown } }), false);
    },
    phase: (id, phase, message) =>
      append(id, (seq) => ({ seq, kind: 'phase', data: { seq, ts: now(), phase, message } }), true),
    done: (id, data) => {
      append(id, (seq) => ({ seq, kind: 'done', data }), true);
      streams.delete(id);
    },
    eventsAfter: (id, seq, logs) => {
      const stream = streams.get(id);
      if (stream !== undefined) flushOne(id, stream);
      return store.eventsAfter(id, seq, logs);
    },
    subscribe: (id, listener) => {
      const set = listeners.get(id) ?? new Set();
      listeners.set(id, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(id) === set) listeners.delete(id);
      };
    },
    watch: (listener) => {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
    touch,
    flush,
  };
};
