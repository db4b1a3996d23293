import type { S3Client } from 'bun';
import type { Clock } from '#kernel/clock';
import { s3Failure, s3Late, type Bucket } from './s3-failures.ts';
import type { Bytes } from './port.ts';

const MIB = 1024 * 1024;
/** S3 takes 10,000 parts of 5 MiB and more. */
const MAX_PARTS = 9_000;
const KNOWN_PART_BYTES = 5 * MIB;
/** Enough for 140 GiB, when nobody knows how much will come. */
const UNKNOWN_PART_BYTES = 16 * MIB;
/** One more would cost memory for speed that a nightly copy does not need. */
const PARTS_AT_ONCE = 1;
const RETRIES = 3;
const UPLOAD = { what: 'store an object' };

export interface UploadDeps {
  client: S3Client;
  bucket: Bucket;
  clock: Clock;
  /** Longest time in which the server takes nothing. */
  silenceMs: number;
}

export type Upload = (
  key: string,
  bytes: Bytes,
  options: { estimate: number | undefined; signal: AbortSignal },
) => Promise<number>;

/** What a part must hold so that a file of this size fits into the parts that S3 takes. */
export const partSizeFor = (estimate: number | undefined): number =>
  estimate === undefined ? UNKNOWN_PART_BYTES : Math.max(KNOWN_PART_BYTES, Math.ceil(estimate / MAX_PARTS));

/**
 * Uploads as the parts are taken, and returns the bytes sent. It is given a stream to read, since the failure of that aborts
 * the upload; `writer().end(error)` of Bun 1.4 completes it instead (oven-sh/bun#43134).
 */
export const createUpload =
  ({ client, bucket, clock, silenceMs }: UploadDeps): Upload =>
  async (key, bytes, { estimate, signal }) => {
    signal.throwIfAborted();
    const feed = createFeed(bytes, clock);
    const over = new AbortController();
    const gaveUp = giveUp({ feed, over: over.signal, signal, clock, silenceMs, bucket });
    gaveUp.catch((reason: unknown) => feed.fail(reason));
    try {
      const body = new Response(feed.stream);
      const partSize = partSizeFor(estimate);
      const sending = client.write(key, body, { partSize, queueSize: PARTS_AT_ONCE, retry: RETRIES });
      await Promise.race([sending, gaveUp]);
      return feed.sent();
    } catch (thrown) {
      const failure = feed.failure();
      throw failure === undefined ? s3Failure(bucket, UPLOAD.what, thrown) : failure.thrown;
    } finally {
      over.abort();
      await feed.close();
    }
  };

/** What the client reads. It remembers when it was last read, and which error was the source's own. */
const createFeed = (bytes: Bytes, clock: Clock) => {
  const source = bytes[Symbol.asyncIterator]();
  let failure: { thrown: unknown } | undefined;
  let sent = 0;
  let waiting = false;
  let readAt = clock.monotonic();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const fail = (thrown: unknown): void => {
    failure ??= { thrown };
    controller?.error(thrown);
  };
  const pull = async (): Promise<void> => {
    waiting = true;
    try {
      const next = await source.next();
      if (failure !== undefined) return;
      if (next.done === true) controller?.close();
      else {
        sent += next.value.byteLength;
        controller?.enqueue(next.value);
      }
    } catch (thrown) {
      fail(thrown);
    } finally {
      waiting = false;
      readAt = clock.monotonic();
    }
  };
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
      },
      pull,
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    fail,
    failure: () => failure,
    sent: () => sent,
    /** Milliseconds since the client has taken something; 0 while it is the source that lets it wait. */
    silentMs: (): number => (waiting ? 0 : clock.monotonic() - readAt),
    /** A source that is waited for returns after its next chunk: nobody waits for that. */
    close: async (): Promise<void> => {
      const returned = source.return?.();
      if (waiting) returned?.catch(() => undefined);
      else await returned;
    },
  };
};

interface GiveUp extends Omit<UploadDeps, 'client'> {
  feed: ReturnType<typeof createFeed>;
  /** Aborted when the upload has ended. */
  over: AbortSignal;
  signal: AbortSignal;
}

/** Rejects when the caller cancels, or when the server takes nothing for too long. Never resolves before the end. */
const giveUp = async ({ feed, over, signal, clock, silenceMs, bucket }: GiveUp): Promise<void> => {
  const stop = AbortSignal.any([over, signal]);
  while (!stop.aborted) {
    await clock.sleep(Math.max(silenceMs - feed.silentMs(), 1), stop);
    if (!over.aborted && !signal.aborted && feed.silentMs() >= silenceMs) throw s3Late(bucket, UPLOAD.what, silenceMs);
  }
  if (!over.aborted) signal.throwIfAborted();
};
