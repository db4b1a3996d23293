import { describe, expect, test } from 'bun:test';
import type { Plan } from '#engines/builder/plan';
import { type Files, type Given, dockerfileOf, planOf, refusal } from './support.ts';

const MOD = 'module example.com/shop\n\ngo 1.22\n';
const MAIN = 'package main\n\nfunc main() {}\n';
const UUID = `${MOD}\nrequire github.com/google/uuid v1.6.0\n`;
const UUID_SUM = 'github.com/google/uuid v1.6.0 h1:a=\ngithub.com/google/uuid v1.6.0/go.mod h1:b=\n';

const targets = (plan: Plan): string[] =>
  plan.build.map((command) => /-o \/out\/(\S+ \S+)/.exec(command)?.[1] ?? '').filter((target) => target !== '');

/** What is built of a module, and under which name. */
const built = (files: Files, given: Given = {}): string[] => targets(planOf({ 'go.mod': MOD, ...files }, given));

const module = (name: string, more = ''): string => `module example.com/${name}\n\ngo 1.24\n${more}`;

describe('which package is built', () => {
  test.each<[string, Files, Given, string]>([
    ['the root package', { 'main.go': MAIN, 'cmd/other/main.go': MAIN }, {}, '.'],
    ['a root package in a file with another name', { 'server.go': `// Package main.\n${MAIN}` }, {}, '.'],
    ['the only one under cmd', { 'lib.go': 'package a', 'cmd/tool/main.go': MAIN }, {}, './cmd/tool'],
    [
      'the one with the name of the service',
      { 'cmd/api/main.go': MAIN, 'cmd/worker/main.go': MAIN },
      { service: 'worker' },
      './cmd/worker',
    ],
    [
      'the one with the name of the module',
      { 'cmd/shop/main.go': MAIN, 'cmd/shopctl/main.go': MAIN },
      {},
      './cmd/shop',
    ],
    [
      'the one that the Procfile starts',
      { 'cmd/api/main.go': MAIN, 'cmd/worker/main.go': MAIN, Procfile: 'web: bin/api --port $PORT\n' },
      {},
      './cmd/api',
    ],
    ['one deeper below cmd', { 'cmd/a/b/main.go': MAIN }, {}, './cmd/a/b'],
    ['one elsewhere', { 'server/run.go': MAIN }, {}, './server'],
    ['the app, not the helpers of its authors', { 'tools/gen/main.go': MAIN, 'app/main.go': MAIN }, {}, './app'],
    ['a helper where there is nothing else', { 'scripts/run.go': MAIN }, {}, './scripts'],
    ['not a test', { 'a_test.go': 'package main', 'cmd/x/x.go': MAIN }, {}, './cmd/x'],
    ['not a vendored one', { 'vendor/x/main.go': MAIN, 'cmd/x/x.go': MAIN }, {}, './cmd/x'],
    ['not an example', { 'examples/a/main.go': MAIN, 'x/x.go': MAIN }, {}, './x'],
    ['not one of another module below', { 'other/go.mod': MOD, 'other/main.go': MAIN, 'x/x.go': MAIN }, {}, './x'],
    ['not one that is ignored', { 'gen.go': `//go:build ignore\n\n${MAIN}`, 'cmd/x/x.go': MAIN }, {}, './cmd/x'],
    ['not one for Windows', { 'a/a_windows.go': MAIN, 'x/x.go': MAIN }, {}, './x'],
    ['one for Unix', { 'x/x.go': `//go:build unix\n\n${MAIN}` }, {}, './x'],
    ['not one in a comment', { 'a.go': '/*\npackage main\n*/\npackage a', 'cmd/x/x.go': MAIN }, {}, './cmd/x'],
    [
      'a root inside the module',
      { 'lib.go': 'package a', 'cmd/a/m.go': MAIN, 'cmd/b/m.go': MAIN },
      { env: { BERTH_ROOT: 'cmd/b' } },
      './cmd/b',
    ],
    [
      'what lies below a root',
      { 'main.go': MAIN, 'services/a/m.go': MAIN },
      { env: { BERTH_ROOT: 'services', BERTH_PROVIDER: 'go' } },
      './services/a',
    ],
  ])('%s', (_title, files, given, target) => {
    expect(built(files, given)).toEqual([`app ${target}`]);
  });

  test('several main packages and no choice are an error that lists them', () => {
    expect(refusal({ 'go.mod': MOD, 'cmd/api/main.go': MAIN, 'cmd/worker/main.go': MAIN })).toMatchObject({
      kind: 'INVALID_INPUT',
      message: 'this module has several main packages: ./cmd/api, ./cmd/worker',
      hint: 'set root to one of them (root = "cmd/api") in the [build] table of berth.toml, or in [services.<name>.build]; or name the service after it',
    });
  });

  test('a library says that it cannot be started', () => {
    expect(refusal({ 'go.mod': MOD, 'a.go': 'package a' }).message).toStartWith(
      'a Go module was detected, but it has no start command',
    );
  });

  test('a lone main.go gets a module', () => {
    const plan = planOf({ 'main.go': MAIN });
    expect(plan.build.slice(0, 2)).toEqual(['go mod init app', 'go mod tidy']);
    expect(targets(plan)).toEqual(['app .']);
    expect(plan.install).toEqual([]);
  });
});

