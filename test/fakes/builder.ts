import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { extract } from 'tar-stream';
import { BerthError, invalidInput } from '#kernel/errors';
import type { BuildRequest, BuiltImage, CacheRecord, ImageBuilder } from '#engines/builder/port';

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
  /** The cache, which tests may change. */
  records: Map<string, CacheRecord>;
}

export interface FakeBuild extends Omit<BuildRequest, 'context'> {
  files: Map<string, string>;
  imageId: string;
}

/** What every record of the fake weighs. */
const RECORD_BYTES = 1000;

/**
 * A builder in memory: it reads the context, and knows of a Dockerfile just `RUN` with `echo`, `sleep` and `exit`. Every
 * command leaves a layer in its cache, and every mount of a cache that is named in it a mount.
 */
export const createFakeBuilder = (now: () => number = Date.now): FakeBuilder => {
  const state: State = { records: new Map(), running: new Set(), now };
  const builds: FakeBuild[] = [];
  const images = new Map<string, FakeBuild>();
  let failure: BerthError | undefined;
  let hold: Promise<void> | undefined;

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
    let parents: string[] = [];
    for (const command of commandsOf(text)) parents = [await runCommand({ command, parents }, request, state)];
    const imageId = `sha256:${createHash('sha256')
      .update(JSON.stringify([...files]))
      .digest('hex')}`;
    const made: FakeBuild = { ...request, files, imageId };
    builds.push(made);
    images.set(request.tag, made);
    return { imageId, sizeBytes: 1_000_000 };
  };

  return {
    build,
    cacheBytes: async () => state.records.size * RECORD_BYTES,
    cacheRecords: async () => [...state.records.values()].map((record) => ({ ...record })),
    dropCache: async (ids) => {
      for (const id of ids) dropRecord(state, id, new Set(ids));
    },
    trimCache: async (keepBytes) => {
      const oldestFirst = [...state.records.values()].sort((a, b) => a.lastUsedAt - b.lastUsedAt);
      while (oldestFirst.length * RECORD_BYTES > keepBytes) state.records.delete(oldestFirst.shift()?.id ?? '');
    },
    builds,
    images,
    records: state.records,
    running: state.running,
    failNext: (error) => void (failure = error),
    holdNext: (until) => void (hold = until),
  };
};

interface State {
  records: Map<string, CacheRecord>;
  running: Set<string>;
  now: () => number;
}

/** As the engine does: what others are built on stays, unless they go too. */
const dropRecord = (state: State, id: string, going: Set<string>): void => {
  const holds = [...state.records.values()].some((other) => other.parents.includes(id) && !going.has(other.id));
  if (!holds && state.records.get(id)?.inUse !== true) state.records.delete(id);
};

const idOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 25);

/** Notes that a build used a layer or a mount; makes it if need be. */
const useRecord = (
  state: State,
  record: Pick<CacheRecord, 'id' | 'parents' | 'mount' | 'description' | 'command'>,
): void => {
  const known = state.records.get(record.id);
  const { records } = state;
  const fresh = { bytes: RECORD_BYTES, shared: false, inUse: false, scope: null, createdAt: state.now() };
  records.set(record.id, { ...fresh, ...known, ...record, lastUsedAt: state.now() });
};

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

/** Resolves with the id of its layer. */
const runCommand = async (
  { command, parents }: { command: string; parents: string[] },
  { noCache, cacheScope, onLog, signal }: Omit<BuildRequest, 'context'>,
  state: State,
): Promise<string> => {
  const step = `RUN ${command}`;
  const target = /--mount=type=cache,target=(\S+)/.exec(command)?.[1];
  const key = target === undefined ? command : `${cacheScope} ${command}`;
  const layer = { id: idOf(`${parents.join()} ${key}`), parents, mount: false, description: step, command };
  onLog({ step, line: step });
  if (state.records.has(layer.id) && !noCache) {
    onLog({ step, line: 'CACHED' });
    useRecord(state, layer);
    return layer.id;
  }
  if (target !== undefined) {
    const description = `cached mount ${target} from ${step}`;
    useRecord(state, { id: idOf(`${cacheScope} mount ${target}`), parents: [], mount: true, description, command });
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
  useRecord(state, layer);
  return layer.id;
};

const failed = (step: string, code: number, said: string[]): BerthError => {
  const why =
    code === 137 ? 'was killed (exit code 137): the build ran out of memory' : `failed with exit code ${code}`;
  return new BerthError('BUILD_COMMAND_FAILED', `the build step "${step}" ${why}`, {
    hint: 'read the last lines of its log, fix the source, then redeploy',
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
