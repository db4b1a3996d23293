import { join } from 'node:path';
import type { Attachment, ContainerSpec, Labels, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { type Pipes, makePipes } from './pipes.ts';
import { type DatastoreInstance, JOB_INPUT, JOB_OUTPUT, type JobEnd, type JobRequest, type Jobs } from './port.ts';
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
  /** For the pipes of jobs: a folder of its own, on a file system that has them, which the engine sees under the same path. */
  pipesDir: string;
}

const PIDS_LIMIT = 128;
/** A quarter of what an app gets: jobs use the cores that are idle. */
const CPU_SHARES = 256;
const STDERR_LINES = 50;
/** From the end of a container's streams to its own, at most. */
const EXIT_MS = 10_000;

/**
 * One-shot containers. Rejects with the reason of `signal` when that aborts, with what reading `input` threw, or with what
 * `output` threw; how the command itself ended is for the caller to judge.
 */
export const createJobs = ({ runtime, clock, log, addresses, labels, newName, pipesDir }: JobsOptions): Jobs => {
  const clear = async (
    instance: DatastoreInstance,
    job: Pick<Job, 'ip' | 'pipes'> & { id?: string },
  ): Promise<void> => {
    await job.pipes.hangUp();
    try {
      if (job.id !== undefined) await runtime.remove(job.id);
    } catch (error) {
      // Its address stays taken, as it is, and its pipes open; the next start of berth clears what is left.
      log.error('could not remove the container of a job', error, { container: job.id, datastore: instance.id });
      return;
    }
    addresses.release(instance, job.ip);
    await job.pipes.remove();
  };

  return {
    run: async (request) => {
      const { instance, signal } = request;
      signal.throwIfAborted();
      await runtime.ensureImage(request.image, signal);
      const suffix = newName();
      const pipes = await makePipes(join(pipesDir, suffix), clock);
      const job: Job & { id?: string } = { ip: addresses.reserve(instance), labels, suffix, pipes };
      try {
        const { id } = await runtime.create(jobSpec(request, job));
        job.id = id;
        const ends = await runtime.attach(id);
        try {
          await runtime.start(id);
          return await orAborted(signal, finish({ runtime, clock }, { id, ends, pipes, request }));
        } finally {
          ends.close();
        }
      } finally {
        await clear(instance, job);
      }
    },
  };
};

interface Job {
  ip: string;
  labels: Labels;
  suffix: string;
  pipes: Pipes;
}

/** Pure. Nothing of it is the image's own choice but the user and the working directory. */
export const jobSpec = (
  { instance, purpose, image, argv, env, memoryMb }: JobRequest,
  { ip, labels, suffix, pipes }: Omit<Job, 'pipes'> & { pipes: Pick<Pipes, 'input' | 'output'> },
): ContainerSpec => ({
  name: `berth-${instance.id}-${purpose}-${suffix}`,
  image,
  entrypoint: argv,
  command: [],
  env,
  labels: { ...instance.labels, ...labels },
  network: { name: instance.network, ip, aliases: [] },
  loopbackPorts: [],
  mounts: [
    { hostPath: pipes.input, target: JOB_INPUT, readOnly: true },
    { hostPath: pipes.output, target: JOB_OUTPUT, readOnly: false },
  ],
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
  keepLogs: false,
});

interface RunningJob {
  id: string;
  ends: Attachment;
  pipes: Pipes;
  request: JobRequest;
}

const finish = async (
  { runtime, clock }: Pick<JobsOptions, 'runtime' | 'clock'>,
  { id, ends, pipes, request }: RunningJob,
): Promise<JobEnd> => {
  const tail = createTail(STDERR_LINES);
  const readAll = async (): Promise<void> => {
    for await (const { stream, data } of ends.output) {
      if (stream === 'stderr') tail.add(data);
      else request.stdout?.(data);
    }
  };
  const feeding = request.input === undefined ? nothing : pipes.feed(request.input);
  const draining = request.output === undefined ? nothing : pipes.drain(request.output);
  const failed = onlyFailure(Promise.all([feeding, draining]));
  await Promise.race([readAll(), failed]);
  const exitCode = await Promise.race([exitOf({ runtime, clock }, id, request.signal), failed]);
  await pipes.hangUp();
  // A command that ends before it has read all is not waited for by whoever feeds it.
  await Promise.race([draining, failed]);
  const state = await runtime.inspect(id);
  return { exitCode, oomKilled: state?.oomKilled ?? false, stderr: tail.text() };
};

const nothing = Promise.resolve();

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

const onlyFailure = (work: Promise<unknown>): Promise<never> =>
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
