import { describe, expect, test } from 'bun:test';
import { Long } from 'bson';
import { parseCommand, wantedRows } from '#engines/datastores/mongo/command';
import { BerthError } from '#kernel/errors';

const read = { write: false, timeoutMs: 30_000 };
const write = { write: true, timeoutMs: 30_000 };

const refusal = (query: string, options = read): BerthError => {
  try {
    parseCommand(query, options);
  } catch (thrown) {
    if (thrown instanceof BerthError) return thrown;
    throw thrown;
  }
  throw new Error(`${query} was taken`);
};

describe('a command of the Mongo console', () => {
  test('is sent as it was written, to the database app, with berth’s own deadline and batches', () => {
    const { document, shape } = parseCommand(
      '{"find": "users", "filter": {"age": {"$gt": 3.5}}, "batchSize": 100000, "singleBatch": true, "maxTimeMS": 1}',
      read,
    );
    expect(shape).toBe('cursor');
    expect(JSON.parse(JSON.stringify(document))).toEqual({
      find: 'users',
      filter: { age: { $gt: 3.5 } },
      $db: 'app',
      maxTimeMS: 30_000,
    });
  });

  test('keeps the types of extended JSON', () => {
    const { document } = parseCommand(
      '{"find": "users", "filter": {"n": {"$numberLong": "5"}, "at": {"$date": "2020-01-01T00:00:00Z"}}}',
      read,
    );
    expect(document['filter'].n).toEqual(Long.fromNumber(5));
    expect(document['filter'].at).toEqual(new Date('2020-01-01T00:00:00Z'));
  });

  test('may name another database', () => {
    expect(parseCommand('{"count": "users", "$db": "shop"}', read).document).toMatchObject({ $db: 'shop' });
    expect(refusal('{"count": "users", "$db": 5}').message).toContain('$db');
  });

  test('asks for as many documents as its limit says', () => {
    expect(wantedRows(parseCommand('{"find": "users", "limit": 3}', read))).toBe(3);
    expect(wantedRows(parseCommand('{"find": "users", "limit": 0}', read))).toBeUndefined();
    expect(wantedRows(parseCommand('{"aggregate": "users", "pipeline": [], "limit": 3}', read))).toBeUndefined();
  });

  test.each(['insert', 'update', 'delete', 'findAndModify', 'create', 'createIndexes', 'dropIndexes', 'drop'])(
    '%s changes data, so a reader is refused and a writer is not',
    (name) => {
      const query = JSON.stringify({ [name]: 'users' });
      expect(refusal(query)).toMatchObject({
        kind: 'CAPABILITY_MISSING',
        hint: expect.stringContaining('manage_datastores'),
      });
      expect(parseCommand(query, write).name).toBe(name);
    },
  );

  test.each([
    'dropDatabase',
    'getMore',
    'killCursors',
    'saslStart',
    'logout',
    'eval',
    'shutdown',
    'createUser',
    'getCmdLineOpts',
    'renameCollection',
    'compact',
    '__proto__',
    'constructor',
    'toString',
  ])('%s is refused to readers and writers with the commands that work', (name) => {
    for (const options of [read, write]) {
      const refused = refusal(`{"${name}": "users"}`, options);
      expect(refused.kind).toBe('INVALID_INPUT');
      expect(refused.message).toContain(name);
      expect(refused.hint).toContain('find, aggregate');
      expect(refused.hint.includes('insert')).toBe(options.write);
    }
  });

  test('only its first field names it, so no second command can hide in it', () => {
    expect(parseCommand('{"find": "users", "insert": "users"}', read).name).toBe('find');
    expect(refusal('{"filter": {}, "find": "users"}').message).toContain('filter');
  });

  test.each(['$out', '$merge'])('a pipeline with %s changes data', (stage) => {
    const query = JSON.stringify({ aggregate: 'users', pipeline: [{ $match: {} }, { [stage]: 'copy' }] });
    expect(refusal(query).message).toContain(stage);
  });

  test.each(['tailable', 'awaitData', 'noCursorTimeout', 'lsid', 'txnNumber', 'startTransaction'])(
    'the field %s is refused',
    (field) => {
      expect(refusal(JSON.stringify({ find: 'users', [field]: true })).message).toContain(field);
    },
  );

  test.each([
    ['{"insert": "a", "documents": [{"v": {"$numberDecimal": "1.5"}}]}', 'decimal'],
    ['{"insert": "a", "documents": [{"v": {"$numberDouble": "NaN"}}]}', 'NaN'],
    ['{"insert": "a", "documents": [{"v": [{"$minKey": 1}]}]}', 'minKey'],
    ['{"insert": "a", "documents": [{"v": {"$code": "x"}}]}', 'javascript'],
  ])('%s is refused before FerretDB cuts the connection', (query, type) => {
    expect(refusal(query, write).message).toContain(type);
  });

  test.each(['', '{', '[]', '[{"find": "users"}]', '"find"', 'null', '7', '{}', '{find: "users"}', '{"$oid": "x"}'])(
    '%p is no command',
    (query) => {
      const refused = refusal(query);
      expect(refused.kind).toBe('INVALID_INPUT');
      expect(refused.hint).toContain('{"find": "users"');
    },
  );

  test('nesting without end is refused before anything recursive reads it', () => {
    expect(refusal(`{"find": ${'['.repeat(200_000)}`).message).toContain('100 levels');
    expect(parseCommand(`{"find": "${'['.repeat(200)}"}`, read).name).toBe('find');
  });

  test('two commands are not one', () => {
    expect(refusal('{"find": "users"} {"drop": "users"}').message).toContain('no JSON');
  });
});

describe('a line of the Mongo shell is refused with how to write it', () => {
  test.each([
    ['db.users.find({"age": 3})', '{"find": "users", "filter": {"age": 3}, "limit": 10}'],
    ['db.users.find()', '{"find": "users", "filter": {}, "limit": 10}'],
    ['db.users.find({"a": 1}).sort({"a": 1})', '{"find": "users"'],
    ['db.orders.aggregate([{"$count": "n"}]);', '{"aggregate": "orders", "pipeline": [{"$count": "n"}]}'],
    ['db.a.b.countDocuments({})', '{"count": "a.b", "query": {}}'],
    ['db.users.updateMany({}, {})', '"multi": true'],
    ['db["users"].find()', '{"find": "users"'],
    ['db.users.mapReduce(f)', '{"find": "users"'],
    ['db.users.constructor()', '{"find": "users"'],
    ['show collections', '{"listCollections": 1}'],
    ['use shop', '"$db"'],
  ])('%s', (line, hint) => {
    expect(refusal(line).hint).toContain(hint);
  });

  test('however long it is, at once', () => {
    const startedAt = performance.now();
    expect(refusal(`db.${'a.('.repeat(50_000)}`).kind).toBe('INVALID_INPUT');
    expect(refusal(`db.users.find(${'('.repeat(100_000)}`).kind).toBe('INVALID_INPUT');
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});
