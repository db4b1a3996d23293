import { describe, expect, test } from 'bun:test';
import type { Plan } from '#engines/builder/plan';
import { type Files, type Given, dockerfileOf, planOf, refusal } from './support.ts';

const crate = (name: string, more = ''): string => `[package]\nname = "${name}"\nversion = "1.0.0"\n${more}`;
const locked = (...names: string[]): string =>
  `version = 4\n${names.map((name) => `\n[[package]]\nname = "${name}"\nversion = "1.0.0"\n`).join('')}`;

const SHOP: Files = { 'Cargo.toml': crate('shop'), 'Cargo.lock': locked('shop'), 'src/main.rs': '' };
const WORKSPACE: Files = {
  'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/old"]\n',
  'Cargo.lock': locked('api', 'shared', 'worker'),
  'crates/api/Cargo.toml': crate('api', '[dependencies]\nshared = { path = "../shared" }\n'),
  'crates/api/src/main.rs': '',
  'crates/api/templates/a.html': '',
  'crates/shared/Cargo.toml': crate('shared'),
  'crates/shared/src/lib.rs': '',
  'crates/worker/Cargo.toml': crate('worker'),
  'crates/worker/src/main.rs': '',
  'crates/old/Cargo.toml': crate('old'),
  'crates/old/src/main.rs': '',
};

const built = (files: Files, given: Given = {}): string[] =>
  planOf({ ...SHOP, 'src/main.rs': '', ...files }, given).build;

describe('which binary is built', () => {
  test.each<[string, Files, Given, string]>([
    ['the package', SHOP, {}, '--bin shop'],
    [
      'a named binary',
      { 'Cargo.toml': crate('shop', '[[bin]]\nname = "server"\npath = "src/main.rs"\n') },
      {},
      '--bin server',
    ],
    [
      'default-run',
      { 'Cargo.toml': crate('shop', 'default-run = "b"\n'), 'src/bin/a.rs': '', 'src/bin/b.rs': '' },
      {},
      '--bin b',
    ],
    ['the one with the name of the service', { 'src/bin/a.rs': '', 'src/bin/web/main.rs': '' }, {}, '--bin web'],
    ['the one with the name of the package', { 'src/bin/tool.rs': '' }, {}, '--bin shop'],
    [
      'the one that the Procfile starts',
      { 'src/bin/tool.rs': '', Procfile: 'web: ./target/release/tool' },
      {},
      '--bin tool',
    ],
    [
      'one with the features that it requires',
      {
        'Cargo.toml': crate(
          'shop',
          '[[bin]]\nname = "shop"\npath = "src/main.rs"\nrequired-features = ["http", "tls"]\n',
        ),
      },
      {},
      '--bin shop --features http,tls',
    ],
    [
      'no binary that cargo is told not to find',
      {
        'Cargo.toml': crate('shop', 'autobins = false\n[[bin]]\nname = "only"\n'),
        'src/bin/only.rs': '',
        'src/bin/b.rs': '',
      },
      {},
      '--bin only',
    ],
  ])('%s', (_title, files, given, flags) => {
    expect(built(files, given)).toEqual([`cargo build --release --locked ${flags}`]);
  });

  test.each<[string, Files, Given, string]>([
    ['the name of the service', {}, { service: 'worker' }, '--package worker --bin worker'],
    ['root', {}, { env: { BERTH_ROOT: 'crates/api' } }, '--package api --bin api'],
    [
      'default-members',
      {
        'Cargo.toml':
          '[workspace]\nmembers = ["crates/*"]\nexclude = ["crates/old"]\ndefault-members = ["crates/api"]\n',
      },
      {},
      '--package api --bin api',
    ],
    [
      'the only binary',
      { 'crates/worker/src/main.rs': '', 'Cargo.toml': '[workspace]\nmembers = ["crates/api", "crates/shared"]\n' },
      {},
      '--package api --bin api',
    ],
    [
      'a root package',
      {
        'Cargo.toml': `${crate('main')}[workspace]\nmembers = ["crates/*"]\n`,
        'src/main.rs': '',
        'Cargo.lock': locked('api', 'main', 'old', 'shared', 'worker'),
      },
      {},
      '--package main --bin main',
    ],
  ])('in a workspace: %s', (_title, files, given, flags) => {
    expect(planOf({ ...WORKSPACE, ...files }, given).build).toEqual([`cargo build --release --locked ${flags}`]);
  });

  test('several binaries and no choice are an error that lists them', () => {
    expect(refusal({ 'Cargo.toml': crate('shop'), 'src/bin/a.rs': '', 'src/bin/b.rs': '' })).toMatchObject({
      kind: 'INVALID_INPUT',
      message: 'this package has several binaries: a, b',
      hint: 'set default-run in Cargo.toml; or name the service after it',
    });
    expect(refusal(WORKSPACE)).toMatchObject({
      message: 'this workspace has several binaries: api, worker',
      hint: 'set root to its folder (crates/api, crates/worker) in the [build] table of berth.toml, or in [services.<name>.build]; or name the service after it',
    });
  });

  test('a library says that it cannot be started', () => {
    expect(refusal({ 'Cargo.toml': crate('shop'), 'src/lib.rs': '' }).message).toStartWith(
      'a Rust package was detected, but it has no start command',
    );
  });

  test('names that cargo would not take never reach a command', () => {
    expect(refusal({ 'Cargo.toml': crate('a && curl evil'), 'src/main.rs': '' }).kind).toBe('NO_PROVIDER_DETECTED');
  });

  test('programs that commands name are built too, and lie where those look', () => {
    const plan = planOf({
      ...SHOP,
      'src/bin/migrate.rs': '',
      Procfile: 'web: ./target/release/shop\nrelease: migrate up',
    });
    expect(plan.build).toEqual([
      'cargo build --release --locked --bin shop',
      'cargo build --release --locked --bin migrate',
    ]);
    expect(
      plan.stages.at(-1)?.steps.filter((step) => step.kind === 'copy' && step.sources[0]?.startsWith('/out')),
    ).toEqual([
      { kind: 'copy', from: 'build', sources: ['/out/app'], target: '/app/target/release/shop' },
      { kind: 'copy', from: 'build', sources: ['/out/migrate'], target: '/usr/local/bin/migrate' },
    ]);
  });
});

