import { expect, test } from 'bun:test';
import { createAddressOf } from '#http/client-address';
import { createMinuteLimit, createRequestLimit } from '#http/limits';
import { encodeCursor, listReply, pageOf } from '#http/list';
import { parseListen } from '#http/server';
import { describeFindings, expected, fieldName } from '#http/validation';
import { systemClock } from '#kernel/clock';

const stopped = () => {
  const clock = { ...systemClock, at: 0, monotonic: () => clock.at };
  return clock;
};

test('a page is fifty unless asked for, and cursors are opaque', () => {
  expect(pageOf({})).toEqual({ limit: 50, after: undefined });
  expect(pageOf({ limit: 200, cursor: encodeCursor('shop/ü') })).toEqual({ limit: 200, after: 'shop/ü' });
  for (const limit of [0, 201, 1.5, Number.NaN]) expect(() => pageOf({ limit })).toThrow('query.limit');
  for (const cursor of ['', '!', 'abc$', 'a']) expect(() => pageOf({ cursor })).toThrow('query.cursor');
});

test('one item more than asked for says that there is a next page', () => {
  const page = pageOf({ limit: 2 });
  expect(listReply('items', ['a', 'b', 'c'], (item) => item, page)).toEqual({
    items: ['a', 'b'],
    next_cursor: encodeCursor('b'),
  });
  expect(listReply('items', ['a', 'b'], (item) => item, page)).toEqual({ items: ['a', 'b'], next_cursor: null });
  expect(listReply('items', [], (item) => item, page)).toEqual({ items: [], next_cursor: null });
});

test('a minute limit forgets after a minute, and holds a bounded number of keys', () => {
  const clock = stopped();
  const limit = createMinuteLimit(2, clock);
  limit.count('a');
  expect(limit.waitMs('a')).toBe(0);
  limit.count('a');
  clock.at = 10_000;
  expect(limit.waitMs('a')).toBe(50_000);
  clock.at = 60_000;
  expect(limit.waitMs('a')).toBe(0);
  limit.count('b');
  limit.count('b');
  for (let i = 0; i < 10_000; i += 1) limit.count(`key-${i}`);
  expect(limit.waitMs('b')).toBe(0);
});

test('a token bucket fills evenly, and never beyond a minute', () => {
  const clock = stopped();
  const limit = createRequestLimit(60, clock);
  const bucket = limit.fresh();
  for (let i = 0; i < 60; i += 1) limit.take(bucket);
  expect(() => limit.take(bucket)).toThrow('more than 60 requests');
  clock.at = 1000;
  limit.take(bucket);
  expect(() => limit.take(bucket)).toThrow();
  clock.at = 3_600_000;
  for (let i = 0; i < 60; i += 1) limit.take(bucket);
  expect(() => limit.take(bucket)).toThrow();
  const off = createRequestLimit(0, clock);
  for (let i = 0; i < 1000; i += 1) off.take(off.fresh());
});

const addressOf = (headers: Record<string, string>, peer: string | undefined = '192.0.2.1'): string =>
  createAddressOf('s3cret', () => peer)(new Request('http://x/', { headers }));

test('the address is the peer, or what the trusted proxy saw last', () => {
  const trusted = { 'x-berth-proxy': 's3cret' };
  expect(addressOf({})).toBe('192.0.2.1');
  expect(addressOf({ 'x-forwarded-for': '203.0.113.5' })).toBe('192.0.2.1');
  expect(addressOf({ 'x-forwarded-for': '203.0.113.5', 'x-berth-proxy': 'wrong' })).toBe('192.0.2.1');
  expect(addressOf({ ...trusted, 'x-forwarded-for': '10.0.0.1, 203.0.113.5' })).toBe('203.0.113.5');
  expect(addressOf({ ...trusted, 'x-forwarded-for': 'nonsense' })).toBe('192.0.2.1');
  expect(addressOf(trusted)).toBe('192.0.2.1');
  expect(
    createAddressOf(
      '',
      () => '192.0.2.1',
    )(new Request('http://x/', { headers: { 'x-berth-proxy': '', 'x-forwarded-for': '203.0.113.5' } })),
  ).toBe('192.0.2.1');
  expect(createAddressOf('s', () => undefined)(new Request('http://x/'))).toBe('unknown');
});

test('IPv6 counts by its network, and IPv4 in IPv6 as IPv4', () => {
  expect(addressOf({}, '2001:db8:1:2:3:4:5:6')).toBe(addressOf({}, '2001:db8:1:2::9'));
  expect(addressOf({}, '2001:db8:1:2::9')).not.toBe(addressOf({}, '2001:db8:1:3::9'));
  expect(addressOf({}, '::ffff:192.0.2.1')).toBe('192.0.2.1');
});

test('fields are named as they are written in code', () => {
  expect(fieldName('body', '/projects/0/na~1me')).toBe('body.projects[0].na/me');
  expect(fieldName('body', '')).toBe('body');
});

test.each([
  [{ type: 'integer', minimum: 1, maximum: 9 }, 'a whole number from 1 to 9'],
  [{ type: 'number', minimum: 0.5 }, 'a number of at least 0.5'],
  [{ type: 'array', minItems: 1, uniqueItems: true }, 'a list without repetitions with at least 1 items'],
  [{ anyOf: [{ const: 'a' }, { const: 'b' }] }, 'one of "a", "b"'],
  [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, 'boolean or null'],
  [
    {
      anyOf: [
        { type: 'string', format: 'numeric' },
        { type: 'number', multipleOf: 1 },
      ],
    },
    'a whole number',
  ],
  [{ type: 'string', maxLength: 3 }, 'a string with at most 3 characters'],
  [{}, 'what the schema says'],
])('the schema %j wants %s', (schema, words) => {
  expect(expected(schema)).toBe(words);
});

test('at most three fields are named, each once', () => {
  const findings = ['/a', '/a', '/b', '/c', '/d'].map((path) => ({
    path,
    message: 'Expected string',
    schema: { type: 'string' },
  }));
  expect(describeFindings('body', findings).message).toBe(
    'body.a must be a string; body.b must be a string; body.c must be a string',
  );
});

test('a listen address is split at its last colon', () => {
  expect(parseListen('127.0.0.1:4400')).toEqual({ hostname: '127.0.0.1', port: 4400 });
});
