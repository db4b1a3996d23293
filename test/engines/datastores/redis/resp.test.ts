import { describe, expect, test } from 'bun:test';
import { type Answer, encodeCommand, type Reply, ReplyReader, type ReplyLimits } from '#engines/datastores/redis/resp';
import { tableOf } from '#engines/datastores/redis/table';
import { failureOf } from './support.ts';

const LIMITS: ReplyLimits = { maxItems: 500, maxBytes: 1024 * 1024 };

/** Chunks of this size, as a network may cut them; counts how many were asked for. */
const reading = (wire: string, size: number): { reader: ReplyReader; taken: () => number } => {
  const bytes = Buffer.from(wire, 'latin1');
  let at = 0;
  const next = (): Promise<IteratorResult<Buffer>> => {
    if (at >= bytes.length) return Promise.resolve({ done: true, value: undefined });
    at += size;
    return Promise.resolve({ done: false, value: bytes.subarray(at - size, at) });
  };
  return { reader: new ReplyReader({ next }), taken: () => Math.min(at, bytes.length) };
};

const read = (wire: string, limits: Partial<ReplyLimits> = {}, size = 7): Promise<Answer> =>
  reading(wire, size).reader.read({ ...LIMITS, ...limits });

const table = async (command: string, wire: string): Promise<unknown> => {
  const { columns, rows } = tableOf(command, (await read(wire)).reply);
  return { columns: columns.map(({ name, type }) => `${name} ${type}`), rows };
};

describe('a reply', () => {
  test('is the same however the network cuts it', async () => {
    const wire = '*4\r\n$5\r\nhe\r\no\r\n%1\r\n+k\r\n:-3\r\n~1\r\n,1.5\r\n_\r\n';
    const whole = await read(wire, {}, wire.length);
    for (let size = 1; size < wire.length; size += 1) expect(await read(wire, {}, size)).toEqual(whole);
  });

  test.each<[string, Reply]>([
    ['+OK\r\n', { kind: 'status', text: 'OK' }],
    ['-ERR no\r\n', { kind: 'error', message: 'ERR no' }],
    ['!6\r\nERR no\r\n', { kind: 'error', message: 'ERR no' }],
    [':9223372036854775807\r\n', { kind: 'integer', value: 9223372036854775807n }],
    [
      '(3492890328409238509324850943850943825024385\r\n',
      { kind: 'integer', value: 3492890328409238509324850943850943825024385n },
    ],
    ['#t\r\n', { kind: 'boolean', value: true }],
    ['$-1\r\n', { kind: 'null' }],
    ['*-1\r\n', { kind: 'null' }],
    ['=7\r\ntxt:abc\r\n', { kind: 'bytes', bytes: Buffer.from('abc') }],
    ['|1\r\n+ttl\r\n:1\r\n:5\r\n', { kind: 'integer', value: 5n }],
    ['>2\r\n+message\r\n+x\r\n+OK\r\n', { kind: 'status', text: 'OK' }],
  ])('%j is understood', async (wire, reply) => {
    expect(await read(wire)).toEqual({ reply, truncated: false });
  });

  test('with more elements than allowed is read no further than those', async () => {
    const wire = `*100000\r\n${':1\r\n'.repeat(100_000)}`;
    const { reader, taken } = reading(wire, 64);
    const { reply, truncated } = await reader.read({ ...LIMITS, maxItems: 10 });
    expect(truncated).toBe(true);
    expect(reply.kind === 'list' ? reply.items.length : 0).toBe(10);
    expect(taken()).toBeLessThan(200);
  });

  test('with more bytes than allowed keeps the elements that fit', async () => {
    const wire = `*3\r\n$4\r\nabcd\r\n$1000000\r\n${'x'.repeat(1_000_000)}\r\n$1\r\na\r\n`;
    const { reader, taken } = reading(wire, 64);
    const { reply, truncated } = await reader.read({ ...LIMITS, maxBytes: 500 });
    expect({ reply, truncated }).toEqual({
      reply: { kind: 'list', items: [{ kind: 'bytes', bytes: Buffer.from('abcd') }] },
      truncated: true,
    });
    expect(taken()).toBeLessThan(1000);
  });

  test('that is one large value is cut', async () => {
    const { reply, truncated } = await read(`$1000000\r\n${'x'.repeat(1000)}`, { maxBytes: 132 });
    expect({ reply, truncated }).toEqual({
      reply: { kind: 'bytes', bytes: Buffer.from('x'.repeat(100)) },
      truncated: true,
    });
  });

  test('of many tiny elements counts as what it takes in memory', async () => {
    const { truncated } = await read(`*1\r\n*1000\r\n${':1\r\n'.repeat(1000)}`, { maxBytes: 8000 });
    expect(truncated).toBe(true);
  });

  test('that nests endlessly is refused', async () => {
    expect((await failureOf(read('*1\r\n'.repeat(100_000)))).kind).toBe('INVALID_INPUT');
  });

  test.each(['HTTP/1.1 200 OK\r\n', '$x\r\n', '*-2\r\n', '$3\r\nabcde', '$99999999999999999999\r\n', '$5\r\nab'])(
    'that is none is an error: %j',
    async (wire) => {
      let thrown: unknown;
      await read(wire).catch((error: unknown) => (thrown = error));
      expect((thrown as Error).name).toMatch(/^(ProtocolError|ConnectionClosed)$/);
    },
  );

  test('is asked for in bytes, whatever they are', () => {
    expect(encodeCommand(['SET', 'ü', Buffer.from([0, 13, 10])]).toString('latin1')).toBe(
      '*3\r\n$3\r\nSET\r\n$2\r\nÃ¼\r\n$3\r\n\0\r\n\r\n',
    );
  });
});

