import { describe, expect, test } from 'bun:test';
import { deserialize, EJSON, serialize, type Document } from 'bson';
import { tabular } from '#engines/datastores/mongo/tabular';

/** Documents as they come from the wire, with numbers that keep their types. */
const fromWire = (...documents: unknown[]): Document[] =>
  documents.map((document) =>
    deserialize(serialize(EJSON.parse(JSON.stringify(document), { relaxed: false })), {
      promoteValues: false,
      promoteLongs: false,
      bsonRegExp: true,
    }),
  );

describe('documents as a table', () => {
  test('have a column for each field, in the order of appearance', () => {
    expect(tabular(fromWire({ a: 1, b: 'x' }, { c: true, a: 2 }))).toEqual({
      columns: [
        { name: 'a', type: 'int' },
        { name: 'b', type: 'string' },
        { name: 'c', type: 'bool' },
      ],
      rows: [
        [1, 'x', null],
        [2, null, true],
      ],
    });
  });

  test.each([
    [{ $numberInt: '5' }, 'int', 5],
    [{ $numberLong: '5' }, 'long', 5],
    [{ $numberLong: '9007199254740993' }, 'long', { $numberLong: '9007199254740993' }],
    [{ $numberLong: '-9223372036854775808' }, 'long', { $numberLong: '-9223372036854775808' }],
    [{ $numberDouble: '1.5' }, 'double', 1.5],
    [{ $numberDouble: '2.0' }, 'double', 2],
    ['text', 'string', 'text'],
    [{ $oid: '6b023565c5edf9a6cd447a56' }, 'objectId', { $oid: '6b023565c5edf9a6cd447a56' }],
    [{ $date: '2020-01-01T00:00:00Z' }, 'date', { $date: '2020-01-01T00:00:00Z' }],
    [{ $timestamp: { t: 7, i: 1 } }, 'timestamp', { $timestamp: { t: 7, i: 1 } }],
    [{ $binary: { base64: 'AQID', subType: '00' } }, 'binData', { $binary: { base64: 'AQID', subType: '00' } }],
    [
      { $regularExpression: { pattern: 'a', options: 'i' } },
      'regex',
      { $regularExpression: { pattern: 'a', options: 'i' } },
    ],
    [[1, { x: { $numberLong: '9007199254740993' } }], 'array', [1, { x: { $numberLong: '9007199254740993' } }]],
    [{ deep: { $oid: '6b023565c5edf9a6cd447a56' } }, 'object', { deep: { $oid: '6b023565c5edf9a6cd447a56' } }],
    [null, 'null', null],
  ])('show %j as %s', (value, type, shown) => {
    expect(tabular(fromWire({ value }))).toEqual({ columns: [{ name: 'value', type }], rows: [[shown]] } as never);
  });

  test('of several types are mixed, and a null does not count', () => {
    const { columns } = tabular(fromWire({ a: null, b: 1 }, { a: 1, b: 'x' }, { a: null, b: null }));
    expect(columns).toEqual([
      { name: 'a', type: 'int' },
      { name: 'b', type: 'mixed' },
    ]);
  });

  test('with names that JavaScript keeps for itself are data like others', () => {
    const { columns, rows } = tabular(fromWire(JSON.parse('{"constructor": 1, "__proto__": {"x": 1}, "toString": 2}')));
    expect(columns.map(({ name }) => name)).toEqual(['constructor', '__proto__', 'toString']);
    expect(rows[0]?.[0]).toBe(1);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('that are none have neither columns nor rows', () => {
    expect(tabular([])).toEqual({ columns: [], rows: [] });
  });
});
