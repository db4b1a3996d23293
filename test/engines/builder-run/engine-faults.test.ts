import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createBuildkitBuilder } from '#engines/builder/buildkit';
import type { BuiltImage, ImageBuilder } from '#engines/builder/port';
import { packContext } from '#engines/source/context';
import { type Clock, systemClock } from '#kernel/clock';
import { quiet } from './support.ts';

const VERSION = { Version: '20.10.24', ApiVersion: '1.41', MinAPIVersion: '1.12' };
const never = (): Promise<Response> => new Promise(() => undefined);

/** A thousand seconds in one: so that waiting for a deadline takes no time. */
const fastClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * 1000,
  sleep: (ms, signal) => systemClock.sleep(ms / 1000, signal),
};

let dir: string;
let socketPath: string;
let engine: ReturnType<typeof Bun.serve> | undefined;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'berth-engine-'));
  socketPath = join(dir, 'docker.sock');
});
afterEach(async () => {
  await engine?.stop(true);
  engine = undefined;
  await rm(dir, { recursive: true, force: true });
});

/** An engine that answers as it is told to. */
const serve = (answers: Record<string, (request: Request) => Response | Promise<Response>>): void => {
  engine = Bun.serve({
    unix: socketPath,
    fetch: (request) => {
      const path = new URL(request.url).pathname.replace(/^\/v1\.\d+/, '');
      return answers[path]?.(request) ?? Response.json({ message: `no ${path}` }, { status: 404 });
    },
  });
};

const builderWith = (clock: Clock): ImageBuilder => createBuildkitBuilder({ socketPath, clock, log: quiet });

const build = (
  context: Readable = packContext({ layers: [], files: [{ path: 'Dockerfile', content: 'FROM x' }] }),
  signal = new AbortController().signal,
): Promise<BuiltImage> =>
  builderWith(fastClock).build({
    context,
    dockerfile: 'Dockerfile',
    tag: 'berth-test/x:1',
    buildArgs: {},
    labels: {},
    cacheScope: 'test',
    noCache: false,
    signal,
    onLog: () => undefined,
  });

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  );

test('a build while Docker is away fails at once, and may be retried', async () => {
  expect(await failureOf(build())).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
});

test('a build on a Docker that accepts and never answers fails, and may be retried', async () => {
  serve({ '/version': () => Response.json(VERSION), '/build': never, '/_ping': never });
  expect(await failureOf(build())).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
});

test('a build on a Docker that does not even tell its version fails, and may be retried', async () => {
  serve({ '/version': never, '/build': never, '/_ping': never });
  expect(await failureOf(build())).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
});

test('a silent build goes on as long as Docker answers beside it', async () => {
  let pings = 0;
  const answer = Promise.withResolvers<Response>();
  serve({
    '/version': () => Response.json(VERSION),
    '/build': () => answer.promise,
    '/_ping': () => {
      pings += 1;
      if (pings === 20) answer.resolve(new Response('{"id":"moby.image.id","aux":{"ID":"sha256:abc"}}\n'));
      return new Response('OK');
    },
    '/images/sha256:abc/json': () => Response.json({ Id: 'sha256:abc', Size: 5 }),
  });
  expect(await build()).toEqual({ imageId: 'sha256:abc', sizeBytes: 5 });
});

test('a Docker that goes away in the midst of a build leaves a retryable error', async () => {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('{"stream":"x"}\n')),
    pull: async (controller) => {
      await Bun.sleep(5);
      controller.close();
    },
  });
  serve({
    '/version': () => Response.json(VERSION),
    '/build': () => new Response(body),
    '/_ping': () => new Response('OK'),
  });
  const error = await failureOf(build());
  expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  expect(String(error)).toContain('without a result');
});

test('an abort while Docker hangs still ends the wait, with its reason', async () => {
  serve({
    '/version': () => Response.json(VERSION),
    '/build': never,
    '/build/cancel': never,
    '/_ping': () => new Response('OK'),
  });
  const stop = new AbortController();
  const building = failureOf(build(undefined, stop.signal));
  await Bun.sleep(30);
  stop.abort(new Error('cancelled'));
  expect(await building).toEqual(new Error('cancelled'));
});

test('a context that breaks off ends the build with its cause', async () => {
  serve({ '/version': () => Response.json(VERSION), '/build': never, '/_ping': () => new Response('OK') });
  const context = new Readable({ read: () => undefined });
  const building = failureOf(build(context));
  context.push(Buffer.alloc(1000));
  await Bun.sleep(20);
  context.destroy(new Error('the file vanished'));
  expect(String(await building)).toContain('the file vanished');
});
