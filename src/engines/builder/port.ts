import type { Readable } from 'node:stream';

/**
 * The port to whatever turns a build context into an image. Contract, held by test/contracts/builder.ts:
 * - `onLog` gets every line of the build in order, one call a line; colours (SGR) stay in it, no other control
 *   sequence does, and none in errors;
 * - aborting `signal` ends the build's processes within 5 s, and rejects with the signal's reason;
 * - a failing step rejects with BUILD_COMMAND_FAILED whose message names the step and its exit code, and whose
 *   `logTail` ends with the lines of that step; exit code 137 says that memory ran out;
 * - a file of the context that is bind-mounted for one RUN enters no layer and no history;
 * - cache mounts are kept from build to build of one `cacheScope`, and are out of reach of every other one, whatever ids a
 *   Dockerfile gives them;
 * - dropping and trimming the cache leaves alone what a build uses, and fails no build.
 */
export interface ImageBuilder {
  build(request: BuildRequest): Promise<BuiltImage>;
  /** Bytes of build cache that the engine holds. */
  cacheBytes(): Promise<number>;
  /** What the engine keeps for later builds, but for what a running one could not do without. */
  cacheRecords(): Promise<CacheRecord[]>;
  /** Drops those of these records that no build uses, and on which no other record is built. */
  dropCache(ids: readonly string[]): Promise<void>;
  /** Drops the oldest unused cache records until at most `keepBytes` are left. */
  trimCache(keepBytes: number): Promise<void>;
}

export interface BuildRequest {
  /** Uncompressed tar of the context, streamed. */
  context: Readable;
  /** Path of the Dockerfile inside the context. */
  dockerfile: string;
  /** Local name for the image. */
  tag: string;
  buildArgs: Record<string, string>;
  labels: Record<string, string>;
  /** Whose cache mounts the build sees; without a slash. */
  cacheScope: string;
  noCache: boolean;
  signal: AbortSignal;
  onLog: (line: BuildLogLine) => void;
}

export interface BuildLogLine {
  /** Name of the build step (a Dockerfile instruction), or empty for the builder itself. */
  step: string;
  line: string;
}

export interface BuiltImage {
  imageId: string;
  sizeBytes: number;
}

/** A layer or a cache mount that the engine keeps for later builds. */
export interface CacheRecord {
  id: string;
  bytes: number;
  /** The records it is built on: they cannot go before it. */
  parents: string[];
  /** It is in an image too: dropping it frees nothing. */
  shared: boolean;
  inUse: boolean;
  /** A directory that builds mount, as package managers' caches; else a layer. */
  mount: boolean;
  /** The `cacheScope` it belongs to, where the engine says that. */
  scope: string | null;
  /** What made it, in the engine's words. */
  description: string;
  /** The command that made it, without its shell; null when none did, but a COPY or a pull. */
  command: string | null;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** Asking for the size of a mount may count as a use. */
  lastUsedAt: number;
}
