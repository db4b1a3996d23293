import { describe, expect, test } from 'bun:test';
import { type Files, dockerfileOf, fileOf, packageJson, planOf, refusal } from './support.ts';

const config = (value: Record<string, unknown>): string => JSON.stringify(value);
const tasks = (value: Record<string, unknown>, files: Files = {}): Files => ({
  'deno.json': config({ tasks: value }),
  ...files,
});

/** What is run, without the words around it that make Deno listen on PORT. */
const command = (files: Files): string =>
  planOf(files)
    .start.join(' ')
    .replace(/^\/bin\/sh -c DENO_SERVE_ADDRESS="\S+" exec /, '');

describe('which apps are for Deno', () => {
  const main = { 'main.ts': '' };
  test.each<[string, Files, string]>([
    ['deno.json', { 'deno.json': '{}', ...main }, 'deno'],
    ['deno.jsonc with comments', { 'deno.jsonc': '// a\n{ "tasks": {}, }', ...main }, 'deno'],
    ['deno.lock alone', { 'deno.lock': '{"version":"5"}', ...main }, 'deno'],
    [
      'a start task beside a package.json with a start script',
      { ...tasks({ start: 'deno run a.ts' }), 'package.json': packageJson({ scripts: { start: 'x' } }) },
      'deno',
    ],
    [
      'a deno.lock and a package.json for dependencies',
      { 'deno.json': '{}', 'deno.lock': '{}', 'package.json': packageJson({ dependencies: { ms: '2' } }), ...main },
      'deno',
    ],
    [
      'not a Node app with a deno.json for the formatter',
      { 'deno.json': config({ fmt: {} }), 'package.json': packageJson({ scripts: { start: 'node a' } }), ...main },
      'node',
    ],
    [
      'not a Node app that is published with deno.json',
      {
        'deno.json': config({ name: '@a/b', exports: './mod.ts' }),
        'package.json': packageJson({ main: 'index.js' }),
        'index.js': '',
      },
      'node',
    ],
    ['not a page with a deno.json for its formatter', { 'deno.json': '{}', 'index.html': '' }, 'static'],
  ])('%s', (_title, files, provider) => {
    expect(planOf(files).provider).toBe(provider);
  });

  test('a broken deno.json is named with its line', () => {
    expect(refusal({ 'deno.json': '{\n "tasks": {\n', 'main.ts': '' }).message).toStartWith('deno.json:');
  });
});

describe('what is started', () => {
  test.each<[string, Files, string]>([
    [
      'the start task, with its permissions',
      tasks({ start: 'deno run --allow-net --allow-env=PORT src/a.ts' }),
      'deno run --allow-net --allow-env=PORT src/a.ts',
    ],
    [
      'a task as an object',
      tasks({ start: { command: 'deno serve -A a.ts', description: 'x' } }),
      'deno serve -A a.ts',
    ],
    ['a task that calls another', tasks({ start: 'deno task serve', serve: 'deno run -A a.ts' }), 'deno run -A a.ts'],
    ['a task that calls itself', tasks({ start: 'deno task start' }), 'deno task start'],
    [
      'a task with others before it',
      tasks({ start: { command: 'deno run a.ts', dependencies: ['build'] } }),
      'deno task start',
    ],
    ['a task of several commands', tasks({ start: 'deno run a.ts && deno run b.ts' }), 'deno task start'],
    ['a task with a variable', tasks({ start: 'deno run --allow-net=$HOST a.ts' }), 'deno task start'],
    ['a task that runs a tool of npm', tasks({ start: 'vite preview' }), 'deno task start'],
    ['without watching', tasks({ start: 'deno run -A --watch=static/,routes/ main.ts' }), 'deno run -A main.ts'],
    [
      'main.ts instead of dev.ts',
      tasks({ start: 'deno run -A --watch=static/,routes/ dev.ts' }, { 'main.ts': '', 'dev.ts': '' }),
      'deno run -A main.ts',
    ],
    [
      'preview instead of a start for development',
      tasks({ start: 'deno run -A --watch=static/ dev.ts', preview: 'deno run -A main.ts' }),
      'deno run -A main.ts',
    ],
    ['main.ts', { 'deno.json': '{}', 'main.ts': '', 'server.ts': '' }, 'deno run --allow-all main.ts'],
    ['server.ts', { 'deno.json': '{}', 'server.ts': '', 'index.js': '' }, 'deno run --allow-all server.ts'],
    ['src/main.tsx', { 'deno.json': '{}', 'src/main.tsx': '' }, 'deno run --allow-all src/main.tsx'],
    [
      'a mod.ts that serves',
      { 'deno.json': '{}', 'mod.ts': 'Deno.serve(() => new Response())' },
      'deno run --allow-all mod.ts',
    ],
    [
      'a mod.ts that exports fetch',
      { 'deno.json': '{}', 'mod.ts': 'export default { async fetch() {} }' },
      'deno run --allow-all mod.ts',
    ],
    [
      'with the permissions that deno.json sets',
      { 'deno.json': config({ permissions: { default: { net: true } } }), 'main.ts': '' },
      'deno run --permission-set main.ts',
    ],
    ['what the Procfile says', { 'deno.json': '{}', Procfile: 'web: deno serve -A x.ts' }, 'deno serve -A x.ts'],
  ])('%s', (_title, files, start) => {
    expect(command(files)).toBe(start);
  });

  test('a start task for development is said so', () => {
    expect(planOf(tasks({ start: 'deno run -A --watch main.ts' })).warnings).toEqual([
      'the start task of deno.json is for development: it is started as deno run -A main.ts',
    ]);
  });

  test('a library has no start command', () => {
    const error = refusal({
      'deno.json': config({ exports: './mod.ts' }),
      'mod.ts': 'export const a = "serve";// serve',
    });
    expect(error.message).toStartWith('a Deno app was detected, but it has no start command');
  });

  test('a workspace without root lists its members', () => {
    const error = refusal({
      'deno.json': config({ workspace: ['./api', './lib'] }),
      'api/deno.json': '{}',
      'lib/deno.json': '{}',
    });
    expect(error.hint).toStartWith('set root in the [build] table of berth.toml to one of api, lib');
  });
});

