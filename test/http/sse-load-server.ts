/** Feeds a thousand lines a second to every reader; run by sse-load.test.ts as a process of its own, to measure its memory. */
import { setState } from '#http/context';
import { createServer } from '#http/server';
import { encodeFrame, sseResponse } from '#http/sse';
import { createStreams } from '#http/streams';
import { systemClock } from '#kernel/clock';
import { systemCtx } from '#kernel/ctx';

const streams = createStreams(systemClock);
const readers = new Set<(frame: Uint8Array) => void>();
let sent = 0;
let pacing: ReturnType<typeof setInterval> | undefined;

const follow = (request: Request): Response => {
  setState(request, {
    ctx: systemCtx('load'),
    entry: undefined as never,
    browser: undefined,
    streams,
    onFault: (message, thrown) => console.error(message, thrown),
  });
  return sseResponse({
    request,
    start: (reader) => {
      const send = (frame: Uint8Array): void => reader.send(frame);
      readers.add(send);
      return () => readers.delete(send);
    },
  });
};

const begin = (): Response => {
  const begun = performance.now();
  pacing ??= setInterval(() => {
    for (; sent < performance.now() - begun; sent += 1) {
      const data = { ts: '2026-01-31T12:00:00.000Z', replica: 'web-1', stream: 'stdout', line: 'x'.repeat(250) };
      const frame = encodeFrame({ id: sent, event: 'log', data });
      for (const send of readers) send(frame);
    }
  }, 1);
  return new Response('begun');
};

const listener = createServer({
  hostname: '127.0.0.1',
  port: 0,
  streams,
  bindPeer: () => {},
  fetch: (request) => {
    if (request.url.endsWith('/begin')) return begin();
    if (request.url.endsWith('/figures'))
      return Response.json({ rss: process.memoryUsage.rss(), sent, open: streams.size });
    return follow(request);
  },
});
console.log(listener.url);