describe('programs that commands name', () => {
  const files = { 'go.mod': MOD, 'cmd/server/main.go': MAIN, 'cmd/migrate/main.go': MAIN };
  const places = (plan: Plan): string[] =>
    (plan.stages.at(-1)?.steps ?? []).flatMap((step) =>
      step.kind === 'copy' && step.sources[0]?.startsWith('/out/') ? [`${step.sources[0]} ${step.target}`] : [],
    );

  test.each([
    ['web: bin/server', ['/out/app /app/bin/server']],
    ['web: ./server -v', ['/out/app /app/server']],
    ['web: server', ['/out/app /usr/local/bin/server']],
    ['web: MODE=x exec server $ARGS', ['/out/app /usr/local/bin/server']],
    ['web: migrate up && exec bin/server', ['/out/app /app/bin/server', '/out/migrate /usr/local/bin/migrate']],
    ['web: server\nrelease: bin/migrate up', ['/out/app /usr/local/bin/server', '/out/migrate /app/bin/migrate']],
    ['release: migrate', ['/out/app /usr/local/bin/app', '/out/migrate /usr/local/bin/migrate']],
  ])('%s', (procfile, expected) => {
    expect(places(planOf({ ...files, Procfile: `${procfile}\n` }, { service: 'server' }))).toEqual(expected);
  });

  test('are built one by one', () => {
    const plan = planOf({ ...files, 'berth.toml': '[build]\nrelease = "migrate up"\n' }, { service: 'server' });
    expect(targets(plan)).toEqual(['app ./cmd/server', 'migrate ./cmd/migrate']);
    expect({ start: plan.start, release: plan.releaseCommand }).toEqual({
      start: ['/usr/local/bin/app'],
      release: ['migrate', 'up'],
    });
  });
});

describe('the version', () => {
  const versionOf = (files: Files, given: Given = {}): string =>
    planOf({ 'go.mod': MOD, 'main.go': MAIN, ...files }, given).stages[0]?.from ?? '';

  test.each<[string, Files, Given, string]>([
    ['go.mod names the least that will do', {}, {}, 'golang:1.26'],
    ['what is remembered stays, where it will do', {}, { remembered: { go: '1.24' } }, 'golang:1.24'],
    [
      'what is remembered goes, where it will not do',
      { 'go.mod': module('a').replace('1.24', '1.25') },
      { remembered: { go: '1.24' } },
      'golang:1.26',
    ],
    ['.go-version narrows it', { '.go-version': '1.23.4\n' }, {}, 'golang:1.23'],
    ['.tool-versions narrows it', { '.tool-versions': 'golang 1.24.1\n' }, {}, 'golang:1.24'],
    ['mise.toml narrows it', { 'mise.toml': '[tools]\ngo = "1.25"\n' }, {}, 'golang:1.25'],
    ['a version file below go.mod does not count', { 'go.mod': module('a'), '.go-version': '1.21' }, {}, 'golang:1.26'],
    ['[build] version is taken to the letter', {}, { env: { BERTH_VERSION: '1.24.3' } }, 'golang:1.24.3'],
    [
      'a toolchain line counts',
      { 'go.mod': `${MOD}toolchain go1.25.1\n` },
      { remembered: { go: '1.24' } },
      'golang:1.26',
    ],
    ['a newer line has an image of its own', { 'go.mod': 'module a\n\ngo 1.27\n' }, {}, 'golang:1.27'],
    ['a release candidate counts', { 'go.mod': 'module a\n\ngo 1.26rc1\n' }, {}, 'golang:1.26'],
    ['a Go that is newer than every image is fetched', { 'go.mod': 'module a\n\ngo 1.99.1\n' }, {}, 'golang:1.26'],
  ])('%s', (_title, files, given, image) => {
    expect(versionOf(files, given)).toBe(image);
  });

  test('says that Go fetches a newer toolchain', () => {
    const plan = planOf({ 'go.mod': 'module a\n\ngo 1.99.1\n', 'main.go': MAIN });
    expect(plan.decisions).toContain('go.mod:3 asks for Go 1.99.1: Go 1.26 fetches that toolchain');
    expect(plan.stages[0]?.steps).toContainEqual({ kind: 'env', values: { GOTOOLCHAIN: 'auto' } });
  });

  test('says where it comes from', () => {
    expect(planOf({ 'go.mod': MOD, 'main.go': MAIN }).versions).toEqual([
      { tool: 'go', version: '1.26', reason: 'go.mod:3 says "1.22"' },
    ]);
  });
});