describe('dependencies', () => {
  const LOCK = config({ version: '5', specifiers: {}, workspace: { dependencies: ['npm:hono@4', 'jsr:@std/path@1'] } });
  const files = (imports: Record<string, string>, lock: string = LOCK): Files => ({
    'deno.json': config({ imports }),
    'deno.lock': lock,
    'main.ts': '',
  });
  test.each<[string, Files, string, number]>([
    [
      'a lock file is frozen',
      files({ hono: 'npm:hono@^4', path: 'jsr:@std/path@^1/posix' }),
      'deno install --frozen',
      0,
    ],
    ['local names do not matter', files({ '@/': './src/', x: 'https://deno.land/x/y.ts' }), 'deno install --frozen', 0],
    ['a drifted one is not, and that is said', files({ hono: 'npm:hono@^4', ms: 'npm:ms@2' }), 'deno install', 1],
    ['one of Deno 1 is not', files({}, config({ version: '3' })), 'deno install', 1],
    ['without one', { 'deno.json': '{}', 'main.ts': '' }, 'deno install', 0],
    [
      'one that deno.json switches off',
      { 'deno.json': config({ lock: false }), 'deno.lock': LOCK, 'main.ts': '' },
      'deno install',
      0,
    ],
  ])('%s', (_title, given, install, warnings) => {
    const plan = planOf(given);
    expect({ install: plan.install, warnings: plan.warnings.length }).toEqual({ install: [install], warnings });
  });

  test('variables of a private registry are seen by the install alone', () => {
    const plan = planOf(
      { 'deno.json': '{}', 'main.ts': '', '.npmrc': '//r.example/:_authToken=${TOKEN}' },
      { env: { TOKEN: 'x', OTHER: 'y' } },
    );
    expect(plan.installEnv).toEqual(['TOKEN']);
    expect(plan.stages[0]?.steps.at(-1)).toMatchObject({ command: 'deno install', env: 'install' });
  });

  test('development dependencies of a package.json are gone after the build', () => {
    const plan = planOf({
      'deno.json': '{}',
      'deno.lock': '{"version":"5"}',
      'package.json': packageJson({ devDependencies: { vite: '6' } }),
      'main.ts': '',
    });
    expect(plan.stages[1]?.steps.at(-1)).toMatchObject({
      command: expect.stringContaining('rm -rf node_modules && deno install --prod'),
    });
  });

  test('a lock file of a later version than known is left to Deno', () => {
    expect(planOf(files({}, config({ version: '6' }))).install).toEqual(['deno install --frozen']);
  });
});

