/** Bytes as they come, at the reader's pace. */
export type Bytes = AsyncIterable<Uint8Array>;

/** Which backup. Every part is validated (names.ts) before it becomes part of a path or an object key. */
export interface BackupName {
  project: string;
  datastore: string;
  /** Unique within its datastore: letters, digits, `-` and `_`, at most 80, starting with a letter or digit. */
  key: string;
}

export const BACKUP_PLACES = ['disk', 's3'] as const;
export type BackupPlace = (typeof BACKUP_PLACES)[number];

/** What the maker of a backup says of it. It is enough to restore the backup without berth's database. */
export interface BackupAbout {
  /** Kind of datastore, such as `postgres`. */
  kind: string;
  /** Version of the datastore, such as `17`. */
  version: string;
  /** Version of the server that made it, such as `17.6`. */
  server: string;
  /** RFC 3339. */
  created_at: string;
  /** Rows, keys or documents in all, and by table, collection or `keys`. */
  rows: number;
  objects: Record<string, number>;
}

/** What a rehearsed restore found. */
export interface BackupVerification {
  /** RFC 3339. */
  verified_at: string;
  rows: number;
  duration_ms: number;
}

/** What is known of the stored file. `sha256` (hex) and `bytes` are of what is stored: the encrypted form, if it is. */
export interface StoredFile {
  bytes: number;
  sha256: string;
  /** Recipient (`age1…`) that it is encrypted for; null when it is not. */
  encrypted: string | null;
}

/** The sidecar `<key>.json`. A backup exists where its manifest does. */
export interface BackupManifest extends BackupName, BackupAbout, StoredFile {
  format: 1;
  /** Ending of the dump itself, such as `dump` or `rdb`; `.age` follows it when encrypted. */
  extension: string;
  /** Bytes before encryption. */
  plain_bytes: number;
  verification: BackupVerification | null;
}

export interface PutRequest {
  /** Ending of the dump: letters and digits. */
  extension: string;
  /** A chunk needs to be valid only until the next is asked for. */
  bytes: Bytes;
  /** Called after the last byte; when it rejects, the bytes are worthless and nothing is kept. */
  about: () => BackupAbout | Promise<BackupAbout>;
  /** Bytes that are likely to come: the place refuses at once when it has no room for them. */
  estimate?: number;
  signal: AbortSignal;
}

export interface OpenRequest {
  /** What the caller recorded when the backup was made. Without it, the manifest is believed. */
  expected?: { sha256: string; bytes: number } | undefined;
  /** Only this place; otherwise the first that has the backup. */
  from?: BackupPlace | undefined;
  signal: AbortSignal;
}

export interface ListedBackup {
  manifest: BackupManifest;
  /** Where it is kept, disk first. */
  places: BackupPlace[];
}

export interface BackupListing {
  /** Oldest first. */
  backups: ListedBackup[];
  /** Manifests that cannot be read, are not valid, or name another backup than where they lie: never followed. */
  unreadable: { place: BackupPlace; file: string; reason: string }[];
}

/**
 * Where backups are kept. Contract, held by test/contracts/backups.ts on every implementation:
 * - bytes are streamed, at the slower end's pace; memory does not grow with the backup;
 * - a backup appears whole or not at all, whenever berth or the machine dies: its manifest is written last;
 * - an existing backup is never overwritten (CONFLICT);
 * - one that was damaged, cut off or exchanged is noticed before its last byte is handed out (CONFLICT);
 * - a missing or wrong key is told (CONFLICT) before the first byte;
 * - a full disk leaves nothing behind and is a 507 with numbers;
 * - a place that does not answer is a retryable INTERNAL_ERROR; wrong credentials and a missing bucket are not retryable;
 * - names that are not valid are INVALID_INPUT, and reach no path;
 * - a backup that is not there is NOT_FOUND.
 */
export interface Backups {
  /** Places in use, `disk` first. */
  readonly places: readonly BackupPlace[];
  /** Recipient that new backups are encrypted for; null when they are not encrypted. */
  readonly recipient: string | null;

  /** Stores a backup in the first place. */
  put(name: BackupName, request: PutRequest): Promise<BackupManifest>;
  /** The backup as it was given to `put`: decrypted and verified. Rejects at once for all that is known beforehand. */
  open(name: BackupName, request: OpenRequest): Promise<Bytes>;
  /** Reads it all, in one place, without handing it out. Rejects as `open` and its bytes do. */
  check(name: BackupName, request: OpenRequest): Promise<void>;
  /** Adds what a rehearsed restore found to the manifest, everywhere it is kept that answers. */
  confirm(name: BackupName, verification: BackupVerification): Promise<BackupManifest>;
  /** Copies it to the second place, as it is stored; fine when it is there already or there is none. */
  copyToRemote(name: BackupName, signal: AbortSignal): Promise<void>;

  list(filter?: { project?: string; datastore?: string }): Promise<BackupListing>;
  find(name: BackupName): Promise<ListedBackup | undefined>;
  /** Removes it everywhere, or from one place only; fine when it is gone. */
  remove(name: BackupName, from?: BackupPlace): Promise<void>;
  /** Removes what crashes have left: parts, and files without manifest. Leaves alone what is being written. */
  removeParts(): Promise<number>;
  /** Bytes that the project's backups take in the first place. */
  usedBytes(project: string): Promise<number>;
}