describe('the toolchain', () => {
  const from = (files: Files, given: Given = {}): string => planOf({ ...SHOP, ...files }, given).stages[0]?.from ?? '';
  const channel = (name: string): Files => ({ 'rust-toolchain.toml': `[toolchain]\nchannel = "${name}"\n` });

  test.each<[string, Files, Given, string]>([
    ['nothing', {}, {}, 'rust:1-slim'],
    ['stable', channel('stable'), {}, 'rust:1-slim'],
    ['stable for a host', channel('stable-x86_64-unknown-linux-gnu'), {}, 'rust:1-slim'],
    ['a line', channel('1.85'), {}, 'rust:1.85-slim'],
    ['a version: the newest of its line', channel('1.85.0'), {}, 'rust:1.85-slim'],
    ['a version for a host', channel('1.85.0-x86_64-unknown-linux-gnu'), {}, 'rust:1.85-slim'],
    ['an old file', { 'rust-toolchain': '1.80.1\n' }, {}, 'rust:1.80-slim'],
    ['mise.toml', { 'mise.toml': '[tools]\nrust = "1.88"\n' }, {}, 'rust:1.88-slim'],
    ['[build] version to the letter', channel('1.85'), { env: { BERTH_VERSION: '1.84.1' } }, 'rust:1.84.1-slim'],
    ['[build] version stable', channel('1.85'), { env: { BERTH_VERSION: 'stable' } }, 'rust:1-slim'],
  ])('%s', (_title, files, given, image) => expect(from(files, given)).toBe(image));

  test('a nightly is added by rustup, once, and is used', () => {
    const files = {
      ...SHOP,
      'rust-toolchain.toml': '[toolchain]\nchannel = "nightly-2026-01-15"\ntargets = ["wasm32-unknown-unknown"]\n',
    };
    const plan = planOf(files);
    expect(plan.versions).toEqual([
      { tool: 'rust', version: 'nightly-2026-01-15', reason: 'rust-toolchain.toml:2 asks for it' },
    ]);
    expect(plan.stages[0]?.steps.slice(0, 2)).toEqual([
      {
        kind: 'run',
        command:
          'rustup toolchain install nightly-2026-01-15 --profile minimal --no-self-update --target wasm32-unknown-unknown',
      },
      { kind: 'env', values: { RUSTUP_TOOLCHAIN: 'nightly-2026-01-15' } },
    ]);
    expect(plan.warnings).toEqual([]);
  });

  test('a nightly without a date is warned of', () => {
    expect(planOf({ ...SHOP, ...channel('nightly') }).warnings).toEqual([
      'rust-toolchain.toml:2 asks for nightly, which changes from day to day: pin one such as nightly-2026-01-15',
    ]);
  });

  test.each(['2.0', 'newest', '1.85.0.1', 'nightly; curl evil'])('%s is refused with its place', (name) => {
    expect(refusal({ ...SHOP, ...channel(name) }).message).toBe(
      `rust-toolchain.toml:2 asks for the Rust toolchain ${JSON.stringify(name)}`,
    );
  });

  test('targets and linkers of .cargo/config.toml are there', () => {
    const config =
      '[build]\ntarget = "x86_64-unknown-linux-musl"\n[target.x86_64-unknown-linux-musl]\nlinker = "clang"\nrustflags = ["-C", "link-arg=-fuse-ld=mold"]\n';
    const plan = planOf({ ...SHOP, '.cargo/config.toml': config });
    expect(plan.apt.build).toEqual(['clang', 'mold', 'musl-tools']);
    const text = dockerfileOf({ ...SHOP, '.cargo/config.toml': config });
    expect(text).toContain('RUN rustup target add x86_64-unknown-linux-musl\n');
    expect(text).toContain('cp target/x86_64-unknown-linux-musl/release/shop /out/app');
  });
});

