import type { Readable } from 'node:stream';
import { type ProgressMessage, readMessages } from '#engines/docker/calls';
import type { Connection } from '#engines/docker/connection';
import type { Clock } from '#kernel/clock';
import { BerthError, messageOf } from '#kernel/errors';
import { createPushProgress } from './push-progress.ts';

/** Docker reports progress many times a second: silence for this long means that it hangs. */
const SILENCE_MS = 120_000;

export interface EnginePush {
  /** Name without its tag. */
  name: string;
  tag: string;
  signal: AbortSignal;
  onLog: (line: string) => void;
}

/** Has Docker push a local image, and returns the digest of the manifest. */
export const pushByEngine = async (connection: Connection, clock: Clock, push: EnginePush): Promise<string> => {
  const { name, tag, signal, onLog } = push;
  const body = await connection.call(
    `push ${name}`,
    async (docker, opening) => {
      const options = { tag, authconfig: {}, abortSignal: AbortSignal.any([opening, signal]) };
      const stream = await docker.getImage(name).push(options);
      return (stream as Readable).on('error', () => undefined);
    },
    { signal },
  );
  const ended = new AbortController();
  try {
    return await Promise.race([readDigest(body, clock, onLog), untilAborted(signal, ended.signal)]);
  } finally {
    ended.abort();
    body.destroy();
  }
};

const readDigest = async (body: Readable, clock: Clock, onLog: (line: string) => void): Promise<string> => {
  const tell = createPushProgress(clock, onLog);
  const watch = watchSilence(clock);
  let digest: string | undefined;
  try {
    const messages = readMessages(body);
    for (;;) {
      const next = await Promise.race([messages.next(), watch.silent]);
      if (next.done === true) break;
      watch.heard();
      if (next.value.error !== undefined) throw new Error(next.value.error);
      tell(next.value);
      digest ??= digestOf(next.value);
    }
  } finally {
    watch.end();
  }
  if (digest === undefined) throw new Error('Docker ended the push without a digest');
  return digest;
};

const watchSilence = (clock: Clock): { silent: Promise<never>; heard(): void; end(): void } => {
  const ended = new AbortController();
  let last = clock.monotonic();
  const watch = async (): Promise<never> => {
    for (;;) {
      const left = last + SILENCE_MS - clock.monotonic();
      if (left <= 0) throw new Error(`Docker reported nothing for ${SILENCE_MS / 1000} s`);
      await clock.sleep(left, ended.signal);
      if (ended.signal.aborted) return new Promise<never>(() => undefined);
    }
  };
  const silent = watch();
  silent.catch(() => undefined);
  return { silent, heard: () => (last = clock.monotonic()), end: () => ended.abort() };
};

const untilAborted = (signal: AbortSignal, ended: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true, signal: ended });
  });

const digestOf = ({ aux }: ProgressMessage): string | undefined =>
  typeof aux === 'object' && aux !== null && 'Digest' in aux && typeof aux.Digest === 'string' ? aux.Digest : undefined;

export const pushFailed = (repository: string, cause: unknown): BerthError =>
  new BerthError(
    'IMAGE_PUSH_FAILED',
    `the image was built, but could not be pushed as ${repository}: ${messageOf(cause)}`,
    {
      hint: 'retry the deploy; if it persists, see: berth doctor',
      retryable: true,
      cause,
    },
  );
