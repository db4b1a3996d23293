import { EJSON, type Document, type Long } from 'bson';
import type { Cell, Column } from '../port.ts';

/** Names of BSON types as `$type` of MongoDB calls them, by the name that `bson` gives to the class. */
const TYPE_NAMES: Record<string, string> = {
  Double: 'double',
  Int32: 'int',
  Long: 'long',
  Decimal128: 'decimal',
  ObjectId: 'objectId',
  Binary: 'binData',
  Timestamp: 'timestamp',
  BSONRegExp: 'regex',
  BSONSymbol: 'symbol',
  Code: 'javascript',
  DBRef: 'dbPointer',
  MinKey: 'minKey',
  MaxKey: 'maxKey',
};

/**
 * Documents as a table: a column for each top-level field, in the order in which they appear; a field that a document does
 * not have is null. Values are relaxed extended JSON, with longs that JSON cannot hold exactly as `{"$numberLong": "…"}`.
 */
export const tabular = (documents: readonly Document[]): { columns: Column[]; rows: Cell[][] } => {
  const types = new Map<string, string | undefined>();
  for (const document of documents) {
    for (const [name, value] of Object.entries(document)) types.set(name, together(types.get(name), bsonType(value)));
  }
  const names = [...types.keys()];
  return {
    columns: names.map((name) => ({ name, type: types.get(name) ?? 'null' })),
    rows: documents.map((document) =>
      names.map((name) => (Object.hasOwn(document, name) ? cell(document[name]) : null)),
    ),
  };
};

/** A null says nothing about the type of a field. */
const together = (seen: string | undefined, next: string): string => {
  if (seen === undefined || seen === 'null' || seen === next) return next;
  return next === 'null' ? seen : 'mixed';
};

/** The type of a value that was read without promoting numbers. */
export const bsonType = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  const kind = className(value);
  if (kind !== undefined) return TYPE_NAMES[kind] ?? 'mixed';
  return typeof value === 'number' ? 'double' : 'object';
};

const cell = (value: unknown): Cell => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item: unknown) => cell(item));
  if (isLong(value)) return exact(value);
  if (typeof value === 'object' && !('_bsontype' in value) && !(value instanceof Date)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cell(inner)]));
  }
  const json: Cell = EJSON.serialize(value, { relaxed: true });
  return json;
};

/** Not by its class: a timestamp is one of its kinds. */
const isLong = (value: unknown): value is Long => className(value) === 'Long';

/** What `bson` calls the class of a value; undefined for plain ones. */
const className = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && '_bsontype' in value ? String(value['_bsontype']) : undefined;

const exact = (value: Long): Cell => {
  const number = value.toNumber();
  return Number.isSafeInteger(number) ? number : { $numberLong: value.toString() };
};
