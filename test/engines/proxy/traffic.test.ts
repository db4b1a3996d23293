import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type Server } from 'node:net';
import { route } from '#test/contracts/proxy.ts';
import { freePorts, startTraefik, type Traefik } from './support.ts';
import { named, startLoad, startUpstream, type TestUpstream } from './upstreams.ts';

const HOST = 'web--shop.localhost';
/** Requests on their way to the old upstream when the route changed have begun there by then. */
const HANDED_OVER_MS = 20;
/** On the default bridge, where no container has it. */
const DEAD_BRIDGE_ADDRESS = '172.17.255.250';

let traefik: Traefik;
let url: string;
const upstreams: TestUpstream[] = [];
const keep = (upstream: TestUpstream): TestUpstream => {
  upstreams.push(upstream);
  return upstream;
};

beforeAll(async () => {
  traefik = await startTraefik();
  await traefik.proxy.ensure();
  url = `http://127.0.0.1:${traefik.ports.http}/`;
}, 60_000);
afterAll(() => traefik.dispose(), 60_000);
afterEach(async () => {
  await Promise.all(upstreams.splice(0).map((upstream) => upstream.kill()));
});

const get = (path = '', init: Omit<RequestInit, 'headers'> = {}, host = HOST): Promise<Response> =>
  fetch(url + path, { ...init, headers: { Host: host } });
const echo = (): TestUpstream => startUpstream(async (request) => new Response((await request.text()) || 'ok'));

describe('switching', () => {
  test('40 changes of upstreams under the load of 16 clients: no request fails', async () => {
    let current = echo();
    await traefik.proxy.apply(route({ upstreams: [current] }));
    const load = startLoad(url, HOST, 16);
    for (let change = 0; change < 40; change += 1) {
      const next = echo();
      await traefik.proxy.apply(route({ upstreams: [next] }));
      await Bun.sleep(HANDED_OVER_MS);
      await current.drain();
      current = next;
    }
    await load.stop();
    await current.kill();
    expect(load.failures).toEqual([]);
    expect(load.sent).toBeGreaterThan(1_000);
  }, 60_000);

  test('changes of other routes under load disturb nobody', async () => {
    await traefik.proxy.apply(route({ upstreams: [keep(echo())] }));
    const load = startLoad(url, HOST, 8);
    for (let change = 0; change < 20; change += 1) {
      await traefik.proxy.apply(
        route({ service: 'other', hosts: ['other.localhost'], upstreams: [{ ip: '127.0.0.1', port: 9000 + change }] }),
      );
    }
    await traefik.proxy.remove('shop', 'other');
    await load.stop();
    expect(load.failures).toEqual([]);
  }, 60_000);

  test('requests under way when the route changes are answered by the old upstream', async () => {
    const arrived = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    const old = keep(
      startUpstream(async () => {
        arrived.resolve(undefined);
        await release.promise;
        return new Response('old');
      }),
    );
    await traefik.proxy.apply(route({ upstreams: [old] }));
    const slow = get();
    await arrived.promise;
    await traefik.proxy.apply(route({ upstreams: [keep(named('new'))] }));
    expect(await (await get()).text()).toBe('new');
    release.resolve(undefined);
    expect(await (await slow).text()).toBe('old');
  });
});

