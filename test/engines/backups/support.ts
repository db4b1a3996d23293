import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { S3Client } from 'bun';
import { createDiskPlace } from '#engines/backups/disk';
import type { BackupKeys } from '#engines/backups/identity';
import { createS3Place, type S3Options } from '#engines/backups/s3';
import { createVault, type Vault } from '#engines/backups/vault';
import { systemClock, type Clock } from '#kernel/clock';
import type { RawFiles } from '#test/contracts/backups.ts';
import type { S3Server } from '#test/support/s3.ts';

export const NO_FLOOR = { bytes: 0, percent: 0 };

export const newDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'berth-backups-'));
export const removeDir = (dir: string): Promise<void> => rm(dir, { recursive: true, force: true });

export const diskVault = (dir: string, keys?: BackupKeys): Vault =>
  createVault({ place: createDiskPlace({ dir, floor: NO_FLOOR }), keys, leftOverMs: 0, now: Date.now });

/** Pauses between attempts are short, deadlines are what they are. */
const hasty: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms === 500 || ms === 1000 ? 5 : ms, signal),
};

export const s3Options = (server: S3Server, change: Partial<S3Options> = {}): S3Options => {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = server;
  return { endpoint, region, bucket, accessKeyId, secretAccessKey, prefix: 'berth/', clock: hasty, ...change };
};

export const s3Vault = (options: S3Options, keys?: BackupKeys, leftOverMs = 0): Vault =>
  createVault({ place: createS3Place(options), keys, leftOverMs, now: Date.now });

export const diskFiles = (dir: string): RawFiles => ({
  list: async (below) => {
    const entries = await readdir(join(dir, below)).catch(() => []);
    return entries.map((entry) => `${below}/${entry}`).sort();
  },
  read: (path) => readFile(join(dir, path)),
  write: async (path, bytes) => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), bytes);
  },
  remove: (path) => rm(join(dir, path)),
});

export const s3Files = (client: S3Client, prefix: string): RawFiles => ({
  list: async (below) => {
    const { contents = [] } = await client.list({ prefix: `${prefix}${below}/` });
    return contents.map((each) => each.key.slice(prefix.length)).sort();
  },
  read: (path) => client.file(prefix + path).bytes(),
  write: async (path, bytes) => {
    await client.write(prefix + path, bytes);
  },
  remove: (path) => client.delete(prefix + path),
});
