import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import { createJobs } from '#engines/datastores/jobs';
import type { Bytes, DumpReport } from '#engines/datastores/port';
import { type Command, withLink } from '#engines/datastores/redis/link';
import { RdbCounter } from '#engines/datastores/redis/rdb';
import { quiet } from '#test/engines/runtime/support.ts';
import { failureOf, openRedis, type RedisBench } from './support.ts';

setDefaultTimeout(120_000);

let redis: RedisBench;
let file: Buffer;
let report: DumpReport;

beforeAll(async () => {
  let host = 50;
  redis = await openRedis({}, ({ runtime, dir }) =>
    createJobs({
      runtime,
      clock: systemClock,
      log: quiet,
      addresses: {
        reserve: ({ gateway }) => gateway.replace(/\.1$/, `.${(host += 1)}`),
        release: () => undefined,
      },
      labels: {},
      pipesDir: join(dir, 'pipes'),
      newName: () => randomBytes(4).toString('hex'),
    }),
  );
  await fill();
  ({ file, report } = await takeDump());
});
afterAll(() => redis.close());

const commands = (list: readonly Command[]): Promise<unknown> =>
  withLink(redis.instance, { as: 'admin', what: 'fill it', timeoutMs: 30_000 }, (link) => link.all('fill it', list));

/** Every type in its compact and in its large form, every way to write a string, all that a stream can have, two databases. */
const fill = async (): Promise<void> => {
  const many = (count: number, item: (i: number) => string[]): string[] =>
    Array.from({ length: count }, (_, i) => item(i)).flat();
  await commands([
    ['SET', 'text', 'short'],
    ['SET', 'empty', ''],
    ['SET', 'int8', '-5'],
    ['SET', 'int16', '3000'],
    ['SET', 'int32', '-2000000'],
    ['SET', 'int64', '9007199254740993'],
    ['SET', 'medium', randomBytes(5000)],
    ['SET', 'large', randomBytes(300_000)],
    ['SET', 'compressed', 'a'.repeat(100_000)],
    ['SET', Buffer.from([0, 255, 13, 10]), 'binary name'],
    ['SET', 'expires', '1', 'EX', '100000'],
    ['RPUSH', 'list', '1', 'two'],
    ['RPUSH', 'long-list', ...many(5000, (i) => [`element ${i}`]), 'x'.repeat(20_000)],
    ['SADD', 'integers', '1', '2', '3'],
    ['SADD', 'set', 'a', 'b'],
    ['SADD', 'large-set', ...many(1000, (i) => [`member ${i}`])],
    ['ZADD', 'sorted', '1.5', 'a', '-inf', 'b'],
    ['ZADD', 'large-sorted', ...many(1000, (i) => [`${i / 3}`, `member ${i}`])],
    ['HSET', 'hash', 'a', '1'],
    ['HSET', 'large-hash', ...many(1000, (i) => [`field ${i}`, `${i}`])],
    ...Array.from({ length: 300 }, (_, i) => ['XADD', 'stream', `${i + 1}-0`, 'n', `${i}`]),
    ['XDEL', 'stream', '4-0'],
    ['XGROUP', 'CREATE', 'stream', 'workers', '0'],
    ['XGROUP', 'CREATE', 'stream', 'idlers', '$'],
    ['XREADGROUP', 'GROUP', 'workers', 'one', 'COUNT', '20', 'STREAMS', 'stream', '>'],
    ['XREADGROUP', 'GROUP', 'workers', 'two', 'COUNT', '5', 'STREAMS', 'stream', '>'],
    ['XACK', 'stream', 'workers', '1-0'],
    ['PFADD', 'log-log', 'a', 'b'],
    ['SETBIT', 'bits', '100', '1'],
    ['GEOADD', 'geo', '13.4', '52.5', 'Berlin'],
    ['FUNCTION', 'LOAD', "#!lua name=lib\nredis.register_function('f', function() return 1 end)"],
    ['SELECT', '5'],
    ['SET', 'elsewhere', '1'],
    ['PEXPIRE', 'elsewhere', '1000000'],
  ]);
};
const KEYS = 25;

const takeDump = async (): Promise<{ file: Buffer; report: DumpReport }> => {
  const dump = await redis.engine.dump(redis.instance, AbortSignal.timeout(60_000));
  const chunks: Uint8Array[] = [];
  for await (const chunk of dump.bytes) chunks.push(new Uint8Array(chunk));
  return { file: Buffer.concat(chunks), report: await dump.report };
};