describe('choosing among upstreams', () => {
  test('several share the requests evenly', async () => {
    const three = ['a', 'b', 'c'].map((name) => keep(named(name)));
    await traefik.proxy.apply(route({ upstreams: three }));
    for (let index = 0; index < 30; index += 1) await (await get()).text();
    expect(three.map(({ requests }) => requests)).toEqual([10, 10, 10]);
  });

  test('one dead upstream of two, under load: no request fails', async () => {
    const dead = named('dead');
    await dead.kill();
    await traefik.proxy.apply(route({ upstreams: [keep(echo()), dead] }));
    const load = startLoad(url, HOST, 16);
    await Bun.sleep(1_500);
    await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.sent).toBeGreaterThan(100);
  }, 30_000);

  test('one upstream of two dies under load: only requests that it had begun fail', async () => {
    const dying = echo();
    await traefik.proxy.apply(route({ upstreams: [keep(echo()), dying] }));
    const load = startLoad(url, HOST, 16);
    await Bun.sleep(300);
    await dying.kill();
    await Bun.sleep(700);
    await load.stop();
    expect(load.failures.length).toBeLessThanOrEqual(16);
    expect(load.failures.filter((failure) => !failure.startsWith('502'))).toEqual([]);
  }, 30_000);

  test('an upstream whose address is gone costs a second at a time, not the request', async () => {
    await traefik.proxy.apply(route({ upstreams: [keep(named('alive')), { ip: DEAD_BRIDGE_ADDRESS, port: 8080 }] }));
    const start = performance.now();
    const bodies = [];
    for (let index = 0; index < 4; index += 1) bodies.push(await (await get()).text());
    expect(bodies).toEqual(['alive', 'alive', 'alive', 'alive']);
    expect(performance.now() - start).toBeLessThan(6_000);
  }, 20_000);

  test('a lone dead upstream is a 502, soon', async () => {
    const dead = named('dead');
    await dead.kill();
    await traefik.proxy.apply(route({ upstreams: [dead] }));
    expect((await get()).status).toBe(502);
  });

  test('no upstream is a 503, an unknown host a 404', async () => {
    await traefik.proxy.apply(route({ upstreams: [] }));
    expect((await get()).status).toBe(503);
    expect((await get('', {}, 'unknown.localhost')).status).toBe(404);
  });

  test('a request that reached the app is never sent twice, even when the app breaks off', async () => {
    let received = 0;
    const rude: Server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => {
        received += 1;
        socket.destroy();
      });
    });
    const [port = 0] = await freePorts(1);
    await new Promise<void>((resolve) => rude.listen(port, '127.0.0.1', resolve));
    await traefik.proxy.apply(route({ upstreams: [{ ip: '127.0.0.1', port }] }));
    expect((await get('', { method: 'POST', body: 'pay' })).status).toBe(502);
    expect(received).toBe(1);
    rude.close();
  });

  test('an app that answers 500 stays in turn: a bad page does not take the service away', async () => {
    const handler = (request: Request): Response =>
      new URL(request.url).pathname === '/bad' ? new Response('bad', { status: 500 }) : new Response('good');
    await traefik.proxy.apply(route({ upstreams: [keep(startUpstream(handler)), keep(startUpstream(handler))] }));
    const bad = await Promise.all(Array.from({ length: 40 }, async () => (await get('bad')).status));
    expect(new Set(bad)).toEqual(new Set([500]));
    expect(await (await get('fine')).text()).toBe('good');
  });

  test('an upstream that fails its health path gets no requests until it passes again', async () => {
    let healthy = false;
    const checked = (name: string, state: () => boolean): TestUpstream =>
      keep(
        startUpstream((request) =>
          new URL(request.url).pathname === '/health'
            ? new Response('', { status: state() ? 204 : 500 })
            : new Response(`${name} ${request.headers.get('host')}`),
        ),
      );
    const pair = [checked('well', () => true), checked('ill', () => healthy)];
    await traefik.proxy.apply(route({ upstreams: pair, healthPath: '/health' }));
    const names = async (): Promise<Set<string>> => {
      const texts = await Promise.all(Array.from({ length: 8 }, async () => (await get()).text()));
      return new Set(texts.map((text) => text.split(' ')[0] ?? ''));
    };
    const until = async (wanted: string[]): Promise<void> => {
      while ((await names()).symmetricDifference(new Set(wanted)).size > 0) await Bun.sleep(50);
    };
    await until(['well']);
    healthy = true;
    await until(['well', 'ill']);
  }, 20_000);
});

describe('protocols', () => {
  test('WebSockets, which outlive a change of their route', async () => {
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request, self) => (self.upgrade(request) ? undefined : new Response('no')),
      websocket: { message: (socket, message) => void socket.send(`echo ${String(message)}`) },
    });
    await traefik.proxy.apply(route({ upstreams: [{ ip: '127.0.0.1', port: server.port ?? 0 }] }));
    const socket = new WebSocket(url.replace('http', 'ws'), { headers: { Host: HOST } } as unknown as string[]);
    const next = (): Promise<string> =>
      new Promise((resolve, reject) => {
        socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true });
        socket.addEventListener('close', () => reject(new Error('closed')), { once: true });
      });
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
    const first = next();
    socket.send('one');
    expect(await first).toBe('echo one');
    await traefik.proxy.apply(route({ upstreams: [keep(named('new'))] }));
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
      const app = startUpstream(
        () => new Response(body() as unknown as BodyInit, { headers: { 'content-type': type } }),
      );
      await traefik.proxy.apply(route({ upstreams: [keep(app)] }));
      const parts: string[] = [];
      for await (const chunk of (await get()).body ?? []) {
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
    await traefik.proxy.apply(route({ upstreams: [{ ip: '127.0.0.1', port }], protocol: 'h2c' }));
    expect(await (await get('grpc')).text()).toBe('HTTP/2.0 GET /grpc');
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
    await traefik.proxy.apply(route({ upstreams: [keep(app)] }));
    const megabyte = new Uint8Array(2 ** 20);
    const upload = async function* (): AsyncGenerator<Uint8Array> {
      for (let sent = 0; sent < 512; sent += 1) {
        if (sent === 8) await begun.promise;
        yield megabyte;
      }
    };
    const response = await get('', { method: 'PUT', body: upload() as unknown as BodyInit });
    expect(await response.text()).toBe(String(512 * 2 ** 20));
    expect((await traefik.runtime.stats(await traefik.containerId()))?.memoryBytes).toBeLessThan(200 * 2 ** 20);
  }, 60_000);
});
