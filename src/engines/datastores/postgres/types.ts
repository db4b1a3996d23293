import type { Client, FieldDef } from 'pg';
import type { Cell, Column } from '../port.ts';
import { type ArrayShape, cellOf } from './cells.ts';

/** Types of the catalog itself have smaller oids, and never change; those that users make can be altered at any time. */
const FIRST_USER_OID = 16_384;
const MAX_KNOWN = 2000;

export interface TypeInfo {
  /** As Postgres shows it: `bigint`, `character varying(20)`, `numeric(10,2)[]`, `shop.mood`. */
  name: string;
  array: ArrayShape | undefined;
}

/** Names and shapes of types, asked of the server's catalog and remembered as far as they can't change. */
export interface Types {
  /** One look-up on `client` for those that are not known yet. */
  of(client: Client, fields: readonly FieldDef[]): Promise<readonly TypeInfo[]>;
}

/** A domain counts as the type below it, as it does in Postgres's own descriptions of results. */
const TYPES = `
  SELECT pg_catalog.format_type(f.oid, f.modifier),
         CASE WHEN t.typinput = 'pg_catalog.array_in'::pg_catalog.regproc THEN (
           WITH RECURSIVE base (oid, below) AS (
             SELECT e.oid, e.typbasetype FROM pg_catalog.pg_type e WHERE e.oid = t.typelem
             UNION ALL
             SELECT b.oid, b.typbasetype FROM base JOIN pg_catalog.pg_type b ON b.oid = base.below)
           SELECT oid::text FROM base WHERE below = 0) END,
         t.typdelim
  FROM ROWS FROM (pg_catalog.unnest($1::oid[]), pg_catalog.unnest($2::int4[])) WITH ORDINALITY AS f (oid, modifier, nth)
  LEFT JOIN pg_catalog.pg_type t ON t.oid = f.oid
  ORDER BY f.nth`;

export const createTypes = (): Types => {
  const known = new Map<string, TypeInfo>();
  const remember = (key: string, info: TypeInfo): void => {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, info);
  };

  return {
    of: async (client, fields) => {
      const found = new Map<string, TypeInfo>();
      const missing = new Map<string, FieldDef>();
      for (const field of fields) {
        const info = known.get(keyOf(field));
        if (info === undefined) missing.set(keyOf(field), field);
        else found.set(keyOf(field), info);
      }
      for (const [key, info] of missing.size === 0 ? [] : await lookUp(client, [...missing.values()])) {
        found.set(key, info);
        if ((missing.get(key)?.dataTypeID ?? FIRST_USER_OID) < FIRST_USER_OID) remember(key, info);
      }
      return fields.map((field) => found.get(keyOf(field)) ?? { name: 'unknown', array: undefined });
    },
  };
};

/** What a client is shown: the columns, and rows of text as JSON. */
export const tabular = (
  fields: readonly FieldDef[],
  types: readonly TypeInfo[],
  rows: readonly (string | null)[][],
): { columns: Column[]; rows: Cell[][] } => ({
  columns: fields.map((field, index) => ({ name: field.name, type: types[index]?.name ?? 'unknown' })),
  rows: rows.map((row) => row.map((text, index) => cellOf(text, fields[index]?.dataTypeID ?? 0, types[index]?.array))),
});

const keyOf = (field: FieldDef): string => `${field.dataTypeID}:${field.dataTypeModifier}`;

const lookUp = async (client: Client, fields: readonly FieldDef[]): Promise<[string, TypeInfo][]> => {
  const { rows } = await client.query<[string, string | null, string | null]>({
    text: TYPES,
    values: [fields.map((field) => field.dataTypeID), fields.map((field) => field.dataTypeModifier)],
    rowMode: 'array',
  });
  return fields.map((field, index) => {
    const [name = 'unknown', element, delimiter] = rows[index] ?? [];
    const array =
      element === null || element === undefined ? undefined : { element: Number(element), delimiter: delimiter ?? ',' };
    return [keyOf(field), { name, array }];
  });
};