async function* inParts(bytes: Buffer, size = 10_000): Bytes {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const rehearse = (bytes: Bytes): Promise<DumpReport> =>
  redis.engine.rehearse(redis.instance, bytes, AbortSignal.timeout(60_000));

describe('a dump', () => {
  test('is an RDB file and nothing else, with its keys counted', () => {
    expect(file.subarray(0, 9).toString()).toBe('REDIS0011');
    expect(report).toEqual({ server: expect.stringMatching(/^8\./), rows: KEYS, objects: { keys: KEYS } });
  });

  test('is counted the same however it is cut', () => {
    for (const size of [1, 2, 3, 7, 1000, 65_536, file.length]) {
      const counter = new RdbCounter();
      let used = 0;
      for (let at = 0; at < file.length; at += size) used += counter.push(file.subarray(at, at + size));
      expect([size, counter.keys, counter.announced, counter.done, used]).toEqual([
        size,
        KEYS,
        KEYS,
        true,
        file.length,
      ]);
    }
  });

  test('knows where it ends', () => {
    const counter = new RdbCounter();
    expect(counter.push(Buffer.concat([file, Buffer.from('more')]))).toBe(file.length);
    expect(counter.push(Buffer.from('and more'))).toBe(0);
  });

  test('is of one moment, whatever is written meanwhile', async () => {
    const dump = await redis.engine.dump(redis.instance, AbortSignal.timeout(60_000));
    await commands(Array.from({ length: 100 }, (_, i) => ['SET', `later:${i}`, '1']));
    let size = 0;
    for await (const chunk of dump.bytes) size += chunk.length;
    expect(size).toBeGreaterThan(300_000);
    expect((await dump.report).rows).toBe(KEYS);
    await commands([['DEL', ...Array.from({ length: 100 }, (_, i) => `later:${i}`)]]);
  });

  test('waits for a slow reader, and is not kept in memory meanwhile', async () => {
    const names = Array.from({ length: 48 }, (_, i) => `blob:${i}`);
    for (const name of names) await commands([['SET', name, randomBytes(1024 ** 2)]]);
    const { bytes, report } = await redis.engine.dump(redis.instance, AbortSignal.timeout(60_000));
    const before = process.memoryUsage().rss;
    let size = 0;
    for await (const chunk of bytes) {
      if (size === 0) await Bun.sleep(1000);
      size += chunk.length;
    }
    expect(size).toBeGreaterThan(48 * 1024 ** 2);
    expect(process.memoryUsage().rss - before).toBeLessThan(24 * 1024 ** 2);
    expect((await report).rows).toBe(KEYS + names.length);
    await commands([['DEL', ...names]]);
  });

  test('that is given up says so, and the server has no trace of it', async () => {
    const begun = await redis.engine.dump(redis.instance, AbortSignal.timeout(60_000));
    for await (const chunk of begun.bytes) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect((await failureOf(begun.report)).message).toContain('did not dump it');
    const stop = new AbortController();
    const aborted = await redis.engine.dump(redis.instance, stop.signal);
    stop.abort();
    expect((await failureOf(aborted.report)).kind).toBe('INTERNAL_ERROR');
    const { rows } = await redis.query('INFO replication');
    expect(rows).toContainEqual(['connected_slaves', '0']);
  });
});

describe('a rehearsal', () => {
  test('loads the file and counts what was dumped', async () => {
    expect(await rehearse(inParts(file))).toEqual(report);
  });

  test('counts keys that have expired since', async () => {
    await commands([['SET', 'brief', '1', 'PX', '400']]);
    const brief = await takeDump();
    expect(brief.report.rows).toBe(KEYS + 1);
    await Bun.sleep(450);
    expect((await rehearse(inParts(brief.file))).rows).toBe(KEYS + 1);
  });

  test('notices a file that is cut off', async () => {
    for (const length of [file.length - 1, file.length - 9, 100_000, 4, 0]) {
      const error = await failureOf(rehearse(inParts(file.subarray(0, length))));
      expect(`${length}: ${error.kind} ${error.message}`).toStartWith(
        `${length}: INTERNAL_ERROR the backup can't be loaded`,
      );
    }
  });

  test('notices a single flipped bit, also in the middle of a value', async () => {
    for (const at of [file.indexOf('compressed') + 30, file.length - 3, Math.floor(file.length / 2)]) {
      const damaged = Buffer.from(file);
      damaged[at] = (damaged[at] ?? 0) ^ 4;
      const error = await failureOf(rehearse(inParts(damaged)));
      expect(error.message).toMatch(/^the (backup|dump) can't be/);
    }
  });

  test('notices what is no dump, or more than one', async () => {
    for (const bytes of [Buffer.from('PGDMP and so on'), Buffer.concat([file, file])]) {
      expect((await failureOf(rehearse(inParts(bytes)))).message).toMatch(/^the (backup|dump) can't be/);
    }
  });

  test('fails with what the source of the file says', async () => {
    async function* failing(): Bytes {
      yield file;
      throw new Error('the checksum of the stored backup is wrong');
    }
    expect(await rehearse(failing()).catch(String)).toContain('the checksum of the stored backup is wrong');
  });

  test('leaves no container behind', async () => {
    expect((await redis.lab.runtime.list({})).map(({ id }) => id)).toEqual([redis.containerId()]);
  });
});

test('a backup is not restored, with a hint', async () => {
  const { engine, instance } = redis;
  const signal = AbortSignal.timeout(1000);
  for (const attempt of [
    engine.load(instance, inParts(file), signal),
    engine.loadBeside(instance, 'x', inParts(file), signal),
    engine.swap(instance, { database: 'a', kept: 'b' }),
    engine.dropBeside(instance, 'a'),
  ]) {
    const error = await failureOf(attempt);
    expect([error.kind, error.hint]).toEqual(['INVALID_INPUT', expect.stringContaining('tunnel')]);
  }
  expect(engine.restorable).toBe(false);
});
