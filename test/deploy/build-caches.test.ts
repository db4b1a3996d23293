import { describe, expect, test } from 'bun:test';
import { createBuildCaches, type BuildCaches } from '#deploy/build-caches';
import type { Config } from '#kernel/config';
import { systemClock } from '#kernel/clock';
import { packContext } from '#engines/source/context';
import { createFakeBuilder } from '#test/fakes/builder.ts';
import { addProject, addService, call, createRig } from '#test/modules/support/rig.ts';

/** Two services of a project, a builder in memory whose records weigh 1000 bytes, and what keeps its cache in bounds. */
const world = (config: Partial<Config> = {}) => {
  const rig = createRig({ config });
  addProject(rig, 'shop');
  addService(rig, 'shop', 'web');
  addService(rig, 'shop', 'api');
  const time = { passed: 0 };
  const now = (): number => Date.now() + time.passed;
  const builder = createFakeBuilder(now);
  const made = createBuildCaches({
    config: rig.config,
    instance: 'i',
    clock: { ...systemClock, now },
    log: rig.log,
    builder,
    services: rig.serviceStore,
  });
  const build = async (caches: BuildCaches, service: string, steps: string[]): Promise<void> => {
    const watch = caches.begin('shop', service);
    const content = ['FROM x', ...steps.map((step) => `RUN ${step}`)].join('\n');
    watch.dockerfile(content);
    await builder.build({
      context: packContext({ layers: [], files: [{ path: 'Dockerfile', content }] }),
      dockerfile: 'Dockerfile',
      tag: service,
      buildArgs: {},
      labels: {},
      cacheScope: caches.scope('shop', service),
      noCache: false,
      signal: new AbortController().signal,
      onLog: () => undefined,
    });
    watch.ended();
  };
  const anHourPasses = (): void => void (time.passed += 3_600_000);
  const commands = (): string[] => [...builder.records.values()].map(({ description }) => description).toSorted();
  const bytesOf = async (service: string): Promise<number> =>
    (await call(rig, `GET /v1/projects/shop/services/${service}`)).body.build_cache_bytes;
  return {
    rig,
    builder,
    made,
    build: (service: string, ...steps: string[]) => build(made, service, steps),
    anHourPasses,
    commands,
    bytesOf,
  };
};

