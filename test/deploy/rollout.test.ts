import { describe, expect, test } from 'bun:test';
import type { DeployDeps } from '#deploy/deps';
import { createRollout, type Prepared } from '#deploy/rollout';
import type { Route } from '#engines/proxy/port';
import type { Run } from '#modules/operations';
import type { ReplicaRow, ServiceRow } from '#modules/services';
import { createFakeProxy } from '#test/fakes/proxy.ts';
import { conflict } from '#kernel/errors';
import { addProject, addReplica, addService, createRig } from '#test/modules/support/rig.ts';

const RUN = { signal: new AbortController().signal, log: () => undefined } as unknown as Run;

/** A service whose live replica is to be replaced by one that has passed its gate. */
const setUp = () => {
  const rig = createRig();
  addProject(rig, 'shop');
  const service: ServiceRow = addService(rig, 'shop', 'web');
  const old = addReplica(rig, service, 'old', { ip: '10.208.0.2', state: 'live', slot: 1 });
  const fresh = addReplica(rig, service, 'new', { ip: '10.208.0.3', state: 'starting', slot: 2 });
  const proxy = createFakeProxy();
  proxy.state.running = true;
  const kept: string[] = [];
  const discarded: string[] = [];
  const drained: string[] = [];
  const runtime = {
    ...rig.runtime,
    keepRunning: async (id: string): Promise<void> => {
      kept.push(id);
    },
  };
  const replicas = {
    start: () => Promise.reject(new Error('nothing starts here')),
    discard: async (rows: readonly ReplicaRow[]) => void discarded.push(...rows.map((row) => row.container_id)),
    drain: async (rows: readonly ReplicaRow[]) => void drained.push(...rows.map((row) => row.container_id)),
  };
  const deps = { ...rig, services: rig.serviceStore, proxy, runtime, instance: 'test' } as unknown as DeployDeps;
  const prepared: Prepared = {
    request: { service, keep: [], slots: [2], retire: [old], image: 'app' },
    started: [fresh],
  };
  return { rig, proxy, runtime, replicas, deps, prepared, kept, discarded, drained };
};

const upstreams = (route: Route | undefined): string[] => (route?.upstreams ?? []).map((upstream) => upstream.ip);

describe('going live', () => {
  test('moves the route, and lets the engine restart the new replicas from now on', async () => {
    const { proxy, replicas, deps, prepared, kept, discarded, drained } = setUp();
    await createRollout(deps, replicas).goLive(RUN, prepared, 'rel_1', () => undefined);
    expect(upstreams(proxy.state.routes.get('shop.web'))).toEqual(['10.208.0.3']);
    expect({ kept, discarded, drained }).toEqual({ kept: ['new'], discarded: [], drained: ['old'] });
  });

  test('puts the route back when the engine cannot keep a new replica', async () => {
    const { proxy, runtime, replicas, deps, prepared, discarded, drained } = setUp();
    runtime.keepRunning = () => Promise.reject(conflict('it is being removed', 'deploy again'));
    const live = createRollout(deps, replicas).goLive(RUN, prepared, 'rel_1', () => {
      throw new Error('must not be committed');
    });
    expect(await live.catch((error: unknown) => error)).toMatchObject({ kind: 'CONFLICT' });
    expect(upstreams(proxy.state.routes.get('shop.web'))).toEqual(['10.208.0.2']);
    expect({ discarded, drained }).toEqual({ discarded: ['new'], drained: [] });
  });

  test('leaves the route alone when the proxy does not take it', async () => {
    const { proxy, replicas, deps, prepared, discarded } = setUp();
    proxy.failNext(conflict('no', 'try again'));
    const live = createRollout(deps, replicas).goLive(RUN, prepared, 'rel_1', () => undefined);
    expect(await live.catch((error: unknown) => error)).toMatchObject({ kind: 'CONFLICT' });
    expect(proxy.calls).toEqual([]);
    expect(discarded).toEqual(['new']);
  });
});
