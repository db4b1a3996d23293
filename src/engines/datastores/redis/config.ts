import type { DatastoreInstance } from '../port.ts';

export const REDIS_PORT = 6379;
/** The volume. */
export const DATA_DIR = '/data';
/** In the volume, because the root is read-only: the server saves changed users there. */
export const CONFIG_FILE = `${DATA_DIR}/berth/valkey.conf`;
export const ACL_FILE = `${DATA_DIR}/berth/users.acl`;

const MIB = 1024 ** 2;

/**
 * Of the container's memory, how much data may take. The rest is for the server itself, for fragmentation, for clients, and
 * for the copies of pages that are written while a fork rewrites the log or streams a backup: below this share a full store
 * under normal writes survives one. A fork that outgrows even that is what the kernel kills first (`oom-score-adj`).
 */
const DATA_SHARE = 0.65;
/** Of the container's memory, how much all clients together may take; the greediest is disconnected beyond. */
const CLIENTS_SHARE = 0.25;
/** Each open connection takes some KiB even when idle, and the containers have 16384 descriptors. */
const CLIENTS_PER_MIB = 10;
const MIN_CLIENTS = 1000;
const MAX_CLIENTS = 10_000;

/** With noeviction everything that could take memory is refused below this, and everything that frees it is not. */
export const READ_ONLY_MAXMEMORY = 1;

export const maxMemory = (memoryMb: number): number => Math.floor(memoryMb * DATA_SHARE) * MIB;

/** Settings that follow from the memory limit: in the file, and set again where a limit was changed on the fly. Pure. */
export const memorySettings = (memoryMb: number): Record<string, string> => {
  const clients = Math.floor(memoryMb * CLIENTS_SHARE) * MIB;
  const listeners = Math.min(32 * MIB, Math.floor(clients / 2));
  return {
    'maxmemory-clients': String(clients),
    // Replicas are berth's own backups, which get the snapshot alone and buffer nothing.
    'client-output-buffer-limit': `normal ${clients} 0 0 replica 0 0 0 pubsub ${listeners} ${Math.floor(listeners / 4)} 60`,
    'client-query-buffer-limit': String(Math.max(MIB, clients)),
    maxclients: String(Math.min(MAX_CLIENTS, Math.max(MIN_CLIENTS, memoryMb * CLIENTS_PER_MIB))),
  };
};

/** The whole configuration. Pure. https://valkey.io/topics/valkey.conf/ */
export const configFile = (instance: DatastoreInstance): string => {
  const settings: [string, string][] = [
    ['port', String(REDIS_PORT)],
    ['bind', '* -::*'],
    ['protected-mode', 'yes'],
    ['aclfile', ACL_FILE],
    ['enable-debug-command', 'no'],
    ['enable-module-command', 'no'],
    ['enable-protected-configs', 'no'],
    ['dir', DATA_DIR],
    // A second of writes at most is lost when the host dies; none when the server does. No `save`: the log begins with a
    // snapshot of its own, and further ones would only be further forks.
    ['appendonly', 'yes'],
    ['appendfsync', 'everysec'],
    ['aof-use-rdb-preamble', 'yes'],
    ['aof-load-truncated', 'yes'],
    ['save', '""'],
    ['rdbchecksum', 'yes'],
    // Backups are streamed from the fork: at once, without a second copy on disk, and as slowly as they are read.
    ['repl-diskless-sync', 'yes'],
    ['repl-diskless-sync-delay', '0'],
    ['repl-timeout', '600'],
    ['sanitize-dump-payload', 'clients'],
    // Queues lose jobs when keys are evicted; caches set a TTL.
    ['maxmemory', String(maxMemory(instance.memoryMb))],
    ['maxmemory-policy', 'noeviction'],
    ...Object.entries(memorySettings(instance.memoryMb)),
    ['oom-score-adj', 'yes'],
    ['tcp-keepalive', '60'],
    // Apps can't set it themselves: deleted and expired keys, which session stores listen to.
    ['notify-keyspace-events', 'Egx'],
  ];
  return settings.map(([name, value]) => `${name} ${value}\n`).join('');
};
