import { describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createTunnelEnd, TUNNEL_WINDOW, type TunnelEnd } from '#kernel/tunnel';

/** Two ends over a link that delivers messages in order, later. */
const pair = () => {
  const sent = { a: 0, b: 0 };
  const ends: { a?: TunnelEnd; b?: TunnelEnd } = {};
  const link = (from: 'a' | 'b', to: 'a' | 'b') => ({
    send: (message: Uint8Array | string) => {
      if (typeof message !== 'string') sent[from] += message.length;
      const copy = typeof message === 'string' ? message : Uint8Array.from(message);
      queueMicrotask(() => ends[to]?.message(copy));
    },
    close: () => queueMicrotask(() => ends[to]?.closed()),
  });
  const a = createTunnelEnd(link('a', 'b'));
  const b = createTunnelEnd(link('b', 'a'));
  ends.a = a;
  ends.b = b;
  return { a, b, sent };
};

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('a tunnel', () => {
  test('carries bytes both ways, in order', async () => {
    const { a, b } = pair();
    const chunks: Buffer[] = [];
    b.stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const data = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index % 251));
    a.stream.write(data);
    a.stream.end();
    await once(b.stream, 'end');
    expect(Buffer.concat(chunks).equals(data)).toBe(true);
  });

  test('sends no more than a window to an end that does not read, and goes on when it does', async () => {
    const { a, b, sent } = pair();
    a.stream.write(Buffer.alloc(3 * TUNNEL_WINDOW));
    await settled();
    expect(sent.a).toBeGreaterThan(TUNNEL_WINDOW / 2);
    expect(sent.a).toBeLessThanOrEqual(TUNNEL_WINDOW);
    let received = 0;
    b.stream.on('data', (chunk: Buffer) => (received += chunk.length));
    await settled();
    expect(received).toBe(3 * TUNNEL_WINDOW);
  });

  test('cuts off whoever sends more than the window', async () => {
    let closed = false;
    const end = createTunnelEnd({ send: () => undefined, close: () => (closed = true) });
    const failed = once(end.stream, 'error');
    end.message(new Uint8Array(TUNNEL_WINDOW));
    end.message(new Uint8Array(1));
    expect(String((await failed)[0])).toContain('window');
    expect(closed).toBe(true);
  });

  test.each(['0', '-1', 'x', '1.5', '5'])(
    'cuts off whoever acknowledges "%s" although nothing was sent',
    async (text) => {
      const end = createTunnelEnd({ send: () => undefined, close: () => undefined });
      const failed = once(end.stream, 'error');
      end.message(text);
      expect(String((await failed)[0])).toContain('acknowledged');
    },
  );

  test('ends for the reader when the link is gone, and a write that waits does not hang', async () => {
    const { a, b } = pair();
    const written = new Promise((resolve) => a.stream.write(Buffer.alloc(3 * TUNNEL_WINDOW), resolve));
    await settled();
    a.closed();
    await written;
    b.stream.resume();
    b.closed();
    await once(b.stream, 'close');
    expect(b.stream.destroyed).toBe(true);
  });
});
