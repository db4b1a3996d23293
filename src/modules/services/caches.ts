import type { Database } from 'bun:sqlite';

/** That a service used a record of the engine's build cache. */
export interface BuildCacheRow {
  project: string;
  service: string;
  /** Id of the record in the engine. */
  record: string;
  /** What dropping it would free. */
  bytes: number;
}

/** Which service used what of the build cache, as it was found last. */
export interface BuildCacheStore {
  all(): BuildCacheRow[];
  bytes(project: string, service: string): number;
  /** Puts what was found in the place of all that was known; rows of services that are gone are left out. */
  replaceAll(rows: readonly BuildCacheRow[]): void;
}

export const createBuildCacheStore = (db: Database): BuildCacheStore => ({
  all: () => db.query<BuildCacheRow, []>('SELECT * FROM build_caches').all(),
  bytes: (project, service) =>
    db
      .query<{ bytes: number }, [string, string]>(
        'SELECT coalesce(sum(bytes), 0) AS bytes FROM build_caches WHERE project = ?1 AND service = ?2',
      )
      .get(project, service)?.bytes ?? 0,
  replaceAll: (rows) => {
    const insert = db.query(
      `INSERT INTO build_caches (project, service, record, bytes)
       SELECT $project, $service, $record, $bytes
       WHERE EXISTS (SELECT 1 FROM services WHERE project = $project AND name = $service)`,
    );
    db.transaction(() => {
      db.query('DELETE FROM build_caches').run();
      for (const row of rows) insert.run({ ...row });
    }).immediate();
  },
});
