import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { ControlPlaneRoute, Proxy, Route } from '#engines/proxy/port';
import { BerthError } from '#kernel/errors';

/** What the suite needs beside the port: to look at what is live, and to disturb the proxy. */
export interface ProxyHarness {
  proxy: Proxy;
  /** The upstreams (`ip:port`) that the proxy itself says it uses for a host; undefined for an unknown host. */
  live(host: string): Promise<string[] | undefined>;
  /** Stops the proxy as a crash would. */
  crash(): Promise<void>;
  /** A second adapter over the same state, as a restarted berth has. */
  reopen(): Proxy;
  dispose(): Promise<void>;
}

export const route = (changes: Partial<Route> = {}): Route => ({
  project: 'shop',
  service: 'web',
  hosts: ['web--shop.localhost'],
  upstreams: [{ ip: '127.0.0.1', port: 41_001 }],
  protocol: 'http',
  healthPath: null,
  ...changes,
});

const HOST = 'web--shop.localhost';
const CONTROL_PLANE: ControlPlaneRoute = { hosts: ['berth.localhost'], address: '127.0.0.1:41900' };
const upstream = (port: number): { ip: string; port: number } => ({ ip: '127.0.0.1', port });

const rejection = async (work: Promise<unknown>): Promise<BerthError> => {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof BerthError) return thrown;
  throw new Error('expected a BerthError', { cause: thrown });
};

/** The contract of the port, for the fake and for Traefik. */
export const proxyContract = (name: string, open: () => Promise<ProxyHarness>): void => {
  describe(`proxy contract: ${name}`, () => {
    let current: ProxyHarness | undefined;
    const harness = (): ProxyHarness => {
      if (current === undefined) throw new Error('the harness was not opened');
      return current;
    };

    beforeAll(async () => {
      current = await open();
    }, 60_000);
    afterAll(() => harness().dispose(), 60_000);
    beforeEach(async () => {
      await harness().proxy.ensure();
      await harness().proxy.replaceAll([]);
    }, 30_000);

    liveRoutes(harness);
    hostClaims(harness);
    bulkAndInput(harness);
    faults(harness);
  });
};

const liveRoutes = (harness: () => ProxyHarness): void => {
  test('ensure is idempotent', async () => {
    await harness().proxy.ensure();
    await harness().proxy.ensure();
    expect(await harness().proxy.health()).toMatchObject({ running: true });
  });

  test('an applied route is live with exactly its upstreams when apply resolves', async () => {
    await harness().proxy.apply(route({ upstreams: [upstream(41_001), upstream(41_002)] }));
    expect((await harness().live(HOST))?.toSorted()).toEqual(['127.0.0.1:41001', '127.0.0.1:41002']);
  });

  test('applying again replaces the upstreams', async () => {
    await harness().proxy.apply(route());
    await harness().proxy.apply(route({ upstreams: [upstream(41_005)] }));
    expect(await harness().live(HOST)).toEqual(['127.0.0.1:41005']);
  });

  test('a route may have no upstreams', async () => {
    await harness().proxy.apply(route({ upstreams: [] }));
    expect(await harness().live(HOST)).toEqual([]);
  });

  test('a host that a route gives up is no longer routed', async () => {
    await harness().proxy.apply(route({ hosts: [HOST, 'old.example.com'] }));
    await harness().proxy.apply(route({ hosts: [HOST] }));
    expect(await harness().live('old.example.com')).toBeUndefined();
    expect(await harness().live(HOST)).toEqual(['127.0.0.1:41001']);
  });

  test('changes to one route asked for at once happen in their order', async () => {
    const ports = Array.from({ length: 12 }, (_, index) => 41_100 + index);
    await Promise.all(ports.map((port) => harness().proxy.apply(route({ upstreams: [upstream(port)] }))));
    expect(await harness().live(HOST)).toEqual(['127.0.0.1:41111']);
  });

  test('many routes can be changed side by side', async () => {
    const services = Array.from({ length: 12 }, (_, index) => `app${index}`);
    await Promise.all(
      services.map((service) => harness().proxy.apply(route({ service, hosts: [`${service}.localhost`] }))),
    );
    expect((await harness().proxy.list()).map(({ service }) => service).toSorted()).toEqual(services.toSorted());
    for (const service of services) expect(await harness().live(`${service}.localhost`)).toEqual(['127.0.0.1:41001']);
  });

  test('remove takes the route away, and does nothing the second time', async () => {
    await harness().proxy.apply(route());
    await harness().proxy.remove('shop', 'web');
    expect(await harness().live(HOST)).toBeUndefined();
    expect(await harness().proxy.list()).toEqual([]);
    await harness().proxy.remove('shop', 'web');
  });
};

