import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { type Connection, createConnection } from '#engines/docker/connection';
import { engineError } from '#engines/docker/failures';
import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { ask, askForStream, type ProgressMessage, readMessages } from '#engines/docker/calls';
import { createBuildLimits, type BuildLimits } from './build-limits.ts';
import { buildCache } from './buildkit-cache.ts';
import { buildError } from './buildkit-failure.ts';
import { watchEngine } from './buildkit-watch.ts';
import type { BuildRequest, BuiltImage, ImageBuilder } from './port.ts';
import { decodeStatus } from './proto.ts';
import { createTrace, type Trace } from './trace.ts';

export interface BuildkitOptions {
  socketPath: string;
  clock: Clock;
  log: Log;
  /** What all builds together may use; without them, everything. */
  limits?: BuildLimits;
}

/** Builds by the BuildKit inside the Docker daemon. */
export const createBuildkitBuilder = (options: BuildkitOptions): ImageBuilder => {
  const connection = createConnection(options);
  const { limits } = options;
  const limit = limits === undefined ? async () => undefined : createBuildLimits({ ...options, connection, limits });
  return {
    build: async (request) => {
      refuseBuilderArgs(request.buildArgs);
      request.signal.throwIfAborted();
      const ended = new AbortController();
      await limit(ended.signal);
      const imageId = await new Build(connection, options, request).run().finally(() => ended.abort());
      return readImage(connection, imageId);
    },
    ...buildCache(connection, options.clock),
  };
};

/** From the abort of a build until its request is cut, whatever the engine has said by then. */
const CANCEL_GRACE_MS = 1500;
const LONGEST_BUILD_MS = 24 * 3600 * 1000;

class Build {
  readonly #id = randomUUID();
  readonly #connection: Connection;
  readonly #options: BuildkitOptions;
  readonly #request: BuildRequest;
  readonly #trace: Trace;
  readonly #cut = new AbortController();

  constructor(connection: Connection, options: BuildkitOptions, request: BuildRequest) {
    this.#connection = connection;
    this.#options = options;
    this.#request = request;
    this.#trace = createTrace(request.onLog);
  }

  async run(): Promise<string> {
    const { signal, context } = this.#request;
    const ended = new AbortController();
    const building = this.#build();
    building.catch(() => undefined);
    const cancelled = this.#cancelOnAbort(building, ended.signal);
    const watched = watchEngine(this.#connection, this.#options.clock, ended.signal);
    try {
      return await Promise.race([building, cancelled, watched]);
    } catch (thrown) {
      throw signal.aborted ? signal.reason : thrown;
    } finally {
      ended.abort();
      this.#cut.abort();
      context.destroy();
    }
  }

  async #build(): Promise<string> {
    const { context } = this.#request;
    const broken = new Promise<never>((_resolve, reject) => context.once('error', reject));
    broken.catch(() => undefined);
    try {
      const body = await Promise.race([this.#open(context), broken]);
      return await Promise.race([this.#read(body), broken]);
    } catch (thrown) {
      throw context.errored ?? engineError('build the image', thrown);
    }
  }

  #open(context: Readable): Promise<Readable> {
    return this.#connection.call(
      'start the build',
      async (docker, opening) => {
        const signal = AbortSignal.any([opening, this.#cut.signal]);
        const body = await askForStream(docker, {
          method: 'POST',
          path: '/build',
          query: this.#query(),
          file: context,
          signal,
        });
        return body.on('error', () => undefined);
      },
      // The engine may answer only when it has the whole context; that it lives is watched elsewhere.
      { deadlineMs: LONGEST_BUILD_MS },
    );
  }

  #query(): Record<string, unknown> {
    const { dockerfile, tag, buildArgs, labels, cacheScope, noCache } = this.#request;
    return {
      version: '2',
      buildid: this.#id,
      dockerfile,
      t: tag,
      // BuildKit puts it in front of the ids of cache mounts; no image's history shows it.
      buildargs: { ...buildArgs, BUILDKIT_CACHE_MOUNT_NS: cacheScope },
      labels,
      ...(noCache ? { nocache: '1' } : {}),
    };
  }

  async #read(body: Readable): Promise<string> {
    let imageId: string | undefined;
    let said: string | undefined;
    for await (const message of readMessages(body)) {
      if (message.id === 'moby.buildkit.trace') this.#trace.add(decodeStatus(String(message.aux)));
      else if (message.id === 'moby.image.id') imageId = imageIdOf(message);
      if (message.error !== undefined) said = message.error;
    }
    this.#trace.end();
    if (said !== undefined) {
      const { memoryBytes } = this.#options.limits ?? {};
      throw buildError({ said, failed: this.#trace.failed(), tail: this.#trace.tail(), memoryBytes });
    }
    if (imageId === undefined) throw brokenOff();
    return imageId;
  }

  /** Rejects once the build's processes are told to end, and have ended or had the time to. */
  async #cancelOnAbort(building: Promise<unknown>, ended: AbortSignal): Promise<never> {
    const { signal } = this.#request;
    const { clock, log } = this.#options;
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true, signal: ended });
      if (signal.aborted) resolve();
    });
    const settled = building.then(
      () => undefined,
      () => undefined,
    );
    await this.#sendCancel().catch((thrown: unknown) =>
      log.warn('could not cancel a build', { error: String(thrown) }),
    );
    await Promise.race([settled, clock.sleep(CANCEL_GRACE_MS)]);
    throw signal.reason;
  }

  #sendCancel(): Promise<unknown> {
    return this.#connection.call(
      'cancel the build',
      (docker, signal) => ask(docker, { method: 'POST', path: '/build/cancel', query: { id: this.#id }, signal }),
      { deadlineMs: CANCEL_GRACE_MS },
    );
  }
}

const readImage = ({ call }: Connection, imageId: string): Promise<BuiltImage> =>
  call('inspect the built image', async (docker: Docker) => {
    const image = await docker.getImage(imageId).inspect();
    return { imageId, sizeBytes: image.Size };
  });

const imageIdOf = ({ aux }: ProgressMessage): string | undefined =>
  typeof aux === 'object' && aux !== null && 'ID' in aux && typeof aux.ID === 'string' ? aux.ID : undefined;

// BuildKit takes some arguments as orders to itself: BUILDKIT_SYNTAX would run a stranger's image as the frontend.
const refuseBuilderArgs = (buildArgs: Record<string, string>): void => {
  const name = Object.keys(buildArgs).find((key) => key.toUpperCase().startsWith('BUILDKIT_'));
  if (name === undefined) return;
  throw invalidInput(`the build argument ${name} controls the builder itself`, `remove ${name}, then redeploy`);
};

const brokenOff = (): BerthError =>
  new BerthError('INTERNAL_ERROR', 'Docker broke off the build without a result', {
    hint: 'Docker may have been restarted: redeploy',
    retryable: true,
  });
