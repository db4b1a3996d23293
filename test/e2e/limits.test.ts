import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { helloApp, nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { replicaIds } from '#test/support/replicas.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot([
    '--quota-services',
    '2',
    '--quota-replicas',
    '2',
    '--network-pool',
    '10.230.0.0/20',
    '--network-size',
    '28',
    '--log-bytes-per-service',
    '200000',
  ]);
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const eventKinds = async (project: string): Promise<string[]> =>
  (await berth.api(`/v1/projects/${project}`)).body.recent_events.map((event: { kind: string }) => event.kind);

describe('quotas', () => {
  test('on services and replicas name the quota, the limit and the use', async () => {
    expect(await berth.deploy('shop', 'one', helloApp('one'))).toMatchObject({ status: 'succeeded' });
    expect(await berth.deploy('shop', 'two', helloApp('two'))).toMatchObject({ status: 'succeeded' });
    const third = await berth.upload('shop', 'three', helloApp('three'));
    expect(third).toMatchObject({ status: 429, body: { code: 'QUOTA_EXCEEDED', retryable: false } });
    expect(`${third.body.message} ${third.body.hint}`).toMatch(/\b2\b.*\bservices/);
    const scaled = await berth.api('/v1/projects/shop/services/one', { method: 'PATCH', body: { replicas: 3 } });
    expect(scaled).toMatchObject({ status: 429, body: { code: 'QUOTA_EXCEEDED', retryable: false } });
    expect(`${scaled.body.message} ${scaled.body.hint}`).toContain('3');
    const dry = await berth.upload('shop', 'three', helloApp('three'), '?dry_run=true');
    expect(dry.status).toBe(429);
  }, 120_000);

  test('200 projects fit, and the first past the pool is refused cleanly', async () => {
    const create = (name: string) => berth.api('/v1/projects', { method: 'POST', body: { name } });
    for (let n = 0; n < 199; n += 1) expect((await create(`p${n}`)).status).toBe(201);
    let refused = 0;
    for (let n = 199; n < 260 && refused === 0; n += 1) {
      const { status, body } = await create(`p${n}`);
      if (status !== 201) {
        expect(body).toMatchObject({ code: 'QUOTA_EXCEEDED', retryable: false });
        expect((await berth.api(`/v1/projects/p${n}`)).status).toBe(404);
        refused = n;
      }
    }
    expect(refused).toBeGreaterThan(199);
    expect(await berth.deploy('p150', 'web', helloApp('late'))).toMatchObject({ status: 'succeeded' });
    expect(await berth.appText('p150', 'web')).toBe('late');
  }, 120_000);
});

describe('a running app that takes too much memory', () => {
  test('is killed alone, comes back, and an event says why', async () => {
    const app = nodeApp(
      "(request, response) => { if (request.url === '/eat') { globalThis.hold = []; for (;;) globalThis.hold.push(Buffer.alloc(8 << 20, 1)); } response.end('fed'); }",
    );
    expect(await berth.deploy('p1', 'hungry', app)).toMatchObject({ status: 'succeeded' });
    await berth.app('p1', 'hungry', '/eat').catch(() => undefined);
    await until(async () => (await eventKinds('p1')).includes('replica.oom_killed'));
    await until(async () => (await berth.app('p1', 'hungry')).ok);
    expect(await berth.appText('shop', 'one')).toBe('one');
    expect((await berth.api('/v1/health')).body.status).toBe('ok');
  }, 120_000);

  test('a crash loop is told once, with what to do', async () => {
    const app = nodeApp("(request, response) => response.end('up')", {});
    expect(
      await berth.deploy('p2', 'loop', {
        ...app,
        'server.js': `${app['server.js']}; setTimeout(() => process.exit(9), 2000);`,
      }),
    ).toMatchObject({ status: 'succeeded' });
    await until(async () => (await eventKinds('p2')).includes('replica.crash_loop'), 60);
    const { recent_events: events } = (await berth.api('/v1/projects/p2')).body;
    const loop = events.filter((event: { kind: string }) => event.kind === 'replica.crash_loop');
    expect(loop).toHaveLength(1);
    expect(loop[0].data.hint).toContain('logs');
  }, 120_000);
});

describe('stored logs', () => {
  test('keep the lines of dead replicas, and stay within their size', async () => {
    const chatty = nodeApp(
      "(request, response) => { for (let n = 0; n < 3000; n += 1) console.log('line ' + n + ' of ' + request.url + ' ' + 'x'.repeat(80)); response.end('said'); }",
    );
    await berth.deploy('p3', 'chatty', chatty);
    const [first = ''] = await replicaIds(berth, 'p3', 'chatty');
    await berth.appText('p3', 'chatty', '/first');
    const read = async (query: string): Promise<string> =>
      String((await berth.api(`/v1/projects/p3/services/chatty/logs?follow=false${query}`)).body);
    await until(async () => (await read('&tail=5')).includes('line 2999 of /first'));
    await berth.deploy('p3', 'chatty', { ...chatty, 'other.txt': 'two' });
    await until(async () => !(await replicaIds(berth, 'p3', 'chatty')).includes(first));
    expect(await read('&tail=50')).toContain('of /first');
    for (const path of ['/second', '/third']) await berth.appText('p3', 'chatty', path);
    await until(async () => (await read('&tail=5')).includes('line 2999 of /third'));
    const bytes = Number((await Bun.$`du -sb ${berth.dataDir}/logs/p3/chatty`.text()).split('\t')[0]);
    expect(bytes).toBeLessThan(300_000);
  }, 120_000);
});

test('no replica has a mount of the host, or privileges', async () => {
  const ids = (
    await docker([
      'ps',
      '-aq',
      '--filter',
      `label=dev.berth.instance=${berth.instance()}`,
      '--filter',
      'label=dev.berth.role=replica',
    ])
  )
    .split('\n')
    .filter(Boolean);
  expect(ids.length).toBeGreaterThan(3);
  const mounts = await docker([
    'inspect',
    '--format',
    '{{json .HostConfig.Binds}} {{len .Mounts}} {{.HostConfig.Privileged}}',
    ...ids,
  ]);
  for (const line of mounts.trim().split('\n')) expect(line).toBe('null 0 false');
}, 60_000);
