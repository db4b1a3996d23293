import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { helloApp, nodeApp } from '#test/support/apps.ts';
import { Berth, pack } from '#test/support/berth.ts';
import { diskUsage, docker } from '#test/support/docker.ts';
import { startLoad } from '#test/support/load.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const replicas = async (service: string): Promise<string[]> => {
  const instance = berth.instance();
  const out = await docker([
    'ps',
    '-aq',
    '--filter',
    `label=dev.berth.instance=${instance}`,
    '--filter',
    `label=dev.berth.service=${service}`,
  ]);
  return out.split('\n').filter((id) => id !== '');
};

const routes = (): string[] => readdirSync(join(berth.dataDir, 'proxy/dynamic'));

/** Version `n` takes a while in each phase, so that a kill can hit it. */
const slowApp = (text: string): Record<string, string> => ({
  ...helloApp(text),
  Dockerfile: `FROM node:24-slim\nWORKDIR /app\nCOPY . .\nRUN sleep 1 && echo ${crypto.randomUUID()} > built\nUSER node\nCMD ["sh", "-c", "sleep 1; exec node server.js"]\n`,
});

describe('kill -9 of berth', () => {
  for (const phase of ['queued', 'building', 'pushing', 'rolling_out'] as const) {
    test(`while a deploy is ${phase} leaves no orphan, ends the operation, and no app request fails`, async () => {
      const service = `kill-${phase.replace('_', '-')}`;
      expect((await berth.deploy('shop', service, helloApp('old'))).status).toBe('succeeded');
      const load = startLoad({ request: () => berth.app('shop', service), perSecond: 50 });
      const { body } = await berth.upload('shop', service, slowApp(`new-${phase}`));
      const reached = async (): Promise<boolean> => {
        const operation = (await berth.api(`/v1/operations/${body.operation_id}`)).body;
        return operation.phase === phase || operation.status === 'succeeded';
      };
      while (!(await reached())) await Bun.sleep(5);
      await berth.stop('SIGKILL');
      const down = performance.now();
      await berth.start();
      expect(performance.now() - down).toBeLessThan(10_000);
      const operation = await berth.wait(body.operation_id);
      const { ok, failures } = await load.stop();
      expect(Object.fromEntries(failures)).toEqual({});
      expect(ok).toBeGreaterThan(50);
      expect(operation.status).toBe('succeeded');
      expect(await berth.appText('shop', service)).toBe(`new-${phase}`);
      await settled(service, 1);
      expect(readdirSync(join(berth.dataDir, 'builds'))).toEqual([]);
      expect(readdirSync(join(berth.dataDir, 'uploads'))).toEqual([]);
    }, 120_000);
  }

  test('and back again: the API answers within 2 s', async () => {
    await berth.stop('SIGKILL');
    const begun = performance.now();
    const starting = berth.start();
    const answers = (): Promise<boolean> =>
      fetch(`${berth.url}/v1/health`).then(
        () => true,
        () => false,
      );
    while (!(await answers())) await Bun.sleep(10);
    const answered = performance.now();
    expect(answered - begun).toBeLessThan(2000);
    await starting;
  }, 60_000);
});

/** Old replicas are drained in the background after the deploy has ended. */
const settled = async (service: string, count: number): Promise<void> => {
  const deadline = performance.now() + 30_000;
  while ((await replicas(service)).length !== count && performance.now() < deadline) await Bun.sleep(100);
  expect(await replicas(service)).toHaveLength(count);
};

describe('while berth is stopped', () => {
  test('apps keep serving, and their log lines of that time are there afterwards', async () => {
    const app = nodeApp("(request, response) => { console.log('asked for ' + request.url); response.end('up'); }");
    await berth.deploy('shop', 'steady', app);
    await berth.stop('SIGTERM');
    expect(await berth.appText('shop', 'steady', '/while-down')).toBe('up');
    await berth.start();
    const deadline = performance.now() + 10_000;
    const seen = async (): Promise<string> =>
      String((await berth.api('/v1/projects/shop/services/steady/logs?follow=false')).body);
    while (!(await seen()).includes('/while-down') && performance.now() < deadline) await Bun.sleep(100);
    const text = await seen();
    expect(text.split('asked for /while-down')).toHaveLength(2);
  }, 120_000);
});

