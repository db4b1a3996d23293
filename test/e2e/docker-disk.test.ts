import { afterAll, beforeAll, expect, test } from 'bun:test';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { TestEngine } from '#test/support/engine.ts';
import { until } from '#test/support/until.ts';

const MIB = 1024 * 1024;
const NEEDED = 128 * MIB;

let engine: TestEngine;
let berth: Berth;

beforeAll(async () => {
  engine = await TestEngine.start(['traefik:v3.6', 'registry:3', 'node:24-slim'], { dataMegabytes: 1300 });
  berth = await Berth.boot(['--min-free-bytes', String(NEEDED)], { engine });
  await berth.project('shop');
  expect(await berth.deploy('shop', 'web', helloApp('served'))).toMatchObject({ status: 'succeeded', error: null });
}, 180_000);

afterAll(async () => {
  await berth.destroy();
  await engine.dispose();
}, 120_000);

const deployNext = async (text: string): Promise<void> => {
  expect(await berth.deploy('shop', 'web', helloApp(text))).toMatchObject({ status: 'succeeded', error: null });
  expect(await berth.appText('shop', 'web')).toBe(text);
};

test('a deploy is refused early when the disk of the engine is nearly full, with what is free and what is needed', async () => {
  await engine.disk.fill(NEEDED - 8 * MIB);
  const reply = await berth.upload('shop', 'web', helloApp('too late'));
  expect(reply).toMatchObject({ status: 507, body: { code: 'QUOTA_EXCEEDED', retryable: true } });
  expect(reply.body.message).toContain(engine.dataDir);
  expect(reply.body.message).toMatch(/1(19|20) MiB free.* 128 MiB/);
  engine.disk.free();
  await deployNext('there is space again');
}, 60_000);

test('a build that fills the disk of the engine fails with that reason; API and app go on, and so does the next deploy', async () => {
  const operation = await berth.deploy('shop', 'web', {
    Dockerfile: `FROM node:24-slim\nRUN echo ${Date.now()} && head -c 2G /dev/zero >/big\n`,
  });
  expect(operation).toMatchObject({ status: 'failed', phase: 'failed' });
  expect(`${operation.error?.message} ${operation.error?.log_tail}`).toMatch(
    /no space left|disk of the server is full/i,
  );
  expect(await berth.appText('shop', 'web')).toBe('there is space again');
  expect((await berth.api('/v1/projects/shop')).status).toBe(200);
  await until(() => engine.disk.freeBytes > NEEDED);
  await deployNext('after the build');
}, 120_000);

test('an app that fills the disk of the engine keeps no other from serving, and its deletion frees the space', async () => {
  const greedy = {
    ...helloApp('greedy'),
    'server.js': `
require('node:http').createServer((request, response) => response.end('greedy')).listen(process.env.PORT, '0.0.0.0');
const file = require('node:fs').createWriteStream('/tmp/big');
const page = Buffer.alloc(1 << 20, 1);
file.on('error', (error) => console.log('cannot write: ' + error.code));
const more = () => { while (file.write(page)); };
file.on('drain', more);
more();
process.on('SIGTERM', () => process.exit(0));
`,
  };
  expect(await berth.deploy('shop', 'greedy', greedy)).toMatchObject({ status: 'succeeded', error: null });
  const logs = async (): Promise<string> =>
    String((await berth.api('/v1/projects/shop/services/greedy/logs?follow=false')).body);
  await until(() => engine.disk.freeBytes < 8 * MIB, 60);
  expect(await berth.appText('shop', 'web')).toBe('after the build');
  expect((await berth.upload('shop', 'greedy', helloApp('modest'))).status).toBe(507);
  await until(async () => (await logs()).includes('cannot write: ENOSPC'));
  const deletion = await berth.api('/v1/projects/shop/services/greedy?confirm=true', { method: 'DELETE' });
  expect(await berth.wait(deletion.body.operation_id, 60)).toMatchObject({ status: 'succeeded', error: null });
  await until(() => engine.disk.freeBytes > NEEDED);
  await deployNext('after the app');
}, 120_000);
