import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { BuildLogLine } from '#engines/builder/port';
import type { BerthError } from '#kernel/errors';
import { packContext } from '#engines/source/context';
import { type Build, type BuilderHarness, buildWith, failedBuild, unique, until } from '#test/contracts/builder.ts';
import { bootBuilder, isRunning } from './support.ts';

setDefaultTimeout(120_000);

let harness: BuilderHarness;
beforeEach(async () => {
  harness = await bootBuilder();
});
afterEach(() => harness.cleanUp());

const texts = (lines: BuildLogLine[]): string[] => lines.map(({ line }) => line);

test('a Dockerfile that does not parse is reported with its line', async () => {
  const error = await failedBuild(harness, { steps: ['WORKDIR /x', 'RNU npm ci'] });
  expect(error).toMatchObject({ kind: 'BUILD_COMMAND_FAILED', retryable: false });
  expect(error.message).toStartWith('the Dockerfile is not valid in line 3');
});

test('a base image that cannot be had is named', async () => {
  const error = await failedBuild({ ...harness, baseImage: 'berth-test.invalid/nope:1' }, { steps: [] });
  expect(error).toMatchObject({ kind: 'BUILD_COMMAND_FAILED', retryable: true });
  expect(error.message).toContain('the base image berth-test.invalid/nope:1');
});

test('a file that is missing in the context is named', async () => {
  const error = await failedBuild(harness, { steps: ['COPY missing.txt /x'] });
  expect(error.message).toContain('COPY missing.txt /x');
  expect(error.message).toMatch(/"\/missing\.txt":? not found/);
});

test('colours of a step are kept, and its progress arrives as lines', async () => {
  const word = unique();
  const { lines } = await buildWith(harness, {
    steps: [`RUN printf '${word}\\n\\033[31mred\\033[0m\\n10%%\\r100%%\\nlast'`],
  });
  const from = texts(lines).indexOf(word);
  expect(texts(lines).slice(from, from + 4)).toEqual([word, '\u001B[31mred\u001B[0m', '100%', 'last']);
});

test('links in the context that lead out of it read nothing of the host', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'berth-link-'));
  await Bun.$`mkdir ${dir}/d && ln -s /etc/passwd ${dir}/d/file && ln -s / ${dir}/root`.quiet();
  const build = (steps: string[]): Build => {
    const content = [`FROM ${harness.baseImage}`, ...steps].join('\n');
    return {
      steps: [],
      request: {
        noCache: true,
        context: packContext({ layers: [{ dir, prefix: '' }], files: [{ path: 'Dockerfile', content }] }),
      },
    };
  };
  const { lines } = await buildWith(harness, build(['COPY d /d', 'RUN readlink /d/file']));
  expect(texts(lines)).toContain('/etc/passwd');
  for (const from of ['d/file', 'root/etc/passwd']) {
    expect((await failedBuild(harness, build([`COPY ${from} /x`]))).message).toMatch(/not found|no such file/);
  }
  await rm(dir, { recursive: true });
});

test('a secret that is bind-mounted for one RUN is in no layer, no history and no configuration', async () => {
  const secret = unique();
  const { lines } = await buildWith(harness, {
    steps: [
      'RUN --mount=type=bind,source=secrets,target=/run/berth wc -c < /run/berth/env',
      'RUN ls -A /run/berth || true',
    ],
    files: [{ path: 'secrets/env', content: `TOKEN=${secret}` }],
  });
  expect(texts(lines)).toContain(String(`TOKEN=${secret}`.length));
  const tag = `${harness.prefix}/app:1`;
  expect(await harness.describeImage(tag)).not.toContain(secret);
  const saved = Bun.spawn(['docker', 'save', tag], { stdout: 'pipe' });
  let tail = '';
  for await (const chunk of saved.stdout) {
    const text = tail + Buffer.from(chunk).toString('latin1');
    expect(text.includes(secret)).toBe(false);
    tail = text.slice(-100);
  }
});

test('a chatty build of 100,000 lines needs bounded memory, and its error has the last ones', async () => {
  let count = 0;
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  const failing = buildWith(harness, {
    steps: [`RUN echo ${unique()}; i=0; while [ $i -lt 100000 ]; do echo $i; i=$((i+1)); done; exit 9`],
    request: { onLog: () => (count += 1) },
  });
  const error: unknown = await failing.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ kind: 'BUILD_COMMAND_FAILED' });
  // The builder leaves some out where they come too fast, and says so; never the last ones.
  expect(count).toBeGreaterThan(50_000);
  expect((error as BerthError).logTail?.split('\n').slice(-2)).toEqual(['99998', '99999']);
  expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
});

test('of two builds at once each gets its own lines, and an abort of one leaves the other', async () => {
  const [one, two] = [unique(), unique()];
  const stop = new AbortController();
  const lines: BuildLogLine[] = [];
  const other = await bootBuilder();
  const stopped = buildWith(
    harness,
    { steps: [`RUN echo ${one}; sleep 300`], request: { signal: stop.signal } },
    lines,
  ).catch((thrown: unknown) => thrown);
  const finishing = buildWith(other, { steps: [`RUN echo ${two}; sleep 3; echo after`] });
  await until(async () => texts(lines).includes(one) && (await isRunning(two)));
  stop.abort(new Error('enough'));
  expect(await stopped).toEqual(new Error('enough'));
  const finished = await finishing;
  expect(texts(finished.lines)).toContain('after');
  expect(texts(finished.lines)).not.toContain(one);
  expect(texts(lines)).not.toContain(two);
  await other.cleanUp();
});

test('an abort while the context is still being sent ends the build', async () => {
  const stop = new AbortController();
  const reason = new Error('cancelled');
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      await Bun.sleep(5);
      yield Buffer.alloc(10_000);
    }
  }
  const context = Readable.from(endless());
  const building = buildWith(harness, { steps: [], request: { context, signal: stop.signal } }).catch(
    (thrown: unknown) => thrown,
  );
  await Bun.sleep(300);
  const begun = performance.now();
  stop.abort(reason);
  expect(await building).toBe(reason);
  expect(context.destroyed).toBe(true);
  expect(performance.now() - begun).toBeLessThan(5000);
});

test('the cache may be read by many at the same time', async () => {
  const reads = await Promise.all(Array.from({ length: 5 }, () => harness.builder.cacheRecords()));
  expect(reads.every((records) => records.length > 0)).toBe(true);
});
