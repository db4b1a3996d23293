import type { BackupPlace, Bytes } from './port.ts';

export interface StoredObject {
  /** `project/datastore/file`. */
  path: string;
  bytes: number;
  /** Milliseconds since the epoch, of the last change. */
  modified: number;
}

/**
 * Files by path (`project/datastore/file`, made by names.ts alone), on a disk or in a bucket. What they hold, encryption and
 * checksums are the vault's business.
 */
export interface Place {
  readonly kind: BackupPlace;
  /** The file appears whole after the last byte, or not at all. An existing one is replaced. */
  write(path: string, bytes: Bytes, options: WriteOptions): Promise<void>;
  /** Undefined when it is not there. */
  size(path: string): Promise<number | undefined>;
  /** The bytes from first to last; rejects or throws NOT_FOUND when it is not there. */
  read(path: string, signal: AbortSignal): Bytes;
  /** A small file as a whole; undefined when it is not there. */
  readSmall(path: string): Promise<Uint8Array | undefined>;
  /** All files below a folder (`project/datastore`, `project`, or '' for all), without unfinished ones. */
  list(folder: string): Promise<StoredObject[]>;
  /** Fine when it is gone. */
  remove(path: string): Promise<void>;
  /** Removes files that were never finished, but for those that this process is writing. Returns how many there were. */
  removeUnfinished(): Promise<number>;
}

export interface WriteOptions {
  /** Bytes that will come at most, or are likely to. */
  estimate?: number | undefined;
  signal: AbortSignal;
}

/** Largest manifest that is read: it names every table. */
export const MAX_SMALL_BYTES = 16 * 1024 * 1024;
