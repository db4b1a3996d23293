import { describe, expect, test } from 'bun:test';
import { type Files, packageJson, planOf, refusal } from './support.ts';

test.each([
  [
    'package-lock.json',
    packageJson({ packages: { '': {}, 'apps/web': { dependencies: { ms: '^1.0.0', '@shop/ui': '1.0.0' } } } }),
  ],
  [
    'pnpm-lock.yaml',
    "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n\n  apps/web:\n    dependencies:\n      '@shop/ui':\n        specifier: 1.0.0\n        version: link:../../packages/ui\n      ms:\n        specifier: ^1.0.0\n        version: 1.0.0\n\n  packages/ui: {}\n\npackages:\n",
  ],
  ['yarn.lock', 'ms@^1.0.0:\n  version "1.0.0"\n'],
  ['bun.lock', '{ "workspaces": { "": {}, "apps/web": { "dependencies": { "ms": "^1.0.0", "@shop/ui": "1.0.0" } } } }'],
])('the lock file of a workspace is compared with every package: %s', (name, text) => {
  const files = (ms: string): Files => ({
    'package.json': packageJson({ workspaces: ['apps/*', 'packages/*'] }),
    'pnpm-workspace.yaml': 'packages: ["apps/*", "packages/*"]\n',
    'apps/web/package.json': packageJson({
      scripts: { start: 'node a.js' },
      dependencies: { ms, '@shop/ui': '1.0.0' },
    }),
    'packages/ui/package.json': packageJson({ name: '@shop/ui', version: '1.0.0' }),
    [name]: text,
  });
  expect(planOf(files('^1.0.0')).warnings).toEqual([]);
  expect(planOf(files('^2.0.0')).warnings.join()).toContain(`${name} does not match package.json (apps/web: ms)`);
});

