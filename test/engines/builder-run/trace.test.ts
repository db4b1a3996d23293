import { describe, expect, test } from 'bun:test';
import protobuf from 'protobufjs';
import descriptor from '#src/engines/builder/proto.json';
import type { BuildLogLine } from '#engines/builder/port';
import { decodeStatus } from '#engines/builder/proto';
import { createTrace, type Trace } from '#engines/builder/trace';
import { stepLabel, stepName } from '#engines/builder/step-names';
import { createLineSplitter } from '#engines/builder/trace-lines';

const STATUS = protobuf.Root.fromJSON(descriptor).lookupType('StatusResponse');

/** What the daemon would send. */
const encode = (status: Record<string, unknown>): string =>
  Buffer.from(STATUS.encode(STATUS.fromObject(status)).finish()).toString('base64');

const at = (seconds: number): { seconds: number; nanos: number } => ({
  seconds: 1_790_000_000 + Math.floor(seconds),
  nanos: Math.round((seconds % 1) * 1e9),
});
const log = (vertex: string, text: string | Buffer, stream = 1): Record<string, unknown> => ({
  vertex,
  stream,
  msg: Buffer.from(text),
});

const open = (): { lines: BuildLogLine[]; trace: Trace; send: (status: Record<string, unknown>) => void } => {
  const lines: BuildLogLine[] = [];
  const trace = createTrace((line) => lines.push(line));
  return { lines, trace, send: (status) => trace.add(decodeStatus(encode(status))) };
};
const texts = (lines: BuildLogLine[]): string[] => lines.map(({ line }) => line);

