import type { Connection, DatastoreKind } from '#engines/datastores/port';

/** Name of the variable that holds the URL of a datastore with its kind's own name. */
const DEFAULT_URL: Record<DatastoreKind, string> = {
  postgres: 'DATABASE_URL',
  redis: 'REDIS_URL',
  mongo: 'MONGO_URL',
};

/**
 * The variables that services are given for a datastore. One that has the name of its kind gives the plain names
 * (`DATABASE_URL`, `PGHOST`…), any other prefixes them: `main-db` → `MAIN_DB_URL`, `MAIN_DB_PGHOST`…. Pure.
 */
export const variablesOf = (
  { kind, name }: { kind: DatastoreKind; name: string },
  { url, parts }: Connection,
): Record<string, string> => {
  if (name === kind) return { [DEFAULT_URL[kind]]: url, ...parts };
  const prefix = `${name.replaceAll('-', '_').toUpperCase()}_`;
  return {
    [`${prefix}URL`]: url,
    ...Object.fromEntries(Object.entries(parts).map(([part, value]) => [prefix + part, value])),
  };
};