describe('workspaces', () => {
  const member = (name: string, more: Record<string, unknown> = {}): string => packageJson({ name, ...more });
  const shop: Files = {
    'package.json': packageJson({ workspaces: ['apps/*', 'packages/*'] }),
    'apps/web/package.json': member('@shop/web', {
      scripts: { build: 'vite build', start: 'node dist/a.js' },
      dependencies: { '@shop/ui': '*' },
    }),
    'apps/api/package.json': member('@shop/api', { scripts: { start: 'node api.js' } }),
    'packages/ui/package.json': member('@shop/ui', { scripts: { build: 'tsc' }, dependencies: { '@shop/base': '*' } }),
    'packages/base/package.json': member('@shop/base', { scripts: { build: 'tsc' } }),
  };

  test('the service picks the app of its name, and what it uses is built before it', () => {
    const plan = planOf(shop, { service: 'web' });
    expect(plan.root).toBe('apps/web');
    expect(plan.build).toEqual(
      ['packages/base', 'packages/ui', 'apps/web'].map((path) => `npm run build --workspace ${path}`),
    );
    expect(plan.stages.at(-1)?.steps).toContainEqual({ kind: 'workdir', path: '/app/apps/web' });
  });

  test('root picks it too, and the whole workspace is the context', () => {
    const plan = planOf(shop, { service: 'other', env: { BERTH_ROOT: 'apps/api' } });
    expect({ root: plan.root, start: plan.start, build: plan.build }).toEqual({
      root: 'apps/api',
      start: ['node', 'api.js'],
      build: [],
    });
  });

  const LOCKED = {
    '': {},
    'apps/web': { dependencies: { '@shop/ui': '*' } },
    'packages/ui': { dependencies: { '@shop/base': '*' } },
  };
  test.each([
    [
      'npm',
      { 'package-lock.json': packageJson({ packages: LOCKED }) },
      'npm ci --omit=dev --workspace apps/web --include-workspace-root --no-audit --no-fund && rm -rf apps/api',
    ],
    [
      'pnpm',
      { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" },
      "pnpm --filter '{apps/web}...' install --frozen-lockfile --prod --store-dir /root/.local/share/pnpm/store && rm -rf apps/api",
    ],
    ['yarn', { 'yarn.lock': '' }, 'yarn install --frozen-lockfile --non-interactive --production && rm -rf apps/api'],
    [
      'newer yarn',
      { 'yarn.lock': '__metadata:\n  version: 8\n' },
      'yarn workspaces focus --production @shop/web && rm -rf .yarn apps/api',
    ],
    [
      'bun',
      { 'bun.lock': packageJson({ workspaces: LOCKED }) },
      'bun install --frozen-lockfile --production --filter ./apps/web && rm -rf apps/api',
    ],
  ])('the image gets the packages of the app alone: %s', (_title, files, command) => {
    const plan = planOf({ ...shop, ...(files as Files) }, { service: 'web' });
    const run = plan.stages.find((stage) => stage.name === 'production')?.steps.at(-1);
    expect(run?.kind === 'run' ? run.command.replace(/ \|\| \{.*\}/, '') : undefined).toBe(command);
  });

  test('an odd name of a neighbour, or of the app itself, breaks nothing', () => {
    const plan = planOf(
      {
        ...shop,
        'apps/a b$(id)/package.json': '{}',
        'yarn.lock': '__metadata:\n  version: 8\n',
        'apps/web/package.json': member("x'; id", { scripts: { build: 'tsc', start: 'node a.js' } }),
      },
      { service: 'web' },
    );
    const text = JSON.stringify(plan.stages);
    expect(text).toContain(`workspaces focus --production 'x'\\\\''; id'`);
    expect(text).not.toContain('a b$(id)');
  });

  test('the sources of other apps stay out of the image', () => {
    const build = (service: string): string =>
      JSON.stringify(planOf(shop, { service }).stages.find(({ name }) => name === 'build'));
    expect(build('web')).toContain('--exclude=node_modules --exclude=./apps/api . |');
    expect(build('api')).toContain(
      '--exclude=node_modules --exclude=./apps/web --exclude=./packages/base --exclude=./packages/ui . |',
    );
  });

  test('several apps and no choice are an error that lists them', () => {
    const error = refusal(shop, { service: 'other' });
    expect(error.kind).toBe('INVALID_INPUT');
    expect(error.message).toBe('this workspace has several apps: apps/api, apps/web');
    expect(error.hint).toContain('set root');
  });

  test('the only app is taken', () => {
    const { 'apps/api/package.json': _, ...rest } = shop;
    expect(planOf(rest, { service: 'other' }).root).toBe('apps/web');
  });

  test('pnpm workspaces, patterns with ! and **', () => {
    const plan = planOf(
      {
        'package.json': '{}',
        'pnpm-workspace.yaml': "packages:\n  - 'apps/**'\n  - '!**/old'\n",
        'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
        'apps/deep/er/package.json': member('a', { scripts: { build: 'tsc', start: 'node a.js' } }),
        'apps/old/package.json': member('b', { scripts: { start: 'node b.js' } }),
      },
      { service: 'x' },
    );
    expect({ root: plan.root, build: plan.build }).toEqual({
      root: 'apps/deep/er',
      build: ['pnpm --dir apps/deep/er run build'],
    });
  });

  test('turbo builds by its own graph', () => {
    const plan = planOf({
      ...shop,
      'turbo.json': '{}',
      'package.json': packageJson({ workspaces: ['apps/*', 'packages/*'], devDependencies: { turbo: '2' } }),
    });
    expect(plan.build).toEqual(['TURBO_TELEMETRY_DISABLED=1 node_modules/.bin/turbo run build --filter=./apps/web']);
  });

  test('Nx builds what no script names', () => {
    const plan = planOf({
      'nx.json': '{}',
      'package.json': packageJson({ workspaces: ['apps/*'], devDependencies: { nx: '22', vite: '8' } }),
      'apps/web/package.json': member('@shop/web', { devDependencies: { vite: '8' } }),
      'apps/web/index.html': '',
    });
    expect(plan.build).toEqual(["NX_DAEMON=false node_modules/.bin/nx run-many --target=build --projects='@shop/web'"]);
    expect(plan.staticRoot).toBe('dist');
  });

  test('one COPY brings every manifest', () => {
    expect(planOf(shop).files.map((file) => file.path)).toEqual(
      ['apps/api', 'apps/web', 'packages/base', 'packages/ui'].map((path) => `berth/manifests/${path}/package.json`),
    );
  });

  test('a root that starts by itself is the app', () => {
    expect(
      planOf({ ...shop, 'package.json': packageJson({ workspaces: ['apps/*'], scripts: { start: 'node all.js' } }) })
        .start,
    ).toEqual(['node', 'all.js']);
  });

  test('a folder that no workspace lists stands alone', () => {
    const plan = planOf(
      { ...shop, 'tools/x/package.json': member('x', { scripts: { start: 'node x.js' } }) },
      { env: { BERTH_ROOT: 'tools/x' } },
    );
    expect(plan.stages.at(-1)?.steps[0]).toEqual({
      kind: 'copy',
      sources: ['source/tools/x/'],
      target: '/app/',
      owned: true,
    });
  });
});
