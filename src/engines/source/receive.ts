import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';

export interface ReceiveOptions {
  body: ReadableStream<Uint8Array>;
  /** File to create; it must not exist. */
  file: string;
  maxBytes: number;
  /** Longest pause between two pieces of the body. */
  idleMs: number;
  /** Longest time for the whole body. */
  totalMs: number;
  /** Value of Content-Length, when the request had one. */
  declaredBytes?: number;
  clock: Clock;
  signal: AbortSignal;
}

export interface Received {
  bytes: number;
  sha256: string;
}

/**
 * Streams an upload to a file, and stops at the limit whatever the client declared. After any failure, a full disk
 * included, the file is gone.
 */
export const receive = async (options: ReceiveOptions): Promise<Received> => {
  const { body, file, maxBytes, declaredBytes } = options;
  if (declaredBytes !== undefined && declaredBytes > maxBytes) {
    await body.cancel();
    throw tooLarge(maxBytes);
  }
  const handle = await open(file, 'wx', 0o600);
  try {
    const received = await copyBody(handle, options);
    if (declaredBytes !== undefined && received.bytes !== declaredBytes) throw cutOff(received.bytes, declaredBytes);
    await handle.close();
    return received;
  } catch (thrown) {
    await handle.close();
    await rm(file, { force: true });
    throw thrown;
  }
};

const copyBody = async (handle: FileHandle, options: ReceiveOptions): Promise<Received> => {
  const reader = options.body.getReader();
  const watch = watchProgress(options);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), watch.stalled]);
      if (next.done) return { bytes, sha256: hash.digest('hex') };
      bytes += next.value.byteLength;
      if (bytes > options.maxBytes) throw tooLarge(options.maxBytes);
      hash.update(next.value);
      await writeAll(handle, next.value);
      watch.progressed();
    }
  } catch (thrown) {
    // The client may be gone already; what matters is the first error.
    await reader.cancel(thrown).catch(() => undefined);
    throw thrown instanceof BerthError || isFileError(thrown) || options.signal.aborted ? thrown : vanished(thrown);
  } finally {
    watch.end();
  }
};

const writeAll = async (handle: FileHandle, data: Uint8Array): Promise<void> => {
  let offset = 0;
  while (offset < data.byteLength) offset += (await handle.write(data, offset)).bytesWritten;
};

interface ProgressWatch {
  /** Never resolves; rejects when the upload stalls, takes too long, or is aborted. */
  stalled: Promise<never>;
  progressed(): void;
  end(): void;
}

const watchProgress = ({ clock, idleMs, totalMs, signal }: ReceiveOptions): ProgressWatch => {
  const ended = new AbortController();
  const begun = clock.monotonic();
  let last = begun;
  const watch = async (): Promise<never> => {
    const either = AbortSignal.any([ended.signal, signal]);
    for (;;) {
      const now = clock.monotonic();
      const left = Math.min(last + idleMs, begun + totalMs) - now;
      if (signal.aborted) throw signal.reason;
      if (left <= 0) throw stalledUpload(now - begun >= totalMs ? totalMs : idleMs, now - begun >= totalMs);
      await clock.sleep(left, either);
      if (ended.signal.aborted) return new Promise<never>(() => undefined);
    }
  };
  const stalled = watch();
  stalled.catch(() => undefined);
  return { stalled, progressed: () => (last = clock.monotonic()), end: () => ended.abort() };
};

const isFileError = (thrown: unknown): boolean =>
  thrown instanceof Error && 'syscall' in thrown && thrown.syscall === 'write';

const megabytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MB`;

const tooLarge = (maxBytes: number): BerthError =>
  new BerthError('SOURCE_TOO_LARGE', `the upload exceeds ${megabytes(maxBytes)}`, {
    hint: 'exclude build artifacts and data through .serviceignore, then deploy again',
  });

const stalledUpload = (ms: number, whole: boolean): BerthError => {
  const seconds = Math.round(ms / 1000);
  const message = whole ? `the upload took longer than ${seconds} s` : `the upload sent nothing for ${seconds} s`;
  return new BerthError('TIMEOUT', message, { hint: 'check the connection, then deploy again', retryable: true });
};

const cutOff = (bytes: number, declared: number): BerthError =>
  new BerthError('INVALID_INPUT', `the upload ended after ${bytes} of ${declared} bytes`, {
    hint: 'send the whole archive again',
    retryable: true,
  });

const vanished = (cause: unknown): BerthError =>
  new BerthError('INVALID_INPUT', 'the upload broke off', {
    hint: 'send the whole archive again',
    retryable: true,
    cause,
  });
