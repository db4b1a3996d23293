import { describe, expect, test } from 'bun:test';
import { type Files, packageJson, planOf } from './support.ts';

const SERVER = 'Bun.serve({ fetch: () => new Response("x") });';
const app = (manifest: Record<string, unknown>, files: Files = { 'index.ts': SERVER }): Files => ({
  'package.json': packageJson(manifest),
  ...files,
});

describe('which apps are run by Bun', () => {
  test.each<[string, Files, string]>([
    [
      'what bun init makes',
      app(
        { module: 'index.ts', devDependencies: { '@types/bun': 'latest' } },
        { 'index.ts': 'console.log(1)', 'bun.lock': '{}' },
      ),
      'bun index.ts',
    ],
    ['a lock file in the older format', app({}, { 'index.ts': SERVER, 'bun.lockb': '\0' }), 'bun index.ts'],
    ['scripts that call it', app({ scripts: { dev: 'bun --hot index.ts' } }, { 'index.ts': '' }), 'bun index.ts'],
    [
      'types of Bun beside the lock file of npm',
      app({ devDependencies: { '@types/bun': '1' } }, { 'index.ts': '', 'package-lock.json': '{}' }),
      'bun index.ts',
    ],
    ['code that calls it', app({ dependencies: { hono: '4' } }, { 'server.ts': SERVER }), 'bun server.ts'],
    [
      'a default export, which Bun serves',
      app({}, { 'src/index.ts': 'export default { fetch() {} }', 'bun.lock': '{}' }),
      'bun src/index.ts',
    ],
    [
      'a start script',
      app({ scripts: { start: 'NODE_ENV=production bun run src/a.ts' } }, {}),
      '/bin/sh -c exec env NODE_ENV=production bun run src/a.ts',
    ],
    [
      'a start script that calls another',
      app({ scripts: { start: 'bun run serve', serve: 'bun src/a.ts' } }, { 'bun.lock': '{}' }),
      'bun src/a.ts',
    ],
    [
      'bunx, which the image has no name for',
      app({ scripts: { start: 'bunx serve' } }, { 'bun.lock': '{}' }),
      'bun x serve',
    ],
  ])('%s', (_title, files, start) => {
    const plan = planOf(files);
    expect({ provider: plan.provider, start: plan.start.join(' ') }).toEqual({ provider: 'bun', start });
  });

  test.each<[string, Files, string]>([
    ['a start script for Node', app({ scripts: { start: 'node a.js' } }, { 'bun.lock': '{}' }), 'node a.js'],
    ['tsx', app({ devDependencies: { tsx: '4' }, scripts: { start: 'tsx a.ts' } }, { 'bun.lock': '{}' }), 'tsx a.ts'],
    ['a comment about it', app({}, { 'index.js': '// Bun.serve is faster\n' }), 'node index.js'],
  ])('not %s', (_title, files, start) => {
    const plan = planOf(files);
    expect({ provider: plan.provider, start: plan.start.join(' ') }).toEqual({ provider: 'node', start });
  });
});

test('Bun is there when another package manager installs', () => {
  const [deps, ...others] = planOf(
    app({ scripts: { start: 'bun index.ts' }, dependencies: { ms: '2' } }, { 'package-lock.json': '{}' }),
  ).stages;
  expect(deps?.steps[0]).toMatchObject({
    kind: 'run',
    command: "npm install --global --force --no-audit --no-fund --loglevel=error 'bun@1'",
  });
  expect(deps?.steps.at(-1)).toMatchObject({ command: expect.stringMatching(/^npm (ci|install) --omit=dev/) });
  expect(others.at(-1)?.steps).toContainEqual({
    kind: 'copy',
    from: 'deps',
    sources: ['/usr/local/lib/node_modules/bun/bin/bun.exe'],
    target: '/usr/local/bin/bun',
  });
});

test('a workspace of Bun is installed at its root', () => {
  const plan = planOf({
    'package.json': packageJson({ workspaces: ['apps/*', 'packages/*'] }),
    'bun.lock': '{ "workspaces": { "": {}, "apps/web": { "dependencies": { "lib": "workspace:*" } } } }',
    'apps/web/package.json': packageJson({
      name: 'web',
      scripts: { start: 'bun src/index.ts' },
      dependencies: { lib: 'workspace:*' },
    }),
    'packages/lib/package.json': packageJson({ name: 'lib' }),
  });
  expect({ provider: plan.provider, root: plan.root, install: plan.install, start: plan.start }).toEqual({
    provider: 'bun',
    root: 'apps/web',
    install: ['bun install --frozen-lockfile --production --filter ./apps/web'],
    start: ['bun', 'src/index.ts'],
  });
});
