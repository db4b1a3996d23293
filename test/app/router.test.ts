import { expect, test } from 'bun:test';
import { dirname } from 'node:path';
import { createServer } from '#http/server';
import { createStreams } from '#http/streams';
import { systemClock } from '#kernel/clock';

test('the guard matches paths with the very router that Elysia has', () => {
  const elysia = dirname(Bun.resolveSync('elysia', import.meta.dir));
  expect(Bun.resolveSync('memoirist', import.meta.dir)).toBe(Bun.resolveSync('memoirist', elysia));
});

const serve = (port: number, fetch: () => Response) =>
  createServer({ hostname: '127.0.0.1', port, fetch, streams: createStreams(systemClock), bindPeer: () => {} });

test('an address that is taken is named, with what to do', async () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } });
  expect(() => serve(other.port, () => new Response())).toThrow(`cannot listen on 127.0.0.1:${other.port}`);
  other.stop(true);
});

test('what escapes everything else is still the error object', async () => {
  const server = serve(0, () => {
    throw new Error('secret detail');
  });
  const response = await fetch(server.url);
  const text = await response.text();
  expect(response.status).toBe(500);
  expect(JSON.parse(text)).toMatchObject({ code: 'INTERNAL_ERROR', retryable: true });
  expect(text).not.toContain('secret detail');
  await server.stop(0);
});
