import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { BerthError } from '#kernel/errors';
import { packContext } from '#engines/source/context';
import type { BuildLogLine, BuildRequest, BuiltImage, ImageBuilder } from '#engines/builder/port';

export interface BuilderHarness {
  builder: ImageBuilder;
  /** A base image that is there, with a shell. */
  baseImage: string;
  /** Whether a process of a build with this word in its arguments runs. */
  runs: (word: string) => Promise<boolean>;
  /** The layers' commands, labels and environment of an image, as text. */
  describeImage: (tag: string) => Promise<string>;
  /** Unique to this run. */
  prefix: string;
  cleanUp: () => Promise<void>;
}

export interface Build {
  /** Instructions after FROM. */
  steps: string[];
  files?: { path: string; content: string }[];
  request?: Partial<BuildRequest>;
}

export interface BuildOutcome {
  lines: BuildLogLine[];
  image: BuiltImage;
}

/** Builds a small Dockerfile, and collects what it says. */
export const buildWith = async (
  harness: BuilderHarness,
  build: Build,
  lines: BuildLogLine[] = [],
): Promise<BuildOutcome> => {
  const dockerfile = [`FROM ${harness.baseImage}`, ...build.steps].join('\n');
  const image = await harness.builder.build({
    context: packContext({ layers: [], files: [{ path: 'Dockerfile', content: dockerfile }, ...(build.files ?? [])] }),
    dockerfile: 'Dockerfile',
    tag: `${harness.prefix}/app:1`,
    buildArgs: {},
    labels: { 'berth.test': harness.prefix },
    noCache: false,
    signal: new AbortController().signal,
    onLog: (line) => lines.push(line),
    ...build.request,
  });
  return { lines, image };
};

/** The error of a build that must fail. */
export const failedBuild = async (harness: BuilderHarness, build: Build): Promise<BerthError> => {
  const thrown: unknown = await buildWith(harness, build).then(
    () => new Error('the build succeeded'),
    (error: unknown) => error,
  );
  if (!(thrown instanceof BerthError)) throw thrown;
  return thrown;
};

/** A word that no other build has, so that nothing comes from the cache. */
export const unique = (): string => `w${randomBytes(6).toString('hex')}`;

/** Holds an implementation of the port to its contract. The fake understands `RUN echo`, `exit` and `sleep` only. */
export const builderContract = (name: string, boot: () => Promise<BuilderHarness>): void => {
  describe(`builder contract: ${name}`, () => {
    let harness: BuilderHarness;
    beforeEach(async () => {
      harness = await boot();
    });
    afterEach(() => harness.cleanUp());

    test('a build gives an image with its size', async () => {
      const { image } = await buildWith(harness, { steps: ['RUN echo hello'] });
      expect(image.imageId).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(image.sizeBytes).toBeGreaterThan(0);
    });

    test('the log has every line in order, one call a line, beside its step', async () => {
      const [one, two, three] = [unique(), unique(), unique()];
      const { lines } = await buildWith(harness, {
        steps: [`RUN echo ${one}`, `RUN echo ${two}; echo ${three}`],
      });
      const said = lines.filter(({ line }) => [one, two, three].includes(line));
      expect(said.map(({ line }) => line)).toEqual([one, two, three]);
      expect(said.map(({ step }) => step)).toEqual([
        expect.stringContaining(`RUN echo ${one}`),
        expect.stringContaining(`RUN echo ${two}`),
        expect.stringContaining(`RUN echo ${two}`),
      ]);
      expect(lines.findIndex(({ line }) => line.includes(`RUN echo ${one}`))).toBeLessThan(
        lines.findIndex(({ line }) => line === one),
      );
      expect(lines.every(({ line }) => !line.includes('\n') && !line.includes('\u001B'))).toBe(true);
    });

    test('the same build again comes from the cache, unless that is off', async () => {
      const word = unique();
      const steps = [`RUN echo ${word}`];
      await buildWith(harness, { steps });
      const cached = await buildWith(harness, { steps });
      expect(cached.lines.some(({ line }) => line === word)).toBe(false);
      expect(cached.lines.some(({ line }) => line.endsWith('CACHED'))).toBe(true);
      const fresh = await buildWith(harness, { steps, request: { noCache: true } });
      expect(fresh.lines.some(({ line }) => line === word)).toBe(true);
    });

    test('a failing step says its text and exit code, and the tail ends with its lines', async () => {
      const error = await failedBuild(harness, {
        steps: [`RUN echo fine`, `RUN echo ${unique()}; echo the cause; exit 3`],
      });
      expect(error).toMatchObject({ kind: 'BUILD_COMMAND_FAILED', retryable: false });
      expect(error.message).toContain('RUN echo');
      expect(error.message).toContain('exit code 3');
      expect(error.logTail?.split('\n').at(-1)).toBe('the cause');
      expect(error.logTail).not.toContain('fine');
    });

    test('exit code 137 says that memory ran out', async () => {
      const error = await failedBuild(harness, { steps: [`RUN echo ${unique()}; exit 137`] });
      expect(error.message).toContain('memory');
      expect(error.message).toContain('137');
    });

    test('an abort ends the processes of the build within 5 s and rejects with its reason', async () => {
      const word = unique();
      const stop = new AbortController();
      const lines: BuildLogLine[] = [];
      const reason = new BerthError('TIMEOUT', 'too long', { hint: 'be quick' });
      const building = buildWith(
        harness,
        { steps: [`RUN echo ${word}; sleep 300`], request: { signal: stop.signal } },
        lines,
      ).catch((thrown: unknown) => thrown);
      await until(async () => lines.some(({ line }) => line === word) && (await harness.runs(word)));
      const begun = performance.now();
      stop.abort(reason);
      expect(await building).toBe(reason);
      await until(async () => !(await harness.runs(word)));
      expect(performance.now() - begun).toBeLessThan(5000);
    });

    test('a signal that is aborted already starts nothing', async () => {
      const word = unique();
      const lines: BuildLogLine[] = [];
      const signal = AbortSignal.abort(new Error('never mind'));
      const building = buildWith(harness, { steps: [`RUN echo ${word}`], request: { signal } }, lines);
      expect(await building.catch((thrown: unknown) => thrown)).toEqual(new Error('never mind'));
      expect(lines).toEqual([]);
    });

    test('labels end up on the image', async () => {
      await buildWith(harness, { steps: [], request: { labels: { 'berth.test': harness.prefix, 'berth.x': 'y' } } });
      expect(await harness.describeImage(`${harness.prefix}/app:1`)).toContain('"berth.x":"y"');
    });

    test('an argument that orders the builder about is refused', async () => {
      const error = await failedBuild(harness, {
        steps: [],
        request: { buildArgs: { BUILDKIT_SYNTAX: 'evil/frontend' } },
      });
      expect(error.kind).toBe('INVALID_INPUT');
    });

    test('the size of the cache is told, and trimming to nothing leaves less or the same', async () => {
      await buildWith(harness, { steps: [`RUN echo ${unique()}`] });
      const before = await harness.builder.cacheBytes();
      expect(before).toBeGreaterThanOrEqual(0);
      await harness.builder.trimCache(before + 10_000_000_000);
      expect(await harness.builder.cacheBytes()).toBeLessThanOrEqual(before);
    });
  });
};

export const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition did not come true within 20 s');
    await Bun.sleep(20);
  }
};
