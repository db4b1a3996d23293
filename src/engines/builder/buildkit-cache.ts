import type { Connection } from '#engines/docker/connection';
import type { Clock } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import { ask } from '#engines/docker/calls';
import type { CacheRecord, ImageBuilder } from './port.ts';

/** Walking the disk usage of a busy engine takes its time. */
const CACHE_DEADLINE_MS = 300_000;
const BUSY_PAUSE_MS = 200;
const CONTEXT = 'http url http://build-context-';
/** Ids go into an address, whose length has bounds. */
const IDS_PER_CALL = 200;

/** Of Docker 20.10 (`Parent`) and of later ones (`Parents`). */
interface EngineRecord {
  ID: string;
  Parent?: string;
  Parents?: string[] | null;
  Type: string;
  Description: string;
  InUse: boolean;
  Shared: boolean;
  Size: number;
  CreatedAt: string;
  LastUsedAt?: string | null;
}

interface DiskUsage {
  BuildCache?: EngineRecord[] | null;
}

type BuildCache = Pick<ImageBuilder, 'cacheBytes' | 'cacheRecords' | 'dropCache' | 'trimCache'>;

/** The builder's cache; what images share with it is not counted, because trimming does not free it. */
export const buildCache = ({ call }: Connection, clock: Clock): BuildCache => {
  const readOnce = (): Promise<CacheRecord[]> =>
    call(
      'tell the size of the build cache',
      async (docker, signal) => {
        const query = { type: 'build-cache' };
        const usage = await ask<DiskUsage>(docker, { method: 'GET', path: '/system/df', query, signal });
        return (usage.BuildCache ?? []).map(cacheRecord);
      },
      { deadlineMs: CACHE_DEADLINE_MS },
    );
  /** Older engines refuse to be asked twice at a time, be it by somebody else. */
  const read = async (): Promise<CacheRecord[]> => {
    const deadline = clock.monotonic() + CACHE_DEADLINE_MS;
    for (;;) {
      try {
        return await readOnce();
      } catch (error) {
        if (!messageOf(error).includes('already running') || clock.monotonic() > deadline) throw error;
        await clock.sleep(BUSY_PAUSE_MS);
      }
    }
  };
  // `all` includes what builds use inside themselves, which would stay for ever otherwise.
  const prune = (query: Record<string, unknown>): Promise<unknown> =>
    call(
      'trim the build cache',
      (docker, signal) => ask(docker, { method: 'POST', path: '/build/prune', query: { ...query, all: '1' }, signal }),
      { deadlineMs: CACHE_DEADLINE_MS },
    );
  return {
    // An uploaded context is read again in the middle of its build, and cannot be uploaded again.
    cacheRecords: async () => (await read()).filter(({ description }) => !description.startsWith(CONTEXT)),
    cacheBytes: async () => (await read()).reduce((sum, { shared, bytes }) => sum + (shared ? 0 : bytes), 0),
    trimCache: async (keepBytes) => {
      const bytes = Math.ceil(keepBytes);
      // The first is what engines before 28 understand; without a bound that it understands, an engine drops everything.
      await prune({ 'keep-storage': bytes, 'reserved-space': bytes, 'max-used-space': bytes });
    },
    dropCache: async (ids) => {
      for (let from = 0; from < ids.length; from += IDS_PER_CALL) {
        await prune({ filters: { id: [idPattern(ids.slice(from, from + IDS_PER_CALL))] } });
      }
    },
  };
};

/** What the engine takes for an id is a regular expression. */
export const idPattern = (ids: readonly string[]): string =>
  `^(${ids.filter((id) => /^[a-z0-9]+$/.test(id)).join('|')})$`;

export const cacheRecord = (record: EngineRecord): CacheRecord => ({
  id: record.ID,
  bytes: Math.max(0, record.Size),
  parents: record.Parents ?? (record.Parent ? [record.Parent] : []),
  shared: record.Shared,
  inUse: record.InUse,
  mount: record.Type === 'exec.cachemount',
  scope: / with id "([^"/\\]+)\/(?:[^"\\]|\\.)*"$/.exec(record.Description)?.[1] ?? null,
  description: record.Description,
  command: commandOf(record.Description),
  createdAt: Date.parse(record.CreatedAt),
  lastUsedAt: Date.parse(record.LastUsedAt ?? record.CreatedAt),
});

const commandOf = (description: string): string | null => {
  const command = /^(?:cached )?mount \S+ from exec ([^]*)$/.exec(description)?.[1];
  if (command === undefined) return null;
  return command.replace(/ with id "(?:[^"\\]|\\.)*"$/, '').replace(/^\S*sh (?:-\S+ (?:pipefail )?)*/, '');
};
