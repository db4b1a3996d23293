import type { Proxy, Route, TrafficSeries } from '#engines/proxy/port';
import { controlPlaneConfig, routeConfig, routeName } from '#engines/proxy/traefik-config-builder/index';
import { BerthError, conflict } from '#kernel/errors';

/** What outlives a restart of berth. */
export interface FakeProxyState {
  running: boolean;
  routes: Map<string, Route>;
  controlPlane: { hosts: string[]; address: string } | null;
}

export interface FakeProxy extends Proxy {
  state: FakeProxyState;
  /** Every change in its order, such as `apply shop.web 10.0.0.2:8080`. */
  calls: string[];
  /** The upstreams behind a host name. */
  live(host: string): string[] | undefined;
  /** What `traffic` says. */
  counted: TrafficSeries[];
  /** The next `apply` fails with this error. */
  failNext(error: BerthError): void;
}

export const newFakeProxyState = (): FakeProxyState => ({ running: false, routes: new Map(), controlPlane: null });

/** A proxy in memory, with the real one's validation. */
export const createFakeProxy = (state: FakeProxyState = newFakeProxyState()): FakeProxy => {
  const calls: string[] = [];
  let failure: BerthError | undefined;

  const assertFree = (owner: string, hosts: string[], routes: Map<string, Route> = state.routes): void =>
    assertUnclaimed(owner, hosts, [
      ...[...routes].map(([name, route]): [string, string[]] => [name, route.hosts]),
      ['', state.controlPlane?.hosts ?? []],
    ]);
  const assertWorking = (): void => {
    const planned = failure;
    failure = undefined;
    if (planned !== undefined) throw planned;
    if (!state.running) throw notRunning();
  };
  return {
    state,
    calls,
    counted: [],
    async traffic() {
      if (!state.running) throw notRunning();
      return structuredClone(this.counted);
    },
    failNext: (error) => {
      failure = error;
    },
    live: (host) => liveUpstreams(state, host),
    ensure: async () => {
      state.running = true;
    },
    apply: async (route) => {
      const name = checkedName(route);
      assertFree(name, route.hosts);
      assertWorking();
      calls.push(`apply ${name} ${addressesOf(route).join(' ')}`.trimEnd());
      state.routes.set(name, structuredClone(route));
    },
    remove: async (project, service) => {
      const name = routeName(project, service);
      calls.push(`remove ${name}`);
      state.routes.delete(name);
    },
    list: async () => [...state.routes.values()].map(({ project, service }) => ({ project, service })),
    replaceAll: async (routes) => {
      const next = new Map<string, Route>();
      for (const route of routes) {
        assertFree(checkedName(route), route.hosts, next);
        next.set(checkedName(route), structuredClone(route));
      }
      if (next.size < routes.length) throw conflict('one service has two routes', 'give every service one route');
      calls.push(`replaceAll ${[...next.keys()].join(' ')}`.trimEnd());
      state.routes = next;
      assertWorking();
    },
    applyControlPlane: async (route) => {
      controlPlaneConfig(route, { tls: false, proxySecret: 'not-a-secret-but-long' });
      assertFree('', route.hosts);
      assertWorking();
      calls.push(`applyControlPlane ${route.address}`);
      state.controlPlane = structuredClone(route);
    },
    health: async () => ({ running: state.running, version: state.running ? 'fake' : null, routes: state.routes.size }),
  };
};

const addressesOf = (route: Route): string[] => route.upstreams.map(({ ip, port }) => `${ip}:${port}`);

const liveUpstreams = ({ routes, controlPlane }: FakeProxyState, host: string): string[] | undefined => {
  if (controlPlane?.hosts.includes(host) === true) return [controlPlane.address];
  const route = [...routes.values()].find(({ hosts }) => hosts.includes(host));
  return route === undefined ? undefined : addressesOf(route);
};

/** The name of the route, after the real validation. */
const checkedName = (route: Route): string => {
  routeConfig(route, { tls: false });
  return routeName(route.project, route.service);
};

const assertUnclaimed = (owner: string, hosts: string[], others: [string, string[]][]): void => {
  for (const [name, taken] of others) {
    const host = name === owner ? undefined : hosts.find((candidate) => taken.includes(candidate));
    if (host !== undefined) throw conflict(`the host name ${host} is already routed`, 'choose another host name');
  }
};

const notRunning = (): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the reverse proxy does not run', { hint: 'start it, then retry', retryable: true });