describe('frameworks, sites and workspaces', () => {
  test('Fresh 2 is built and served', () => {
    const plan = planOf({
      'deno.json': config({
        imports: { fresh: 'jsr:@fresh/core@^2' },
        tasks: { build: 'vite build', start: 'deno serve -A _fresh/server.js' },
      }),
      'main.ts': '',
    });
    expect({ framework: plan.framework, build: plan.build }).toEqual({
      framework: 'Fresh',
      build: ['deno task build'],
    });
    expect(plan.start[2]).toEndWith('exec deno serve -A _fresh/server.js');
  });

  test('Lume leaves a site', () => {
    const plan = planOf(
      {
        'deno.json': config({
          imports: { 'lume/': 'https://deno.land/x/lume@v2/' },
          tasks: { build: 'deno task lume' },
        }),
        'index.md': '',
      },
      { env: { BERTH_PROVIDER: 'deno' } },
    );
    expect({ framework: plan.framework, site: plan.staticRoot, start: plan.start[0] }).toEqual({
      framework: 'Lume',
      site: '_site',
      start: 'caddy',
    });
  });

  test('[build] output is served as files', () => {
    expect(
      planOf(tasks({ build: 'x' }, { 'berth.toml': '[build]\noutput = "./dist/"\n' })).stages.at(-1)?.steps,
    ).toContainEqual({ kind: 'copy', from: 'build', sources: ['/app/dist/'], target: '/srv/', owned: true });
  });

  test('a member is built in its workspace', () => {
    const plan = planOf(
      {
        'deno.json': config({ workspace: ['api', 'lib'] }),
        'deno.lock': '{"version":"5"}',
        'api/deno.json': config({ tasks: { start: 'deno run -A main.ts' } }),
        'api/main.ts': '',
        'lib/deno.json': '{}',
      },
      { env: { BERTH_ROOT: 'api' } },
    );
    expect(fileOf(plan, 'berth/manifests/lib/deno.json')).toBe('{}');
    expect(plan.stages.at(-1)?.steps).toContainEqual({ kind: 'workdir', path: '/app/api' });
    expect(plan.start[2]).toEndWith('exec deno run -A main.ts');
  });

  test('versions come from version files', () => {
    expect(planOf({ 'deno.json': '{}', 'main.ts': '', '.tool-versions': 'deno 2.4.1\n' }).versions).toEqual([
      { tool: 'deno', version: '2', reason: '.tool-versions:1 says "2.4.1"' },
    ]);
    expect(refusal({ 'deno.json': '{}', 'main.ts': '', '.dvmrc': '1.46.3' }).message).toContain(
      'which no known version satisfies',
    );
    expect(planOf({ 'deno.json': '{}', 'main.ts': '' }, { env: { BERTH_VERSION: '2.4.1' } }).versions[0]?.version).toBe(
      '2.4.1',
    );
  });
});

test('the Dockerfile', () => {
  const files = {
    'deno.json': config({ tasks: { start: 'deno run --allow-net main.ts' } }),
    'deno.lock': '{"version":"5"}',
    'main.ts': '',
  };
  expect(dockerfileOf(files)).toBe(`FROM node:24-slim AS deps
RUN --mount=type=cache,id=berth-shop-web-npm,target=/root/.npm npm install --global --no-audit --no-fund --loglevel=error 'deno@2'
ENV DENO_DIR=/root/.cache/deno DENO_NO_UPDATE_CHECK=1
WORKDIR /app
COPY source/deno.json source/deno.lock ./
RUN --mount=type=cache,id=berth-shop-web-deno,target=/root/.cache/deno deno install --frozen

FROM deps AS build
COPY berth/gather.mjs /berth/gather.mjs
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-deno,target=/root/.cache/deno --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && deno cache main.ts && deno run --quiet --no-config --no-lock --allow-all /berth/gather.mjs /root/.cache/deno /deno-dir /app

FROM debian:trixie-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
COPY --from=deps /usr/local/lib/node_modules/deno/deno /usr/local/bin/deno
COPY --from=build --chown=1000:1000 /deno-dir/ /deno-dir/
COPY --from=build --chown=1000:1000 /app/ /app/
WORKDIR /app
ENV DENO_AUTO_SERVE=1 DENO_DIR=/deno-dir DENO_NO_PROMPT=1 DENO_NO_UPDATE_CHECK=1 HOST=0.0.0.0 HOSTNAME=0.0.0.0 NODE_ENV=production PORT=8080
USER app
EXPOSE 8080
CMD ["/bin/sh","-c","DENO_SERVE_ADDRESS=\\"\${DENO_SERVE_ADDRESS:-tcp:0.0.0.0:\${PORT:-8080}}\\" exec deno run --allow-net main.ts"]
`);
});
