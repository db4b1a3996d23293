import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { withLink } from '#engines/datastores/redis/link';
import { textOf } from '#engines/datastores/redis/resp';
import { until } from '#test/support/until.ts';
import { failureOf, openRedis, type RedisBench } from './support.ts';

setDefaultTimeout(60_000);

let redis: RedisBench;
beforeAll(async () => {
  redis = await openRedis();
});
afterAll(() => redis.close());

const valueOf = async (key: string): Promise<unknown> => (await redis.query(`GET ${key}`)).rows[0]?.[0];
const settle = (): Promise<void> => redis.engine.settle(redis.instance, AbortSignal.timeout(30_000));
const container = () => redis.lab.docker.getContainer(redis.containerId());
const admin = (...command: string[]): Promise<string> =>
  withLink(redis.instance, { as: 'admin', what: 'test it', timeoutMs: 10_000 }, async (link) => {
    const { reply } = await link.ask(command);
    return reply.kind === 'map' ? textOf(reply.pairs[0]?.[1]) : textOf(reply);
  });

/** Runs a command in the container of the server, as its user. */
const inside = async (...argv: string[]): Promise<string> => {
  const exec = await container().exec({ Cmd: argv, AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({});
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
};

describe('data', () => {
  test('survives kill -9 of the server', async () => {
    await redis.query('SET before-kill here');
    // Written to the log before the answer; it is fsync that may be a second late, and that is the kernel\'s part.
    await container().kill({ signal: 'SIGKILL' });
    await redis.lab.runtime.start(redis.containerId());
    await settle();
    expect(await valueOf('before-kill')).toBe('here');
  });

  test('survives a new container with other limits, which then hold', async () => {
    await redis.query('SET before-change here');
    await redis.raise({ ...redis.instance, memoryMb: 192 });
    expect(await valueOf('before-change')).toBe('here');
    expect(await admin('CONFIG', 'GET', 'maxmemory')).toBe(String(124 * 1024 ** 2));
  });

  test('survives a log whose last entry was cut off, without that entry', async () => {
    await redis.query('SET whole here');
    await redis.query('SET torn here');
    const name = (await inside('sh', '-c', 'ls /data/appendonlydir/*.incr.aof')).match(/\/data\S+/)?.[0] ?? '';
    await inside('truncate', '-s', '-3', name);
    await container().kill({ signal: 'SIGKILL' });
    await redis.lab.runtime.start(redis.containerId());
    await settle();
    expect([await valueOf('whole'), await valueOf('torn')]).toEqual(['here', null]);
  });

  test('survives a planned stop within a moment, to the last write', async () => {
    await redis.query('SET last here');
    const began = performance.now();
    await redis.engine.quiesce(redis.instance, AbortSignal.timeout(5000));
    await redis.lab.runtime.stop(redis.containerId(), 30);
    expect(performance.now() - began).toBeLessThan(5000);
    expect((await redis.lab.runtime.inspect(redis.containerId()))?.exitCode).toBe(0);
    expect(await redis.engine.answers(redis.instance)).toBe(false);
    await redis.lab.runtime.start(redis.containerId());
    await settle();
    expect(await valueOf('last')).toBe('here');
    expect(await redis.engine.answers(redis.instance)).toBe(true);
  });
});

describe('a server', () => {
  test('is waited for while it reads its data', async () => {
    await redis.query("EVAL \"for i = 1, 30000 do redis.call('SET', 'load:' .. i, i) end return 1\" 0");
    // Microseconds that the server takes for each key then: as long as for much larger data.
    await inside('sh', '-c', 'echo key-load-delay 30 >> /data/berth/valkey.conf');
    await container().restart({ t: 10 });
    await until(async () => (await failureOf(redis.query('GET a'))).message.includes('LOADING'));
    expect(await redis.engine.answers(redis.instance)).toBe(false);
    expect(await failureOf(redis.query('GET a'))).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
    await settle();
    expect((await redis.query('DBSIZE')).rows[0]?.[0]).toBeGreaterThanOrEqual(30_000);
    await redis.query('FLUSHALL');
    await redis.raise(redis.instance);
  });

  test('that never comes up is given up on by whoever waits', async () => {
    await redis.lab.runtime.stop(redis.containerId(), 10);
    const began = performance.now();
    const error = await failureOf(redis.engine.settle(redis.instance, AbortSignal.timeout(1000)));
    expect([error.kind, error.retryable]).toEqual(['INTERNAL_ERROR', true]);
    expect(performance.now() - began).toBeLessThan(5000);
    await redis.lab.runtime.start(redis.containerId());
    await settle();
  });

  test('runs as its own user, without capabilities, on a root that is read-only', async () => {
    expect(await inside('id', '-u')).toContain('999');
    expect(await inside('sh', '-c', 'grep CapEff /proc/1/status')).toContain('0000000000000000');
    expect(await inside('sh', '-c', 'echo x > /etc/x')).toContain('Read-only file system');
    expect(await inside('sh', '-c', 'cat /data/berth/*; cat /proc/1/environ')).not.toMatch(
      /admin-word|first-word|writer-word/,
    );
  });

  test('whose memory is used up refuses writes, keeps what it has, and keeps running', async () => {
    let refused = '';
    for (let i = 0; i < 300 && refused === ''; i += 1) {
      refused = await redis.query(`SETRANGE fill:${i} 1000000 x`).then(
        () => '',
        (error: unknown) => String(error),
      );
    }
    expect(refused).toContain('OOM');
    expect((await redis.query('DBSIZE')).rows[0]?.[0]).toBeGreaterThan(100);
    expect((await redis.lab.runtime.inspect(redis.containerId()))?.restartCount).toBe(0);
    await redis.query('FLUSHALL');
  });
});

describe('the storage limit', () => {
  test('is measured as what the log takes, stops what adds to it, and lets go of what is deleted', async () => {
    const before = await redis.engine.usedBytes(redis.instance);
    for (let i = 0; i < 20; i += 1) await redis.query('SET', { params: [`blob:${i}`, 'x'.repeat(500_000)] });
    const full = await redis.engine.usedBytes(redis.instance);
    expect(full - before).toBeGreaterThan(9_000_000);

    await redis.engine.setReadOnly(redis.instance, true);
    expect((await failureOf(redis.query('SET more 1'))).message).toContain('OOM');
    expect((await failureOf(redis.query("EVAL \"return redis.call('RPUSH', 'l', 1)\" 0"))).kind).toBe('INVALID_INPUT');
    await settle();
    expect((await failureOf(redis.query('SET more 1'))).message).toContain('OOM');
    expect((await redis.query('GET blob:1', { maxBytes: 100 })).truncated).toBe(true);
    await redis.query(`DEL ${Array.from({ length: 20 }, (_, i) => `blob:${i}`).join(' ')}`);
    await until(async () => (await redis.engine.usedBytes(redis.instance)) < full / 2);

    await redis.engine.setReadOnly(redis.instance, false);
    expect((await redis.query('SET more 1')).rows).toEqual([['OK']]);
    expect(await admin('CONFIG', 'GET', 'maxmemory')).toBe(String(124 * 1024 ** 2));
  });
});
