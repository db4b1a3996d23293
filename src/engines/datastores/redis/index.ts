import type { Clock } from '#kernel/clock';
import { type BerthError, invalidInput } from '#kernel/errors';
import type { Runtime } from '#engines/runtime/port';
import { type DatastoreEngine, type Jobs, PLACED } from '../port.ts';
import { browse } from './browse.ts';
import { REDIS_PORT } from './config.ts';
import { dump } from './dump.ts';
import { placeFiles } from './place.ts';
import { query } from './query.ts';
import { rehearse } from './rehearse.ts';
import { relay } from './relay.ts';
import { answers, setReadOnly, settleUsers, untilReady, usedBytes } from './settle.ts';
import { connectionOf, imageOf, MAIN, unitsOf } from './units.ts';

export interface RedisEngineOptions {
  runtime: Pick<Runtime, 'putArchive'>;
  clock: Clock;
  jobs: Jobs;
}

/**
 * Valkey, which speaks Redis's protocol and has its licence of before 2024. Both versions write RDB version 11, so either reads
 * what the other wrote.
 */
export const createRedisEngine = ({ runtime, clock, jobs }: RedisEngineOptions): DatastoreEngine => ({
  kind: 'redis',
  versions: ['8', '7.2'],
  restorable: false,
  defaultMemoryMb: 256,
  minMemoryMb: 64,
  port: REDIS_PORT,
  images: (version) => [imageOf(version)],
  roles: () => [MAIN],
  units: unitsOf,
  connection: connectionOf,
  place: async (instance, { containerId }) => {
    await placeFiles(runtime, instance, containerId);
    return PLACED;
  },
  settle: async (instance, signal) => {
    await untilReady(clock, instance, signal);
    await settleUsers(instance, signal);
  },
  // The log is on disk within a second of any write, and on SIGTERM the server writes what is left of it.
  quiesce: () => Promise.resolve(),
  answers,
  usedBytes,
  setReadOnly,
  browse,
  query: (instance, request) => query(clock, instance, request),
  relay,
  dump,
  rehearse: (instance, bytes, signal) => rehearse(jobs, { instance, bytes, signal }),
  load: refuse,
  loadBeside: refuse,
  swap: refuse,
  listBeside: () => Promise.resolve([]),
  dropBeside: refuse,
});

const refuse = (): Promise<never> => Promise.reject(notRestorable());

const notRestorable = (): BerthError =>
  invalidInput(
    'backups of a redis datastore can not be restored by berth',
    'download the backup: it is an RDB file; load it into a redis of your own, and copy the keys with DUMP and RESTORE through "berth db tunnel"',
  );
