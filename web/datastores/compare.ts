import type { Entry } from './reads.ts';

export interface Compared {
  table: string;
  /** As estimated by the database; -1 when it never counted. */
  now: number | undefined;
  after: number | undefined;
  fate: 'is replaced' | 'comes back' | 'goes';
}

/** What a restore means for each table: those of the backup (`schema.table` → rows) beside those that are there. */
export const compareTables = (objects: Record<string, number>, tables: readonly Entry[]): Compared[] => {
  const now = new Map(
    tables
      .filter(({ type }) => type.endsWith('table') && type !== 'foreign table')
      .map(({ schema, name, row_estimate }) => [schema === undefined ? name : `${schema}.${name}`, row_estimate ?? -1]),
  );
  const backedUp = new Map(Object.entries(objects).map(([table, rows]) => [unquoted(table), rows]));
  return [...new Set([...backedUp.keys(), ...now.keys()])].sort().map((table) => {
    const after = backedUp.get(table);
    return {
      table,
      now: now.get(table),
      after,
      fate: after === undefined ? 'goes' : now.has(table) ? 'is replaced' : 'comes back',
    };
  });
};

/** Names that need it are quoted in a backup, as in SQL. */
const unquoted = (name: string): string =>
  name.replaceAll(/"((?:[^"]|"")*)"/g, (_whole, inner: string) => inner.replaceAll('""', '"'));
