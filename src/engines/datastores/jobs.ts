import type { Writable } from 'node:stream';
import type { Attachment, ContainerSpec, Labels, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { release } from '#kernel/release';
import type { Bytes, DatastoreInstance, JobEnd, JobRequest, Jobs } from './port.ts';
import { createTail } from './tail.ts';

export interface JobsOptions {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  /** Addresses in the network of an instance, for the time of a job. */
  addresses: { reserve(instance: DatastoreInstance): string; release(instance: DatastoreInstance, ip: string): void };
  /** Added to the labels of the instance: says that the container is a job. */
  labels: Labels;
  /** Part of a container's name, different each time. */
  newName: () => string;
}

const PIDS_LIMIT = 128;
/** A quarter of what an app gets: jobs use the cores that are idle. */
const CPU_SHARES = 256;
const STDERR_LINES = 50;
/** From the end of a container's streams to its own, at most. */
const EXIT_MS = 10_000;

/**
 * One-shot containers. Rejects with the reason of `signal` when that aborts, and with what reading `stdin` or `stdout` threw;
 * how the command itself ended is for the caller to judge.
 */
export const createJobs = ({ runtime, clock, log, addresses, labels, newName }: JobsOptions): Jobs => {
  const clear = async (instance: DatastoreInstance, job: { id: string | undefined; ip: string }): Promise<void> => {
    try {
      if (job.id !== undefined) await runtime.remove(job.id);
      addresses.release(instance, job.ip);
    } catch (error) {
      // Its address stays taken, as it is; the next start of berth clears what is left.
      log.error('could not remove the container of a job', error, { container: job.id, datastore: instance.id });
    }
  };

  return {
    run: async (request) => {
      const { instance, signal } = request;
      signal.throwIfAborted();
      await runtime.ensureImage(request.image, signal);
      const ip = addresses.reserve(instance);
      let id: string | undefined;
      try {
        id = (await runtime.create(jobSpec(request, { ip, labels, suffix: newName() }))).id;
        const ends = await runtime.attach(id);
        try {
          await runtime.start(id);
          return await orAborted(signal, finish({ runtime, clock }, { id, ends, request }));
        } finally {
          ends.close();
        }
      } finally {
        await clear(instance, { id, ip });
      }
    },
  };
};

/** Pure. Nothing of it is the image's own choice but the user and the working directory. */
export const jobSpec = (
  { instance, purpose, image, argv, env, memoryMb }: JobRequest,
  { ip, labels, suffix }: { ip: string; labels: Labels; suffix: string },
): ContainerSpec => ({
  name: `berth-${instance.id}-${purpose}-${suffix}`,
  image,
  entrypoint: argv,
  command: [],
  env,
  labels: { ...instance.labels, ...labels },
  network: { name: instance.network, ip, aliases: [] },
  loopbackPorts: [],
  mounts: [],
  volumes: [],
  memoryBytes: memoryMb * 1024 * 1024,
  cpus: 0,
  cpuShares: CPU_SHARES,
  pidsLimit: PIDS_LIMIT,
  capAdd: [],
  readOnlyRoot: false,
  tmpfs: [],
  restart: 'no',
  init: true,
  stopGraceSeconds: 0,
  stdin: true,
  // What it prints may be a dump.
  keepLogs: false,
});

interface RunningJob {
  id: string;
  ends: Attachment;
  request: JobRequest;
}

const finish = async (
  { runtime, clock }: Pick<JobsOptions, 'runtime' | 'clock'>,
  { id, ends, request }: RunningJob,
): Promise<JobEnd> => {
  const tail = createTail(STDERR_LINES);
  const readAll = async (): Promise<void> => {
    for await (const { stream, data } of ends.output) {
      if (stream === 'stderr') tail.add(data);
      else await request.stdout?.(data);
    }
  };
  // A command that ends before it has read all is not waited for by whoever feeds it.
  await Promise.race([readAll(), onlyFailure(feed(ends.stdin, request.stdin ?? nothing()))]);
  const exitCode = await exitOf({ runtime, clock }, id, request.signal);
  const state = await runtime.inspect(id);
  return { exitCode, oomKilled: state?.oomKilled ?? false, stderr: tail.text() };
};

/** Whose streams have ended is about to end. When it is not, the connection broke, and what came may be a part only. */
const exitOf = async (
  { runtime, clock }: Pick<JobsOptions, 'runtime' | 'clock'>,
  id: string,
  signal: AbortSignal,
): Promise<number> => {
  const watch = new AbortController();
  const late = clock.sleep(EXIT_MS, watch.signal).then(() => undefined);
  try {
    const exitCode = await Promise.race([runtime.wait(id, AbortSignal.any([signal, watch.signal])), late]);
    if (exitCode !== undefined) return exitCode;
  } finally {
    watch.abort();
  }
  throw new BerthError('INTERNAL_ERROR', 'lost the connection to a job beside a datastore', {
    hint: 'was Docker restarted? Do it again',
    retryable: true,
  });
};

async function* nothing(): Bytes {
  // A command that reads its stdin is told at once that there is none.
}

/** When `source` fails, stdin is not ended: the command must not take a part for the whole. */
const feed = async (stdin: Writable, source: Bytes): Promise<void> => {
  for await (const chunk of source) {
    if (stdin.destroyed) return;
    await written(stdin, chunk);
    release(chunk);
  }
  stdin.end();
};

/** Resolves when the chunk has gone, or nobody takes it any more. */
const written = (stdin: Writable, chunk: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    stdin.once('close', resolve);
    stdin.write(chunk, () => {
      stdin.off('close', resolve);
      resolve();
    });
  });

const onlyFailure = (work: Promise<void>): Promise<never> =>
  new Promise((_, reject) => {
    work.catch(reject);
  });

const orAborted = async <T>(signal: AbortSignal, work: Promise<T>): Promise<T> => {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};
