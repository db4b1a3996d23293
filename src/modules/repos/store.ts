import type { Database } from 'bun:sqlite';
import type { ErrorBody } from '#kernel/errors';
import type { Page } from '#kernel/schema';

export interface MirrorCredential {
  user: string;
  password: string;
}

export interface RepoRow {
  id: string;
  project: string;
  name: string;
  default_branch: string;
  deploy_service: string | null;
  deploy_branch: string | null;
  root: string | null;
  preview: boolean;
  mirror_of: string | null;
  mirror_credential: MirrorCredential | null;
  webhook_secret: string | null;
  mirrored_at: number | null;
  mirror_error: ErrorBody | null;
  size_bytes: number;
  /** Head of the deployed branch that was last dealt with; null when nothing was pushed to it yet. */
  settled_head: string | null;
  pushed_at: number | null;
  created_at: number;
  created_by: string;
  updated_at: number;
}

export type RepoPatch = Partial<Omit<RepoRow, 'id' | 'project' | 'created_at' | 'created_by'>>;

export interface PreviewRow {
  repo_id: string;
  branch: string;
  service: string;
}

interface Seal {
  seal(label: string, value: string): Uint8Array;
  open(label: string, sealed: Uint8Array): string;
}

export interface RepoStore {
  get(project: string, name: string): RepoRow | undefined;
  byId(id: string): RepoRow | undefined;
  /** Ordered by name; with a page, at most `limit + 1`. */
  list(project: string, page?: Page): RepoRow[];
  all(): RepoRow[];
  count(project: string): number;
  insert(row: RepoRow): void;
  update(id: string, patch: RepoPatch): void;
  remove(id: string): void;
  previews: {
    of(repoId: string): PreviewRow[];
    get(repoId: string, branch: string): PreviewRow | undefined;
    insert(row: PreviewRow): void;
    remove(repoId: string, branch: string): void;
  };
  /** False when it was noted before. */
  noteDelivery(repoId: string, delivery: string, at: number): boolean;
  forgetDeliveries(before: number): void;
}

type StoredRow = Omit<RepoRow, 'preview' | 'mirror_credential' | 'webhook_secret' | 'mirror_error'> & {
  preview: number;
  mirror_credential: Uint8Array | null;
  webhook_secret: Uint8Array | null;
  mirror_error: string | null;
};

export const createRepoStore = (db: Database, vault: Seal): RepoStore => {
  const label = (id: string, what: string): string => `repo\0${id}\0${what}`;
  const open = (id: string, what: string, sealed: Uint8Array | null): string | null =>
    sealed === null ? null : vault.open(label(id, what), sealed);
  const seal = (id: string, what: string, value: string | null): Uint8Array | null =>
    value === null ? null : vault.seal(label(id, what), value);

  const read = (row: StoredRow): RepoRow => {
    const credential = open(row.id, 'credential', row.mirror_credential);
    return {
      ...row,
      preview: row.preview === 1,
      mirror_credential: credential === null ? null : (JSON.parse(credential) as MirrorCredential),
      webhook_secret: open(row.id, 'webhook', row.webhook_secret),
      mirror_error: row.mirror_error === null ? null : (JSON.parse(row.mirror_error) as ErrorBody),
    };
  };
  const columnsOf = (id: string, patch: RepoPatch): Record<string, string | number | null | Uint8Array> => {
    const { preview, mirror_credential: credential, webhook_secret: secret, mirror_error: error, ...plain } = patch;
    return {
      ...plain,
      ...(preview === undefined ? {} : { preview: preview ? 1 : 0 }),
      ...(credential === undefined
        ? {}
        : { mirror_credential: seal(id, 'credential', credential === null ? null : JSON.stringify(credential)) }),
      ...(secret === undefined ? {} : { webhook_secret: seal(id, 'webhook', secret) }),
      ...(error === undefined ? {} : { mirror_error: error === null ? null : JSON.stringify(error) }),
    };
  };

  return {
    get: (project, name) => {
      const row = db
        .query<StoredRow, [string, string]>('SELECT * FROM repos WHERE project = ?1 AND name = ?2')
        .get(project, name);
      return row === null ? undefined : read(row);
    },
    byId: (id) => {
      const row = db.query<StoredRow, [string]>('SELECT * FROM repos WHERE id = ?1').get(id);
      return row === null ? undefined : read(row);
    },
    list: (project, page) =>
      db
        .query<StoredRow, [string, string, number]>(
          'SELECT * FROM repos WHERE project = ?1 AND name > ?2 ORDER BY name LIMIT ?3',
        )
        .all(project, page?.after ?? '', page === undefined ? -1 : page.limit + 1)
        .map(read),
    all: () => db.query<StoredRow, []>('SELECT * FROM repos ORDER BY id').all().map(read),
    count: (project) =>
      db.query<{ n: number }, [string]>('SELECT count(*) AS n FROM repos WHERE project = ?1').get(project)?.n ?? 0,
    insert: (row) => {
      const { id, project, created_at, created_by, ...rest } = row;
      const values = { id, project, created_at, created_by, ...columnsOf(id, rest) };
      const columns = Object.keys(values);
      db.query(
        `INSERT INTO repos (${columns.join(', ')}) VALUES (${columns.map((column) => `$${column}`).join(', ')})`,
      ).run(values);
    },
    update: (id, patch) => {
      const values = Object.fromEntries(
        Object.entries(columnsOf(id, patch)).filter(([column]) => UPDATABLE.has(column)),
      );
      const assignments = Object.keys(values).map((column) => `${column} = $${column}`);
      if (assignments.length === 0) return;
      db.query(`UPDATE repos SET ${assignments.join(', ')} WHERE id = $id`).run({ ...values, id });
    },
    remove: (id) => {
      db.query('DELETE FROM repos WHERE id = ?1').run(id);
    },
    previews: createPreviews(db),
    noteDelivery: (repoId, delivery, at) =>
      db
        .query('INSERT OR IGNORE INTO webhook_deliveries (repo_id, delivery, at) VALUES (?1, ?2, ?3)')
        .run(repoId, delivery, at).changes === 1,
    forgetDeliveries: (before) => {
      db.query('DELETE FROM webhook_deliveries WHERE at < ?1').run(before);
    },
  };
};

const createPreviews = (db: Database): RepoStore['previews'] => ({
  of: (repoId) =>
    db.query<PreviewRow, [string]>('SELECT * FROM previews WHERE repo_id = ?1 ORDER BY branch').all(repoId),
  get: (repoId, branch) =>
    db
      .query<PreviewRow, [string, string]>('SELECT * FROM previews WHERE repo_id = ?1 AND branch = ?2')
      .get(repoId, branch) ?? undefined,
  insert: ({ repo_id, branch, service }) => {
    db.query('INSERT OR REPLACE INTO previews (repo_id, branch, service) VALUES (?1, ?2, ?3)').run(
      repo_id,
      branch,
      service,
    );
  },
  remove: (repoId, branch) => {
    db.query('DELETE FROM previews WHERE repo_id = ?1 AND branch = ?2').run(repoId, branch);
  },
});

/** Columns that a patch may name; keys become SQL, so nothing else passes. */
const UPDATABLE = new Set([
  'name',
  'default_branch',
  'deploy_service',
  'deploy_branch',
  'root',
  'preview',
  'mirror_of',
  'mirror_credential',
  'webhook_secret',
  'mirrored_at',
  'mirror_error',
  'size_bytes',
  'settled_head',
  'pushed_at',
  'updated_at',
]);
