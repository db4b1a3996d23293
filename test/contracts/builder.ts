import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { BerthError } from '#kernel/errors';
import { packContext } from '#engines/source/context';
import type { BuildLogLine, BuildRequest, BuiltImage, CacheRecord, ImageBuilder } from '#engines/builder/port';

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
    cacheScope: harness.prefix,
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

    test('the cache has what a build left, with the time at which it was used last', async () => {
      const word = unique();
      const begun = Date.now();
      await buildWith(harness, { steps: [`RUN echo ${word}`] });
      const [record, ...others] = await recordsOf(harness, word);
      expect(others).toEqual([]);
      expect(record).toMatchObject({ mount: false, bytes: expect.any(Number), parents: expect.any(Array) });
      expect(record?.lastUsedAt).toBeGreaterThanOrEqual(begun);
      const again = Date.now();
      await buildWith(harness, { steps: [`RUN echo ${word}`] });
      const later = async (): Promise<boolean> => ((await recordsOf(harness, word))[0]?.lastUsedAt ?? 0) >= again;
      await until(later);
      expect((await recordsOf(harness, word)).map(({ id }) => id)).toEqual([record?.id ?? '']);
    });

    test('cache mounts are records too, one for each scope', async () => {
      const word = unique();
      const steps = [`RUN --mount=type=cache,target=/${word} echo ${word}`];
      for (const scope of ['a', 'b', 'a']) {
        await buildWith(harness, { steps, request: { cacheScope: `${harness.prefix}-${scope}`, noCache: true } });
      }
      expect((await recordsOf(harness, word)).filter(({ mount }) => mount)).toHaveLength(2);
    });

    test('what is dropped of the cache is built anew, and only that', async () => {
      const [base, top] = [unique(), unique()];
      const steps = [`RUN echo ${base}`, `RUN echo ${top}`];
      await buildWith(harness, { steps });
      const dropped = await recordsOf(harness, top);
      expect(dropped).toHaveLength(1);
      await until(async () => {
        await harness.builder.dropCache([...dropped.map(({ id }) => id), 'nothing0here']);
        return (await recordsOf(harness, top)).length === 0;
      });
      expect(await recordsOf(harness, base)).toHaveLength(1);
      const { lines } = await buildWith(harness, { steps });
      expect(lines.map(({ line }) => line).filter((line) => [base, top].includes(line))).toEqual([top]);
    });

    test('what something else is built on stays, unless both are dropped', async () => {
      const [base, top] = [unique(), unique()];
      await buildWith(harness, { steps: [`RUN echo ${base}`, `RUN echo ${top}`] });
      const ids = (records: CacheRecord[]): string[] => records.map(({ id }) => id);
      const lower = await recordsOf(harness, base);
      await harness.builder.dropCache(ids(lower));
      expect(ids(await recordsOf(harness, base))).toEqual(ids(lower));
      await until(async () => {
        await harness.builder.dropCache(ids([...lower, ...(await recordsOf(harness, top))]));
        return (await recordsOf(harness, base)).length === 0;
      });
      expect(await recordsOf(harness, top)).toEqual([]);
    });

    test('a build whose cache is dropped all the while ends well', async () => {
      const steps = Array.from({ length: 6 }, () => `RUN echo ${unique()}; sleep 0.3`);
      const over = { yet: false };
      const building = buildWith(harness, { steps }).finally(() => (over.yet = true));
      while (!over.yet) {
        const ids = (await harness.builder.cacheRecords())
          .filter(({ description }) => steps.some((step) => description.includes(step.slice(4))))
          .map(({ id }) => id);
        await harness.builder.dropCache(ids);
        await Bun.sleep(20);
      }
      expect((await building).image.imageId).toStartWith('sha256:');
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

/** What the cache has of steps with this word. */
const recordsOf = async ({ builder }: BuilderHarness, word: string): Promise<CacheRecord[]> =>
  (await builder.cacheRecords()).filter(({ description }) => description.includes(word));

export const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition did not come true within 20 s');
    await Bun.sleep(20);
  }
};