describe('the build cache of a service', () => {
  test('is counted after its build, and shown with it', async () => {
    const { made, build, anHourPasses, bytesOf } = world();
    await build('web', 'echo one', 'echo two');
    expect(await bytesOf('web')).toBe(0);
    await made.tend();
    anHourPasses();
    await build('api', 'echo one', 'echo three', 'echo four');
    await made.tend();
    expect([await bytesOf('web'), await bytesOf('api')]).toEqual([2000, 3000]);
  });

  test('is kept below its bound, by dropping what was used longest ago', async () => {
    const { made, build, anHourPasses, commands, bytesOf } = world({ buildCacheBytesPerService: 2000 });
    await build('web', 'echo base', 'echo old');
    await made.tend();
    anHourPasses();
    await build('web', 'echo base', 'echo new');
    await made.tend();
    expect(commands()).toEqual(['RUN echo base', 'RUN echo new']);
    expect(await bytesOf('web')).toBe(2000);
  });

  test('is left alone while the service builds', async () => {
    const { made, build, commands } = world({ buildCacheBytesPerService: 0 });
    await build('web', 'echo base');
    const { ended } = made.begin('shop', 'web');
    await made.tend();
    expect(commands()).toEqual(['RUN echo base']);
    ended();
    await made.tend();
    expect(commands()).toEqual([]);
  });

  test('goes with it, but for what others used', async () => {
    const { rig, made, build, anHourPasses, commands } = world();
    await build('web', 'echo base', 'echo web', '--mount=type=cache,target=/x echo mount');
    await made.tend();
    anHourPasses();
    await build('api', 'echo base', 'echo api');
    await made.drop('shop', ['web']);
    rig.serviceStore.remove('shop', 'web');
    expect(commands()).toEqual(['RUN echo api', 'RUN echo base']);
    await made.drop('shop', ['api']);
    expect(commands()).toEqual([]);
  });

  test('is dropped again when the engine held on to it', async () => {
    const { builder, made, build, commands } = world({ buildCacheBytesPerService: 0 });
    const dropping = builder.dropCache;
    const refusals = { left: 2 };
    builder.dropCache = async (ids) => {
      if (refusals.left > 0) refusals.left -= 1;
      else await dropping(ids);
    };
    await build('web', 'echo one');
    await made.tend();
    expect(commands()).toEqual([]);
    refusals.left = 1;
    await build('web', 'echo one');
    await made.drop('shop', ['web']);
    expect(commands()).toEqual([]);
  });

  test('stays its own while the engine leaves it out of a listing, and goes with it all the same', async () => {
    const { builder, made, build, commands, bytesOf } = world();
    await build('web', 'echo one', 'echo two');
    await made.tend();
    const listing = builder.cacheRecords;
    const leftOut = async () => (await listing()).filter(({ description }) => !description.includes('two'));
    builder.cacheRecords = leftOut;
    await made.tend();
    expect(await bytesOf('web')).toBe(1000);
    builder.cacheRecords = listing;
    await made.tend();
    expect(await bytesOf('web')).toBe(2000);
    builder.cacheRecords = leftOut;
    await made.drop('shop', ['web']);
    expect(commands()).toEqual([]);
  });

  test('that was not listed for long is gone, whoever makes it again', async () => {
    const { rig, builder, made, build, anHourPasses } = world();
    await build('web', 'echo one');
    await made.tend();
    const listing = builder.cacheRecords;
    builder.cacheRecords = () => Promise.resolve([]);
    await made.tend();
    expect(rig.serviceStore.caches.all()).toHaveLength(1);
    anHourPasses();
    await made.tend();
    expect(rig.serviceStore.caches.all()).toEqual([]);
    builder.cacheRecords = listing;
    await made.tend();
    expect(rig.serviceStore.caches.all()).toEqual([]);
  });

  test('that can never be dropped ends the attempts', async () => {
    const { builder, made, build, commands } = world({ buildCacheBytesPerService: 0 });
    const calls = { so: 0 };
    builder.dropCache = () => {
      calls.so += 1;
      return Promise.resolve();
    };
    await build('web', 'echo one');
    await made.tend();
    expect(commands()).toEqual(['RUN echo one']);
    expect(calls.so).toBeLessThan(10);
  });

  test('that cannot be dropped stops no deletion', async () => {
    const { rig, builder, made } = world();
    builder.cacheRecords = () => Promise.reject(new Error('the engine is away'));
    await made.drop('shop', ['web']);
    expect(rig.logged.join('\n')).toContain('the engine is away');
  });
});

test('the build cache of all together is kept below its bound; that of others only by the nightly trim', async () => {
  const { rig, builder, made, build, anHourPasses, commands } = world({ buildCacheBytes: 2000 });
  await build('gone', 'echo foreign');
  anHourPasses();
  await build('web', 'echo one', 'echo two');
  anHourPasses();
  await build('api', 'echo three');
  await made.tend();
  expect(commands()).toEqual(['RUN echo foreign', 'RUN echo one', 'RUN echo three']);
  expect(rig.serviceStore.caches.all().reduce((sum, { bytes }) => sum + bytes, 0)).toBe(2000);
  await made.trim();
  expect(commands()).toEqual(['RUN echo one', 'RUN echo three']);
  expect(await builder.cacheBytes()).toBe(2000);
});

test('counting goes by itself after a build, and ends with the server', async () => {
  const { rig, builder } = world();
  const clock = { ...systemClock, sleep: () => Bun.sleep(1) };
  const caches = createBuildCaches({
    config: rig.config,
    instance: 'i',
    clock,
    log: rig.log,
    builder,
    services: rig.serviceStore,
  });
  const counts = { so: 0 };
  const counting = builder.cacheRecords;
  builder.cacheRecords = () => {
    counts.so += 1;
    return counting();
  };
  const stopping = new AbortController();
  const running = caches.run(stopping.signal);
  await Bun.sleep(20);
  expect(counts.so).toBe(0);
  caches.begin('shop', 'web').ended();
  while (counts.so === 0) await Bun.sleep(1);
  await Bun.sleep(20);
  expect(counts.so).toBe(1);
  stopping.abort();
  await running;
});
