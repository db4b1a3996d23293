import type { Connection } from '#engines/docker/connection';
import { ask } from '#engines/docker/calls';
import type { ImageBuilder } from './port.ts';

/** Walking the disk usage of a busy engine takes its time. */
const CACHE_DEADLINE_MS = 300_000;

interface CacheRecord {
  Size: number;
  Shared: boolean;
}

interface DiskUsage {
  BuildCache?: CacheRecord[] | null;
}

/** The builder's cache; what images share with it is not counted, because trimming does not free it. */
export const buildCache = ({ call }: Connection): Pick<ImageBuilder, 'cacheBytes' | 'trimCache'> => {
  const cacheBytes = (): Promise<number> =>
    call(
      'tell the size of the build cache',
      async (docker, signal) => {
        const usage = await ask<DiskUsage>(docker, {
          method: 'GET',
          path: '/system/df',
          query: { type: 'build-cache' },
          signal,
        });
        return (usage.BuildCache ?? []).reduce((sum, { Shared, Size }) => sum + (Shared ? 0 : Size), 0);
      },
      { deadlineMs: CACHE_DEADLINE_MS },
    );
  return {
    cacheBytes,
    trimCache: async (keepBytes) => {
      await call(
        'trim the build cache',
        // `all` includes what builds use inside themselves, which would stay for ever otherwise.
        (docker, signal) => {
          const query = { 'keep-storage': Math.ceil(keepBytes), all: '1' };
          return ask(docker, { method: 'POST', path: '/build/prune', query, signal });
        },
        { deadlineMs: CACHE_DEADLINE_MS },
      );
    },
  };
};
