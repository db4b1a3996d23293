import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { p99, startLoad } from '#test/support/load.ts';
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

/** Does `work` while API and app are asked; no request may fail, and 99 of 100 are answered within a second. */
const servedDuring = async (work: Promise<unknown>): Promise<void> => {
  const headers = { authorization: `Bearer ${berth.token}` };
  const api = startLoad({ request: () => fetch(`${berth.url}/v1/projects/shop`, { headers }), perSecond: 20 });
  const app = startLoad({ request: () => berth.app('shop', 'web'), perSecond: 100 });
  await work;
  for (const load of [api, app]) {
    const result = await load.stop();
    expect(Object.fromEntries(result.failures)).toEqual({});
    expect(result.ok).toBeGreaterThan(50);
    expect(p99(result)).toBeLessThan(1000);
  }
};

const EAT = `node -e 'const hold = []; for (;;) hold.push(Buffer.alloc(16777216, 1))'`;
const SPIN = 'while :; do :; done';

describe('a build that takes all that it can get', () => {
  test('of memory and cores, for ten seconds, leaves API and apps serving', async () => {
    const eaters = Array.from(
      { length: 4 },
      () => `timeout 10 sh -c "while :; do ${EAT.replaceAll('"', '\\"')}; done" &`,
    );
    const spinners = Array.from({ length: 16 }, () => `timeout 10 sh -c "${SPIN}" &`);
    const deploying = berth.deploy('shop', 'greedy', step([...eaters, ...spinners, 'wait'].join(' ')));
    await servedDuring(deploying);
    const { started_at: begun, finished_at: ended, stream_url: stream } = await deploying;
    expect(Date.parse(ended ?? '') - Date.parse(begun ?? '')).toBeGreaterThan(10_000);
    // The kernel ended who took too much.
    expect(String((await berth.api(stream)).body)).toContain('Killed');
  }, 120_000);

  test('of the memory is ended alone, and is told that memory ran out', async () => {
    const operation = await berth.deploy('shop', 'greedy', step(EAT));
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
