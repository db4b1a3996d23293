/**
 * The port to the image registry on the server. Contract, held by test/contracts/registry.ts:
 * - `push` returns the digest of the manifest; the same image pushed again gives the same digest;
 * - a failed push rejects with a retryable IMAGE_PUSH_FAILED;
 * - a push with `redact` leaves none of these values in the history of what is stored: `redacted` says that the stored image
 *   is another one than the local one, which keeps its history and loses the names that the push gave it;
 * - `remove` is idempotent; blobs are freed by `collectGarbage`, which never removes what a kept manifest refers to.
 */
export interface Registry {
  /** Starts the registry when it does not run. */
  ensure(): Promise<void>;
  /** Pushes the local image `localRef` as `repository`, e.g. `shop/web`. */
  push(request: PushRequest): Promise<PushedImage>;
  /** The reference by digest under which the engine can run and pull the image. */
  reference(repository: string, digest: string): string;
  exists(repository: string, digest: string): Promise<boolean>;
  remove(repository: string, digest: string): Promise<void>;
  removeRepository(repository: string): Promise<void>;
  /** Frees blobs that no manifest refers to. Pushes wait meanwhile. */
  collectGarbage(): Promise<void>;
  /** Bytes on disk. */
  diskBytes(): Promise<number>;
}

export interface PushRequest {
  localRef: string;
  repository: string;
  signal: AbortSignal;
  onLog: (line: string) => void;
  /** Values, of at least six characters, that must not stay in the image's history. */
  redact?: readonly string[];
}

export interface PushedImage {
  /** `sha256:…` of the manifest. */
  digest: string;
  /** Sum of the compressed layers and the config, in bytes. */
  sizeBytes: number;
  /** Whether the history held a value of `redact`: then run what `ensureImage(reference(…))` fetches, not the local image. */
  redacted: boolean;
}