describe('a table', () => {
  test('shows what JSON cannot hold as text', async () => {
    const wire = '*4\r\n:9007199254740993\r\n:-5\r\n,inf\r\n,0.1\r\n';
    expect(await table('EVAL', wire)).toEqual({
      columns: ['value json'],
      rows: [['9007199254740993'], [-5], ['inf'], [0.1]],
    });
  });

  test('shows bytes that are no text as base64, the whole column', async () => {
    expect(await table('MGET', '*3\r\n$1\r\n\xff\r\n$1\r\na\r\n$-1\r\n')).toEqual({
      columns: ['value bytes'],
      rows: [['/w=='], ['YQ=='], [null]],
    });
  });

  test('marks bytes within nested values', async () => {
    expect(await table('EVAL', '*1\r\n*1\r\n$1\r\n\xff\r\n')).toEqual({
      columns: ['value json'],
      rows: [[[{ base64: '/w==' }]]],
    });
  });

  test('takes no field for a prototype', async () => {
    const { rows } = tableOf('EVAL', (await read('*1\r\n%1\r\n+__proto__\r\n%1\r\n+polluted\r\n#t\r\n')).reply);
    expect(JSON.stringify(rows)).toBe('[[{"__proto__":{"polluted":true}}]]');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('repeats the cursor of a scan, and shows it also without keys', async () => {
    expect(await table('SCAN', '*2\r\n$2\r\n17\r\n*2\r\n$1\r\na\r\n$1\r\nb\r\n')).toEqual({
      columns: ['cursor string', 'key string'],
      rows: [
        ['17', 'a'],
        ['17', 'b'],
      ],
    });
    expect(await table('SCAN', '*2\r\n$2\r\n17\r\n*0\r\n')).toEqual({
      columns: ['cursor string', 'key null'],
      rows: [['17', null]],
    });
  });

  test('of an empty list has no rows', async () => {
    expect(await table('LRANGE', '*0\r\n')).toEqual({ columns: ['value null'], rows: [] });
  });
});
