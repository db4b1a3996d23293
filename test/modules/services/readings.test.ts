import { expect, test } from 'bun:test';
import { systemClock, type Clock } from '#kernel/clock';
import { createReadReplicas } from '#modules/services';
import { createFakeRuntime } from '#test/fakes/runtime.ts';

test('an engine that hangs costs the deadline only, and what has come by then is used', async () => {
  const slept: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: (ms) => {
      slept.push(ms);
      return new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
  const state = {
    id: 'a',
    name: 'r1',
    image: 'app',
    labels: {},
    status: 'running' as const,
    exitCode: null,
    oomKilled: false,
    restartCount: 0,
    startedAt: null,
    finishedAt: null,
    pid: 1,
    ip: null,
  };
  const read = createReadReplicas({ inspect: async () => state, usage: () => new Promise(() => {}) }, clock);
  expect(await read(['a'])).toEqual(new Map([['a', { state, usage: undefined }]]));
  expect(slept).toEqual([2500]);
});

test('CPU is what was spent between two readings: of one request, or of this and the one before', async () => {
  let now = 0;
  const slept: number[] = [];
  const clock = {
    monotonic: () => now,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (signal !== undefined) return new Promise<void>(() => {});
      slept.push(ms);
      now += ms;
      return undefined;
    },
  };
  let spent = 1;
  const usage = async (ids: readonly string[]) =>
    new Map(ids.map((id) => [id, { cpuSeconds: (spent += 0.1), memoryBytes: 7 }]));
  const read = createReadReplicas({ inspect: async () => undefined, usage }, clock);
  const cpuOf = async (): Promise<number | null | undefined> => (await read(['a'])).get('a')?.usage?.cpu;
  expect(await cpuOf()).toBeCloseTo(0.5);
  now += 10_000;
  expect(await cpuOf()).toBeCloseTo(0.01);
  now += 10;
  expect(await cpuOf()).toBeCloseTo(0.01);
  expect(slept).toEqual([200]);
  // Long ago, or a container that began anew: the reading before tells nothing.
  now += 60_000;
  expect(await cpuOf()).toBeCloseTo(0.5);
  spent = 0;
  now += 5000;
  expect(await cpuOf()).toBeCloseTo(0.5);
  expect(slept).toEqual([200, 200, 200]);
});

test('without replicas the engine is not asked', async () => {
  const runtime = createFakeRuntime();
  const read = createReadReplicas(runtime, systemClock);
  const begin = performance.now();
  expect(await read([])).toEqual(new Map());
  expect(performance.now() - begin).toBeLessThan(500);
  expect(runtime.calls).toEqual([]);
});
