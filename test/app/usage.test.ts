import { expect, test } from 'bun:test';
import { systemClock } from '#kernel/clock';
import { addProject, addReplica, addService } from '#test/modules/support/rig.ts';
import { readSse } from '#test/modules/support/sse.ts';
import { atEnd } from '#test/support/preload.ts';
import { createWorld } from './world.ts';

const INTERVAL_MS = 30_000;

/** A clock that goes on only when it is slept by: each sleep lasts no time. An interval begins between its first two readings. */
const steered = () => {
  const clock = {
    ...systemClock,
    at: Math.floor(Date.now() / INTERVAL_MS) * INTERVAL_MS - 1000,
    ticks: 0,
    waiting: Promise.withResolvers<void>(),
    now: () => clock.at,
    monotonic: () => clock.at,
    sleep: async (ms: number) => {
      clock.at += ms;
      clock.ticks += 1;
      await clock.waiting.promise;
    },
    /** Lets the sleeper go on, until it sleeps again. */
    tick: async () => {
      const before = clock.ticks;
      const { resolve } = clock.waiting;
      clock.waiting = Promise.withResolvers<void>();
      resolve();
      while (clock.ticks === before) await Bun.sleep(1);
    },
  };
  return clock;
};

const furnish = async () => {
  const clock = steered();
  const world = createWorld({ clock });
  const { rig } = world;
  addProject(rig, 'shop');
  const service = addService(rig, 'shop', 'web', { live_release: 'rel_1' });
  const { id } = await rig.runtime.create({
    name: 'web-1',
    image: 'app',
    env: {},
    labels: {},
    network: 'host',
    loopbackPorts: [],
    mounts: [],
    volumes: [],
    memoryBytes: 1024,
    cpus: 1,
    pidsLimit: 10,
    capAdd: [],
    readOnlyRoot: false,
    tmpfs: [],
    restart: 'unless-stopped',
    init: true,
    stopGraceSeconds: 1,
  });
  await rig.runtime.start(id);
  addReplica(rig, service, id, { name: 'web-1' });
  const ending = new AbortController();
  const running = world.sampler.run(ending.signal);
  atEnd(async () => {
    ending.abort();
    clock.waiting.resolve();
    await running;
  });
  while (clock.ticks === 0) await Bun.sleep(1);
  const count = (requests: number, status = 200): void => {
    const buckets = [requests, ...Array.from({ length: 12 }, () => 0)];
    const others = world.proxy.counted.filter((series) => series.status !== status);
    world.proxy.counted = [...others, { project: 'shop', service: 'web', key: `${status}`, status, buckets }];
  };
  return { world, clock, count, id };
};

const USAGE = 'GET /v1/projects/shop/services/web/usage';

test('what passed and what was used is told per interval', async () => {
  const { world, clock, count, id } = await furnish();
  count(100);
  await clock.tick();
  count(130);
  count(15, 503);
  world.rig.liveness.set(id, false);
  world.rig.liveness.set(id, true);
  await clock.tick();
  const { status, body } = await world.call(USAGE);
  expect(status).toBe(200);
  expect(body.step_seconds).toBe(30);
  const sum = body.points.map((point: { requests_per_second: number }) => point.requests_per_second);
  expect(Math.max(...sum)).toBeGreaterThan(0);
  expect(body.points.at(-1)).toMatchObject({ replicas: 1, cpu: 0, memory_bytes: 1024 ** 2 });
  expect(body.points.reduce((all: number, point: { restarts: number }) => all + point.restarts, 0)).toBe(1);
  expect(body.replicas).toMatchObject([{ name: 'web-1', points: expect.arrayContaining([]) }]);
  const errors = body.points.find((point: { error_rate: number | null }) => (point.error_rate ?? 0) > 0);
  expect(errors.error_rate).toBeCloseTo(15 / 145, 3);
});

test('a page that looks gets each reading, every five seconds; a proxy that is away stops nothing', async () => {
  const { world, clock, count } = await furnish();
  const tail = readSse(await world.fetch(world.request('GET /v1/live?topics=usage:shop/web')));
  count(0);
  await clock.tick();
  await tail.take(1);
  const before = clock.at;
  count(50);
  await clock.tick();
  expect(clock.at - before).toBe(5000);
  const [event] = await tail.take(1);
  expect(event?.data).toMatchObject({ kind: 'usage', topic: 'usage:shop/web', point: { requests_per_second: 10 } });
  expect(event?.data.replicas).toMatchObject([{ name: 'web-1', point: { memory_bytes: 1024 ** 2 } }]);
  world.proxy.state.running = false;
  await clock.tick();
  expect((await tail.take(1))[0]?.data.point).toMatchObject({ requests_per_second: 0, replicas: 1 });
});

test('a service that takes the name of another one shows nothing of it', async () => {
  const { world, clock } = await furnish();
  await clock.tick();
  await clock.tick();
  expect((await world.call(USAGE)).body.points.length).toBeGreaterThan(0);
  clock.at += 60_000;
  world.rig.db.query('UPDATE services SET created_at = ?1').run(clock.at);
  expect((await world.call(USAGE)).body.points).toEqual([]);
});

test.each([
  ['?from=yesterday', 'query.from'],
  ['?to=soon', 'query.to'],
  ['?from=1h&to=2h', 'query.from is not before'],
  ['?points=0', 'query.points'],
  ['?points=1501', 'query.points'],
])('%s is wrong input', async (query, said) => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  addService(world.rig, 'shop', 'web');
  const { status, body } = await world.call(`${USAGE}${query}`);
  expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
  expect(body.message).toContain(said);
});

test('a missing service is not found', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  expect((await world.call('GET /v1/projects/shop/services/none/usage')).body.code).toBe('NOT_FOUND');
});
