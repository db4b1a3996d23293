import { systemClock, type Clock } from '#kernel/clock';
import { createBackups } from './backups.ts';
import { createDiskPlace, type DiskOptions } from './disk.ts';
import type { BackupKeys } from './identity.ts';
import type { Backups } from './port.ts';
import { createS3Place, type S3Options } from './s3.ts';
import { createVault } from './vault.ts';

export { loadOrCreateIdentity, type BackupKeys } from './identity.ts';

export interface BackupPlaces {
  disk: DiskOptions;
  s3?: S3Options | undefined;
  keys?: BackupKeys | undefined;
  clock?: Clock;
}

/** Left-overs in a bucket are removed after a day: another berth may be writing into it. */
const REMOTE_LEFT_OVER_MS = 86_400_000;

/** Backups on the disk of the server and, when a bucket is given, copied there. */
export const openBackups = ({ disk, s3, keys, clock = systemClock }: BackupPlaces): Backups =>
  createBackups({
    disk: createVault({ place: createDiskPlace(disk), keys, leftOverMs: 0, now: clock.now }),
    remote:
      s3 === undefined
        ? undefined
        : createVault({ place: createS3Place(s3), keys, leftOverMs: REMOTE_LEFT_OVER_MS, now: clock.now }),
    recipient: keys?.recipient ?? null,
  });
