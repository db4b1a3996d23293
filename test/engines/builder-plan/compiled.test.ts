import { describe, expect, test } from 'bun:test';
import { type Files, planOf, refusal } from './support.ts';

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
