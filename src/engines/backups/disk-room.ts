import { statfs } from 'node:fs/promises';
import { BerthError } from '#kernel/errors';

/** Free space that is left alone; the larger of the two counts. */
export interface Floor {
  bytes: number;
  percent: number;
}

interface Room {
  free: number;
  least: number;
}

const HINT = 'free disk space on the server (berth doctor shows what uses it) or remove old backups, then retry';

/** Refuses with numbers when `estimate` more bytes would leave less than the floor. */
export const requireRoom = async (dir: string, floor: Floor, estimate: number): Promise<void> => {
  const found = await room(dir, floor);
  if (found.free - estimate < found.least) throw noRoom(dir, found, estimate);
};

const room = async (dir: string, floor: Floor): Promise<Room> => {
  const disk = await statfs(dir);
  return {
    free: disk.bavail * disk.bsize,
    least: Math.max(floor.bytes, (disk.blocks * disk.bsize * floor.percent) / 100),
  };
};

const mib = (bytes: number): number => Math.round(bytes / 1024 / 1024);

const noRoom = (dir: string, { free, least }: Room, estimate: number): BerthError =>
  new BerthError(
    'QUOTA_EXCEEDED',
    `no room for a backup${estimate === 0 ? '' : ` of about ${mib(estimate)} MiB`}: ` +
      `${dir} has ${mib(free)} MiB free, of which ${mib(least)} MiB must stay free`,
    { hint: HINT, retryable: true, httpStatus: 507, retryAfterSeconds: 60 },
  );

/** For a write that failed although there was room when it began. */
export const diskIsFull = async (dir: string, cause: unknown): Promise<BerthError> => {
  const disk = await statfs(dir);
  return new BerthError(
    'INTERNAL_ERROR',
    `the disk became full while a backup was written: ${dir} has ${mib(disk.bavail * disk.bsize)} MiB free without it`,
    { hint: HINT, retryable: true, httpStatus: 507, cause },
  );
};
