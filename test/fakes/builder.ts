import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { extract } from 'tar-stream';
import { BerthError, invalidInput } from '#kernel/errors';
import type { BuildRequest, BuiltImage, ImageBuilder } from '#engines/builder/port';

export interface FakeBuilder extends ImageBuilder {
  /** The requests so far, with the files of their contexts. */
  builds: FakeBuild[];
  /** The next build fails with this error. */
  failNext(error: BerthError): void;
  /** The next build waits until this resolves, or until it is aborted. */
  holdNext(until: Promise<void>): void;
  /** Commands that run right now. */
  running: Set<string>;
  images: Map<string, FakeBuild>;
  setCacheBytes(bytes: number): void;
}

export interface FakeBuild extends Omit<BuildRequest, 'context'> {
  files: Map<string, string>;
  imageId: string;
}

/** A builder in memory: it reads the context, and knows of a Dockerfile just `RUN` with `echo`, `sleep` and `exit`. */
export const createFakeBuilder = (): FakeBuilder => {
  const state: State = { cached: new Set(), running: new Set() };
  const builds: FakeBuild[] = [];
  const images = new Map<string, FakeBuild>();
  let failure: BerthError | undefined;
  let hold: Promise<void> | undefined;
  let cacheBytes = 0;

  const build = async ({ context, ...request }: BuildRequest): Promise<BuiltImage> => {
    request.signal.throwIfAborted();
    const argument = Object.keys(request.buildArgs).find((key) => key.startsWith('BUILDKIT_'));
    if (argument !== undefined)
      throw invalidInput(`the build argument ${argument} controls the builder itself`, 'remove it');
    const files = await readContext(context);
    const planned = failure;
    const held = hold;
    failure = undefined;
    hold = undefined;
    if (held !== undefined) await orAbort(held, request.signal);
    if (planned !== undefined) throw planned;
    const text = files.get(request.dockerfile) ?? '';
    for (const command of commandsOf(text)) await runCommand(command, request, state);
    const imageId = `sha256:${createHash('sha256')
      .update(JSON.stringify([...files]))
      .digest('hex')}`;
    const made: FakeBuild = { ...request, files, imageId };
    builds.push(made);
    images.set(request.tag, made);
    cacheBytes += 1000;
    return { imageId, sizeBytes: 1_000_000 };
  };

  return {
    build,
    cacheBytes: () => Promise.resolve(cacheBytes),
    trimCache: (keepBytes) => {
      cacheBytes = Math.min(cacheBytes, keepBytes);
      return Promise.resolve();
    },
    builds,
    images,
    running: state.running,
    failNext: (error) => void (failure = error),
    holdNext: (until) => void (hold = until),
    setCacheBytes: (bytes) => void (cacheBytes = bytes),
  };
};

interface State {
  cached: Set<string>;
  running: Set<string>;
}

const readContext = async (context: Readable): Promise<Map<string, string>> => {
  const files = new Map<string, string>();
  const reader = extract();
  context.on('error', (error) => reader.destroy(error));
  context.pipe(reader);
  for await (const entry of reader) {
    let content = '';
    for await (const chunk of entry) content += String(chunk);
    if (entry.header.type === 'file') files.set(entry.header.name, content);
  }
  return files;
};

const commandsOf = (dockerfile: string): string[] =>
  dockerfile.split('\n').flatMap((line) => /^RUN (.*)$/.exec(line)?.[1] ?? []);

const runCommand = async (
  command: string,
  { noCache, onLog, signal }: Omit<BuildRequest, 'context'>,
  state: State,
): Promise<void> => {
  const step = `RUN ${command}`;
  onLog({ step, line: step });
  if (state.cached.has(command) && !noCache) {
    onLog({ step, line: 'CACHED' });
    return;
  }
  const said: string[] = [];
  state.running.add(command);
  try {
    for (const part of command.split(';').map((each) => each.trim())) {
      const [verb, ...rest] = part.split(' ');
      if (verb === 'echo') {
        said.push(rest.join(' '));
        onLog({ step, line: rest.join(' ') });
      } else if (verb === 'sleep') await orAbort(Bun.sleep(Number(rest[0]) * 1000), signal);
      else if (verb === 'exit') throw failed(step, Number(rest[0]), said);
    }
  } finally {
    state.running.delete(command);
  }
  state.cached.add(command);
};

const failed = (step: string, code: number, said: string[]): BerthError => {
  const why =
    code === 137 ? 'was killed (exit code 137): the build ran out of memory' : `failed with exit code ${code}`;
  return new BerthError('BUILD_COMMAND_FAILED', `the build step "${step}" ${why}`, {
    hint: 'read log_tail, fix the source, then redeploy',
    logTail: said.join('\n'),
  });
};

const orAbort = (work: Promise<void>, signal: AbortSignal): Promise<void> =>
  Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    }),
  ]);