describe('Cargo.lock', () => {
  const drift = (files: Files): Plan => planOf({ ...SHOP, ...files });

  test('is missed', () => {
    const plan = planOf({ 'Cargo.toml': crate('shop'), 'src/main.rs': '' });
    expect(plan.build).toEqual(['cargo build --release --bin shop']);
    expect(plan.warnings[0]).toStartWith('there is no Cargo.lock');
  });

  test.each<[string, Files, string]>([
    ['another version of the package', { 'Cargo.toml': crate('shop').replace('1.0.0', '1.1.0') }, 'shop'],
    ['a dependency that is not locked', { 'Cargo.toml': crate('shop', '[dependencies]\nserde = "1"\n') }, 'serde'],
    [
      'a range that the locked version is outside of',
      { 'Cargo.toml': crate('shop', '[dependencies]\nserde = "2"\n'), 'Cargo.lock': locked('shop', 'serde') },
      'serde',
    ],
  ])('that drifted is not taken to the letter, with a warning: %s', (_title, files, name) => {
    const plan = drift(files);
    expect(plan.build[0]).not.toContain('--locked');
    expect(plan.warnings[0]).toStartWith(`WARNING: Cargo.lock does not match Cargo.toml (${name})`);
  });

  test.each<[string, string]>([
    ['a caret', 'serde = "1"'],
    ['a tilde', 'serde = "~1.0"'],
    ['two bounds', 'serde = ">=0.9, <2"'],
    ['a wildcard', 'serde = "1.*"'],
    ['another name', 'json = { package = "serde", version = "1.0" }'],
    ['git', 'serde = { git = "https://example.com/serde" }'],
    ['something odd', 'serde = "what"'],
  ])('that matches is taken to the letter: %s', (_title, line) => {
    const plan = drift({
      'Cargo.toml': crate('shop', `[dependencies]\n${line}\n`),
      'Cargo.lock': locked('shop', 'serde'),
    });
    expect(plan.build[0]).toContain('--locked');
  });

  test('versions and dependencies of the workspace are followed', () => {
    const plan = planOf(
      {
        ...WORKSPACE,
        'Cargo.toml':
          '[workspace]\nmembers = ["crates/*"]\n[workspace.package]\nversion = "1.0.0"\n[workspace.dependencies]\nserde = "1"\n',
        'Cargo.lock': locked('api', 'shared', 'worker', 'old', 'serde'),
        'crates/api/Cargo.toml':
          '[package]\nname = "api"\nversion.workspace = true\n[dependencies]\nserde.workspace = true\n',
      },
      { service: 'api' },
    );
    expect(plan.build[0]).toContain('--locked');
  });
});

