import { createServer as createHttp2Server } from 'node:http2';
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { route } from '#test/contracts/proxy.ts';
import { freePorts } from './support.ts';
import { HOST, startTraffic, type Traffic } from './traffic.ts';
import { named, startUpstream } from './upstreams.ts';

let traffic: Traffic;
beforeAll(async () => {
  traffic = await startTraffic();
}, 60_000);
afterAll(() => traffic.dispose(), 60_000);
afterEach(() => traffic.killUpstreams());

test('WebSockets, which outlive a change of their route', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request, self) => (self.upgrade(request) ? undefined : new Response('no')),
    websocket: { message: (socket, message) => void socket.send(`echo ${String(message)}`) },
  });
  await traffic.proxy.apply(route({ upstreams: [{ ip: '127.0.0.1', port: server.port ?? 0 }] }));
  const socket = new WebSocket(traffic.url.replace('http', 'ws'), { headers: { Host: HOST } } as unknown as string[]);
  const next = (): Promise<string> =>
    new Promise((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true });
      socket.addEventListener('close', () => reject(new Error('closed')), { once: true });
    });
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
  const first = next();
  socket.send('one');
  expect(await first).toBe('echo one');
  await traffic.proxy.apply(route({ upstreams: [traffic.keep(named('new'))] }));
  const second = next();
  socket.send('two');
  expect(await second).toBe('echo two');
  socket.close();
  await server.stop(true);
});

test.each(['text/event-stream', 'application/x-ndjson', 'text/plain'])(
  '%s flows without being held back',
  async (type) => {
    // The app writes each part only when told that the one before has arrived.
    let proceed = Promise.withResolvers<undefined>();
    const body = async function* (): AsyncGenerator<Uint8Array> {
      for (let part = 0; part < 5; part += 1) {
        yield new TextEncoder().encode(`data: ${part}\n\n`);
        await proceed.promise;
        proceed = Promise.withResolvers();
      }
    };
    const app = startUpstream(() => new Response(body() as unknown as BodyInit, { headers: { 'content-type': type } }));
    await traffic.proxy.apply(route({ upstreams: [traffic.keep(app)] }));
    const parts: string[] = [];
    for await (const chunk of (await traffic.get()).body ?? []) {
      parts.push(new TextDecoder().decode(chunk).trim());
      proceed.resolve(undefined);
    }
    expect(parts).toEqual(['data: 0', 'data: 1', 'data: 2', 'data: 3', 'data: 4']);
  },
);

test('an app that speaks HTTP/2 without TLS', async () => {
  const server = createHttp2Server((request, response) => {
    response.end(`HTTP/${request.httpVersion} ${request.method} ${request.url}`);
  });
  const [port = 0] = await freePorts(1);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await traffic.proxy.apply(route({ upstreams: [{ ip: '127.0.0.1', port }], protocol: 'h2c' }));
  expect(await (await traffic.get('grpc')).text()).toBe('HTTP/2.0 GET /grpc');
  server.close();
});

test('an upload of 512 MB streams through: its beginning arrives before its end is sent', async () => {
  const begun = Promise.withResolvers<undefined>();
  const app = startUpstream(async (request) => {
    let bytes = 0;
    for await (const chunk of request.body ?? []) {
      begun.resolve(undefined);
      bytes += chunk.length;
    }
    return new Response(String(bytes));
  });
  await traffic.proxy.apply(route({ upstreams: [traffic.keep(app)] }));
  const megabyte = new Uint8Array(2 ** 20);
  const upload = async function* (): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < 512; sent += 1) {
      if (sent === 8) await begun.promise;
      yield megabyte;
    }
  };
  const response = await traffic.get('', { method: 'PUT', body: upload() as unknown as BodyInit });
  expect(await response.text()).toBe(String(512 * 2 ** 20));
  expect(await traffic.memoryBytes()).toBeLessThan(200 * 2 ** 20);
}, 60_000);
