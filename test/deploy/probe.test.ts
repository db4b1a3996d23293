import { afterEach, describe, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:net';
import { pauseAfter, probeUntil } from '#deploy/probe';
import { systemClock, type Clock } from '#kernel/clock';
import { freePorts } from '#test/support/ports.ts';

let server: Server | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

const listen = (port: number): void => {
  server = createServer((socket) => socket.end()).listen(port, '127.0.0.1');
};

/** A clock whose sleeps pass at once; `after` runs when so many milliseconds were slept. */
const fastClock = (after: { ms: number; run: () => void }): Clock & { slept: number[] } => {
  const slept: number[] = [];
  const sum = (): number => slept.reduce((total, ms) => total + ms, 0);
  return {
    ...systemClock,
    slept,
    monotonic: sum,
    sleep: async (ms) => {
      const before = sum();
      slept.push(ms);
      if (before < after.ms && sum() >= after.ms) after.run();
      await systemClock.sleep(0);
    },
  };
};

describe('probing a replica', () => {
  test('pauses 3 ms at first, then a twentieth of the time that has passed, and half a second at most', () => {
    expect([0, 50, 100, 300, 2000, 5000, 60_000].map(pauseAfter)).toEqual([3, 3, 5, 15, 100, 250, 500]);
  });

  test('sees an app that listens late at most a twentieth after it does', async () => {
    const [port = 0] = await freePorts(1);
    const clock = fastClock({ ms: 400, run: () => listen(port) });
    const target = { ip: '127.0.0.1', port, path: null };
    expect(await probeUntil(target, clock, new AbortController().signal)).toEqual({ ok: true });
    const total = clock.monotonic();
    expect(total).toBeGreaterThanOrEqual(400);
    expect(total).toBeLessThan(400 * 1.25);
  });

  test('that is stopped tells what it saw last', async () => {
    const [port = 0] = await freePorts(1);
    const stop = new AbortController();
    const clock = fastClock({ ms: 60_000, run: () => stop.abort() });
    const result = await probeUntil({ ip: '127.0.0.1', port, path: null }, clock, stop.signal);
    expect(result).toEqual({ ok: false, reason: 'connection refused' });
    // A minute of probing an app that never listens must not keep a core busy.
    expect(clock.slept.length).toBeLessThan(250);
  });
});