describe('system libraries', () => {
  const needs = (...names: string[]): { from: string | undefined; build: string[]; run: string[] } => {
    const plan = planOf({ ...SHOP, 'Cargo.lock': locked('shop', ...names) });
    return { from: plan.stages[0]?.from, build: plan.apt.build, run: plan.apt.run };
  };

  test.each<[string[], string[]]>([
    [['openssl-sys'], ['libssl-dev', 'pkg-config']],
    [
      ['openssl-sys', 'openssl-src'],
      ['make', 'perl'],
    ],
    [['pq-sys'], ['libpq-dev', 'pkg-config']],
    [['libsqlite3-sys'], ['libsqlite3-dev', 'pkg-config']],
    [['prost-build'], ['protobuf-compiler']],
    [['rdkafka-sys'], ['cmake', 'g++', 'make', 'pkg-config']],
    [['ring', 'windows-sys', 'js-sys', 'libz-sys', 'zstd-sys', 'linux-raw-sys', 'aws-lc-sys'], []],
  ])('%p', (names, build) => {
    expect(needs(...names)).toEqual({ from: 'rust:1-slim', build, run: [] });
  });

  test('of a crate that nobody knows are looked for in the full image', () => {
    expect(needs('frobnicate-sys').from).toBe('rust:1');
  });

  const depends = (name: string, on: string): string =>
    `${locked('shop', on)}\n[[package]]\nname = "${name}"\nversion = "1.0.0"\ndependencies = [\n "${on}",\n]\n`;

  test('bindgen and cmake count where a crate really uses them', () => {
    const build = (lock: string): string[] => planOf({ ...SHOP, 'Cargo.lock': lock }).apt.build;
    expect(build(depends('aws-lc-sys', 'cmake'))).toEqual([]);
    expect(build(depends('snappy', 'cmake'))).toEqual(['cmake', 'g++', 'make']);
    expect(build(depends('foo', 'bindgen 0.70.0'))).toEqual(['clang', 'libclang-dev']);
    expect(build(depends('libsqlite3-sys', 'cc'))).toEqual([]);
  });

  test('come into the image with the program', () => {
    const text = dockerfileOf({ ...SHOP, 'Cargo.lock': locked('shop', 'openssl-sys') });
    expect(text).toContain('COPY --from=build /out/lib/ /usr/local/lib/\nRUN ldconfig\n');
    expect(dockerfileOf(SHOP)).not.toContain('ldconfig');
  });
});

describe('frameworks', () => {
  test('Rocket listens where PORT says', () => {
    const plan = planOf({
      ...SHOP,
      'Cargo.toml': crate('shop', '[dependencies]\nrocket = "0.5"\n'),
      'Cargo.lock': locked('shop', 'rocket'),
    });
    expect({ framework: plan.framework, start: plan.start, address: plan.runtime?.env['ROCKET_ADDRESS'] }).toEqual({
      framework: 'rocket',
      start: ['/bin/sh', '-c', 'ROCKET_PORT="$PORT" exec /usr/local/bin/app'],
      address: '0.0.0.0',
    });
  });

  test('sqlx checks its queries against the source', () => {
    const plan = planOf({ ...SHOP, '.sqlx/query-1.json': '{}' });
    expect(plan.stages[0]?.steps[0]).toEqual({ kind: 'env', values: { SQLX_OFFLINE: 'true' } });
  });

  test('folders of assets come along, those of the package and of the workspace', () => {
    const plan = planOf({ ...WORKSPACE, 'migrations/1.sql': '' }, { service: 'api' });
    expect(plan.stages.at(-1)?.steps.filter((step) => step.kind === 'copy' && step.owned)).toEqual([
      { kind: 'copy', sources: ['source/migrations/'], target: './migrations/', owned: true },
      { kind: 'copy', sources: ['source/crates/api/templates/'], target: './templates/', owned: true },
    ]);
  });
});

describe('what lies beside the app', () => {
  test('is in the context, and in the step that builds dependencies', () => {
    const plan = planOf(
      {
        'api/Cargo.toml': crate('api', '[dependencies]\nshared = { path = "../shared" }\n'),
        'api/Cargo.lock': locked('api', 'shared'),
        'api/src/main.rs': 'fn main() {}',
        'shared/Cargo.toml': crate('shared'),
        'shared/src/lib.rs': 'pub fn x() {}',
        'web/index.html': '',
      },
      { env: { BERTH_ROOT: 'api' } },
    );
    expect(plan.files.map(({ path }) => path)).toEqual([
      'berth/manifests/api/Cargo.lock',
      'berth/manifests/api/Cargo.toml',
      'berth/manifests/api/src/main.rs',
      'berth/manifests/shared/Cargo.toml',
      'berth/manifests/shared/src/lib.rs',
    ]);
    expect(plan.stages[0]?.steps).toContainEqual({ kind: 'workdir', path: '/app/api' });
  });

  test.each<[string, string]>([
    ['../../lib', 'which is outside of the source'],
    ['../lib', 'which has no Cargo.toml'],
  ])('%s is refused with its place', (path, why) => {
    const files = { 'a/Cargo.toml': crate('a', `[dependencies]\nlib = { path = "${path}" }\n`), 'a/src/main.rs': '' };
    expect(refusal(files, { env: { BERTH_ROOT: 'a' } }).message).toBe(`a/Cargo.toml:5: lib lies in ${path}, ${why}`);
  });

  test('a broken manifest of a member is named with its line', () => {
    expect(refusal({ ...WORKSPACE, 'crates/worker/Cargo.toml': '[package\n' }).message).toStartWith(
      'crates/worker/Cargo.toml:1: ',
    );
  });
});

