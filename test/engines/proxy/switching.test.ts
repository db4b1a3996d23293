import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { route } from '#test/contracts/proxy.ts';
import { echo, HOST, startTraffic, type Traffic } from './traffic.ts';
import { named, startLoad, startUpstream } from './upstreams.ts';

/** Requests on their way to the old upstream when the route changed have begun there by then. */
const HANDED_OVER_MS = 20;

let traffic: Traffic;
beforeAll(async () => {
  traffic = await startTraffic();
}, 60_000);
afterAll(() => traffic.dispose(), 60_000);
afterEach(() => traffic.killUpstreams());

test('40 changes of upstreams under the load of 16 clients: no request fails', async () => {
  let current = echo();
  await traffic.proxy.apply(route({ upstreams: [current] }));
  const load = startLoad(traffic.url, HOST, 16);
  for (let change = 0; change < 40; change += 1) {
    const next = echo();
    await traffic.proxy.apply(route({ upstreams: [next] }));
    await Bun.sleep(HANDED_OVER_MS);
    await current.drain();
    current = next;
  }
  await load.stop();
  await current.kill();
  expect(load.failures).toEqual([]);
  expect(load.sent).toBeGreaterThan(200);
}, 60_000);

test('changes of other routes under load disturb nobody', async () => {
  await traffic.proxy.apply(route({ upstreams: [traffic.keep(echo())] }));
  const load = startLoad(traffic.url, HOST, 8);
  for (let change = 0; change < 20; change += 1) {
    await traffic.proxy.apply(
      route({ service: 'other', hosts: ['other.localhost'], upstreams: [{ ip: '127.0.0.1', port: 9000 + change }] }),
    );
  }
  await traffic.proxy.remove('shop', 'other');
  await load.stop();
  expect(load.failures).toEqual([]);
}, 60_000);

test('requests under way when the route changes are answered by the old upstream', async () => {
  const arrived = Promise.withResolvers<undefined>();
  const release = Promise.withResolvers<undefined>();
  const old = traffic.keep(
    startUpstream(async () => {
      arrived.resolve(undefined);
      await release.promise;
      return new Response('old');
    }),
  );
  await traffic.proxy.apply(route({ upstreams: [old] }));
  const slow = traffic.get();
  await arrived.promise;
  await traffic.proxy.apply(route({ upstreams: [traffic.keep(named('new'))] }));
  expect(await (await traffic.get()).text()).toBe('new');
  release.resolve(undefined);
  expect(await (await slow).text()).toBe('old');
});
