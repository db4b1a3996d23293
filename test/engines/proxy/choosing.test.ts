import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { route } from '#test/contracts/proxy.ts';
import { freePorts } from './support.ts';
import { echo, HOST, startTraffic, type Traffic } from './traffic.ts';
import { named, startLoad, startUpstream, type TestUpstream } from './upstreams.ts';

/** On the default bridge, where no container has it. */
const DEAD_BRIDGE_ADDRESS = '172.17.255.250';

let traffic: Traffic;
beforeAll(async () => {
  traffic = await startTraffic();
}, 60_000);
afterAll(() => traffic.dispose(), 60_000);
afterEach(() => traffic.killUpstreams());

test('several share the requests evenly', async () => {
  const three = ['a', 'b', 'c'].map((name) => traffic.keep(named(name)));
  await traffic.proxy.apply(route({ upstreams: three }));
  for (let index = 0; index < 30; index += 1) await (await traffic.get()).text();
  expect(three.map(({ requests }) => requests)).toEqual([10, 10, 10]);
});

test('one dead upstream of two, under load: no request fails', async () => {
  const dead = named('dead');
  await dead.kill();
  await traffic.proxy.apply(route({ upstreams: [traffic.keep(echo()), dead] }));
  const load = startLoad(traffic.url, HOST, 16);
  await Bun.sleep(1_500);
  await load.stop();
  expect(load.failures).toEqual([]);
  expect(load.sent).toBeGreaterThan(100);
}, 30_000);

test('one upstream of two dies under load: only requests that it had begun fail', async () => {
  const dying = echo();
  await traffic.proxy.apply(route({ upstreams: [traffic.keep(echo()), dying] }));
  const load = startLoad(traffic.url, HOST, 16);
  await Bun.sleep(300);
  await dying.kill();
  await Bun.sleep(700);
  await load.stop();
  expect(load.failures.length).toBeLessThanOrEqual(16);
  expect(load.failures.filter((failure) => !failure.startsWith('502'))).toEqual([]);
}, 30_000);

test('an upstream whose address is gone costs a second at a time, not the request', async () => {
  await traffic.proxy.apply(
    route({ upstreams: [traffic.keep(named('alive')), { ip: DEAD_BRIDGE_ADDRESS, port: 8080 }] }),
  );
  const start = performance.now();
  const bodies = [];
  for (let index = 0; index < 4; index += 1) bodies.push(await (await traffic.get()).text());
  expect(bodies).toEqual(['alive', 'alive', 'alive', 'alive']);
  expect(performance.now() - start).toBeLessThan(6_000);
}, 20_000);

test('a lone dead upstream is a 502, soon', async () => {
  const dead = named('dead');
  await dead.kill();
  await traffic.proxy.apply(route({ upstreams: [dead] }));
  expect((await traffic.get()).status).toBe(502);
});

test('no upstream is a 503, an unknown host a 404', async () => {
  await traffic.proxy.apply(route({ upstreams: [] }));
  expect((await traffic.get()).status).toBe(503);
  expect((await traffic.get('', {}, 'unknown.localhost')).status).toBe(404);
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
  await traffic.proxy.apply(route({ upstreams: [{ ip: '127.0.0.1', port }] }));
  expect((await traffic.get('', { method: 'POST', body: 'pay' })).status).toBe(502);
  expect(received).toBe(1);
  rude.close();
});

test('an app that answers 500 stays in turn: a bad page does not take the service away', async () => {
  const handler = (request: Request): Response =>
    new URL(request.url).pathname === '/bad' ? new Response('bad', { status: 500 }) : new Response('good');
  await traffic.proxy.apply(
    route({ upstreams: [traffic.keep(startUpstream(handler)), traffic.keep(startUpstream(handler))] }),
  );
  const bad = await Promise.all(Array.from({ length: 40 }, async () => (await traffic.get('bad')).status));
  expect(new Set(bad)).toEqual(new Set([500]));
  expect(await (await traffic.get('fine')).text()).toBe('good');
});

test('an upstream that fails its health path gets no requests until it passes again', async () => {
  let healthy = false;
  const checked = (name: string, state: () => boolean): TestUpstream =>
    traffic.keep(
      startUpstream((request) =>
        new URL(request.url).pathname === '/health'
          ? new Response('', { status: state() ? 204 : 500 })
          : new Response(`${name} ${request.headers.get('host')}`),
      ),
    );
  const pair = [checked('well', () => true), checked('ill', () => healthy)];
  await traffic.proxy.apply(route({ upstreams: pair, healthPath: '/health' }));
  const names = async (): Promise<Set<string>> => {
    const texts = await Promise.all(Array.from({ length: 8 }, async () => (await traffic.get()).text()));
    return new Set(texts.map((text) => text.split(' ')[0] ?? ''));
  };
  const until = async (wanted: string[]): Promise<void> => {
    while ((await names()).symmetricDifference(new Set(wanted)).size > 0) await Bun.sleep(50);
  };
  await until(['well']);
  healthy = true;
  await until(['well', 'ill']);
}, 20_000);
