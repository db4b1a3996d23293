import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { QueryRequest } from '#engines/datastores/port';
import { withLink } from '#engines/datastores/redis/link';
import { textOf } from '#engines/datastores/redis/resp';
import { failureOf, openRedis, type RedisBench } from './support.ts';

setDefaultTimeout(60_000);

let redis: RedisBench;
beforeAll(async () => {
  redis = await openRedis();
});
afterAll(() => redis.close());

/** Rows of a query, or the kind of its failure. */
const rows = async (query: string, over: Partial<QueryRequest> = {}): Promise<unknown> => {
  try {
    return (await redis.query(query, over)).rows;
  } catch (error) {
    return (error as { kind: string }).kind;
  }
};

const admin = (...command: string[]): Promise<string> =>
  withLink(redis.instance, { as: 'admin', what: 'test it', timeoutMs: 10_000 }, async (link) =>
    textOf((await link.ask(command)).reply),
  );

describe('a query', () => {
  test('gives the reply as a table with types', async () => {
    await redis.query('HSET user:1 name "Ada L." age 36');
    expect(await redis.query('HGETALL user:1')).toEqual({
      columns: [
        { name: 'field', type: 'string' },
        { name: 'value', type: 'string' },
      ],
      rows: [
        ['name', 'Ada L.'],
        ['age', '36'],
      ],
      row_count: 2,
      truncated: false,
      duration_ms: expect.any(Number),
    });
    await redis.query('ZADD scores 1.5 a 2 b');
    expect((await redis.query('ZRANGE scores 0 -1 WITHSCORES')).columns.map(({ name }) => name)).toEqual([
      'member',
      'score',
    ]);
    expect(await rows('ZRANGE scores 0 -1 WITHSCORES')).toEqual([
      ['a', 1.5],
      ['b', 2],
    ]);
    await redis.query('XADD log 7-1 level warn text "so so"');
    expect(await rows('XRANGE log - +')).toEqual([['7-1', { level: 'warn', text: 'so so' }]]);
    expect(await rows('XREAD COUNT 2 STREAMS log 0')).toEqual([['log', '7-1', { level: 'warn', text: 'so so' }]]);
    expect(await rows('GET nothing')).toEqual([[null]]);
    expect(await rows('INFO server')).toContainEqual(['server_mode', 'standalone']);
  });

  test('takes params as further arguments, whatever is in them', async () => {
    const value = '"; FLUSHALL\r\n*1\r\n$8\r\nFLUSHALL\r\n';
    await redis.query('SET "with params"', { params: [value] });
    expect(await rows('GET', { params: ['with params'] })).toEqual([[value]]);
    expect(await rows('SET counter', { params: [7] })).toEqual([['OK']]);
    expect(await rows('SET counter', { params: [{ a: 1 }] })).toBe('INVALID_INPUT');
  });

  test('keeps bytes', async () => {
    await redis.query(String.raw`SET raw "\xff\x00"`);
    expect(await redis.query('GET raw')).toMatchObject({ columns: [{ type: 'bytes' }], rows: [['/wA=']] });
  });

  test('answers wrong commands in the words of the server', async () => {
    await redis.query('SET text abc');
    expect(await failureOf(redis.query('INCR text'))).toMatchObject({
      kind: 'INVALID_INPUT',
      message: expect.stringContaining('not an integer'),
    });
    expect(await failureOf(redis.query('LPUSH text a'))).toMatchObject({
      kind: 'INVALID_INPUT',
      message: expect.stringContaining('WRONGTYPE'),
    });
    expect(await failureOf(redis.query('NOSUCH'))).toMatchObject({
      kind: 'INVALID_INPUT',
      message: expect.stringContaining('unknown command'),
    });
    expect(await rows('GET')).toBe('INVALID_INPUT');
  });

  test('is cut at its rows, whatever the size of the reply, without reading on', async () => {
    await redis.query("EVAL \"for i = 1, 200000 do redis.call('RPUSH', KEYS[1], 'element-' .. i) end\" 1 long");
    const before = process.memoryUsage().rss;
    const cut = await redis.query('LRANGE long 0 -1', { maxRows: 3 });
    expect(cut).toMatchObject({ rows: [['element-1'], ['element-2'], ['element-3']], row_count: 3, truncated: true });
    expect(process.memoryUsage().rss - before).toBeLessThan(20 * 1024 ** 2);
  });

  test('is cut at its bytes', async () => {
    await redis.query('SETRANGE huge 20000000 x');
    const { rows, truncated } = await redis.query('GET huge', { maxBytes: 1000 });
    expect(truncated).toBe(true);
    expect(JSON.stringify(rows).length).toBeLessThan(10_000);
  });

  test('may only read unless it may write', async () => {
    await redis.query('SET kept here');
    expect(await rows('GET kept', { write: false })).toEqual([['here']]);
    for (const change of [
      'SET kept gone',
      'DEL kept',
      'FLUSHALL',
      'GETDEL kept',
      'EVAL "return 1" 0',
      'SORT long STORE kept',
    ])
      expect([change, await rows(change, { write: false })]).toEqual([change, 'CAPABILITY_MISSING']);
    expect(await rows('GET kept')).toEqual([['here']]);
  });

  test.each([
    'SCRIPT DEBUG YES',
    'PFDEBUG GETREG a',
    'FUNCTION NOSUCH',
    "EVAL \"return redis.call('CONFIG', 'GET', 'dir')\" 0",
  ])('can not reach beyond the data, not even by a script: %s', async (command) => {
    expect(await rows(command)).toBe('INVALID_INPUT');
    expect(await rows(command, { write: false })).toMatch(/INVALID_INPUT|CAPABILITY_MISSING/);
  });

  test('is refused by the server itself, not only by berth, where it reaches beyond the data', async () => {
    const commands = `CONFIG GET dir,CONFIG SET maxmemory 0,DEBUG SLEEP 0,MODULE LIST,ACL LIST,ACL SETUSER default on,
      SHUTDOWN NOSAVE,SAVE,BGSAVE,BGREWRITEAOF,MONITOR,SYNC,PSYNC ? -1,REPLICAOF no one,FAILOVER,REPLCONF ack 1,
      MIGRATE h 1 k 0 1,SLOWLOG GET,LATENCY RESET,CLIENT KILL TYPE normal,CLIENT PAUSE 1,CLIENT NO-EVICT on,
      SCRIPT DEBUG YES,PFSELFTEST,CLUSTER RESET`;
    const waiting = 'BLPOP a 0,BRPOP a 0,BLMOVE a b LEFT LEFT 0,BZPOPMIN a 0,WAIT 1 0,SUBSCRIBE a,KEYS *,ACL WHOAMI';
    const users = {
      berth_reader: `${commands},${waiting}`,
      berth_writer: `${commands},${waiting}`,
      app_first: commands,
      default: commands,
    };
    for (const [user, refused] of Object.entries(users)) {
      for (const command of refused.split(/,\s*/)) {
        expect(`${user} ${command}: ${await admin('ACL', 'DRYRUN', user, ...command.split(' '))}`).toContain(
          'has no permissions',
        );
      }
    }
  });

  test('ends at its time, and the script of it too', async () => {
    await admin('CONFIG', 'SET', 'busy-reply-threshold', '200');
    const began = performance.now();
    const endless = 'EVAL "while true do end" 0';
    expect(await failureOf(redis.query(endless, { timeoutMs: 300 }))).toMatchObject({
      kind: 'TIMEOUT',
      message: expect.stringContaining('0.3 s'),
    });
    expect(await rows(endless, { timeoutMs: 300 })).toBe('TIMEOUT');
    expect(await rows('PING')).toEqual([['PONG']]);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('ends when its caller goes away', async () => {
    const caller = new AbortController();
    const asked = rows('EVAL "while true do end" 0', { signal: caller.signal });
    await Bun.sleep(50);
    caller.abort();
    expect(await asked).toBe('INTERNAL_ERROR');
    expect(await rows('PING')).toEqual([['PONG']]);
  });
});

describe('the keys', () => {
  const KEYS = 1234;

  beforeAll(async () => {
    await redis.query('FLUSHALL');
    await redis.query(`EVAL "for i = 1, ${KEYS} do redis.call('SET', 'key:' .. i, i) end" 0`);
    await redis.query('EXPIRE key:7 1000');
    await redis.query('HSET hash a 1');
    await redis.query(String.raw`SET "\xff\x01" 1`);
  });

  const walk = async (limit: number, match?: string) => {
    const names: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await redis.engine.browse(redis.instance, { limit, cursor, match });
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      names.push(...page.entries.map(({ name }) => name));
      cursor = page.next ?? undefined;
      pages += 1;
    } while (cursor !== undefined && pages < 3000);
    return { names: new Set(names), count: names.length, pages };
  };

  test.each([50, 200, 7, 1])('are all listed, each once while nothing changes, in pages of %i', async (limit) => {
    const { names, count } = await walk(limit);
    expect(names.size).toBe(KEYS + 2);
    expect(count).toBe(KEYS + 2);
    expect(names.has(String.raw`"\xff\x01"`)).toBe(true);
  });

  test('have a type, the time that they have left, and a size', async () => {
    const { entries } = await redis.engine.browse(redis.instance, { limit: 10, cursor: undefined, match: 'key:7' });
    expect(entries).toEqual([
      { name: 'key:7', type: 'string', size_bytes: expect.any(Number), ttl_seconds: expect.any(Number) },
    ]);
    expect(entries[0]?.ttl_seconds).toBeGreaterThan(900);
    const hash = await redis.engine.browse(redis.instance, { limit: 10, cursor: undefined, match: 'ha[s]h' });
    expect(hash.entries).toMatchObject([{ name: 'hash', type: 'hash', ttl_seconds: null }]);
  });

  test('are found by a pattern in few pages', async () => {
    const { names, pages } = await walk(50, 'key:12?');
    expect([...names].sort()).toEqual(Array.from({ length: 10 }, (_, i) => `key:12${i}`));
    expect(pages).toBe(1);
  });

  test('of other databases are listed too', async () => {
    await withLink(redis.instance, { as: 'writer', what: 'test it', timeoutMs: 5000 }, (link) =>
      link.all('write', [
        ['SELECT', '3'],
        ['SET', 'elsewhere', '1'],
      ]),
    );
    const found = await redis.engine.browse(redis.instance, { limit: 10, cursor: undefined, match: 'else*' });
    expect(found.entries).toMatchObject([{ name: 'elsewhere', schema: 'db3' }]);
    expect((await walk(100)).names.size).toBe(KEYS + 3);
  });

  test.each([
    'x',
    '0.1',
    '0.-1.0',
    '9999.0.0',
    '16.0.0',
    '0.99999999999999999999.0',
    '0.99999999999999999999999.0',
    'a.b.c',
  ])('are not listed from a made-up cursor: %s', async (cursor) => {
    const asked = redis.engine.browse(redis.instance, { limit: 10, cursor, match: undefined });
    expect(await failureOf(asked)).toMatchObject({ kind: 'INVALID_INPUT' });
  });
});
