import { describe, expect, test } from 'bun:test';
import { cellLine, cellText, toCsv, toJson, widthsOf } from '../../web/datastores/cells.ts';
import { compareTables } from '../../web/datastores/compare.ts';
import { mayHoldSecret, readHistory, remembered, writeHistory } from '../../web/datastores/history.ts';
import { limitsBody } from '../../web/datastores/limits.tsx';
import { KINDS } from '../../web/datastores/parts.tsx';
import { readParams } from '../../web/datastores/use-console.ts';
import { lookInto, withSwitchHint } from '../../web/datastores/run.ts';
import { ApiError } from '../../web/api.ts';
import { createMongoEngine } from '#engines/datastores/mongo/index';
import { createPostgresEngine } from '#engines/datastores/postgres/index';
import { createRedisEngine } from '#engines/datastores/redis/index';

const COLUMNS = [
  { name: 'id', type: 'bigint' },
  { name: 'note', type: 'text' },
];

describe('a cell', () => {
  test('says NULL for null, which is not the text NULL', () => {
    expect(cellText(null)).toBe('NULL');
    expect(toCsv(COLUMNS, [[null, 'NULL']])).toBe('id,note\r\n,NULL\r\n');
  });

  test('stands in one line of bounded length', () => {
    expect(cellLine('a\r\nb\tc')).toBe('a↵b⇥c');
    expect(cellLine('x'.repeat(100_000))).toHaveLength(301);
    expect(cellLine({ a: [1, null] })).toBe('{"a":[1,null]}');
  });

  test('makes its column as wide as need be, within bounds', () => {
    const [narrow = 0, wide = 0] = widthsOf(COLUMNS, [[1, 'x'.repeat(5000)]]);
    expect(narrow).toBeLessThan(150);
    expect(wide).toBeGreaterThan(300);
    expect(wide).toBeLessThan(400);
  });
});

describe('an export', () => {
  test('as CSV quotes what needs it, and tells empty text from NULL', () => {
    expect(
      toCsv(COLUMNS, [
        [1, 'say "hi", you\nthere'],
        [null, ''],
        [2, ' x'],
      ]),
    ).toBe('id,note\r\n1,"say ""hi"", you\nthere"\r\n,""\r\n2," x"\r\n');
  });

  test('as JSON keeps types, and both of two columns of the same name', () => {
    const columns = [...COLUMNS, { name: 'id', type: 'int' }];
    expect(JSON.parse(toJson(columns, [[1, null, 2]]))).toEqual([{ id: 1, note: null, id_2: 2 }]);
  });
});

describe('the history', () => {
  test('forgets what may hold a secret', () => {
    for (const query of [
      "alter role app password 'hunter2'",
      "update users set api_key = 'x' where id = 1",
      "select 'sk4eC39HqLyjWDarjtT1zdp7dc'",
      'select dblink($$postgres://app:pw@db/x$$)',
      "insert into files values ('-----BEGIN PRIVATE KEY-----')",
    ])
      expect([query, mayHoldSecret(query, 'postgres')]).toEqual([query, true]);
    for (const query of ['AUTH default x', 'ACL SETUSER a >b', 'SET session:token abc', 'HELLO 3 AUTH a b'])
      expect([query, mayHoldSecret(query, 'redis')]).toEqual([query, true]);
  });

  test('keeps what does not', () => {
    for (const query of [
      'select * from users where id = 7',
      'select token_id from tokens',
      "select * from orders where state = 'paid'",
    ])
      expect([query, mayHoldSecret(query, 'postgres')]).toEqual([query, false]);
    expect(mayHoldSecret('HGETALL cart:1', 'redis')).toBe(false);
  });

  test('has each statement once, the newest first, and no more than fifty', () => {
    let history = remembered([], 'a', '1');
    history = remembered(history, 'b', '2');
    history = remembered(history, 'a', '3');
    expect(history).toEqual([
      { query: 'a', at: '3' },
      { query: 'b', at: '2' },
    ]);
    for (let count = 0; count < 80; count += 1) history = remembered(history, `select ${count}`, '4');
    expect(history).toHaveLength(50);
    expect(remembered([], 'x'.repeat(5000), '5')).toEqual([]);
  });

  test('is none when what is stored is not its own, and survives a full storage', () => {
    const storage = (text: string | null) => ({ getItem: () => text });
    for (const text of [null, 'not json', '{"a":1}', '[1,{"query":2}]'])
      expect(readHistory('k', storage(text))).toEqual([]);
    const full = {
      setItem: () => {
        throw new DOMException('full', 'QuotaExceededError');
      },
      removeItem: () => undefined,
    };
    expect(() => writeHistory('k', [{ query: 'a', at: '1' }], full)).not.toThrow();
  });
});

