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
  const read = createReadReplicas({ inspect: async () => state, stats: () => new Promise(() => {}) }, clock);
  expect(await read(['a'])).toEqual(new Map([['a', { state, stats: undefined }]]));
  expect(slept).toEqual([2500]);
});

test('without replicas the engine is not asked', async () => {
  const runtime = createFakeRuntime();
  const read = createReadReplicas(runtime, systemClock);
  const begin = performance.now();
  expect(await read([])).toEqual(new Map());
  expect(performance.now() - begin).toBeLessThan(500);
  expect(runtime.calls).toEqual([]);
});