test('private git dependencies see their token, and no layer does', () => {
  const lock = `${locked('shop')}\n[[package]]\nname = "priv"\nversion = "1.0.0"\nsource = "git+https://github.com/acme/priv#1"\n`;
  const env = { GITHUB_TOKEN: 's3cret', CARGO_REGISTRIES_ACME_TOKEN: 't0ken', OTHER: 'x' };
  const files = { ...SHOP, 'Cargo.lock': lock };
  expect(planOf(files, { env }).installEnv).toEqual(['CARGO_REGISTRIES_ACME_TOKEN', 'GITHUB_TOKEN']);
  expect(planOf(files, { env }).apt.build).toEqual(['git']);
  expect(dockerfileOf(files, { env })).toContain('ENV CARGO_NET_GIT_FETCH_WITH_CLI=true\n');
  expect(dockerfileOf(files, { env })).not.toMatch(/s3cret|t0ken/);
});

test('a build command of your own keeps the folder of the app, and what it left in target', () => {
  const plan = planOf(SHOP, { env: { BERTH_BUILD: 'cargo build --profile fast', BERTH_START: './target/fast/shop' } });
  expect(plan.files).toEqual([]);
  expect(
    plan.stages
      .at(-1)
      ?.steps.filter(({ kind }) => kind === 'copy')
      .slice(1),
  ).toEqual([
    { kind: 'copy', from: 'build', sources: ['/app/'], target: './', owned: true },
    { kind: 'copy', from: 'build', sources: ['/out/target/'], target: './target/', owned: true },
  ]);
  expect(refusal(SHOP, { env: { BERTH_BUILD: 'make' } }).message).toStartWith(
    'a Rust app with a build command of its own',
  );
});

const MOUNTS =
  '--mount=type=cache,id=berth-shop-web-cargo-registry,target=/usr/local/cargo/registry --mount=type=cache,id=berth-shop-web-cargo-git,target=/usr/local/cargo/git --mount=type=cache,id=berth-shop-web-cargo-target,target=/app/target,sharing=locked';

test('the Dockerfile builds the dependencies first', () => {
  expect(dockerfileOf(SHOP)).toBe(`FROM rust:1-slim AS build
WORKDIR /app
COPY berth/manifests/ /app/
RUN ${MOUNTS} export RUSTUP_TOOLCHAIN="$(rustup toolchain list 2>/dev/null | head -n 1 | cut -d ' ' -f 1)" && { cargo build --release --locked --bin shop || echo 'the dependencies are built together with the sources'; }
COPY source/ /app/
RUN ${MOUNTS} --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && export RUSTUP_TOOLCHAIN="$(rustup toolchain list 2>/dev/null | head -n 1 | cut -d ' ' -f 1)" && find /app -path /app/target -prune -o -type f -exec touch {} + && cargo build --release --locked --bin shop && mkdir -p /out && cp target/release/shop /out/app

FROM debian:trixie-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
WORKDIR /app
COPY --from=build /out/app /usr/local/bin/app
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 PORT=8080
USER app
EXPOSE 8080
CMD ["/usr/local/bin/app"]
`);
  expect(planOf(SHOP).files).toEqual([
    { path: 'berth/manifests/Cargo.lock', content: SHOP['Cargo.lock'] ?? '' },
    { path: 'berth/manifests/Cargo.toml', content: SHOP['Cargo.toml'] ?? '' },
    {
      path: 'berth/manifests/src/main.rs',
      content: '//! Stands in until the sources come.\n#![allow(warnings)]\nfn main() {}\n',
    },
  ]);
});