describe("the builder's trace", () => {
  test('names a step once, gives its lines, and tells how long it took', () => {
    const { lines, send } = open();
    const name = '[2/2] RUN npm ci';
    send({ vertexes: [{ digest: 'a', name }] });
    send({ vertexes: [{ digest: 'a', name, started: at(1) }] });
    send({ vertexes: [{ digest: 'a', name, started: at(1) }], logs: [log('a', 'added 12 packages\n')] });
    send({ vertexes: [{ digest: 'a', name, started: at(1), completed: at(2.25) }] });
    send({ vertexes: [{ digest: 'a', name, started: at(1), completed: at(2.25) }] });
    expect(lines).toEqual([
      { step: name, line: name },
      { step: name, line: 'added 12 packages' },
      { step: name, line: '[2/2] done in 1.3s' },
    ]);
  });

  test('keeps colours in its lines, and none in the evidence', () => {
    const { lines, trace, send } = open();
    const name = '[1/1] RUN x';
    send({ vertexes: [{ digest: 'a', name, started: at(1) }], logs: [log('a', '\u001B[31mno\u001B[0m\u001B[2J\n')] });
    send({ vertexes: [{ digest: 'a', name, started: at(1), completed: at(2), error: 'exit code: 1' }] });
    expect(texts(lines)).toContain('\u001B[31mno\u001B[0m');
    expect(trace.failed()?.tail).toEqual(['no']);
    expect(trace.tail()).toContain('no');
  });

  test('says CACHED for what comes from the cache', () => {
    const { lines, send } = open();
    send({ vertexes: [{ digest: 'a', name: '[1/1] RUN x', started: at(1), completed: at(1), cached: true }] });
    expect(texts(lines)).toEqual(['[1/1] RUN x', '[1/1] CACHED']);
  });

  test('says of which step it is the end', () => {
    const { lines, send } = open();
    const [a, b] = [
      { digest: 'a', name: '[1/2] RUN a', started: at(1) },
      { digest: 'b', name: '[2/2] RUN b', started: at(1) },
    ];
    send({ vertexes: [a, b, { ...a, completed: at(2), cached: true }, { ...b, completed: at(2) }] });
    expect(texts(lines)).toEqual(['[1/2] RUN a', '[2/2] RUN b', '[1/2] CACHED', '[2/2] done in 1.0s']);
  });

  test('keeps the preparations of the builder to itself', () => {
    const { lines, send } = open();
    for (const name of ['[internal] load remote build context', 'copy /context /', '[internal] load metadata for x']) {
      send({ vertexes: [{ digest: name, name, started: at(1), completed: at(2) }] });
    }
    expect(lines).toEqual([]);
  });

  test('gives the last words of a step before its end, when both come at once', () => {
    const { lines, send } = open();
    send({
      vertexes: [{ digest: 'a', name: '[1/1] RUN x', started: at(1), completed: at(2), error: 'failed: exit code: 7' }],
      logs: [log('a', 'last words')],
    });
    expect(texts(lines)).toEqual(['[1/1] RUN x', 'last words', '[1/1] failed with exit code 7']);
  });

  test('keeps steps that run side by side apart, even within a line', () => {
    const { lines, send } = open();
    send({ vertexes: ['a', 'b'].map((digest) => ({ digest, name: `[${digest} 1/1] RUN ${digest}`, started: at(1) })) });
    send({ logs: [log('a', 'a-one '), log('b', 'b-one '), log('a', 'a-two\n'), log('b', 'b-two\n')] });
    expect(lines.slice(2)).toEqual([
      { step: '[a 1/1] RUN a', line: 'a-one a-two' },
      { step: '[b 1/1] RUN b', line: 'b-one b-two' },
    ]);
  });

  test('keeps stdout and stderr of a step apart, even within a line', () => {
    const { lines, send } = open();
    send({ vertexes: [{ digest: 'a', name: '[1/1] RUN a', started: at(1) }] });
    send({ logs: [log('a', 'out'), log('a', 'err', 2), log('a', 'put\n'), log('a', 'or\n', 2)] });
    expect(texts(lines).slice(1)).toEqual(['output', 'error']);
  });

  test('blames the step that failed, not those that were stopped because of it', () => {
    const { trace, send } = open();
    send({
      vertexes: [
        { digest: 'a', name: '[a] RUN guilty', started: at(1), completed: at(2), error: 'exit code: 1' },
        { digest: 'b', name: '[b] RUN victim', started: at(1), completed: at(2), error: 'context canceled' },
      ],
      logs: [log('a', 'why\n'), log('b', 'innocent\n')],
    });
    expect(trace.failed()).toEqual({ step: '[a] RUN guilty', error: 'exit code: 1', tail: ['why'] });
  });

  test('keeps the last 200 lines of a step for its error', () => {
    const { trace, send } = open();
    const text = Array.from({ length: 300 }, (_none, index) => `line ${index}\n`).join('');
    send({ vertexes: [{ digest: 'a', name: '[1/1] RUN x', started: at(1) }], logs: [log('a', text)] });
    send({ vertexes: [{ digest: 'a', name: '[1/1] RUN x', started: at(1), completed: at(2), error: 'exit code: 1' }] });
    expect(trace.failed()?.tail).toHaveLength(200);
    expect(trace.failed()?.tail.at(-1)).toBe('line 299');
    expect(trace.tail()).toHaveLength(200);
  });

  test('passes warnings on', () => {
    const { lines, send } = open();
    send({ warnings: [{ short: Buffer.from('FromAsCasing') }] });
    expect(lines).toEqual([{ step: '', line: 'warning: FromAsCasing' }]);
  });

  test('skips fields that it does not know', () => {
    const unknown = Buffer.from([0x7a, 0x03, 0x61, 0x62, 0x63]);
    const status = Buffer.concat([Buffer.from(encode({ warnings: [{ short: Buffer.from('x') }] }), 'base64'), unknown]);
    expect(decodeStatus(status.toString('base64')).warnings).toHaveLength(1);
  });

  test('needs bounded memory for a chatty build: 100,000 lines in thousands of messages', () => {
    let count = 0;
    const trace = createTrace(() => (count += 1));
    const chunk = 'a line of output that is neither short nor long, 60 bytes ..\n'.repeat(20);
    const message = encode({
      vertexes: [{ digest: 'a', name: '[1/1] RUN x', started: at(1) }],
      logs: [log('a', chunk)],
    });
    const round = (messages: number): void => {
      for (let index = 0; index < messages; index += 1) trace.add(decodeStatus(message));
      Bun.gc(true);
    };
    round(500);
    const before = process.memoryUsage().heapUsed;
    round(5000);
    expect(count).toBe(110_001);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
  });
});

