/** A file of the dashboard as it was built. */
export interface WebFile {
  /** Path of its address. */
  path: string;
  /** Name under which it is read; `<file>.gz` and `<file>.br` are the same, compressed. */
  file: string;
  /** Its media type. */
  type: string;
  bytes: number;
  /** Bytes when compressed; null when that makes it no smaller. */
  gzip: number | null;
  brotli: number | null;
}

export interface WebManifest {
  /** Answers every address that a person can open. */
  page: WebFile;
  /** What it loads; the names change with the content. */
  assets: readonly WebFile[];
}

/** The dashboard's files, out of the executable or a folder. */
export interface WebFiles {
  readonly manifest: WebManifest;
  /** Undefined for a file that is kept in its compressed forms only. */
  read(file: string): Uint8Array | undefined;
}
