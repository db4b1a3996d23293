import { expect, test } from 'bun:test';
import { BACKLOG_CAP, createReader, type ReaderOptions, type SseReader } from '#http/sse-reader';
import { encodeFrame, replayThenFollow } from '#http/sse';
import { createStreams } from '#http/streams';
import { systemClock } from '#kernel/clock';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

interface Rig {
  stream: ReadableStream<Uint8Array>;
  reader: SseReader;
  /** Ends it from outside, as a revocation does. */
  end: () => void;
  gone: AbortController;
  stops: number;
  withdrawals: number;
  faults: unknown[];
}

/** A stream that is fed by hand. */
const openStream = (more: Partial<ReaderOptions> = {}): Rig => {
  const rig = { stops: 0, withdrawals: 0, faults: [] as unknown[], gone: new AbortController() } as unknown as Rig;
  rig.stream = createReader({
    start: (reader) => {
      rig.reader = reader;
      return () => void (rig.stops += 1);
    },
    heartbeatMs: 60_000,
    enlist: (end) => {
      rig.end = end;
      return () => void (rig.withdrawals += 1);
    },
    clientGone: rig.gone.signal,
    onFault: (thrown) => rig.faults.push(thrown),
    ...more,
  });
  return rig;
};

const readAll = async (stream: ReadableStream<Uint8Array>): Promise<string> => text(await new Response(stream).bytes());

test('a frame has an id, an event and one line of JSON', () => {
  expect(text(encodeFrame({ id: 7, event: 'log', data: { line: 'a\nb\r\n\u2028<b>' } }))).toBe(
    'id: 7\nevent: log\ndata: {"line":"a\\nb\\r\\n\u2028<b>"}\n\n',
  );
});

test('what was sent before the end arrives, in order, and the subscription ends once', async () => {
  const rig = openStream();
  await Bun.sleep(0);
  for (let i = 0; i < 1000; i += 1) rig.reader.send(encodeFrame({ id: i, event: 'log', data: i }));
  rig.reader.end();
  rig.reader.send(encodeFrame({ id: 'late', event: 'log', data: 'late' }));
  const received = await readAll(rig.stream);
  expect([...received.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual(
    Array.from({ length: 1000 }, (_, i) => i),
  );
  expect(received).not.toContain('late');
  expect([rig.stops, rig.withdrawals]).toEqual([1, 1]);
});

test('a reader that does not read is ended at the cap, and its backlog dropped', async () => {
  const rig = openStream();
  await Bun.sleep(0);
  const frame = new Uint8Array(10_000).fill(120);
  let sent = 0;
  while (!rig.reader.ended) {
    rig.reader.send(frame);
    sent += frame.length;
    if (sent > 10 * BACKLOG_CAP) break;
  }
  expect(sent).toBeLessThan(BACKLOG_CAP + 2 * frame.length);
  expect([rig.stops, rig.withdrawals]).toEqual([1, 1]);
  expect((await readAll(rig.stream)).length).toBeLessThan(1000);
});

test('a replay waits for its reader instead of ending it', async () => {
  const frame = new Uint8Array(10_000).fill(120);
  let written = 0;
  const rig = openStream({
    start: async (reader) => {
      while (written < 1000 && (await reader.write(frame))) written += 1;
      reader.end();
    },
  });
  await Bun.sleep(20);
  expect(written).toBeLessThan(20);
  expect((await readAll(rig.stream)).length).toBeGreaterThan(9_999_000);
  expect(written).toBe(1000);
});

test('a replay stops when its reader leaves', async () => {
  let finished = false;
  const rig = openStream({
    start: async (reader) => {
      while (await reader.write(new Uint8Array(10_000)));
      finished = true;
    },
  });
  await Bun.sleep(5);
  expect(finished).toBe(false);
  await rig.stream.cancel();
  await Bun.sleep(0);
  expect([finished, rig.withdrawals]).toEqual([true, 1]);
});

test.each([
  ['the client cancels', async (rig: Rig) => rig.stream.cancel()],
  ['the connection breaks', async (rig: Rig) => rig.gone.abort()],
  ['the token is revoked', async (rig: Rig) => rig.end()],
])('everything is given back when %s', async (_what, leave) => {
  const rig = openStream();
  await Bun.sleep(0);
  await leave(rig);
  expect(rig.reader.ended).toBe(true);
  expect([rig.stops, rig.withdrawals, rig.faults.length]).toEqual([1, 1, 0]);
});

test('a subscription that is made after the end is undone', async () => {
  let undone = 0;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const rig = openStream({
    start: async () => {
      await promise;
      return () => void (undone += 1);
    },
  });
  await rig.stream.cancel();
  resolve(undefined);
  await Bun.sleep(0);
  expect(undone).toBe(1);
});

test('a feed that fails ends the stream and is told', async () => {
  const rig = openStream({ start: () => Promise.reject(new Error('no such table')) });
  expect(await readAll(rig.stream)).not.toContain('no such table');
  expect(rig.faults).toHaveLength(1);
});

test('a silent stream carries comments', async () => {
  const rig = openStream({ heartbeatMs: 10 });
  setTimeout(() => rig.reader.end(), 60);
  expect((await readAll(rig.stream)).split(': keep-alive').length).toBeGreaterThan(3);
});

test('replay and following meet without a gap or a repetition', async () => {
  const stored = Array.from({ length: 5 }, (_, i) => ({ seq: i + 1 }));
  const listeners = new Set<(event: { seq: number }) => void>();
  const rig = openStream({
    start: replayThenFollow({
      after: 2,
      read: (seq) => stored.filter((event) => event.seq > seq).slice(0, 2),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      encode: (event) => encodeFrame({ id: event.seq, event: 'log', data: event }),
      isLast: (event) => event.seq === 8,
    }),
  });
  const received = readAll(rig.stream);
  while (listeners.size === 0) await Bun.sleep(1);
  for (const seq of [5, 6, 6, 7, 8, 9]) for (const listener of listeners) listener({ seq });
  expect([...(await received).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))).toEqual([3, 4, 5, 6, 7, 8]);
  expect(listeners.size).toBe(0);
});

test('the register ends streams by token, at expiry and at the stop', async () => {
  const streams = createStreams(systemClock);
  const ended: string[] = [];
  const add = (name: string, tokenId: string, expiresAt: number | null = null): (() => void) =>
    streams.add({ tokenId, expiresAt, end: () => void ended.push(name) });
  add('a', 'tok_1');
  add('b', 'tok_2');
  const leave = add('c', 'tok_1');
  leave();
  add('soon', 'tok_3', Date.now() + 20);
  expect(streams.size).toBe(3);
  streams.endToken('tok_1');
  expect(ended).toEqual(['a']);
  await Bun.sleep(60);
  expect(ended).toEqual(['a', 'soon']);
  streams.endAll();
  expect(ended).toContain('b');
  add('late', 'tok_4');
  expect(ended).toContain('late');
});