describe('modules', () => {
  const plan = (files: Files, given: Given = {}): Plan =>
    planOf({ 'go.mod': UUID, 'go.sum': UUID_SUM, 'main.go': MAIN, ...files }, given);

  test('are downloaded in a step of their own, before the sources', () => {
    expect(plan({}).install).toEqual(['go mod download']);
    expect(plan({}).build[0]).not.toContain('-mod');
  });

  test('are not downloaded when there are none', () => {
    expect(planOf({ 'go.mod': MOD, 'main.go': MAIN }).install).toEqual([]);
  });

  test('of vendor/ are used as they are', () => {
    const vendored = plan({ 'vendor/modules.txt': '# github.com/google/uuid v1.6.0\n## explicit\n' });
    expect({ install: vendored.install, warnings: vendored.warnings }).toEqual({ install: [], warnings: [] });
    expect(vendored.decisions).toContain('modules: vendor/ is there, nothing is downloaded');
    expect(vendored.build[0]).not.toContain('-mod');
  });

  test.each<[string, Files, string]>([
    [
      'go.sum',
      { 'go.sum': 'github.com/google/uuid v1.5.0 h1:a=\n' },
      'WARNING: go.sum does not match go.mod (github.com/google/uuid)',
    ],
    [
      'vendor/',
      { 'vendor/modules.txt': '# github.com/google/uuid v1.5.0\n' },
      'WARNING: vendor/modules.txt does not match go.mod (github.com/google/uuid)',
    ],
  ])('that drifted from %s are taken all the same, with a warning', (_title, files, warning) => {
    const drifted = plan(files);
    expect(drifted.warnings[0]).toStartWith(warning);
    expect(drifted.build[0]).toContain('go build -trimpath -mod=mod');
    expect(drifted.install).toEqual(['go mod download']);
  });

  test('that are private see their credentials, and no layer does', () => {
    const env = { GOPRIVATE: 'github.com/acme', GITHUB_TOKEN: 's3cret', OTHER: 'x' };
    const text = dockerfileOf({ 'go.mod': UUID, 'go.sum': UUID_SUM, 'main.go': MAIN }, { env });
    expect(plan({}, { env }).installEnv).toEqual(['GITHUB_TOKEN', 'GOPRIVATE']);
    expect(text).toContain(
      'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.https://x-access-token:$GITHUB_TOKEN@github.com/.insteadOf" GIT_CONFIG_VALUE_0=https://github.com/ && go mod download',
    );
    expect(text).not.toContain('s3cret');
  });
});

describe('cgo', () => {
  const plan = (files: Files, given: Given = {}): Plan => planOf({ 'go.mod': MOD, 'main.go': MAIN, ...files }, given);
  const sqlite = `${MOD}\nrequire github.com/mattn/go-sqlite3 v1.14.22\n`;

  test.each<[string, Files, Given, string]>([
    ['is off', {}, {}, 'CGO_ENABLED=0'],
    ['is on for a module that needs it', { 'go.mod': sqlite }, {}, 'CGO_ENABLED=1'],
    [
      'is on for code that imports C',
      { 'a/a.go': 'package a\n\n// #include <stdio.h>\nimport "C"\n' },
      {},
      'CGO_ENABLED=1',
    ],
    [
      'is on for code that imports C in a block',
      { 'a.go': 'package main\n\nimport (\n\t"C"\n)\n' },
      {},
      'CGO_ENABLED=1',
    ],
    ['is what the project says', { 'go.mod': sqlite }, { env: { CGO_ENABLED: '0' } }, 'CGO_ENABLED=0'],
    ['is what the project says, the other way', {}, { env: { CGO_ENABLED: '1' } }, 'CGO_ENABLED=1'],
  ])('%s', (_title, files, given, start) => {
    expect(plan(files, given).build[0]).toStartWith(`${start} go build`);
  });

  test('brings the libraries that the program was linked with', () => {
    const vips = plan({ 'go.mod': `${MOD}\nrequire github.com/h2non/bimg v1.1.9\n` });
    expect(vips.apt.build).toEqual(['libvips-dev']);
    expect(vips.stages.at(-1)?.steps).toContainEqual({
      kind: 'copy',
      from: 'build',
      sources: ['/out/lib/'],
      target: '/usr/local/lib/',
    });
  });

  test('keeps the tags of GOFLAGS', () => {
    expect(plan({}, { env: { GOFLAGS: '-tags=prod' } }).build[0]).not.toContain('-tags');
  });
});

