import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helloApp, nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

describe('a deploy', () => {
  test('goes through every phase and ends with the app answering at its URL', async () => {
    const reply = await berth.upload('shop', 'web', helloApp('one'));
    expect(reply.status).toBe(202);
    expect(reply.body).toEqual({
      operation_id: expect.stringMatching(/^op_/),
      stream_url: `/v1/operations/${reply.body.operation_id}/stream`,
      service_url: `http://web--shop.localhost:${berth.ports.http}`,
    });
    const operation = await berth.wait(reply.body.operation_id);
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'healthy', error: null });
    expect(await berth.appText('shop', 'web')).toBe('one');
    const stream = await berth.api(operation.stream_url);
    const phases = [...String(stream.body).matchAll(/"phase":"(\w+)"/g)].map((match) => match[1]);
    expect(phases).toEqual(['queued', 'building', 'pushing', 'rolling_out', 'healthy']);
    expect(String(stream.body)).toContain('event: done');
  }, 120_000);

  test('of a new version replaces the old one, and a rollback brings it back without a build', async () => {
    const before = (await berth.api('/v1/projects/shop/services/web')).body.live_release;
    const second = await berth.deploy('shop', 'web', helloApp('two'));
    expect(second.status).toBe('succeeded');
    expect(await berth.appText('shop', 'web')).toBe('two');
    const rollback = await berth.api('/v1/projects/shop/services/web/rollback', { method: 'POST' });
    expect(rollback.status).toBe(202);
    expect((await berth.wait(rollback.body.operation_id)).status).toBe('succeeded');
    expect(await berth.appText('shop', 'web')).toBe('one');
    expect((await berth.api('/v1/projects/shop/services/web')).body.live_release).toBe(before);
    const releases = (await berth.api('/v1/projects/shop/services/web/releases')).body.releases;
    expect(releases).toHaveLength(2);
  }, 120_000);

  test('of the same content again is the same release', async () => {
    const first = await berth.deploy('shop', 'same', helloApp('same'));
    const second = await berth.deploy('shop', 'same', helloApp('same'));
    expect(second.result?.release).toBe(first.result?.release);
  }, 120_000);

  test('that never listens is rolled back, names what it saw, and leaves the old release serving', async () => {
    await berth.deploy('shop', 'deaf', helloApp('fine'));
    await berth
      .api('/v1/projects/shop/services/deaf', { method: 'PATCH', body: { health_timeout_seconds: 3 } })
      .then((reply) => berth.wait(reply.body.operation_id));
    const files = {
      ...helloApp('never'),
      'server.js': "require('node:http').createServer(() => {}).listen(3000, '0.0.0.0'); console.log('I chose 3000');",
    };
    const operation = await berth.deploy('shop', 'deaf', files);
    expect(operation).toMatchObject({
      status: 'failed',
      phase: 'rolled_back',
      error: { code: 'HEALTH_CHECK_FAILED', retryable: false },
    });
    expect(operation.error?.message).toContain('0.0.0.0:3000');
    expect(operation.error?.log_tail).toContain('I chose 3000');
    expect(await berth.appText('shop', 'deaf')).toBe('fine');
  }, 120_000);

  test('that listens on loopback only is told so', async () => {
    const files = {
      ...helloApp('x'),
      'server.js': "require('node:http').createServer(() => {}).listen(process.env.PORT, '127.0.0.1');",
    };
    await berth.api('/v1/projects/shop/services/deaf', { method: 'PATCH', body: { health_timeout_seconds: 2 } });
    const operation = await berth.deploy('shop', 'deaf', files);
    expect(operation.error?.message).toContain('loopback only');
    expect(operation.error?.hint).toContain('0.0.0.0');
    const { body } = await berth.api(operation.stream_url);
    const begun = [...String(body).matchAll(/"ts":"([^"]+)","phase":"(?:rolling_out|rolled_back)"/g)];
    const [rollingOut = 0, rolledBack = 0] = begun.map(([, time = '']) => Date.parse(time));
    // The image is small and stored at once: what takes the time is the health gate.
    expect(rolledBack - rollingOut).toBeGreaterThan(1000);
  }, 120_000);

  test('whose app exits fails at once with the exit code and its last lines', async () => {
    const begun = performance.now();
    const operation = await berth.deploy('shop', 'crash', {
      ...helloApp('x'),
      'server.js': "console.error('no database'); process.exit(3);",
    });
    expect(performance.now() - begun).toBeLessThan(30_000);
    expect(operation).toMatchObject({ phase: 'rolled_back', error: { code: 'HEALTH_CHECK_FAILED' } });
    expect(operation.error?.message).toContain('exit code 3');
    expect(operation.error?.log_tail).toContain('no database');
    const { body } = await berth.api('/v1/projects/shop/services/crash');
    expect(body).toMatchObject({ live_release: null, status: 'empty' });
  }, 120_000);

  test('whose app runs out of memory says so with the limit', async () => {
    const files = { ...helloApp('x'), 'server.js': 'const hold = []; for (;;) hold.push(Buffer.alloc(8 << 20, 1));' };
    const operation = await berth.deploy('shop', 'hungry', files);
    expect(operation.error?.message).toContain('512 MiB');
  }, 120_000);

  test('whose build fails reports the step, and is failed, not rolled back', async () => {
    const operation = await berth.deploy('shop', 'broken', {
      Dockerfile: 'FROM node:24-slim\nRUN echo about to fail && exit 7\n',
    });
    expect(operation).toMatchObject({ status: 'failed', phase: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(operation.error?.message).toContain('7');
    expect(operation.error?.log_tail).toContain('about to fail');
  }, 120_000);

  test('of a directory with nothing buildable is NO_PROVIDER_DETECTED with what was seen', async () => {
    const operation = await berth.deploy('shop', 'empty', { 'notes.txt': 'hello' });
    expect(operation).toMatchObject({ phase: 'failed', error: { code: 'NO_PROVIDER_DETECTED' } });
    expect(`${operation.error?.message} ${operation.error?.hint}`).toContain('notes.txt');
  }, 60_000);

  test('can be canceled, which really ends the build', async () => {
    const marker = '271828';
    const reply = await berth.upload('shop', 'slow', { Dockerfile: `FROM debian:trixie-slim\nRUN sleep ${marker}\n` });
    const id = reply.body.operation_id;
    const sleeping = async (): Promise<boolean> =>
      (await Bun.$`pgrep -f ${`sleep ${marker}`}`.quiet().nothrow()).exitCode === 0;
    while (!(await sleeping())) await Bun.sleep(50);
    expect((await berth.api(`/v1/operations/${id}/cancel`, { method: 'POST' })).status).toBeLessThan(300);
    const operation = await berth.wait(id, 20);
    expect(operation).toMatchObject({ status: 'failed', error: { code: 'CONFLICT' } });
    const deadline = performance.now() + 5000;
    while ((await sleeping()) && performance.now() < deadline) await Bun.sleep(50);
    expect(await sleeping()).toBe(false);
  }, 60_000);

  test('beyond the time limit of builds is TIMEOUT', async () => {
    const limited = await Berth.boot(['--build-timeout-seconds', '3']);
    try {
      await limited.project('shop');
      const operation = await limited.deploy('shop', 'slow', {
        Dockerfile: 'FROM debian:trixie-slim\nRUN sleep 314159\n',
      });
      expect(operation).toMatchObject({ phase: 'failed', error: { code: 'TIMEOUT' } });
    } finally {
      await limited.destroy();
    }
  }, 120_000);

  test('runs the release command once in the new image before anything is rolled out', async () => {
    const app = (release: string): Record<string, string> => ({
      'package.json': JSON.stringify({ name: 'released', version: '1.0.0', scripts: { start: 'node server.js' } }),
      'server.js': "require('node:http').createServer((q, r) => r.end('released')).listen(process.env.PORT, '0.0.0.0')",
      Procfile: `release: ${release}\nweb: node server.js\n`,
    });
    const good = await berth.deploy('shop', 'released', app('echo migrating for $BERTH_SERVICE'));
    expect(good).toMatchObject({ status: 'succeeded', error: null });
    const stream = String((await berth.api(good.stream_url)).body);
    expect(stream.split('"line":"migrating for released"')).toHaveLength(2);
    const bad = await berth.deploy('shop', 'released', app('echo cannot migrate && exit 4'));
    expect(bad).toMatchObject({ status: 'failed', phase: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(bad.error?.message).toContain('exit code 4');
    expect(bad.error?.log_tail).toContain('cannot migrate');
    expect(await berth.appText('shop', 'released')).toBe('released');
    expect((await berth.api('/v1/projects/shop/services/released')).body.live_release).toBe(good.result?.release);
  }, 120_000);

  test('dry_run plans and changes nothing', async () => {
    const reply = await berth.upload('shop', 'planned', { 'index.html': '<h1>hi</h1>' }, '?dry_run=true');
    expect(reply.body).toMatchObject({
      dry_run: true,
      plan: { changes: [{ action: 'create', resource: 'service', name: 'planned' }, {}, {}] },
    });
    expect((await berth.api('/v1/projects/shop/services/planned')).status).toBe(404);
  });
});

describe('a running service', () => {
  test('scales up and down under its route', async () => {
    const who = nodeApp("(request, response) => response.end(require('node:os').hostname())");
    await berth.deploy('shop', 'many', who);
    const scale = async (replicas: number): Promise<void> => {
      const reply = await berth.api('/v1/projects/shop/services/many', { method: 'PATCH', body: { replicas } });
      expect(reply.status).toBe(202);
      expect((await berth.wait(reply.body.operation_id)).status).toBe('succeeded');
    };
    await scale(3);
    const names = new Set<string>();
    for (let i = 0; i < 12; i += 1) names.add(await berth.appText('shop', 'many'));
    expect(names.size).toBe(3);
    await scale(1);
    const one = new Set<string>();
    for (let i = 0; i < 6; i += 1) one.add(await berth.appText('shop', 'many'));
    expect(one.size).toBe(1);
    await scale(0);
    expect((await berth.app('shop', 'many')).status).toBe(503);
  }, 120_000);

  test('gets changed variables by a rolling restart, and never shows their values', async () => {
    await berth.deploy('shop', 'env', nodeApp('(request, response) => response.end(String(process.env.GREETING))'));
    const reply = await berth.api('/v1/projects/shop/env', {
      method: 'PUT',
      body: { GREETING: 'good morning to you' },
    });
    expect(reply.status).toBe(200);
    expect(reply.body.restarted_services).toContain('env');
    for (const { operation_id } of reply.body.operations) await berth.wait(operation_id);
    expect(await berth.appText('shop', 'env')).toBe('good morning to you');
    const list = await berth.api('/v1/projects/shop/env');
    expect(JSON.stringify(list.body)).not.toContain('good morning');
  }, 120_000);

  test('is deleted with everything that belonged to it', async () => {
    await berth.project('gone');
    await berth.deploy('gone', 'web', helloApp('bye'));
    const refused = await berth.api('/v1/projects/gone', { method: 'DELETE' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    const reply = await berth.api('/v1/projects/gone?confirm=true', { method: 'DELETE' });
    expect(reply.status).toBe(202);
    expect((await berth.wait(reply.body.operation_id)).status).toBe('succeeded');
    expect((await berth.api('/v1/projects/gone')).status).toBe(404);
    expect((await berth.app('gone', 'web')).status).toBe(404);
    expect(
      await docker([
        'ps',
        '-aq',
        '--filter',
        'label=dev.berth.project=gone',
        '--filter',
        `label=dev.berth.instance=${berth.instance()}`,
      ]),
    ).toBe('');
  }, 120_000);
});

describe('the guide for agents', () => {
  test('goes from nothing to a live URL when its first commands are run as they stand', async () => {
    const guide = await fetch(`${berth.url}/skill.md`).then((reply) => reply.text());
    const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(guide) ?? [];
    expect(commands).toContain('SERVICE_TOKEN=brt_...');
    const folder = mkdtempSync(join(tmpdir(), 'berth-guide-'));
    // A POSIX shell, a bare PATH: whatever an agent may have.
    const shell = Bun.spawn(['sh', '-eu', '-c', commands.replace('brt_...', berth.token)], {
      cwd: folder,
      env: { PATH: '/usr/bin:/bin', TMPDIR: folder },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [output, errors] = await Promise.all([new Response(shell.stdout).text(), new Response(shell.stderr).text()]);
    rmSync(folder, { recursive: true });
    expect([await shell.exited, errors]).toEqual([0, '']);
    expect(output).toContain('"status":"succeeded"');
    expect(output).toEndWith('\nhello\n');
  }, 120_000);
});
