import { isoTime } from '#kernel/clock';
import { serviceUrl, type Config } from '#kernel/config';
import type { ContainerState } from '#engines/runtime/port';
import type { ReplicaView, Service } from './model.ts';
import type { ReplicaRow, ServiceRow } from './store.ts';

export interface ServiceState {
  /** Live replicas that run. */
  running: number;
  /** Whether an operation on it is queued or under way. */
  busy: boolean;
  buildCacheBytes: number;
}

export const serviceView = (config: Config, row: ServiceRow, state: ServiceState): Service => ({
  project: row.project,
  name: row.name,
  status: statusOf(row, state),
  service_url: serviceUrl(config, row.project, row.name),
  replicas: row.replicas,
  health_path: row.health_path,
  health_timeout_seconds: row.health_timeout_seconds,
  drain_seconds: row.drain_seconds,
  memory_mb: row.memory_mb,
  cpus: row.cpus,
  protocol: row.protocol,
  running_replicas: state.running,
  live_release: row.live_release,
  previous_release: row.previous_release,
  build_cache_bytes: state.buildCacheBytes,
  created_at: isoTime(row.created_at),
  updated_at: isoTime(row.updated_at),
});

const statusOf = (row: ServiceRow, { running, busy }: ServiceState): Service['status'] => {
  if (busy) return 'deploying';
  if (row.live_release === null) return 'empty';
  if (row.replicas === 0) return 'stopped';
  if (running === 0) return 'down';
  return running < row.replicas ? 'degraded' : 'running';
};

const MIB = 1024 * 1024;

/** What the engine says of a replica now; undefined parts could not be read in time. */
export interface ReplicaReading {
  state: ContainerState | undefined;
  /** `cpu` in cores; null when it could not be told. */
  usage: { memoryBytes: number; cpu: number | null } | undefined;
}

export const replicaView = (
  row: ReplicaRow,
  { state, usage }: ReplicaReading,
  { memory_mb: memory }: Pick<ServiceRow, 'memory_mb'>,
): ReplicaView => {
  const running = state?.status === 'running';
  return {
    name: row.name,
    release: row.release,
    slot: row.slot,
    state: state === undefined || running ? row.state : 'exited',
    running,
    restarts: state?.restartCount ?? 0,
    // While it runs, the engine reports the code of the run before, or 0.
    exit_code: running ? null : (state?.exitCode ?? null),
    oom_killed: state?.oomKilled ?? false,
    started_at: state?.startedAt ?? null,
    memory_bytes: usage?.memoryBytes ?? null,
    memory_limit_bytes: usage === undefined ? null : memory * MIB,
    cpu: usage?.cpu ?? null,
  };
};