describe('workspaces', () => {
  const files: Files = {
    'go.work': 'go 1.24\n\nuse (\n\t./lib\n\t./services/api // the API\n\t./services/worker\n)\n',
    'lib/go.mod': module('lib', 'require github.com/google/uuid v1.6.0\n'),
    'lib/go.sum': UUID_SUM,
    'lib/lib.go': 'package lib',
    'services/api/go.mod': module('api'),
    'services/api/main.go': MAIN,
    'services/api/templates/a.html': '',
    'services/worker/go.mod': module('worker'),
    'services/worker/main.go': MAIN,
  };

  test('several apps and no choice are an error that lists them', () => {
    const error = refusal(files);
    expect(error.message).toBe('this workspace has several main packages: ./services/api, ./services/worker');
    expect(error.hint).toStartWith('set root to one of them (root = "services/api")');
  });

  test.each<[string, Given]>([
    ['root', { env: { BERTH_ROOT: 'services/api' } }],
    ['the name of the service', { service: 'api' }],
  ])('the whole workspace is the context of the app that %s picks', (_title, given) => {
    expect(dockerfileOf(files, given)).toBe(`FROM golang:1.26 AS build
ENV GOTOOLCHAIN=auto
RUN mkdir -p /berth/bare/etc/ssl/certs /berth/bare/tmp /berth/bare/home/app /berth/bare/app && cp /etc/ssl/certs/ca-certificates.crt /berth/bare/etc/ssl/certs/ && echo root:x:0:0:root:/root:/sbin/nologin > /berth/bare/etc/passwd && echo app:x:1000:1000::/home/app:/sbin/nologin >> /berth/bare/etc/passwd && echo root:x:0: > /berth/bare/etc/group && echo app:x:1000: >> /berth/bare/etc/group && chmod 1777 /berth/bare/tmp && chown 1000:1000 /berth/bare/home/app /berth/bare/app
WORKDIR /app
COPY source/go.work ./
COPY berth/manifests/ ./
WORKDIR /app/services/api
RUN --mount=type=cache,id=berth-shop-web-go-mod,target=/go/pkg/mod go mod download
WORKDIR /app
COPY source/ ./
WORKDIR /app/services/api
RUN --mount=type=cache,id=berth-shop-web-go-build,target=/root/.cache/go-build --mount=type=cache,id=berth-shop-web-go-mod,target=/go/pkg/mod --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && CGO_ENABLED=0 go build -trimpath -tags timetzdata -ldflags "-s -w" -o /out/app .

FROM scratch AS runtime
COPY --from=build /berth/bare/ /
WORKDIR /app
COPY --from=build /out/app /usr/local/bin/app
COPY --chown=1000:1000 source/services/api/templates/ ./templates/
ENV GIN_MODE=release HOST=0.0.0.0 HOSTNAME=0.0.0.0 PORT=8080
USER app
EXPOSE 8080
CMD ["/usr/local/bin/app"]
`);
    expect(planOf(files, given).files.map(({ path }) => path)).toEqual([
      'berth/manifests/lib/go.mod',
      'berth/manifests/lib/go.sum',
      'berth/manifests/services/api/go.mod',
      'berth/manifests/services/worker/go.mod',
    ]);
  });

  test('a program of another module is built from where the app is', () => {
    const expected = ['app .', 'worker ../worker'];
    expect(targets(planOf({ ...files, Procfile: 'release: bin/worker\n' }, { service: 'api' }))).toEqual(expected);
    const rooted = planOf(
      { ...files, 'services/api/Procfile': 'release: worker\n' },
      { env: { BERTH_ROOT: 'services/api' } },
    );
    expect(targets(rooted)).toEqual(expected);
  });

  test('a program of the module above is built from where the app is', () => {
    const plan = planOf({
      'go.work': 'go 1.24\n\nuse (\n\t.\n\t./api\n)\n',
      'go.mod': module('tools'),
      'main.go': MAIN,
      'api/go.mod': module('api'),
      'api/main.go': MAIN,
      'api/Procfile': 'release: tools migrate\n',
      'berth.toml': '[build]\nroot = "api"\n',
    });
    expect(targets(plan)).toEqual(['app .', 'tools ..']);
  });

  test('a module that go.work does not list is built without it', () => {
    const plan = planOf(
      { ...files, 'tool/go.mod': module('tool'), 'tool/main.go': MAIN },
      { env: { BERTH_ROOT: 'tool' } },
    );
    expect(plan.warnings).toEqual(['go.work does not list this module: it is built without the workspace']);
    expect(plan.stages[0]?.steps[0]).toEqual({ kind: 'env', values: { GOTOOLCHAIN: 'auto', GOWORK: 'off' } });
  });

  test('modules that replace others come along', () => {
    const plan = planOf(
      {
        'api/go.mod': module('api', 'require example.com/lib v0.0.0\nreplace example.com/lib => ../lib\n'),
        'api/main.go': MAIN,
        'lib/go.mod': module('lib'),
        'lib/lib.go': 'package lib',
        'web/index.html': '',
      },
      { env: { BERTH_ROOT: 'api' } },
    );
    expect(plan.stages[0]?.steps.filter(({ kind }) => kind === 'copy' || kind === 'workdir')).toEqual([
      { kind: 'workdir', path: '/app' },
      { kind: 'copy', sources: ['berth/manifests/'], target: './' },
      { kind: 'workdir', path: '/app/api' },
      { kind: 'workdir', path: '/app' },
      { kind: 'copy', sources: ['source/'], target: './' },
      { kind: 'workdir', path: '/app/api' },
    ]);
    expect(plan.warnings).toEqual([]);
  });

  test('a build command of your own runs in the folder of the app, and all of that is kept', () => {
    const plan = planOf(files, { env: { BERTH_ROOT: 'services/api', BERTH_BUILD: 'make', BERTH_START: './api' } });
    expect(plan.build).toEqual(['make']);
    expect(plan.stages.at(-1)?.steps).toContainEqual({
      kind: 'copy',
      from: 'build',
      sources: ['/app/services/api/'],
      target: './',
      owned: true,
    });
  });
});

