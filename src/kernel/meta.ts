import type { Database } from 'bun:sqlite';

/** Facts about this installation that are made once, at its first start. */
export interface Meta {
  get(key: MetaKey): string | undefined;
  /** The stored value, or `make()` stored now. */
  ensure(key: MetaKey, make: () => string): string;
  /** Stores another value; for facts that somebody else's doing has made untrue. */
  replace(key: MetaKey, value: string): void;
}

export type MetaKey = 'instance' | 'proxy_secret' | 'registry_subnet' | 'datastore_ca' | 'datastore_ca_key';

export const createMeta = (db: Database): Meta => {
  const get = (key: MetaKey): string | undefined =>
    db.query<{ value: string }, [string]>('SELECT value FROM meta WHERE key = ?1').get(key)?.value;
  return {
    get,
    ensure: (key, make) =>
      db
        .transaction(() => {
          const known = get(key);
          if (known !== undefined) return known;
          const value = make();
          db.query('INSERT INTO meta (key, value) VALUES (?1, ?2)').run(key, value);
          return value;
        })
        .immediate(),
    replace: (key, value) => {
      db.query('UPDATE meta SET value = ?2 WHERE key = ?1').run(key, value);
    },
  };
};
