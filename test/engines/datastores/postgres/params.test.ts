import { describe, expect, test } from 'bun:test';
import type { Cell } from '#engines/datastores/port';
import { OID } from '#engines/datastores/postgres/cells';
import { encodeParams } from '#engines/datastores/postgres/params';

const encode = (value: Cell, oid: number): string | null | undefined => encodeParams([value], [oid])[0];

describe('a bind parameter', () => {
  test.each<[Cell, number, string | null]>([
    [null, OID.int4, null],
    [true, OID.bool, 'true'],
    [1.5, 1700, '1.5'],
    [1e21, 1700, '1e+21'],
    ['2024-01-01', 1082, '2024-01-01'],
    [{ a: [1] }, OID.jsonb, '{"a":[1]}'],
    [[1, 'x', null], OID.jsonb, '[1,"x",null]'],
    [[1, 'x'], OID.text, '[1,"x"]'],
    [[1, null, 2], 1007, '{1,NULL,2}'],
    [
      [
        [1, 2],
        [3, 4],
      ],
      1007,
      '{{1,2},{3,4}}',
    ],
    [['a"b', 'c\\d', 'NULL', ''], 1009, String.raw`{"a\"b","c\\d","NULL",""}`],
    [[{ a: 1 }, [2, 3]], OID.jsonbArray, String.raw`{"{\"a\":1}","[2,3]"}`],
    ['3q2+7w==', OID.bytea, '\\xdeadbeef'],
    ['\\xdeadbeef', OID.bytea, '\\xdeadbeef'],
    [['3q2+7w=='], OID.byteaArray, String.raw`{"\\xdeadbeef"}`],
  ])('%p for type %d is %p', (value, oid, text) => {
    expect(encode(value, oid)).toBe(text);
  });

  test.each<[string, () => unknown]>([
    ['a NUL character', () => encode('a\0b', OID.text)],
    ['a NUL character in a list', () => encode(['a\0b'], 1009)],
    ['a lone surrogate', () => encode('\ud800', OID.text)],
    ['a bytea that is not base64', () => encode('###', OID.bytea)],
    ['more than six dimensions', () => encode([[[[[[[1]]]]]]], 1007)],
    ['too many values', () => encodeParams([1, 2], [OID.int4])],
    ['too few values', () => encodeParams([], [OID.int4])],
  ])('with %s is refused', (_what, work) => {
    expect(work).toThrow(expect.objectContaining({ kind: 'INVALID_INPUT' }));
  });
});
