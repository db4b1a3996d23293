import type { Database } from 'bun:sqlite';
import type { Page } from '#kernel/schema';

export interface ReleaseRow {
  project: string;
  service: string;
  /** `rel_` and the first 12 hex digits of the manifest digest. */
  id: string;
  digest: string;
  /** Reference by digest under which the engine runs it. */
  image: string;
  size_bytes: number;
  provider: string;
  source_sha256: string | null;
  commit_id: string | null;
  operation_id: string;
  created_at: number;
  created_by: string;
  /** When it last became the live one; orders what is kept. */
  last_live_at: number | null;
  /** JSON list of the environment's names as it was made; null for a release from before this was kept. */
  env_names: string | null;
  /** How it was built, as JSON: `PlannedBuild`. */
  build: string | null;
}

export interface ReleaseStore {
  get(project: string, service: string, id: string): ReleaseRow | undefined;
  /** Newest first; at most `page.limit + 1` rows. The cursor is `<created_at>:<id>`. */
  list(project: string, service: string, page: Page): ReleaseRow[];
  /** The newest of all services of a project. */
  recent(project: string, count: number): ReleaseRow[];
  ofService(project: string, service: string): ReleaseRow[];
  all(): ReleaseRow[];
  /** Inserts it, or does nothing when the same content was released before. */
  insert(row: ReleaseRow): void;
  markLive(project: string, service: string, id: string, at: number): void;
  /** Where its image is to be pulled from now. */
  setImage(release: Pick<ReleaseRow, 'project' | 'service' | 'id'>, image: string): void;
  remove(project: string, service: string, id: string): void;
}

export const releaseId = (digest: string): string => `rel_${digest.replace(/^sha256:/, '').slice(0, 12)}`;

export const createReleaseStore = (db: Database): ReleaseStore => ({
  get: (project, service, id) =>
    db
      .query<ReleaseRow, [string, string, string]>(
        'SELECT * FROM releases WHERE project = ?1 AND service = ?2 AND id = ?3',
      )
      .get(project, service, id) ?? undefined,
  list: (project, service, page) => {
    const [at, id] = page.after === undefined ? [Number.MAX_SAFE_INTEGER, '~'] : splitCursor(page.after);
    return db
      .query<ReleaseRow, [string, string, number, string, number]>(
        `SELECT * FROM releases WHERE project = ?1 AND service = ?2 AND (created_at, id) < (?3, ?4)
         ORDER BY created_at DESC, id DESC LIMIT ?5`,
      )
      .all(project, service, at, id, page.limit + 1);
  },
  recent: (project, count) =>
    db
      .query<ReleaseRow, [string, number]>(
        'SELECT * FROM releases WHERE project = ?1 ORDER BY created_at DESC LIMIT ?2',
      )
      .all(project, count),
  ofService: (project, service) =>
    db
      .query<ReleaseRow, [string, string]>(
        'SELECT * FROM releases WHERE project = ?1 AND service = ?2 ORDER BY coalesce(last_live_at, created_at) DESC',
      )
      .all(project, service),
  all: () => db.query<ReleaseRow, []>('SELECT * FROM releases').all(),
  insert: (row) => {
    db.query(
      `INSERT INTO releases (project, service, id, digest, image, size_bytes, provider, source_sha256, commit_id, operation_id, created_at, created_by, last_live_at, env_names, build)
       VALUES ($project, $service, $id, $digest, $image, $size_bytes, $provider, $source_sha256, $commit_id, $operation_id, $created_at, $created_by, $last_live_at, $env_names, $build)
       ON CONFLICT DO NOTHING`,
    ).run({ ...row });
  },
  setImage: ({ project, service, id }, image) => {
    db.query('UPDATE releases SET image = ?4 WHERE project = ?1 AND service = ?2 AND id = ?3').run(
      project,
      service,
      id,
      image,
    );
  },
  markLive: (project, service, id, at) => {
    db.query('UPDATE releases SET last_live_at = ?4 WHERE project = ?1 AND service = ?2 AND id = ?3').run(
      project,
      service,
      id,
      at,
    );
  },
  remove: (project, service, id) => {
    db.query('DELETE FROM releases WHERE project = ?1 AND service = ?2 AND id = ?3').run(project, service, id);
  },
});

/** Sort key of a release in lists: its time in milliseconds and its id. */
export const releaseCursor = (release: { created_at: string; id: string }): string =>
  `${Date.parse(release.created_at)}:${release.id}`;

const splitCursor = (cursor: string): [number, string] => {
  const [at = '0', id = ''] = cursor.split(':');
  return [Number(at), id];
};
