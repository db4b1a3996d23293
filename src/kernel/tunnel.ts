import { Duplex } from 'node:stream';

/** Bytes that either side may have sent and not seen acknowledged: what a slow end makes the other hold, at most. */
export const TUNNEL_WINDOW = 1024 * 1024;
const FRAME_BYTES = 64 * 1024;

/** The message-based connection below a tunnel, such as a WebSocket. */
export interface TunnelLink {
  send(message: Uint8Array | string): void;
  close(): void;
}

export interface TunnelEnd {
  /** The bytes; to be read and written as any stream. */
  stream: Duplex;
  /** Call with every message that arrives. */
  message(message: Uint8Array | string): void;
  /** Call once when the link is gone. */
  closed(): void;
}

/**
 * A byte stream over messages that cannot be paused. A binary message carries bytes, a text message the number of bytes
 * that the other side has taken since its last one: neither sends more than a window beyond what was taken. Whoever sends
 * more is cut off.
 */
export const createTunnelEnd = (link: TunnelLink): TunnelEnd => {
  let credit = TUNNEL_WINDOW;
  let owed = 0;
  let waiting: (() => void) | undefined;
  let gone = false;

  const acknowledge = (): void => {
    if (owed === 0 || gone) return;
    link.send(String(owed));
    owed = 0;
  };
  const cut = (reason: string): void => {
    stream.destroy(new Error(reason));
    link.close();
  };
  const sendAll = (rest: Uint8Array, done: () => void): void => {
    const allowed = gone ? 0 : Math.min(credit, rest.length);
    for (let at = 0; at < allowed; at += FRAME_BYTES) link.send(rest.subarray(at, Math.min(at + FRAME_BYTES, allowed)));
    credit -= allowed;
    if (allowed === rest.length || gone) done();
    else waiting = () => sendAll(rest.subarray(allowed), done);
  };
  const granted = (text: string): void => {
    const bytes = Number(text);
    if (!Number.isInteger(bytes) || bytes < 1 || credit + bytes > TUNNEL_WINDOW) {
      cut('the other side acknowledged bytes that were not sent');
      return;
    }
    credit += bytes;
    const go = waiting;
    waiting = undefined;
    go?.();
  };

  const stream = new Duplex({
    // Either end of a database connection may end it alone.
    allowHalfOpen: false,
    read: acknowledge,
    write: (chunk: Uint8Array, _encoding, done) => sendAll(chunk, done),
    final: (done) => {
      if (!gone) link.close();
      done();
    },
    destroy: (error, done) => {
      if (!gone) link.close();
      waiting = undefined;
      done(error);
    },
  });

  return {
    stream,
    message: (message) => {
      if (stream.destroyed) return;
      if (typeof message === 'string') {
        granted(message);
        return;
      }
      owed += message.length;
      if (owed > TUNNEL_WINDOW) cut('the other side sent more than the window allows');
      else if (stream.push(Uint8Array.from(message))) acknowledge();
    },
    closed: () => {
      gone = true;
      const go = waiting;
      waiting = undefined;
      go?.();
      if (!stream.destroyed) stream.push(null);
    },
  };
};
