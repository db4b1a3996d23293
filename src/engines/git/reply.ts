import type { Clock } from '#kernel/clock';

/** The body of a reply that is written bit by bit, at the pace of its reader. */
export interface Reply {
  readonly stream: ReadableStream<Uint8Array>;
  /** Aborts when nobody reads any more: the reader left, or took nothing for too long. */
  readonly gone: AbortSignal;
  /** Resolves when there is room for more, or at once when nobody reads. */
  send(bytes: Uint8Array): Promise<void>;
  /** Ends it well; what is sent later is dropped. */
  close(): void;
  /** Breaks the connection. */
  fail(reason: unknown): void;
}

export interface ReplyOptions {
  clock: Clock;
  /** Of the request. */
  signal: AbortSignal;
  idleMs: number;
}

/** Bytes that wait for a reader before the writer has to wait. */
const ROOM_BYTES = 256 * 1024;

export const createReply = ({ clock, signal, idleMs }: ReplyOptions): Reply => {
  const gone = new AbortController();
  let over = false;
  let cancelled = false;
  let room: PromiseWithResolvers<void> | undefined;
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const makeRoom = (): void => {
    room?.resolve();
    room = undefined;
  };
  const leave = (): void => {
    gone.abort();
    makeRoom();
  };
  const finish = (how: (controller: ReadableStreamDefaultController<Uint8Array>) => void): void => {
    if (over) return;
    over = true;
    signal.removeEventListener('abort', cut);
    if (controller !== undefined && !cancelled) how(controller);
  };
  const cut = (): void => {
    leave();
    finish((open) => open.error(signal.reason));
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (given) => void (controller = given),
      pull: makeRoom,
      cancel: () => {
        cancelled = true;
        leave();
        finish(() => undefined);
      },
    },
    { highWaterMark: ROOM_BYTES, size: (chunk) => chunk?.length ?? 0 },
  );
  if (signal.aborted) cut();
  else signal.addEventListener('abort', cut, { once: true });

  const waitForRoom = async (): Promise<void> => {
    const waiting = new AbortController();
    const patience = clock.sleep(idleMs, waiting.signal).then(() => (waiting.signal.aborted ? 'room' : 'stalled'));
    room ??= Promise.withResolvers();
    const state = await Promise.race([room.promise.then(() => 'room'), patience]);
    waiting.abort();
    if (state === 'room') return;
    leave();
    finish((open) => open.error(new Error('the client takes nothing any more')));
  };

  return {
    stream,
    gone: gone.signal,
    send: async (bytes) => {
      if (over || controller === undefined || bytes.length === 0) return;
      controller.enqueue(bytes);
      if ((controller.desiredSize ?? 0) <= 0 && !gone.signal.aborted) await waitForRoom();
    },
    close: () => finish((open) => open.close()),
    fail: (reason) => {
      finish((open) => open.error(reason));
      leave();
    },
  };
};