describe('wrong input', () => {
  test.each<[string, Files, string]>([
    ['an unknown directive', { 'go.mod': `${MOD}requir x v1\n` }, 'go.mod:4: unknown directive: requir'],
    [
      'an impossible version',
      { 'go.mod': 'module a\n\ngo 1.x\n' },
      'go.mod:3: invalid go version "1.x": write one such as 1.24',
    ],
    [
      'an impossible toolchain',
      { 'go.mod': `${MOD}toolchain gopher\n` },
      'go.mod:4: invalid toolchain version "gopher": write one such as 1.24',
    ],
    ['no module line', { 'go.mod': 'go 1.22\n' }, 'go.mod:1: it has no module line such as "module example.com/app"'],
    ['an open block', { 'go.mod': `${MOD}require (\n\ta v1\n` }, 'go.mod: the block "require (" is not closed'],
    [
      'a requirement without a version',
      { 'go.mod': `${MOD}require (\n\texample.com/a\n)\n` },
      'go.mod:5: require example.com/a names no version',
    ],
    [
      'a replacement outside of the source',
      { 'go.mod': `${MOD}replace a => ../../lib\n` },
      'go.mod:4 names ../../lib, which lies outside of the source',
    ],
    [
      'a replacement that is not there',
      { 'go.mod': `${MOD}replace a => ./lib\n` },
      'go.mod:4 names ./lib, which is not in the source',
    ],
    [
      'a workspace of folders that are not there',
      { 'go.work': 'go 1.22\n\nuse ./nope\n' },
      'go.work:3 names ./nope, which is not in the source',
    ],
  ])('%s is refused with its place', (_title, files, message) => {
    expect(refusal({ 'go.mod': MOD, 'main.go': MAIN, ...files }).message).toBe(message);
  });

  test('a build command of your own needs a start command', () => {
    expect(refusal({ 'go.mod': MOD, 'main.go': MAIN }, { env: { BERTH_BUILD: 'make' } }).message).toBe(
      'a Go app with a build command of its own was detected, but it has no start command (looked for [build] start)',
    );
  });

  test('names that no command may hold are refused', () => {
    expect(refusal({ 'go.mod': MOD, 'cmd/a b$(id)/main.go': MAIN }).message).toStartWith('the path "cmd/a b$(id)"');
  });
});