describe('deploys of one service at the same time', () => {
  test('are serialised, and the newest wins', async () => {
    const uploads = [];
    for (let n = 1; n <= 5; n += 1) uploads.push(await berth.upload('shop', 'race', helloApp(`v${n}`)));
    const ends = await Promise.all(uploads.map((upload) => berth.wait(upload.body.operation_id)));
    expect(ends.map((operation) => operation.status)).toEqual(Array.from({ length: 5 }, () => 'succeeded'));
    expect(await berth.appText('shop', 'race')).toBe('v5');
    const times = ends.map((operation) => [operation.started_at ?? '', operation.finished_at ?? '']);
    for (let n = 1; n < times.length; n += 1) expect((times[n]?.[0] ?? '') >= (times[n - 1]?.[1] ?? '~')).toBe(true);
    await settled('race', 1);
  }, 180_000);

  test('an Idempotency-Key used twice deploys once', async () => {
    const archive = (await pack(helloApp('once'))) as Uint8Array<ArrayBuffer>;
    const send = (): Promise<Response> =>
      fetch(`${berth.url}/v1/projects/shop/services/once/deploys`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${berth.token}`,
          'content-type': 'application/gzip',
          'idempotency-key': 'k-1',
        },
        body: new Blob([archive]),
      });
    const first = (await (await send()).json()) as { operation_id: string };
    await berth.wait(first.operation_id);
    const second = (await (await send()).json()) as { operation_id: string };
    expect(second.operation_id).toBe(first.operation_id);
  }, 120_000);
});

describe('Docker objects that a user removes or stops by hand', () => {
  test('a stopped replica is started again', async () => {
    await berth.deploy('shop', 'heal', helloApp('healed'));
    const [id = ''] = await replicas('heal');
    await docker(['stop', '-t', '1', id]);
    await berth.stop('SIGTERM');
    await berth.start();
    const deadline = performance.now() + 10_000;
    const up = async (): Promise<boolean> => (await berth.app('shop', 'heal')).ok;
    while (!(await up()) && performance.now() < deadline) await Bun.sleep(100);
    expect(await berth.appText('shop', 'heal')).toBe('healed');
  }, 120_000);

  test('a removed replica is replaced', async () => {
    const [id = ''] = await replicas('heal');
    await docker(['rm', '-f', id]);
    await berth.stop('SIGTERM');
    await berth.start();
    const deadline = performance.now() + 30_000;
    const up = async (): Promise<boolean> => (await berth.app('shop', 'heal')).ok;
    while (!(await up()) && performance.now() < deadline) await Bun.sleep(100);
    expect(await berth.appText('shop', 'heal')).toBe('healed');
  }, 120_000);
});

describe('secrets', () => {
  test('planted in the env appear in no log, stream, database or proxy file', async () => {
    const marker = 'Zq7-planted-marker-93xV';
    await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { PLANTED: marker } });
    const app = nodeApp(
      "(request, response) => { console.log('value=' + process.env.PLANTED + ' b64=' + Buffer.from(process.env.PLANTED).toString('base64')); response.end('ok'); }",
    );
    const dockerfile =
      'FROM node:24-slim\nARG PLANTED\nWORKDIR /app\nCOPY . .\nRUN echo "building with $PLANTED"\nUSER node\nCMD ["node", "server.js"]\n';
    const operation = await berth.deploy('shop', 'leaky', { ...app, Dockerfile: dockerfile });
    expect(operation.status).toBe('succeeded');
    await berth.appText('shop', 'leaky');
    const readLogs = async (): Promise<string> =>
      String((await berth.api('/v1/projects/shop/services/leaky/logs?follow=false')).body);
    const deadline = performance.now() + 10_000;
    while (!(await readLogs()).includes('value=') && performance.now() < deadline) await Bun.sleep(50);
    const stream = String((await berth.api(operation.stream_url)).body);
    const logs = await readLogs();
    expect(stream).toContain('building with');
    expect(logs).toContain('value=');
    const encoded = Buffer.from(marker).toString('base64');
    for (const text of [stream, logs, berth.serverLog, JSON.stringify((await berth.api('/v1/projects/shop')).body)]) {
      expect(text).not.toContain(marker);
      expect(text).not.toContain(encoded);
    }
    const files = await Bun.$`grep -rl ${marker} ${berth.dataDir}`.nothrow().text();
    expect(files).toBe('');
    expect(
      routes().every((file) => !readFileSync(join(berth.dataDir, 'proxy/dynamic', file), 'utf8').includes(marker)),
    ).toBe(true);
    expect(await imageHistories()).not.toContain(marker);
    expect(await diskUsage()).not.toContain(marker);
    expect(await docker(['images', '-a', '--filter', `reference=berth/${berth.instance()}/*/*`, '-q'])).toBe('');
  }, 120_000);
});

describe('kill -9 while an image with a secret build argument is pushed', () => {
  test('leaves the value in no history and no file', async () => {
    const marker = 'Hx4-planted-marker-61kQ';
    await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { PLANTED: marker } });
    const files = {
      ...helloApp('pushed twice'),
      Dockerfile:
        'FROM node:24-slim\nARG PLANTED\nWORKDIR /app\nCOPY . .\nRUN test -n "$PLANTED" && head -c 9000000 /dev/urandom >filler\nUSER node\nCMD ["node", "server.js"]\n',
    };
    const { body } = await berth.upload('shop', 'cut-short', files);
    const phase = async (): Promise<string> => (await berth.api(`/v1/operations/${body.operation_id}`)).body.phase;
    while (['queued', 'building'].includes(await phase())) await Bun.sleep(5);
    await berth.stop('SIGKILL');
    await berth.start();
    expect(await berth.wait(body.operation_id)).toMatchObject({ status: 'succeeded' });
    expect(await berth.appText('shop', 'cut-short')).toBe('pushed twice');
    expect(await imageHistories()).not.toContain(marker);
    expect(await Bun.$`grep -rl ${marker} ${berth.dataDir}`.nothrow().text()).toBe('');
  }, 120_000);
});

/** What `docker history` says of every image of this installation; the app's own are among them. */
const imageHistories = async (): Promise<string> => {
  const ids = await docker(['images', '-aq', '--filter', `label=dev.berth.instance=${berth.instance()}`]);
  const found = [...new Set(ids.split('\n').filter((id) => id !== ''))];
  const histories = await Promise.all(found.map((id) => docker(['history', '--no-trunc', id])));
  expect(histories.join('\n')).toContain('PLANTED=[secret]');
  return histories.join('\n');
};

describe('a replica that crashes beside a healthy one', () => {
  test('is routed around until it listens again, and its end is an event with the exit code', async () => {
    const app = nodeApp(
      "(request, response) => { if (request.url === '/die') process.exit(5); response.end('alive'); }",
    );
    await berth.deploy('shop', 'pair', app);
    const scaled = await berth.api('/v1/projects/shop/services/pair', { method: 'PATCH', body: { replicas: 2 } });
    await berth.wait(scaled.body.operation_id);
    const load = startLoad({ request: () => berth.app('shop', 'pair'), perSecond: 100 });
    await Bun.sleep(300);
    await berth.app('shop', 'pair', '/die').catch(() => undefined);
    await Bun.sleep(3000);
    const { ok, failures } = await load.stop();
    expect(Object.fromEntries(failures)).toEqual({});
    expect(ok).toBeGreaterThan(200);
    const { recent_events } = (await berth.api('/v1/projects/shop')).body;
    const kinds = recent_events.map((event: { kind: string }) => event.kind);
    expect(kinds).toContain('replica.exited');
    expect(kinds).toContain('replica.restarted');
  }, 120_000);
});
