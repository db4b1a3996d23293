import { describe, expect, test } from 'bun:test';
import { cellOf, OID } from '#engines/datastores/postgres/cells';

const INT8_ARRAY = { element: OID.int8, delimiter: ',' };
const TEXT_ARRAY = { element: OID.text, delimiter: ',' };

describe('a value of Postgres as JSON', () => {
  test.each([
    ['t', OID.bool, true],
    ['f', OID.bool, false],
    ['-7', OID.int2, -7],
    ['2147483647', OID.int4, 2_147_483_647],
    ['4294967295', OID.oid, 4_294_967_295],
    ['9007199254740991', OID.int8, 9_007_199_254_740_991],
    ['9007199254740993', OID.int8, '9007199254740993'],
    ['-9223372036854775808', OID.int8, '-9223372036854775808'],
    ['0.1', OID.float4, 0.1],
    ['1e-300', OID.float8, 1e-300],
    ['NaN', OID.float8, 'NaN'],
    ['-Infinity', OID.float4, '-Infinity'],
    ['12345678901234567890.10', 1700, '12345678901234567890.10'],
    ['$1,234.50', 790, '$1,234.50'],
    ['\\xdeadbeef', OID.bytea, '3q2+7w=='],
    ['\\x', OID.bytea, ''],
    ['1 day 02:00:00', 1186, '1 day 02:00:00'],
    ['(1,"a b")', 2249, '(1,"a b")'],
  ])('%p of type %d is %p', (text, oid, cell) => {
    expect(cellOf(text, oid)).toEqual(cell);
  });

  test('null is null, whatever its type', () => {
    expect(cellOf(null, OID.json)).toBeNull();
    expect(cellOf(null, 1016, INT8_ARRAY)).toBeNull();
  });

  test.each([
    ['2024-02-29 23:59:59.123456+00', '2024-02-29T23:59:59.123456Z'],
    ['2024-02-29 23:59:59+05:30', '2024-02-29T23:59:59+05:30'],
    ['2024-02-29 23:59:59-08', '2024-02-29T23:59:59-08:00'],
    ['2024-02-29 23:59:59', '2024-02-29T23:59:59'],
    ['infinity', 'infinity'],
    ['0044-03-15 12:00:00+00 BC', '0044-03-15 12:00:00+00 BC'],
    ['10000-01-01 00:00:00+00', '10000-01-01 00:00:00+00'],
  ])('the time %p reads %p', (text, cell) => {
    expect(cellOf(text, OID.timestamptz)).toBe(cell);
  });
});

describe('json', () => {
  test('is taken as it is, keys like __proto__ among it', () => {
    const cell = cellOf('{"__proto__": {"a": 1}, "b": [null, true, "x"]}', OID.jsonb);
    expect(JSON.stringify(cell)).toBe('{"__proto__":{"a":1},"b":[null,true,"x"]}');
    expect(Object.getPrototypeOf(cell)).toBe(Object.prototype);
  });

  test('keeps the digits of numbers that a double would change, as text', () => {
    const text =
      '{"id": 12345678901234567890, "exact": 1000000000000000000000, "pi": 3.14159265358979312, "huge": 1e400, "half": 0.50, "no": -0.1e-3}';
    expect(cellOf(text, OID.json)).toEqual({
      id: '12345678901234567890',
      exact: 1e21,
      pi: '3.14159265358979312',
      huge: '1e400',
      half: 0.5,
      no: -0.0001,
    });
  });

  test('nested deeper than clients can take stays text', () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    expect(cellOf(deep, OID.jsonb)).toBe(deep);
    expect(cellOf(`["${'['.repeat(5000)}\\""]`, OID.jsonb)).toEqual([`${'['.repeat(5000)}"`]);
  });
});

describe('an array', () => {
  test.each([
    ['{}', []],
    ['{1,NULL,9007199254740993}', [1, null, '9007199254740993']],
    [
      '{{1,2},{3,4}}',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['[0:1]={7,8}', [7, 8]],
    ['[1:1][-2:-1]={{1,2}}', [[1, 2]]],
  ])('of numbers: %p', (text, cell) => {
    expect(cellOf(text, 1016, INT8_ARRAY)).toEqual(cell);
  });

  test('of texts keeps quotes, backslashes, braces, delimiters, the word NULL and empty texts', () => {
    const text = String.raw`{plain,"a\"b","c\\d","{x,y}","NULL",NULL,""}`;
    expect(cellOf(text, 1009, TEXT_ARRAY)).toEqual(['plain', 'a"b', 'c\\d', '{x,y}', 'NULL', null, '']);
  });

  test('of another delimiter', () => {
    expect(cellOf('{(1,1),(0,0);(2,2),(1,1)}', 1020, { element: 603, delimiter: ';' })).toEqual([
      '(1,1),(0,0)',
      '(2,2),(1,1)',
    ]);
  });

  test('of json holds JSON', () => {
    expect(cellOf(String.raw`{"{\"a\": [1, \"x\"]}",NULL}`, 3807, { element: OID.jsonb, delimiter: ',' })).toEqual([
      { a: [1, 'x'] },
      null,
    ]);
  });

  test('of another form, such as int2vector, stays text', () => {
    expect(cellOf('1 2 3', 22, { element: OID.int2, delimiter: ',' })).toBe('1 2 3');
    expect(cellOf('{1,2', 1016, INT8_ARRAY)).toBe('{1,2');
  });

  test('of 300,000 quoted texts takes no more than a moment', () => {
    const text = `{${Array.from({ length: 300_000 }, () => '"a b"').join(',')},"\\\\"}`;
    const began = performance.now();
    expect(cellOf(text, 1009, TEXT_ARRAY)).toHaveLength(300_001);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});
