import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Berth } from '#test/support/berth.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--build-memory-mb', '1500']);
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

test('a compiler is quoted with the command, the file and the line', async () => {
  const main = 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println(nope)\n}\n';
  const operation = await berth.deploy('shop', 'broken', { 'go.mod': 'module a\n\ngo 1.24\n', 'main.go': main });
  expect(operation).toMatchObject({
    phase: 'failed',
    error: { code: 'BUILD_COMMAND_FAILED', hint: 'correct main.go:6, then redeploy', retryable: false },
  });
  expect(operation.error?.message).toMatch(
    /^the build step "\[build \d\/\d\] RUN CGO_ENABLED=0 go build .*" failed with exit code 1: main\.go:6: undefined: nope$/,
  );
  expect(operation.error?.log_tail).toBe('# a\n./main.go:6:14: undefined: nope');
}, 120_000);

test('a registry that cannot be reached is named, and the deploy may be retried', async () => {
  const operation = await berth.deploy('shop', 'offline', {
    'package.json': JSON.stringify({ scripts: { start: 'node a.js' }, dependencies: { 'left-pad': '1.3.0' } }),
    '.npmrc': 'registry=http://registry.invalid/\nfetch-retries=0\n',
  });
  expect(operation).toMatchObject({
    phase: 'failed',
    error: {
      code: 'BUILD_COMMAND_FAILED',
      hint: 'retry; if it persists, check the network and the DNS of the server',
      retryable: true,
    },
  });
  expect(operation.error?.message).toMatch(
    /RUN npm install .*" failed with exit code 1: the name registry\.invalid could not be resolved \(DNS\)$/,
  );
}, 120_000);

test('a build that takes too much memory is told the limit, and how to raise it', async () => {
  const hungry = 'const hold = []; for (;;) hold.push(Buffer.alloc(16 << 20, 1))';
  const operation = await berth.deploy('shop', 'hungry', {
    'package.json': JSON.stringify({ scripts: { build: `node -e '${hungry}'`, start: 'node a.js' } }),
    'a.js': '',
  });
  expect(operation.error?.message).toMatch(
    /RUN npm run build" failed with exit code 137: the build ran out of memory: all builds together may use 1500 MB$/,
  );
  expect(operation.error?.hint).toContain('berth server --build-memory-mb');
}, 120_000);

test('a manifest that cannot be read fails before anything is built, with its line', async () => {
  const operation = await berth.deploy('shop', 'typo', { 'package.json': '{\n  "name": "a"\n  "scripts": {}\n}\n' });
  expect(operation).toMatchObject({ phase: 'failed', error: { code: 'BUILD_COMMAND_FAILED', retryable: false } });
  expect(operation.error?.message).toStartWith('package.json:3: ');
}, 60_000);
