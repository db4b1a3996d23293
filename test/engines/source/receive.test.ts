import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import { type BerthError, toBerthError } from '#kernel/errors';
import { receive, type Received, type ReceiveOptions } from '#engines/source/receive';

let dir: string;
let file: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'berth-receive-'));
  file = join(dir, 'upload');
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const run = (body: ReadableStream<Uint8Array>, options: Partial<ReceiveOptions> = {}): Promise<Received> =>
  receive({
    body,
    file,
    maxBytes: 1_000_000,
    idleMs: 10_000,
    totalMs: 10_000,
    clock: systemClock,
    signal: new AbortController().signal,
    ...options,
  });

const streamOf = (
  chunks: Uint8Array[],
  then?: (controller: ReadableStreamDefaultController<Uint8Array>) => void,
): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      if (then === undefined) controller.close();
      else then(controller);
    },
  });

const failure = async (upload: Promise<Received>): Promise<BerthError> => {
  const thrown: unknown = await upload.then(
    () => new Error('the upload was accepted'),
    (error: unknown) => error,
  );
  expect(
    await access(file).then(
      () => 'kept',
      () => 'gone',
    ),
  ).toBe('gone');
  return toBerthError(thrown);
};

test('an upload arrives whole, with its size and hash', async () => {
  const chunks = [Buffer.from('hello '), Buffer.alloc(300_000, 'x'), Buffer.from('end')];
  const received = await run(streamOf(chunks));
  const whole = Buffer.concat(chunks);
  expect(received).toEqual({ bytes: whole.byteLength, sha256: createHash('sha256').update(whole).digest('hex') });
  expect(await readFile(file)).toEqual(whole);
});

describe('an upload is refused, and its file removed, when', () => {
  test('it is larger than the limit, though nothing declared its size', async () => {
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(Buffer.alloc(100_000)) });
    expect(await failure(run(endless))).toMatchObject({ kind: 'SOURCE_TOO_LARGE', httpStatus: 413, retryable: false });
  });

  test('it declares more than the limit: nothing is read', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>({ pull: () => void (pulled += 1) }, { highWaterMark: 0 });
    expect((await failure(run(body, { declaredBytes: 1_000_001 }))).kind).toBe('SOURCE_TOO_LARGE');
    expect(pulled).toBe(0);
  });

  test('it ends before what it declared', async () => {
    expect(await failure(run(streamOf([Buffer.from('half')]), { declaredBytes: 8 }))).toMatchObject({
      kind: 'INVALID_INPUT',
      retryable: true,
      message: 'the upload ended after 4 of 8 bytes',
    });
  });

  test('it stops in its midst', async () => {
    const hanging = streamOf([Buffer.from('a')], () => undefined);
    expect(await failure(run(hanging, { idleMs: 30 }))).toMatchObject({ kind: 'TIMEOUT', retryable: true });
  });

  test('it dribbles on for ever', async () => {
    const dribble = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await Bun.sleep(5);
        controller.enqueue(Buffer.from('.'));
      },
    });
    expect((await failure(run(dribble, { idleMs: 1000, totalMs: 60 }))).message).toStartWith('the upload took longer');
  });

  test('the client goes away', async () => {
    const broken = streamOf([Buffer.from('a')], (controller) => controller.error(new Error('ECONNRESET')));
    expect(await failure(run(broken))).toMatchObject({
      kind: 'INVALID_INPUT',
      message: 'the upload broke off',
      retryable: true,
    });
  });

  test('the request is aborted', async () => {
    const stop = new AbortController();
    const upload = run(
      streamOf([Buffer.from('a')], () => undefined),
      { signal: stop.signal },
    );
    const outcome = upload.catch((thrown: unknown) => thrown);
    stop.abort(new Error('shutting down'));
    expect(await outcome).toEqual(new Error('shutting down'));
  });
});

test('a full disk is said to be one, and no file is left', async () => {
  // A file system of its own that is too small, so that the kernel says ENOSPC.
  const { bytes, error } = await writeToFullDisk();
  expect(bytes).toBe(0);
  expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', httpStatus: 507, retryable: true });
});

const writeToFullDisk = async (): Promise<{ bytes: number; error: BerthError }> => {
  const mount = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir]);
  expect(mount.exitCode).toBe(0);
  try {
    const error = await failure(run(streamOf([Buffer.alloc(200_000)])));
    const { size } = Bun.file(file);
    return { bytes: size, error };
  } finally {
    Bun.spawnSync(['umount', dir]);
  }
};
