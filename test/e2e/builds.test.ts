import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';

const MEMORY_MB = 1500;

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--build-memory-mb', String(MEMORY_MB)]);
  await berth.project('shop');
  expect(await berth.deploy('shop', 'web', helloApp('served'))).toMatchObject({ status: 'succeeded' });
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

/** A Dockerfile with one step that is never cached. */
const step = (command: string): Record<string, string> => ({
  Dockerfile: `FROM node:24-slim\nRUN echo ${Date.now()} && ${command}\n`,
});

/** Does `work`, and asks API and app all the while; how long the slowest answer took. */
const slowestDuring = async (work: Promise<unknown>): Promise<number> => {
  let slowest = 0;
  const state = { over: false };
  void work.finally(() => (state.over = true));
  while (!state.over) {
    const begun = performance.now();
    expect((await berth.api('/v1/projects/shop')).status).toBe(200);
    expect(await berth.appText('shop', 'web')).toBe('served');
    slowest = Math.max(slowest, performance.now() - begun);
    await Bun.sleep(20);
  }
  return slowest;
};

describe('a build that takes all that it can get', () => {
  test('of the CPU leaves API and apps answering within a second', async () => {
    const busy =
      'for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do timeout 6 sh -c "while :; do :; done" & done; wait';
    const deploying = berth.deploy('shop', 'greedy', step(busy));
    expect(await slowestDuring(deploying)).toBeLessThan(1000);
    await deploying;
  }, 60_000);

  test('of the memory is ended alone, and is told that memory ran out', async () => {
    const hungry = `node -e 'const hold = []; for (;;) hold.push(Buffer.alloc(16 << 20, 1))'`;
    const deploying = berth.deploy('shop', 'greedy', step(hungry));
    expect(await slowestDuring(deploying)).toBeLessThan(1000);
    const operation = await deploying;
    expect(operation).toMatchObject({ phase: 'failed', error: { code: 'BUILD_COMMAND_FAILED', retryable: false } });
    expect(operation.error?.message).toContain('out of memory');
    expect(berth.running).toBe(true);
  }, 60_000);

  test('of the processes is refused more', async () => {
    const operation = await berth.deploy('shop', 'greedy', step('for n in $(seq 5000); do sleep 60 & done'));
    expect(operation).toMatchObject({ phase: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(operation.error?.log_tail).toMatch(/Cannot fork|Resource temporarily unavailable/i);
    await until(() => Bun.spawnSync(['pgrep', '-fc', '^sleep 60$']).stdout.toString().trim() === '0');
  }, 60_000);

  test('is not held against the next one', async () => {
    expect(await berth.deploy('shop', 'web', helloApp('next'))).toMatchObject({ status: 'succeeded', error: null });
    expect(await berth.appText('shop', 'web')).toBe('next');
  }, 60_000);
});
