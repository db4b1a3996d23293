import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { helloApp, nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { until } from '#test/support/until.ts';

const MIB = 1024 * 1024;
const NEEDED = 128 * MIB;

let berth: Berth;
let disk: SmallDisk;

beforeAll(async () => {
  berth = await Berth.boot(['--min-free-bytes', String(NEEDED), '--network-size', '28'], {
    prepare: async ({ dataDir }) => {
      disk = await SmallDisk.inMemory(dataDir, 768);
      return { cleanUp: () => disk.unmount() };
    },
  });
  await berth.project('shop');
  const app = nodeApp("(request, response) => { console.log('asked for ' + request.url); response.end('served'); }");
  expect(await berth.deploy('shop', 'web', app)).toMatchObject({ status: 'succeeded' });
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const logs = async (): Promise<string> =>
  String((await berth.api('/v1/projects/shop/services/web/logs?follow=false&tail=10000')).body);

/** Reads a stream along; its text grows. */
const follow = (path: string): { text: string; ended: boolean } => {
  const stream = { text: '', ended: false };
  void (async () => {
    const response = await fetch(`${berth.url}${path}`, { headers: { authorization: `Bearer ${berth.token}` } });
    for await (const chunk of response.body ?? []) stream.text += new TextDecoder().decode(chunk);
    stream.ended = true;
  })();
  return stream;
};

/** Creates projects until the server refuses; the names of those it acknowledged. */
const createUntilRefused = async (): Promise<{ acknowledged: string[]; refusal: unknown; status: number }> => {
  const acknowledged: string[] = [];
  for (let n = 1; n <= 5000; n += 1) {
    const name = `p${n}`;
    const reply = await berth.api('/v1/projects', { method: 'POST', body: { name } });
    if (reply.status !== 201) return { acknowledged, refusal: reply.body, status: reply.status };
    acknowledged.push(name);
  }
  throw new Error('the disk did not fill up');
};

describe('a data directory that runs full', () => {
  test('refuses a deploy early, with what is free and what is needed', async () => {
    await disk.fill(NEEDED - 8 * MIB);
    const before = (await berth.api('/v1/operations')).body.operations.length;
    const reply = await berth.upload('shop', 'web', helloApp('too late'));
    expect(reply.status).toBe(507);
    expect(reply.body).toMatchObject({ code: 'QUOTA_EXCEEDED', retryable: true });
    expect(reply.body.message).toMatch(/ has 1(19|20) MiB free/);
    expect(reply.body.message).toContain('128 MiB');
    expect(reply.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await berth.api('/v1/operations')).body.operations).toHaveLength(before);
  });

  test('still restarts and scales what runs', async () => {
    const reply = await berth.api('/v1/projects/shop/services/web/restart', { method: 'POST' });
    expect(await berth.wait(reply.body.operation_id, 60)).toMatchObject({ status: 'succeeded' });
  }, 90_000);

  test('to the last byte keeps the API and the apps up, and loses no acknowledged write', async () => {
    const { pid } = berth;
    disk.free();
    // Begun before the disk is full, ends while it is.
    const building = await berth.upload('shop', 'slow', {
      ...helloApp('slow'),
      Dockerfile: `FROM node:24-slim\nRUN echo ${Date.now()}; sleep 3; head -c 8000000 /dev/urandom > /filler\nCOPY . .\nUSER node\nCMD ["node", "server.js"]\n`,
    });
    expect(building.status).toBe(202);
    await until(
      async () => (await berth.api(building.body.stream_url.replace('/stream', ''))).body.phase === 'building',
    );
    const stream = follow(building.body.stream_url);
    await disk.fill(MIB);
    const { acknowledged, refusal, status } = await createUntilRefused();
    await disk.fill(0);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(status).toBe(507);
    expect(refusal).toEqual({
      code: 'INTERNAL_ERROR',
      message: 'the disk of the server is full',
      hint: expect.stringContaining('free disk space'),
      retryable: true,
    });
    for (let n = 0; n < 200; n += 1) expect(await berth.appText('shop', 'web', `/while-full-${n}`)).toBe('served');
    await until(() => stream.text.includes('exporting to image'), 60);
    // Longer than the pauses between the attempts of everything that writes in the background.
    await Bun.sleep(3000);
    for (const path of [
      '/v1/health',
      '/v1/projects',
      '/v1/projects/shop',
      '/v1/operations',
      '/v1/projects/shop/env',
      '/metrics',
    ])
      expect((await berth.api(path)).status).toBe(200);
    expect((await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { A: 'x'.repeat(20_000) } })).status).toBe(
      507,
    );
    expect((await berth.upload('shop', 'web', helloApp('x'))).status).toBe(507);
    expect(berth.pid).toBe(pid);
    expect(berth.running).toBe(true);

    disk.free();
    const ended = await berth.wait(building.body.operation_id, 60);
    expect(ended.status).toBe('failed');
    await until(() => stream.ended);
    expect(stream.text).toContain('event: done');
    expect(ended.error?.message).toContain('the disk of the server is full');
    const story = String((await berth.api(ended.stream_url)).body);
    expect(story.match(/"phase":"(failed|rolled_back)"/g)).toHaveLength(1);
    expect(story.match(/event: done/g)).toHaveLength(1);
    await until(async () => (await logs()).includes('/while-full-199'));
    expect(await berth.deploy('shop', 'web', helloApp('healed'))).toMatchObject({ status: 'succeeded' });
    expect(await berth.appText('shop', 'web')).toBe('healed');

    await berth.stop('SIGKILL');
    await berth.start();
    for (const name of acknowledged) expect((await berth.api(`/v1/projects/${name}`)).status).toBe(200);
    expect(await berth.appText('shop', 'web')).toBe('healed');
  }, 180_000);

  test('lets berth stop; it starts, and deploys, once there is space again', async () => {
    await disk.fill(0);
    expect(await berth.stop('SIGTERM')).toBe(0);
    expect(await berth.appText('shop', 'web')).toBe('healed');
    expect(await berth.start().catch(String)).toContain('no space left on device');
    disk.free();
    await berth.start();
    expect(await berth.deploy('shop', 'web', helloApp('after'))).toMatchObject({ status: 'succeeded' });
    expect(await berth.appText('shop', 'web')).toBe('after');
  }, 90_000);
});
