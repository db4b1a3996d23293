import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { TestEngine } from '#test/support/engine.ts';
import { until } from '#test/support/until.ts';

let engine: TestEngine;
let berth: Berth;

beforeAll(async () => {
  engine = await TestEngine.start(['traefik:v3.6', 'registry:3', 'node:24-slim']);
  berth = await Berth.boot([], { engine });
  await berth.project('shop');
  expect(await berth.deploy('shop', 'web', helloApp('served'))).toMatchObject({ status: 'succeeded', error: null });
  const { body } = await berth.api('/v1/projects/shop/services/web', { method: 'PATCH', body: { replicas: 2 } });
  expect(await berth.wait(body.operation_id)).toMatchObject({ status: 'succeeded' });
}, 180_000);

afterAll(async () => {
  await berth.destroy();
  await engine.dispose();
}, 120_000);

interface Health {
  status: string;
  checks: Record<string, string>;
}

const health = async (): Promise<Health> => (await berth.api('/v1/health')).body;

const serves = (): Promise<boolean> =>
  berth.app('shop', 'web').then(
    async (response) => (await response.text()) === 'served',
    () => false,
  );

/** Containers of a service that run. */
const running = async (service: string): Promise<number> =>
  (await engine.docker(['ps', '-q', '--filter', `label=dev.berth.service=${service}`])).split('\n').filter(Boolean)
    .length;

const answersWithin = async (ms: number, path: string): Promise<void> => {
  const begun = performance.now();
  expect((await berth.api(path)).status).toBe(200);
  expect(performance.now() - begun).toBeLessThan(ms);
};

describe('an engine that is killed', () => {
  test('takes neither the API nor the apps along; health says so; operations end with the reason', async () => {
    await engine.kill();
    await until(async () => (await health()).status === 'degraded', 10);
    expect((await health()).checks).toMatchObject({ database: 'ok', engine: 'failing', proxy: 'ok' });
    for (const path of ['/v1/projects/shop', '/v1/projects/shop/services/web', '/v1/admin/capacity', '/metrics'])
      await answersWithin(4000, path);
    expect(await serves()).toBe(true);
    const restart = await berth.api('/v1/projects/shop/services/web/restart', { method: 'POST' });
    const operation = await berth.wait(restart.body.operation_id, 60);
    expect(operation).toMatchObject({ status: 'failed', error: { code: 'INTERNAL_ERROR', retryable: true } });
    expect(operation.error?.message).toContain('Docker is not reachable');
    const deploy = await berth.deploy('shop', 'web', helloApp('new'));
    expect(deploy).toMatchObject({ status: 'failed', phase: 'failed', error: { retryable: true } });
    expect(deploy.error?.message).toContain('Docker is not reachable');
  }, 90_000);

  test('and started again: the apps are back at their URLs without a human, and deploys work', async () => {
    await engine.up();
    await until(serves, 60);
    await until(async () => (await health()).status === 'ok', 60);
    await until(async () => (await running('web')) === 2, 60);
    const deploy = await berth.deploy('shop', 'after', helloApp('after'));
    expect(deploy).toMatchObject({ status: 'succeeded', error: null });
    expect(await berth.appText('shop', 'after')).toBe('after');
  }, 120_000);
});

/** Version `text` takes a while in each phase, so that a fault can hit it. */
const slowApp = (text: string): Record<string, string> => ({
  ...helloApp(text),
  Dockerfile: `FROM node:24-slim\nWORKDIR /app\nCOPY . .\nRUN sleep 2 && head -c 20000000 /dev/urandom > /filler\nUSER node\nCMD ["sh", "-c", "sleep 2; exec node server.js"]\n`,
});