describe('the name of a step', () => {
  const mounts =
    '--mount=type=cache,id=berth-shop-web-npm,target=/root/.npm --mount=type=bind,source=berth/env,target=/run/berth/env ';
  const env = 'set -a && . /run/berth/env && set +a && ';
  test.each([
    ['[deps 4/4] RUN npm ci', '[deps 4/4] RUN npm ci'],
    [`[build 2/2] RUN ${mounts}${env}npm run build`, '[build 2/2] RUN npm run build'],
    [`[build 2/2] RUN ${mounts}["/bin/sh","-c","${env}echo \\"a\\" \\n b"]`, '[build 2/2] RUN echo "a" b'],
    [
      `[build 2/2] RUN ${env}npm run build && mkdir /out && tar -cf - . | tar -xf - -C /out`,
      '[build 2/2] RUN npm run build',
    ],
    [
      `[build 4/4] RUN ${env}export RUSTUP_TOOLCHAIN="$(x)" && find . -path ./target -prune -o -type f -exec touch {} + && cargo build && mkdir -p /out && cp a /out/`,
      '[build 4/4] RUN cargo build',
    ],
    [
      "[build 3/5] RUN { cargo build || echo 'the dependencies are built together with the sources'; }",
      '[build 3/5] RUN cargo build (dependencies)',
    ],
    ['[2/2] RUN --mount=type=cache,target=/x make', '[2/2] RUN --mount=type=cache,target=/x make'],
    ['[2/2] RUN ["/bin/sh","-c","unfinished', '[2/2] RUN ["/bin/sh","-c","unfinished'],
    ['[2/2] COPY a\n  b', '[2/2] COPY a b'],
    [`[1/1] RUN ${'x'.repeat(400)}`, `[1/1] RUN ${'x'.repeat(290)}…`],
  ])('%s', (vertex, name) => expect(stepName(vertex)).toBe(name));

  test('has a short form', () => {
    expect(['[build 2/2] RUN x', 'exporting to image'].map(stepLabel)).toEqual(['[build 2/2]', 'exporting to image:']);
  });
});

describe('lines', () => {
  const split = (...chunks: (string | Buffer)[]): string[] => {
    const lines: string[] = [];
    const splitter = createLineSplitter((line) => lines.push(line));
    for (const chunk of chunks) splitter.push(Buffer.from(chunk));
    splitter.end();
    return lines;
  };
  const cases: [string, (string | Buffer)[], string[]][] = [
    ['end at line feeds', ['a\nb\n'], ['a', 'b']],
    ['are put together from pieces', ['a', 'b', '\nc', 'd'], ['ab', 'cd']],
    ['may be empty', ['a\n\nb\n'], ['a', '', 'b']],
    ['end at Windows line ends too', ['a\r', '\nb\r\n'], ['a', 'b']],
    ['show the last state of progress that overwrites itself', ['10%\r20%\r', '100%\ndone\n'], ['100%', 'done']],
    ['show unfinished progress at the end', ['10%\r20%\r'], ['20%']],
    [
      'keep colours, but no cursor movements',
      ['\u001B[31mred\u001B[0m \u001B[2K\u001B[1Aup\n'],
      ['\u001B[31mred\u001B[0m up'],
    ],
    ['keep colours that came in two pieces', ['\u001B[3', '1mred\n'], ['\u001B[31mred\u001B[0m']],
    ['that are too long lose colours', [`${'x'.repeat(16_382)}\u001B[31mred\n`], [`${'x'.repeat(16_382)}re`, 'd']],
    [
      'are never cut within a sequence',
      ['x'.repeat(16_382), '\u001B[3', '1mred', '\u001B[0m\n'],
      ['x'.repeat(16_382), '\u001B[31mred\u001B[0m'],
    ],
    ['lose other control characters, but not tabs', ['a\u0000\u0007\u0008b\tc\u0085\u007Fd\n'], ['ab\tcd']],
    ['keep characters that were cut in two', [Buffer.from([0xe2, 0x82]), Buffer.from([0xac, 0x0a])], ['€']],
    ['survive invalid text', [Buffer.from([0xff, 0x61, 0x0a])], ['\uFFFDa']],
    [
      'that are too long come in pieces',
      ['x'.repeat(40_000)],
      ['x'.repeat(16_384), 'x'.repeat(16_384), 'x'.repeat(7232)],
    ],
  ];
  test.each(cases)('%s', (_what, chunks, expected) => expect(split(...chunks)).toEqual(expected));

  test('that never end do not fill the memory', () => {
    let longest = 0;
    const splitter = createLineSplitter((line) => (longest = Math.max(longest, line.length)));
    for (let index = 0; index < 1000; index += 1) splitter.push(Buffer.alloc(10_000, 'x'));
    for (let index = 0; index < 1000; index += 1) splitter.push(Buffer.alloc(10_000, 'progress\r'));
    expect(longest).toBe(16_384);
  });
});
