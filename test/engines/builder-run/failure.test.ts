import { expect, test } from 'bun:test';
import { buildError } from '#engines/builder/buildkit-failure';

const step = (name: string, error: string, tail: string[] = []): { step: string; error: string; tail: string[] } => ({
  step: name,
  error,
  tail,
});
const prefix = 'failed to solve with frontend dockerfile.v0: failed to create LLB definition: ';

test('a base image that does not exist is named without the registry that Docker adds', () => {
  const said = `${prefix}docker.io/library/nope:1: not found`;
  const error = buildError({
    said,
    failed: step('[internal] load metadata for docker.io/library/nope:1', said),
    tail: [],
  });
  expect(error).toMatchObject({ kind: 'BUILD_COMMAND_FAILED', retryable: false });
  expect(error.message).toStartWith('the base image nope:1 was not found, or is private');
});

test.each([
  'failed to do request: Head "https://x/v2/": dial tcp: lookup x on 10.0.0.1:53: no such host',
  'failed to do request: Head "https://x/v2/": dial tcp 1.2.3.4:443: i/o timeout',
  'net/http: TLS handshake timeout',
  'toomanyrequests: You have reached your pull rate limit',
  'read tcp 1.2.3.4: connection reset by peer',
])('a base image whose registry does not answer can be retried: %s', (cause) => {
  const failed = step('[internal] load metadata for docker.io/library/node:24', cause);
  const error = buildError({ said: `${prefix}${cause}`, failed, tail: [] });
  expect(error).toMatchObject({ kind: 'BUILD_COMMAND_FAILED', retryable: true });
  expect(error.message).toStartWith('the registry of the base image node:24 could not be reached');
});

test.each([
  [`${prefix}dockerfile parse error line 2: unknown instruction: FOO`, '2'],
  ['dockerfile parse error on line 7: unknown flag: network', '7'],
  ['failed to solve: Dockerfile:12: unknown instruction: RNU', '12'],
])('a Dockerfile that does not parse says its line: %s', (said, line) => {
  const error = buildError({ said, failed: undefined, tail: [] });
  expect(error.message).toStartWith(`the Dockerfile is not valid in line ${line}: `);
  expect(error.message).not.toContain('failed to solve');
  expect(error.hint).toContain(`line ${line}`);
});

test.each([
  ['executor failed running [/bin/sh -c npm ci]: exit code: 1', 'Docker 20.10'],
  ['process "/bin/sh -c npm ci" did not complete successfully: exit code: 1', 'later BuildKits'],
])('a failing command says its step and exit code: %s', (said) => {
  const error = buildError({
    said,
    failed: step('[3/4] RUN npm ci', said, ['npm error']),
    tail: ['other', 'npm error'],
  });
  expect(error.message).toBe('the build step "[3/4] RUN npm ci" failed with exit code 1');
  expect(error.logTail).toBe('npm error');
});

test('a step without output gets the tail of the whole build', () => {
  const said = '"/missing" not found: not found';
  const error = buildError({ said, failed: step('[2/2] COPY missing /x', said), tail: ['[2/2] COPY missing /x'] });
  expect(error.message).toBe('the build step "[2/2] COPY missing /x" failed: "/missing" not found: not found');
  expect(error.logTail).toBe('[2/2] COPY missing /x');
});

test('a command that fails for lack of network is a failing step, not a missing base image, and can be retried', () => {
  const said = 'executor failed running [curl x]: exit code: 6';
  const error = buildError({ said, failed: step('[2/2] RUN curl x', said, ['dial tcp: no such host']), tail: [] });
  expect(error).toMatchObject({ kind: 'BUILD_COMMAND_FAILED', retryable: true });
  expect(error.message).toBe(
    'the build step "[2/2] RUN curl x" failed with exit code 6: the name of a server could not be resolved (DNS)',
  );
});

test('what a compiler says is in the message, and only lines that matter are in the tail', () => {
  const said = 'executor failed running [/bin/sh -c npm run build]: exit code: 2';
  const tail = ["src/a.ts(3,7): error TS2304: Cannot find name 'x'.", '', '', 'npm notice a new npm is there'];
  const error = buildError({ said, failed: step('[build 2/2] RUN npm run build', said, tail), tail: [] });
  expect(error).toMatchObject({
    message:
      'the build step "[build 2/2] RUN npm run build" failed with exit code 2: src/a.ts:3: TS2304: Cannot find name \'x\'.',
    hint: 'correct src/a.ts:3, then redeploy',
    logTail: "src/a.ts(3,7): error TS2304: Cannot find name 'x'.",
  });
});

test('a step that was killed tells the memory of all builds', () => {
  const said = 'executor failed running [/bin/sh -c npm ci]: exit code: 137';
  const error = buildError({ said, failed: step('[1/1] RUN npm ci', said), tail: [], memoryBytes: 1024 ** 3 });
  expect(error.message).toBe(
    'the build step "[1/1] RUN npm ci" failed with exit code 137: the build ran out of memory: all builds together may use 1024 MB',
  );
});

test('a disk that a step fills is the server, not the build', () => {
  const said = 'executor failed running [/bin/sh -c npm ci]: exit code: 1';
  const tail = ['npm error ENOSPC: no space left on device, write'];
  expect(buildError({ said, failed: step('[1/1] RUN npm ci', said, tail), tail })).toMatchObject({ httpStatus: 507 });
});

test('a full disk is the server, not the build', () => {
  const said = 'failed to copy: write /x: no space left on device';
  expect(buildError({ said, failed: undefined, tail: [] })).toMatchObject({
    kind: 'INTERNAL_ERROR',
    httpStatus: 507,
    retryable: true,
  });
});