describe('looking into a table, key or collection', () => {
  test('quotes whatever name it has', () => {
    expect(lookInto('postgres', { schema: 'public', name: 'a"; drop table b; --', type: 'table' }).query).toBe(
      'select * from "public"."a""; drop table b; --" limit 100',
    );
    expect(lookInto('redis', { name: 'a b "c"', type: 'hash' })).toEqual({
      query: 'HGETALL',
      params: ['a b "c"'],
      readOnly: true,
    });
    expect(lookInto('redis', { name: 'k', type: 'something new' })).toMatchObject({ query: 'TYPE', params: ['k'] });
    expect(lookInto('mongo', { name: 'a"b', type: 'collection' }).query).toBe('{"find":"a\\"b","limit":100}');
  });

  test('tells a write that its own switch forbade how to allow it', () => {
    const refused = new ApiError(
      {
        code: 'CAPABILITY_MISSING',
        message: 'cannot',
        hint: 'leave read_only out: this token may write',
        retryable: false,
      },
      403,
    );
    expect(withSwitchHint(refused, true)).toMatchObject({
      message: 'cannot',
      hint: 'turn on “Allow writes” and run it again',
    });
    expect(withSwitchHint(refused, false)).toBe(refused);
  });
});

test('a restore names each table that is replaced, comes back or goes', () => {
  expect(
    compareTables({ 'public.users': 3, 'public.old': 1, 'public."Odd ""one"""': 2 }, [
      { schema: 'public', name: 'Odd "one"', type: 'table', row_estimate: 2 },
      { schema: 'public', name: 'users', type: 'table', row_estimate: 5 },
      { schema: 'public', name: 'new', type: 'partitioned table', row_estimate: -1 },
      { schema: 'public', name: 'active', type: 'view' },
    ]),
  ).toEqual([
    { table: 'public.Odd "one"', now: 2, after: 2, fate: 'is replaced' },
    { table: 'public.new', now: -1, after: undefined, fate: 'goes' },
    { table: 'public.old', now: undefined, after: 1, fate: 'comes back' },
    { table: 'public.users', now: 5, after: 3, fate: 'is replaced' },
  ]);
});

test('values of a statement are a JSON array, or refused with how to write one', () => {
  expect(readParams(' [2, null, "x"] ')).toEqual([2, null, 'x']);
  expect(readParams('')).toEqual([]);
  for (const text of ['{"a":1}', '2', '[1,'])
    expect(() => readParams(text)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
});

test('limits that are typed go to the API as numbers, and what is none as it is', () => {
  expect(limitsBody({ memory: ' 512 ', cpus: '0,5', storage: '' })).toEqual({ memory_mb: 512, cpus: 0.5 });
  expect(limitsBody({ memory: 'much', cpus: '', storage: '1e3' })).toEqual({
    memory_mb: 'much',
    storage_limit_mb: 1000,
  });
});

test('what the form knows of each kind is what the engines say', () => {
  const parts = {} as never;
  const engines = {
    postgres: createPostgresEngine(parts),
    redis: createRedisEngine(parts),
    mongo: createMongoEngine(parts),
  };
  for (const kind of ['postgres', 'redis', 'mongo'] as const) {
    const { versions, defaultMemoryMb, restorable } = engines[kind];
    const known: { versions: readonly string[]; memory: number; restorable: boolean } = KINDS[kind];
    expect(known).toMatchObject({ versions: [...versions], memory: defaultMemoryMb, restorable });
  }
});
