import type { Database } from 'bun:sqlite';
import { createBuildCacheStore, type BuildCacheStore } from './caches.ts';

export interface ServiceRow {
  project: string;
  name: string;
  replicas: number;
  health_path: string | null;
  health_timeout_seconds: number;
  drain_seconds: number;
  memory_mb: number;
  cpus: number;
  protocol: 'http' | 'h2c';
  live_release: string | null;
  previous_release: string | null;
  /** Versions that the builder resolved earlier, as JSON. */
  build_memory: string;
  created_at: number;
  updated_at: number;
}

export type ReplicaState = 'starting' | 'live' | 'draining';

export interface ReplicaRow {
  container_id: string;
  name: string;
  project: string;
  service: string;
  release: string;
  operation_id: string;
  /** Number of the replica within its service, from 1. */
  slot: number;
  ip: string;
  port: number;
  state: ReplicaState;
  created_at: number;
}

export interface ReplicaStore {
  ofService(project: string, service: string): ReplicaRow[];
  ofProject(project: string): ReplicaRow[];
  all(): ReplicaRow[];
  get(containerId: string): ReplicaRow | undefined;
  insert(row: ReplicaRow): void;
  setState(containerId: string, state: ReplicaState): void;
  /** Makes it live as a replica of `release`. */
  promote(containerId: string, release: string): void;
  remove(containerId: string): void;
}

export type ServicePatch = Partial<Omit<ServiceRow, 'project' | 'name' | 'created_at'>>;

export interface ServiceStore {
  get(project: string, name: string): ServiceRow | undefined;
  /** Ordered by name; all when no page is given, else at most `limit + 1` rows after the name `after`. */
  list(project: string, page?: { limit: number; after: string | undefined }): ServiceRow[];
  all(): ServiceRow[];
  count(project: string): number;
  insert(row: ServiceRow): void;
  update(project: string, name: string, patch: ServicePatch): void;
  remove(project: string, name: string): void;
  replicas: ReplicaStore;
  caches: BuildCacheStore;
}

export const createServiceStore = (db: Database): ServiceStore => ({
  get: (project, name) =>
    db
      .query<ServiceRow, [string, string]>('SELECT * FROM services WHERE project = ?1 AND name = ?2')
      .get(project, name) ?? undefined,
  list: (project, page) =>
    db
      .query<ServiceRow, [string, string, number]>(
        'SELECT * FROM services WHERE project = ?1 AND name > ?2 ORDER BY name LIMIT ?3',
      )
      .all(project, page?.after ?? '', page === undefined ? -1 : page.limit + 1),
  all: () => db.query<ServiceRow, []>('SELECT * FROM services ORDER BY project, name').all(),
  count: (project) =>
    db.query<{ n: number }, [string]>('SELECT count(*) AS n FROM services WHERE project = ?1').get(project)?.n ?? 0,
  insert: (row) => {
    db.query(
      `INSERT INTO services (project, name, replicas, health_path, health_timeout_seconds, drain_seconds, memory_mb, cpus, protocol, live_release, previous_release, build_memory, created_at, updated_at)
       VALUES ($project, $name, $replicas, $health_path, $health_timeout_seconds, $drain_seconds, $memory_mb, $cpus, $protocol, $live_release, $previous_release, $build_memory, $created_at, $updated_at)`,
    ).run({ ...row });
  },
  update: (project, name, patch) => {
    const columns = Object.keys(patch).filter((key) => UPDATABLE.has(key));
    if (columns.length === 0) return;
    const assignments = columns.map((column) => `${column} = $${column}`).join(', ');
    db.query(`UPDATE services SET ${assignments} WHERE project = $project AND name = $name`).run({
      ...patch,
      project,
      name,
    });
  },
  remove: (project, name) => {
    db.query('DELETE FROM services WHERE project = ?1 AND name = ?2').run(project, name);
  },
  replicas: createReplicaStore(db),
  caches: createBuildCacheStore(db),
});

/** Columns that a patch may name; keys become SQL, so nothing else passes. */
const UPDATABLE = new Set([
  'replicas',
  'health_path',
  'health_timeout_seconds',
  'drain_seconds',
  'memory_mb',
  'cpus',
  'protocol',
  'live_release',
  'previous_release',
  'build_memory',
  'updated_at',
]);

const createReplicaStore = (db: Database): ReplicaStore => ({
  ofService: (project, service) =>
    db
      .query<ReplicaRow, [string, string]>(
        'SELECT * FROM replicas WHERE project = ?1 AND service = ?2 ORDER BY slot, created_at',
      )
      .all(project, service),
  ofProject: (project) => db.query<ReplicaRow, [string]>('SELECT * FROM replicas WHERE project = ?1').all(project),
  all: () => db.query<ReplicaRow, []>('SELECT * FROM replicas ORDER BY project, service, slot').all(),
  get: (containerId) =>
    db.query<ReplicaRow, [string]>('SELECT * FROM replicas WHERE container_id = ?1').get(containerId) ?? undefined,
  insert: (row) => {
    db.query(
      `INSERT INTO replicas (container_id, name, project, service, release, operation_id, slot, ip, port, state, created_at)
       VALUES ($container_id, $name, $project, $service, $release, $operation_id, $slot, $ip, $port, $state, $created_at)`,
    ).run({ ...row });
  },
  setState: (containerId, state) => {
    db.query('UPDATE replicas SET state = ?2 WHERE container_id = ?1').run(containerId, state);
  },
  promote: (containerId, release) => {
    db.query("UPDATE replicas SET state = 'live', release = ?2 WHERE container_id = ?1").run(containerId, release);
  },
  remove: (containerId) => {
    db.query('DELETE FROM replicas WHERE container_id = ?1').run(containerId);
  },
});
