/** What the settings of a server follow from. */
export interface ServerSize {
  major: string;
  memoryMb: number;
  cpus: number;
  storageLimitMb: number | null;
}

const clamp = (value: number, least: number, most: number): number =>
  Math.floor(Math.min(most, Math.max(least, value)));

/** Connections that a server takes: every one is a process that needs some MiB of its own. */
export const maxConnections = (memoryMb: number): number => {
  if (memoryMb < 512) return 50;
  return memoryMb < 4096 ? 100 : 200;
};

/** Processes of a container: connections, and those of the server itself. */
export const pidsLimit = (memoryMb: number): number => maxConnections(memoryMb) + 64;

/**
 * The settings of a server, given on its command line: so they follow from the instance, and neither ALTER SYSTEM nor a data
 * directory that was made elsewhere changes them. Not named: what Postgres's own default is right for.
 */
export const serverSettings = (size: ServerSize): Record<string, string> => ({
  listen_addresses: '*',
  port: '5432',
  // Nobody is inside of the container but Postgres.
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  max_wal_senders: '0',
  // Nobody replicates. So what a restore loads need not go through the log, which would fill the disk and stop the server.
  wal_level: 'minimal',
  // A dump locks every table twice over: with Postgres's own 64 it ended at some 4000 of them.
  max_locks_per_transaction: '256',
  ...(Number(size.major) >= 17 ? { allow_alter_system: 'off' } : {}),
  ...connectionSettings(size),
  ...memorySettings(size),
  ...diskSettings(size),
  ...LOG_SETTINGS,
});

const connectionSettings = ({ memoryMb }: ServerSize): Record<string, string> => ({
  max_connections: String(maxConnections(memoryMb)),
  // For consoles and backups when apps hold all others.
  reserved_connections: '4',
  // An app that forgets a transaction keeps every table from being cleaned up.
  idle_in_transaction_session_timeout: '1h',
  // Notices clients that vanished without a word: between statements, and in the middle of one.
  tcp_keepalives_idle: '60',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
  client_connection_check_interval: '10s',
});

const memorySettings = ({ memoryMb, cpus }: ServerSize): Record<string, string> => ({
  shared_buffers: `${clamp(memoryMb / 4, 16, 65_536)}MB`,
  effective_cache_size: `${clamp(memoryMb * 0.6, 32, 1_048_576)}MB`,
  work_mem: `${clamp(memoryMb / 128, 2, 64)}MB`,
  maintenance_work_mem: `${clamp(memoryMb / 16, 16, 1024)}MB`,
  huge_pages: 'off',
  // Compiling pays off for long reports only, and costs every process memory.
  jit: 'off',
  max_parallel_workers: String(clamp(cpus, 1, 16)),
  max_parallel_workers_per_gather: String(clamp(cpus / 2, 0, 4)),
});

const diskSettings = ({ storageLimitMb }: ServerSize): Record<string, string> => ({
  random_page_cost: '1.1',
  // Beyond it a checkpoint comes early; 1 GiB unless storage is scarce.
  max_wal_size: `${clamp((storageLimitMb ?? 16_384) / 16, 64, 1024)}MB`,
  min_wal_size: '48MB',
  // One query that sorts more than the datastore may hold ends alone, instead of filling the disk.
  ...(storageLimitMb === null ? {} : { temp_file_limit: `${storageLimitMb}MB` }),
});

/** Never a statement that went well: it may hold what nobody else should read. */
const LOG_SETTINGS: Record<string, string> = {
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
  log_lock_waits: 'on',
  log_timezone: 'UTC',
  timezone: 'UTC',
};