test('templates come along, Go files do not', () => {
  const copies = planOf({
    'go.mod': MOD,
    'main.go': MAIN,
    'templates/a.html': '',
    'web/web.go': 'package web',
    'settings.yaml': '',
  })
    .stages.at(-1)
    ?.steps.filter((step) => step.kind === 'copy' && step.owned);
  expect(copies).toEqual([
    { kind: 'copy', sources: ['source/settings.yaml'], target: './', owned: true },
    { kind: 'copy', sources: ['source/templates/'], target: './templates/', owned: true },
  ]);
});

test('the Dockerfile of a module with dependencies', () => {
  const files = { 'go.mod': UUID, 'go.sum': UUID_SUM, 'main.go': MAIN };
  expect(dockerfileOf(files).split('\nFROM')[0]).toBe(`FROM golang:1.26 AS build
ENV GOTOOLCHAIN=auto
RUN mkdir -p /berth/bare/etc/ssl/certs /berth/bare/tmp /berth/bare/home/app /berth/bare/app && cp /etc/ssl/certs/ca-certificates.crt /berth/bare/etc/ssl/certs/ && echo root:x:0:0:root:/root:/sbin/nologin > /berth/bare/etc/passwd && echo app:x:1000:1000::/home/app:/sbin/nologin >> /berth/bare/etc/passwd && echo root:x:0: > /berth/bare/etc/group && echo app:x:1000: >> /berth/bare/etc/group && chmod 1777 /berth/bare/tmp && chown 1000:1000 /berth/bare/home/app /berth/bare/app
WORKDIR /app
COPY source/go.mod source/go.sum ./
RUN --mount=type=cache,id=berth-shop-web-go-mod,target=/go/pkg/mod go mod download
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-go-build,target=/root/.cache/go-build --mount=type=cache,id=berth-shop-web-go-mod,target=/go/pkg/mod --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && CGO_ENABLED=0 go build -trimpath -tags timetzdata -ldflags "-s -w" -o /out/app .
`);
});

describe('what is around the program', () => {
  const base = (files: Files, given: Given = {}): string | undefined =>
    planOf({ 'go.mod': MOD, 'main.go': MAIN, ...files }, given).runtime?.baseImage;

  test.each<[string, Files, Given]>([
    ['for a program that needs nothing else', {}, {}],
    ['for one that a Procfile starts', { Procfile: 'web: shop --verbose\n' }, {}],
    ['for one with a release command of its own', { Procfile: 'release: ./shop migrate\n' }, {}],
    ['where only a test runs programs', { 'main_test.go': 'package main\n\nimport "os/exec"\n' }, {}],
  ])('is nothing %s', (_title, files, given) => {
    expect(base(files, given)).toBe('scratch');
  });

  test.each<[string, Files, Given, string]>([
    ['packages at run time', {}, { env: { BERTH_RUN_APT: 'ffmpeg' } }, 'of the packages that it is to have'],
    ['a command for a shell', { Procfile: 'web: shop --port $PORT | tee log\n' }, {}, 'the command "/bin/sh" needs it'],
    ['a script', { 'berth.toml': '[build]\nrelease = "./migrate.sh"\n' }, {}, 'the command "./migrate.sh" needs it'],
    [
      'programs it runs',
      { 'run/run.go': 'package run\n\nimport (\n\t"os/exec"\n)\n' },
      {},
      'run/run.go imports "os/exec"',
    ],
    [
      'a module that runs programs',
      { 'go.mod': `${MOD}\nrequire github.com/chromedp/chromedp v0.13.0\n`, 'go.sum': '' },
      {},
      'github.com/chromedp/chromedp runs other programs',
    ],
    ['cgo', {}, { env: { CGO_ENABLED: '1' } }, 'C libraries need it'],
  ])('is Debian for %s', (_title, files, given, why) => {
    expect(base(files, given)).toBe('debian:trixie-slim');
    expect(planOf({ 'go.mod': MOD, 'main.go': MAIN, ...files }, given).decisions).toContain(
      `image: Debian, because ${why}`,
    );
  });
});
