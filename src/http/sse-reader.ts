import { flushSoon, joinFrames } from './sse-flush.ts';

/** One client of an event stream. */
export interface SseReader {
  readonly ended: boolean;
  /** Queues the bytes of whole frames, for live events. A reader whose backlog passes the cap is ended. */
  send(frame: Uint8Array): void;
  /** Like `send`, but waits while the reader is behind, for replays. False once the reader has ended. */
  write(frame: Uint8Array): Promise<boolean>;
  /** Ends the stream after what was sent. */
  end(): void;
}

export type SseStart = (reader: SseReader) => (() => void) | void | Promise<(() => void) | void>;

export interface ReaderOptions {
  start: SseStart;
  heartbeatMs: number;
  /** Registers the function that ends the stream from outside; returns how to take it back. */
  enlist: (end: () => void) => () => void;
  clientGone: AbortSignal;
  onFault: (thrown: unknown) => void;
}

/** Bytes that may wait for one reader. */
export const BACKLOG_CAP = 1024 * 1024;
/** `write` waits above this many bytes. */
const REPLAY_AHEAD = 64 * 1024;

const encoder = new TextEncoder();
const HELLO = encoder.encode('retry: 1000\n\n');
const HEARTBEAT = encoder.encode(': keep-alive\n\n');

/** The body of an event stream: nothing is kept beyond the backlog of a reader, and nothing outlives its end. */
export const createReader = (options: ReaderOptions): ReadableStream<Uint8Array> => new Reader(options).stream;

class Reader implements SseReader {
  readonly stream: ReadableStream<Uint8Array>;
  ended = false;
  readonly #options: ReaderOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #pending: Uint8Array[] = [];
  #backlog = 0;
  #wanted = false;
  #waiting: (() => void)[] = [];
  #unsubscribe: (() => void) | undefined;
  readonly #withdraw: () => void;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #abort = (): void => this.#cutOff();
  readonly #flush = (): void => this.#flushNow();

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#wanted = true;
          this.#flushNow();
        },
        cancel: () => this.#cutOff(),
      },
      { highWaterMark: 0 },
    );
    this.#heartbeat = setInterval(() => this.send(HEARTBEAT), options.heartbeatMs);
    options.clientGone.addEventListener('abort', this.#abort, { once: true });
    this.send(HELLO);
    this.#withdraw = options.enlist(() => this.#cutOff());
    if (this.ended) this.#release();
    else void this.#begin();
  }

  send(frame: Uint8Array): void {
    if (this.ended) return;
    this.#pending.push(frame);
    this.#backlog += frame.length;
    if (this.#backlog > BACKLOG_CAP) this.#cutOff();
    else if (this.#wanted) flushSoon(this.#flush);
  }

  async write(frame: Uint8Array): Promise<boolean> {
    this.send(frame);
    while (!this.ended && this.#backlog > REPLAY_AHEAD) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    return !this.ended;
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#release();
    this.#flushNow();
  }

  async #begin(): Promise<void> {
    try {
      const unsubscribe = (await this.#options.start(this)) ?? undefined;
      if (this.ended) unsubscribe?.();
      else this.#unsubscribe = unsubscribe;
    } catch (thrown) {
      this.#options.onFault(thrown);
      this.#cutOff();
    }
  }

  /** Drops what waits and closes the connection. */
  #cutOff(): void {
    this.#pending = [];
    this.#backlog = 0;
    if (!this.ended) {
      this.ended = true;
      this.#release();
    }
    this.#flushNow();
  }

  #flushNow(): void {
    const controller = this.#controller;
    if (controller === undefined) return;
    if (this.#wanted && this.#pending.length > 0) {
      this.#wanted = false;
      const chunk = joinFrames(this.#pending, this.#backlog);
      this.#pending = [];
      this.#backlog = 0;
      controller.enqueue(chunk);
    }
    if (this.ended && this.#pending.length === 0) {
      this.#controller = undefined;
      try {
        controller.close();
      } catch {
        // already closed by the client's cancel
      }
    }
    if (this.#backlog <= REPLAY_AHEAD) this.#letWritersGoOn();
  }

  #letWritersGoOn(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #release(): void {
    clearInterval(this.#heartbeat);
    this.#options.clientGone.removeEventListener('abort', this.#abort);
    this.#withdraw?.();
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#letWritersGoOn();
  }
}