describe('an engine that is killed and started again', () => {
  for (const phase of ['building', 'pushing', 'rolling_out'] as const) {
    test(`while a deploy is ${phase}: the operation ends truthfully, and the service serves what it says`, async () => {
      const service = `hit-${phase.replace('_', '-')}`;
      expect(await berth.deploy('shop', service, helloApp('old'))).toMatchObject({ status: 'succeeded' });
      const { body } = await berth.upload('shop', service, slowApp('new'));
      const operation = async () => (await berth.api(`/v1/operations/${body.operation_id}`)).body;
      await until(async () => (await operation()).phase === phase || (await operation()).finished_at !== null);
      if (phase === 'building') await Bun.sleep(500);
      await engine.kill();
      await answersWithin(2000, '/v1/projects/shop');
      await engine.up();
      const ended = await berth.wait(body.operation_id, 60);
      const text = ended.status === 'succeeded' ? 'new' : 'old';
      if (ended.status === 'failed') expect(ended.error).toMatchObject({ retryable: true });
      await until(async () => (await berth.appText('shop', service).catch(() => '')) === text, 60);
      await until(async () => (await health()).status === 'ok', 60);
      await until(async () => (await running(service)) === 1, 60);
      expect(await berth.deploy('shop', service, helloApp('next'))).toMatchObject({ status: 'succeeded', error: null });
      expect(await berth.appText('shop', service)).toBe('next');
      expect(await serves()).toBe(true);
    }, 180_000);
  }
});

describe('a clean restart of the engine', () => {
  test('ends all containers; they are back at their URLs without a human', async () => {
    await engine.stop();
    await until(async () => (await health()).checks['proxy'] === 'failing', 10);
    await engine.up();
    await until(serves, 60);
    await until(async () => (await health()).status === 'ok', 60);
    await until(async () => (await running('web')) === 2, 60);
  }, 120_000);
});

describe('an engine that hangs', () => {
  test('leaves API and apps answering; what waited for it ends well when it goes on', async () => {
    engine.freeze();
    try {
      await until(async () => (await health()).status === 'degraded', 10);
      for (const path of ['/v1/projects/shop', '/v1/projects/shop/services/web', '/v1/admin/capacity', '/metrics'])
        await answersWithin(5000, path);
      expect(await serves()).toBe(true);
      const { body } = await berth.api('/v1/projects/shop/services/web/restart', { method: 'POST' });
      await Bun.sleep(3000);
      engine.thaw();
      expect(await berth.wait(body.operation_id, 60)).toMatchObject({ status: 'succeeded', error: null });
    } finally {
      engine.thaw();
    }
    await until(async () => (await health()).status === 'ok', 10);
  }, 90_000);

  test('for longer than a call may take: the operation ends with the deadline as its reason', async () => {
    engine.freeze();
    try {
      const { body } = await berth.api('/v1/projects/shop/services/web/restart', { method: 'POST' });
      const operation = await berth.wait(body.operation_id, 120);
      expect(operation).toMatchObject({ status: 'failed', error: { code: 'INTERNAL_ERROR', retryable: true } });
      expect(operation.error?.message).toMatch(/Docker did not .* within 30 s/);
    } finally {
      engine.thaw();
    }
    await until(async () => (await running('web')) === 2, 60);
    expect(await serves()).toBe(true);
  }, 180_000);
});

describe('a reboot', () => {
  for (const first of ['berth', 'engine'] as const) {
    test(`after which ${first === 'berth' ? 'berth' : 'the engine'} starts first: all routes are back`, async () => {
      await engine.stop();
      await berth.stop('SIGKILL');
      if (first === 'berth') {
        berth.launch();
        await until(
          () =>
            health().then(
              ({ status }) => status === 'degraded',
              () => false,
            ),
          10,
        );
        await engine.up();
        await berth.ready();
      } else {
        await engine.up();
        await until(serves, 60);
        await berth.start();
      }
      await until(serves, 60);
      expect(await berth.appText('shop', 'after')).toBe('after');
      expect(await berth.deploy('shop', 'again', helloApp(first))).toMatchObject({ status: 'succeeded' });
      expect(await berth.appText('shop', 'again')).toBe(first);
    }, 120_000);
  }
});

test('after all of that nothing is left over: no container, network or build that no service needs', async () => {
  const list = async (argv: string[]): Promise<string[]> => (await engine.docker(argv)).split('\n').filter(Boolean);
  const { services } = (await berth.api('/v1/projects/shop/services')).body;
  const wanted = services.reduce((sum: number, service: { replicas: number }) => sum + service.replicas, 0);
  const platform = ['proxy', 'registry'].length;
  await until(async () => (await list(['ps', '-aq'])).length === wanted + platform);
  expect(await list(['network', 'ls', '-q', '--filter', 'label=dev.berth.role=project-network'])).toHaveLength(1);
  expect(await list(['images', '-q', '--filter', 'reference=berth/*/*/*'])).toEqual([]);
}, 60_000);
