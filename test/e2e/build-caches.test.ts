import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createBuildkitBuilder } from '#engines/builder/buildkit';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';

const MEGABYTE = 1_000_000;
const BOUND = 30 * MEGABYTE;
/** A word for this run, in every command. */
const RUN = `r${Date.now().toString(36)}`;

const engine = createBuildkitBuilder({
  socketPath: '/var/run/docker.sock',
  clock: systemClock,
  log: createLog('error', () => undefined, Date.now),
});
let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--build-cache-bytes-per-service', String(BOUND)]);
  for (const project of ['shop', 'rival']) await berth.project(project);
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 120_000);

/** Fills the cache `id` with 20 MB, unless it has them, and says what was there. */
const app = (id: string, word: string): Record<string, string> => {
  const files = helloApp('hello');
  const fill = `ls /cache | sed s/^/found-/; head -c ${20 * MEGABYTE} /dev/urandom > /cache/${word}`;
  const step = `RUN --mount=type=cache,id=${id},target=/cache : ${RUN}-${word}; ${fill}`;
  return { ...files, Dockerfile: (files.Dockerfile ?? '').replace('COPY', `${step}\nCOPY`) };
};

const deploy = async (project: string, service: string, files: Record<string, string>): Promise<string> => {
  const operation = await berth.deploy(project, service, files);
  expect(operation).toMatchObject({ status: 'succeeded', error: null });
  return String((await berth.api(operation.stream_url)).body);
};

const counted = async (project: string, service: string): Promise<number> =>
  (await berth.api(`/v1/projects/${project}/services/${service}`)).body.build_cache_bytes;

const mountsOf = async (word: string): Promise<number> =>
  (await engine.cacheRecords()).filter(({ mount, description }) => mount && description.includes(`${RUN}-${word};`))
    .length;

test('caches belong to one service, whatever id a Dockerfile gives them', async () => {
  expect(await deploy('shop', 'web', app('common', 'first'))).not.toContain('"line":"found-');
  expect(await deploy('rival', 'web', app('common', 'second'))).not.toContain('"line":"found-');
  expect(await deploy('shop', 'web', app('common', 'third'))).toContain('"line":"found-first');
}, 120_000);

test('they are counted for their services after a build', async () => {
  await until(async () => (await counted('rival', 'web')) > 0, 90);
  expect(await counted('rival', 'web')).toBeGreaterThanOrEqual(20 * MEGABYTE);
  expect(await counted('rival', 'web')).toBeLessThan(25 * MEGABYTE);
  const metrics = String((await berth.api('/metrics')).body);
  expect(metrics).toMatch(/^berth_build_cache_bytes\{project="rival",service="web"\} 2\d{7}$/m);
  const { quotas } = (await berth.api('/v1/admin/capacity')).body;
  expect(quotas).toMatchObject({ build_cache_bytes_per_service: BOUND });
}, 120_000);

test('what exceeds the bound of a service is dropped', async () => {
  await deploy('rival', 'web', app('another', 'fourth'));
  await until(async () => (await mountsOf('second')) === 0, 90);
  expect(await mountsOf('fourth')).toBe(1);
  await until(async () => (await counted('rival', 'web')) < BOUND, 90);
}, 120_000);

test("a deleted service takes its caches along, and nobody else's", async () => {
  const removal = await berth.api('/v1/projects/rival/services/web?confirm=true', { method: 'DELETE' });
  expect(await berth.wait(removal.body.operation_id)).toMatchObject({ status: 'succeeded' });
  expect(await mountsOf('fourth')).toBe(0);
  const left = (await engine.cacheRecords()).map(({ description }) => description);
  for (const word of ['second', 'fourth']) expect(left.filter((text) => text.includes(`${RUN}-${word}`))).toEqual([]);
  for (const word of ['first', 'third']) expect(left.join()).toContain(`${RUN}-${word}`);
  await deploy('shop', 'other', app('mine', 'fifth'));
  expect(await mountsOf('fifth')).toBe(1);
}, 120_000);

test('so does a deleted project', async () => {
  const removal = await berth.api('/v1/projects/shop?confirm=true', { method: 'DELETE' });
  expect(await berth.wait(removal.body.operation_id)).toMatchObject({ status: 'succeeded' });
  const left = (await engine.cacheRecords()).filter(({ description }) => description.includes(RUN));
  expect(left).toEqual([]);
}, 120_000);
