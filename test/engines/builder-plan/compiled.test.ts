import { describe, expect, test } from 'bun:test';
import { type Files, dockerfileOf, planOf, refusal } from './support.ts';

const MOD = 'module example.com/a\n\ngo 1.22\n';
const MAIN = 'package main\n\nfunc main() {}\n';

const goPackage = (files: Files, service = 'web'): string =>
  /-o \/out\/app (\S+)/.exec(planOf({ 'go.mod': MOD, ...files }, { service }).build[0] ?? '')?.[1] ?? '';

describe('Go', () => {
  test.each([
    ['the root package', { 'main.go': MAIN, 'cmd/other/main.go': MAIN }, 'web', '.'],
    ['a root package in a file with another name', { 'server.go': `// Package main.\n${MAIN}` }, 'web', '.'],
    ['the only one under cmd', { 'lib.go': 'package a', 'cmd/shop/main.go': MAIN }, 'web', './cmd/shop'],
    [
      'the one with the name of the service',
      { 'cmd/api/main.go': MAIN, 'cmd/worker/main.go': MAIN },
      'worker',
      './cmd/worker',
    ],
    ['one elsewhere', { 'server/run.go': MAIN }, 'web', './server'],
    ['not a test', { 'a_test.go': 'package main', 'cmd/x/x.go': MAIN }, 'web', './cmd/x'],
    ['not a vendored one', { 'vendor/x/main.go': MAIN, 'cmd/x/x.go': MAIN }, 'web', './cmd/x'],
    ['not one that is ignored', { 'gen.go': `//go:build ignore\n\n${MAIN}`, 'cmd/x/x.go': MAIN }, 'web', './cmd/x'],
    ['not one in a comment', { 'a.go': '/*\npackage main\n*/\npackage a', 'cmd/x/x.go': MAIN }, 'web', './cmd/x'],
  ])('builds %s', (_title, files, service, target) => {
    expect(goPackage(files as Files, service)).toBe(target);
  });

  test('several main packages and no choice are an error that lists them', () => {
    const error = refusal({ 'go.mod': MOD, 'cmd/api/main.go': MAIN, 'cmd/worker/main.go': MAIN });
    expect({ kind: error.kind, message: error.message }).toEqual({
      kind: 'INVALID_INPUT',
      message: 'this module has several main packages: ./cmd/api, ./cmd/worker',
    });
  });

  test('a library says that it cannot be started', () => {
    expect(refusal({ 'go.mod': MOD, 'a.go': 'package a' }).message).toStartWith(
      'a Go module was detected, but it has no start command',
    );
  });

  test('a lone main.go gets a module', () => {
    expect(planOf({ 'main.go': MAIN }).build[0]).toStartWith(
      'go mod init app && go mod tidy && CGO_ENABLED=0 go build',
    );
  });

  test('cgo is on for a module that needs it', () => {
    const plan = planOf({ 'main.go': MAIN, 'go.mod': `${MOD}\nrequire github.com/mattn/go-sqlite3 v1.14.22\n` });
    expect(plan.build[0]).toStartWith('CGO_ENABLED=1');
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

  test('the Dockerfile', () => {
    expect(dockerfileOf({ 'go.mod': MOD, 'main.go': MAIN })).toBe(`FROM golang:1.26 AS build
WORKDIR /app
COPY source/ ./
RUN --mount=type=cache,id=berth-shop-web-go-build,target=/root/.cache/go-build --mount=type=cache,id=berth-shop-web-go-mod,target=/go/pkg/mod --mount=type=bind,source=berth/env,target=/run/berth/env set -a && . /run/berth/env && set +a && CGO_ENABLED=0 go build -trimpath -tags timetzdata -ldflags "-s -w" -o /out/app .

FROM debian:trixie-slim AS runtime
RUN useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
WORKDIR /app
COPY --from=build /out/app /usr/local/bin/app
ENV GIN_MODE=release HOST=0.0.0.0 HOSTNAME=0.0.0.0 PORT=8080
USER app
EXPOSE 8080
CMD ["/usr/local/bin/app"]
`);
  });
});

const crate = (name: string, more = ''): string => `[package]\nname = "${name}"\nversion = "1.0.0"\n${more}`;
const LOCK = 'version = 4\n';

describe('Rust', () => {
  test.each([
    [
      'the package',
      { 'Cargo.toml': crate('shop'), 'src/main.rs': '' },
      'web',
      'cargo build --release --locked --bin shop',
    ],
    [
      'a named binary',
      { 'Cargo.toml': crate('shop', '[[bin]]\nname = "server"\npath = "src/main.rs"\n'), 'src/main.rs': '' },
      'web',
      'cargo build --release --locked --bin server',
    ],
    [
      'default-run',
      { 'Cargo.toml': crate('shop', 'default-run = "b"\n'), 'src/bin/a.rs': '', 'src/bin/b.rs': '' },
      'web',
      'cargo build --release --locked --bin b',
    ],
    [
      'the one with the name of the service',
      { 'Cargo.toml': crate('shop'), 'src/bin/a.rs': '', 'src/bin/web/main.rs': '' },
      'web',
      'cargo build --release --locked --bin web',
    ],
    [
      'the one with the name of the package',
      { 'Cargo.toml': crate('shop'), 'src/main.rs': '', 'src/bin/tool.rs': '' },
      'web',
      'cargo build --release --locked --bin shop',
    ],
    [
      'the only one of a workspace',
      {
        'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n',
        'crates/a/Cargo.toml': crate('a'),
        'crates/a/src/main.rs': '',
        'crates/b/Cargo.toml': crate('b'),
        'crates/b/src/lib.rs': '',
      },
      'web',
      'cargo build --release --locked --package a --bin a',
    ],
  ])('builds %s', (_title, files, service, command) => {
    expect(planOf({ 'Cargo.lock': LOCK, ...(files as Files) }, { service }).build[1]).toBe(command);
  });

  test('several binaries and no choice are an error that lists them', () => {
    const error = refusal({ 'Cargo.toml': crate('shop'), 'src/bin/a.rs': '', 'src/bin/b.rs': '' });
    expect(error.message).toBe('this workspace has several binaries: a, b');
  });

  test('a library says that it cannot be started', () => {
    expect(refusal({ 'Cargo.toml': crate('shop'), 'src/lib.rs': '' }).message).toStartWith(
      'a Rust package was detected, but it has no start command',
    );
  });

  test('a crate that links C gets the full image, and its library at run time', () => {
    const plan = planOf({
      'Cargo.toml': crate('shop'),
      'src/main.rs': '',
      'Cargo.lock': '[[package]]\nname = "openssl-sys"\n',
    });
    expect({ from: plan.stages[0]?.from, run: plan.apt.run }).toEqual({ from: 'rust:1', run: ['libssl3'] });
  });

  test('without Cargo.lock it warns, and does not ask for it', () => {
    const plan = planOf({ 'Cargo.toml': crate('shop'), 'src/main.rs': '' });
    expect(plan.build[1]).toBe('cargo build --release --bin shop');
    expect(plan.warnings[0]).toStartWith('there is no Cargo.lock');
  });

  test('a nightly toolchain is refused with its place', () => {
    expect(
      refusal({
        'Cargo.toml': crate('a'),
        'src/main.rs': '',
        'rust-toolchain.toml': '[toolchain]\nchannel = "nightly"\n',
      }).message,
    ).toBe('rust-toolchain.toml:2 asks for the Rust toolchain "nightly"');
  });

  test('names that cargo would not take never reach a command', () => {
    expect(refusal({ 'Cargo.toml': crate('a && curl evil'), 'src/main.rs': '' }).kind).toBe('NO_PROVIDER_DETECTED');
  });
});