const hostClaims = (harness: () => ProxyHarness): void => {
  test('two services cannot have one host', async () => {
    await harness().proxy.apply(route());
    const error = await rejection(harness().proxy.apply(route({ service: 'api' })));
    expect(error.kind).toBe('CONFLICT');
    expect(error.message).toContain(HOST);
    expect(await harness().proxy.list()).toEqual([{ project: 'shop', service: 'web' }]);
    await harness().proxy.remove('shop', 'web');
    await harness().proxy.apply(route({ service: 'api' }));
  });

  test('two services asking for one host at once: one gets it', async () => {
    const outcomes = await Promise.allSettled(
      ['one', 'two'].map((service) => harness().proxy.apply(route({ service }))),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await harness().proxy.list()).toHaveLength(1);
  });

  test('an app cannot have the host of the API, nor the API that of an app', async () => {
    await harness().proxy.applyControlPlane(CONTROL_PLANE);
    expect((await rejection(harness().proxy.apply(route({ hosts: ['berth.localhost'] })))).kind).toBe('CONFLICT');
    await harness().proxy.apply(route());
    const greedy = harness().proxy.applyControlPlane({ ...CONTROL_PLANE, hosts: ['berth.localhost', HOST] });
    expect((await rejection(greedy)).kind).toBe('CONFLICT');
    expect(await harness().live('berth.localhost')).toEqual(['127.0.0.1:41900']);
  });

  test('the route of the API is not among the routes, and survives replaceAll', async () => {
    await harness().proxy.applyControlPlane(CONTROL_PLANE);
    await harness().proxy.replaceAll([route()]);
    expect(await harness().proxy.list()).toEqual([{ project: 'shop', service: 'web' }]);
    expect(await harness().live('berth.localhost')).toEqual(['127.0.0.1:41900']);
  });
};

const bulkAndInput = (harness: () => ProxyHarness): void => {
  test('replaceAll leaves exactly the given routes', async () => {
    await harness().proxy.apply(route());
    await harness().proxy.apply(route({ service: 'old', hosts: ['old.localhost'] }));
    await harness().proxy.replaceAll([
      route({ upstreams: [upstream(41_009)] }),
      route({ service: 'new', hosts: ['new.localhost'] }),
    ]);
    expect((await harness().proxy.list()).map(({ service }) => service).toSorted()).toEqual(['new', 'web']);
    expect(await harness().live(HOST)).toEqual(['127.0.0.1:41009']);
    expect(await harness().live('old.localhost')).toBeUndefined();
    await harness().proxy.apply(route({ service: 'heir', hosts: ['old.localhost'] }));
  });

  test('replaceAll refuses two routes for one host, and changes nothing', async () => {
    await harness().proxy.apply(route());
    const twice = [
      route({ service: 'one', hosts: ['x.localhost'] }),
      route({ service: 'two', hosts: ['x.localhost'] }),
    ];
    expect((await rejection(harness().proxy.replaceAll(twice))).kind).toBe('CONFLICT');
    expect(await harness().proxy.list()).toEqual([{ project: 'shop', service: 'web' }]);
  });

  test.each([
    ['a host with a port', route({ hosts: ['web.localhost:80'] })],
    ['no host', route({ hosts: [] })],
    ['a name with a path', route({ service: '../web' })],
    ['an address that is none', route({ upstreams: [{ ip: 'localhost', port: 80 }] })],
    ['a port out of range', route({ upstreams: [upstream(70_000)] })],
    ['one upstream twice', route({ upstreams: [upstream(41_001), upstream(41_001)] })],
    ['a health path with a host', route({ healthPath: '//elsewhere.example/' })],
  ])('%s is INVALID_INPUT, and nothing changes', async (_, bad) => {
    expect((await rejection(harness().proxy.apply(bad))).kind).toBe('INVALID_INPUT');
    expect(await harness().proxy.list()).toEqual([]);
  });
};

const faults = (harness: () => ProxyHarness): void => {
  test('a route stays as it was when apply rejects, because the proxy is down', async () => {
    await harness().proxy.apply(route());
    await harness().crash();
    expect(await harness().proxy.health()).toMatchObject({ running: false, routes: 1 });
    const error = await rejection(harness().proxy.apply(route({ upstreams: [upstream(41_007)] })));
    expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
    expect(error.message).toContain('does not run');
    await rejection(harness().proxy.apply(route({ service: 'late', hosts: ['late.localhost'] })));
    await harness().proxy.ensure();
    expect(await harness().live(HOST)).toEqual(['127.0.0.1:41001']);
    expect(await harness().proxy.list()).toEqual([{ project: 'shop', service: 'web' }]);
  }, 30_000);

  test('a route removed while the proxy is down stays removed', async () => {
    await harness().proxy.apply(route());
    await harness().crash();
    await harness().proxy.remove('shop', 'web');
    await harness().proxy.ensure();
    expect(await harness().live(HOST)).toBeUndefined();
  }, 30_000);

  test('routes and their claims survive a restart of berth', async () => {
    await harness().proxy.apply(route());
    const reopened = harness().reopen();
    expect(await reopened.list()).toEqual([{ project: 'shop', service: 'web' }]);
    expect((await rejection(reopened.apply(route({ service: 'api' })))).kind).toBe('CONFLICT');
    await reopened.remove('shop', 'web');
    await reopened.apply(route({ service: 'api' }));
    await reopened.remove('shop', 'api');
  });
};
