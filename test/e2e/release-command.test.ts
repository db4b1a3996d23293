import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { replicaIds } from '#test/support/replicas.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--release-timeout-seconds', '4']);
  await berth.project('shop');
  const env = { DATABASE: 'shop-database', PASSWORD: 'correct-horse-battery' };
  expect((await berth.api('/v1/projects/shop/env', { method: 'PUT', body: env })).status).toBe(200);
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

/** An app that answers `text`, whose release command runs this script. */
const app = (text: string, script: string): Record<string, string> => ({
  ...helloApp(text),
  'berth.toml': '[build]\nrelease = "node release.js"\n',
  'release.js': script,
});

const logOf = async (stream: string): Promise<string[]> =>
  [...String((await berth.api(stream)).body).matchAll(/^data: (\{.*"line".*\})$/gm)].map(
    (match): string => JSON.parse(match[1] ?? '').line,
  );

const containers = async (): Promise<number> =>
  (
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
    .filter(Boolean).length;

describe('a release command', () => {
  test('that berth is killed after does not run again', async () => {
    const { body } = await berth.upload('shop', 'once', app('once', "console.log('migrated')"));
    // The first push takes seconds: the base image is not in the registry yet.
    await until(async () => (await berth.api(`/v1/operations/${body.operation_id}`)).body.phase === 'pushing');
    await berth.stop('SIGKILL');
    await berth.start();
    const operation = await berth.wait(body.operation_id);
    expect(operation).toMatchObject({ status: 'succeeded', error: null });
    const lines = await logOf(operation.stream_url);
    expect(lines.filter((line) => line === 'migrated')).toHaveLength(1);
    expect(lines).toContain('the release command ran before berth was restarted');
    expect(await berth.appText('shop', 'once')).toBe('once');
  }, 120_000);

  test('runs once, with the variables and the network of the service, before any of its replicas starts', async () => {
    const scale = await berth.api('/v1/projects/shop/services/once', { method: 'PATCH', body: { replicas: 3 } });
    await berth.wait(scale.body.operation_id);
    const script = `
      console.log('for ' + process.env.BERTH_SERVICE + ' with ' + process.env.DATABASE + ' and ' + process.env.PASSWORD);
      fetch('http://once:8080/').then((reply) => reply.text()).then((text) => console.log('others still answer ' + text));
      require('node:dns').promises.lookup('once', { all: true }).then((all) => console.log(all.length + ' are called once'));`;
    const operation = await berth.deploy('shop', 'once', app('twice', script));
    expect(operation).toMatchObject({ status: 'succeeded', error: null });
    const lines = await logOf(operation.stream_url);
    expect(lines.filter((line) => line.startsWith('for '))).toEqual(['for once with [secret] and [secret]']);
    expect(lines).toContain('others still answer once');
    expect(lines).toContain('3 are called once');
    const [ran, started] = ['release command: node release.js', 'replica 1: started'].map((text) =>
      lines.findIndex((line) => line.startsWith(text)),
    );
    expect(ran).toBeGreaterThan(-1);
    expect(ran).toBeLessThan(started ?? -1);
    await until(async () => (await containers()) === 3);
  }, 120_000);

  const unchanged = async (): Promise<unknown> => {
    const { live_release, status, running_replicas } = (await berth.api('/v1/projects/shop/services/once')).body;
    const { releases } = (await berth.api('/v1/projects/shop/services/once/releases')).body;
    return {
      live_release,
      status,
      running_replicas,
      releases,
      ids: (await replicaIds(berth, 'shop', 'once')).toSorted(),
    };
  };

  test('that fails leaves everything as it was', async () => {
    const before = await unchanged();
    const script = "console.error('no such table'); process.exit(4)";
    const operation = await berth.deploy('shop', 'once', app('never', script));
    expect(operation).toMatchObject({ status: 'failed', phase: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(operation.error?.message).toContain('exit code 4');
    expect(operation.error?.log_tail).toContain('no such table');
    expect(await unchanged()).toEqual(before);
    expect(await berth.appText('shop', 'once')).toBe('twice');
  }, 60_000);

  test('that does not end is stopped in time, and leaves everything as it was', async () => {
    const before = await unchanged();
    const operation = await berth.deploy(
      'shop',
      'once',
      app('never', "console.log('waiting'); setInterval(() => {}, 1000)"),
    );
    expect(operation).toMatchObject({ phase: 'failed', error: { code: 'TIMEOUT', log_tail: 'waiting' } });
    expect(operation.error?.message).toContain('4 s');
    expect(await unchanged()).toEqual(before);
    expect(await containers()).toBe(3);
  }, 60_000);

  test('is ended when its deploy is canceled', async () => {
    const before = await unchanged();
    const { body } = await berth.upload(
      'shop',
      'once',
      app('never', "console.log('waiting'); setInterval(() => {}, 1000)"),
    );
    await until(async () => (await containers()) === 4);
    expect((await berth.api(`/v1/operations/${body.operation_id}/cancel`, { method: 'POST' })).status).toBeLessThan(
      300,
    );
    expect(await berth.wait(body.operation_id)).toMatchObject({ status: 'failed', error: { code: 'CONFLICT' } });
    expect(await unchanged()).toEqual(before);
    expect(await containers()).toBe(3);
  }, 60_000);

  test('that takes too much memory is told so', async () => {
    const eat = 'const hold = []; for (;;) hold.push(Buffer.alloc(16777216, 1))';
    const operation = await berth.deploy('shop', 'hungry', app('never', eat));
    expect(operation).toMatchObject({ phase: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(operation.error?.message).toContain('ran out of memory');
    expect((await berth.api('/v1/projects/shop/services/hungry')).body).toMatchObject({ status: 'empty' });
  }, 60_000);
});
