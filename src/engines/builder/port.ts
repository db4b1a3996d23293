import type { Readable } from 'node:stream';

/**
 * The port to whatever turns a build context into an image. Contract, held by test/contracts/builder.ts:
 * - `onLog` gets every line of the build in order, one call a line, without ANSI control of the builder's own;
 * - aborting `signal` ends the build's processes within 5 s, and rejects with the signal's reason;
 * - a failing step rejects with BUILD_COMMAND_FAILED whose message names the step and its exit code, and whose
 *   `logTail` ends with the lines of that step; exit code 137 says that memory ran out;
 * - a file of the context that is bind-mounted for one RUN enters no layer and no history.
 */
export interface ImageBuilder {
  build(request: BuildRequest): Promise<BuiltImage>;
  /** Bytes of build cache that the engine holds. */
  cacheBytes(): Promise<number>;
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
