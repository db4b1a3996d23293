import type { Clock } from '#kernel/clock';

export interface OpenStream {
  tokenId: string;
  /** Of the browser that opened it. */
  sessionId?: string | undefined;
  /** Milliseconds since the epoch; null when the token does not expire. */
  expiresAt: number | null;
  end: () => void;
}

/** The open streams of the server: each ends with its token, or with the server. */
export interface Streams {
  readonly size: number;
  /** Returns the function that takes it out again. */
  add(stream: OpenStream): () => void;
  endToken(tokenId: string): void;
  endSession(sessionId: string): void;
  endAll(): void;
}

/** Longest delay that a timer takes without firing at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const createStreams = (clock: Clock): Streams => {
  const open = new Set<OpenStream>();
  let stopped = false;
  return {
    get size() {
      return open.size;
    },
    add: (stream) => {
      if (stopped) {
        stream.end();
        return () => {};
      }
      open.add(stream);
      const timer = expiryTimer(stream, clock);
      return () => {
        open.delete(stream);
        if (timer !== undefined) clearTimeout(timer);
      };
    },
    endToken: (tokenId) => {
      for (const stream of open) if (stream.tokenId === tokenId) stream.end();
    },
    endSession: (sessionId) => {
      for (const stream of open) if (stream.sessionId === sessionId) stream.end();
    },
    endAll: () => {
      stopped = true;
      for (const stream of open) stream.end();
    },
  };
};

const expiryTimer = (stream: OpenStream, clock: Clock): ReturnType<typeof setTimeout> | undefined => {
  if (stream.expiresAt === null) return undefined;
  return setTimeout(() => stream.end(), Math.min(MAX_TIMER_MS, Math.max(0, stream.expiresAt - clock.now())));
};
