import { describe, expect, test } from 'bun:test';
import { type Files, nodeApp, refusal } from './support.ts';

describe('a manifest that cannot be read is named with its line', () => {
  test.each<[string, Files]>([
    ['package.json:1', { 'package.json': '{"a":1,,}' }],
    ['package.json:3', { 'package.json': '{\n  "name": "a"\n  "scripts": {}\n}\n' }],
    ['package.json:1', { 'package.json': '[]' }],
    ['package-lock.json:1', nodeApp({}, { 'package-lock.json': '{' })],
    ['bun.lock:1', nodeApp({}, { 'bun.lock': '{"a" 1}' })],
    ['pnpm-workspace.yaml:1', nodeApp({}, { 'pnpm-workspace.yaml': 'packages: [a\n  b: c' })],
    ['apps/web/package.json:2', { 'apps/web/package.json': '{\n"a" 1}', 'berth.toml': '[build]\nroot = "apps/web"\n' }],
    ['deno.json:1', { 'deno.json': '{"tasks": {' }],
    ['pyproject.toml:1', { 'pyproject.toml': '[project\nname="a"', 'main.py': '' }],
    ['Pipfile:1', { Pipfile: '[[source]\n', 'main.py': '' }],
    ['uv.lock:1', { 'uv.lock': 'version = ', 'pyproject.toml': '[project]\nname="a"\nversion="1"', 'main.py': '' }],
    ['go.mod:4', { 'go.mod': 'module a\n\ngo 1.24\nrequir x\n', 'main.go': 'package main' }],
    ['Cargo.toml:3', { 'Cargo.toml': '[package]\nname = "a"\nname = "b"' }],
    [
      'rust-toolchain.toml:1',
      { 'Cargo.toml': '[package]\nname = "a"', 'src/main.rs': '', 'rust-toolchain.toml': '[toolchain' },
    ],
    ['pom.xml:1', { 'pom.xml': '<project><a></project>' }],
    ['composer.json:1', { 'composer.json': '{"require" {}', 'index.php': '' }],
    ['shop.csproj:1', { 'shop.csproj': '<Project><A></Project>' }],
    ['global.json:1', { 'global.json': '{', 'a.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>' }],
    ['mise.toml:1', { 'mise.toml': '[tools', 'main.py': '' }],
    ['Procfile:1', { Procfile: 'web npm start' }],
    ['berth.toml:1', nodeApp({}, { 'berth.toml': '[build\n' })],
  ])('%s', (place, files) => {
    const error = refusal(files);
    expect(error.kind).toBe('BUILD_COMMAND_FAILED');
    expect(error.message).toStartWith(`${place}: `);
    expect(error.hint).toBe(`fix ${place}, then deploy again`);
  });
});

describe('a version that cannot be had is named with where it is asked for', () => {
  test.each<[string, Files]>([
    [
      'engines.node in package.json:6 asks for Node "banana", which is no version',
      nodeApp({ engines: { node: 'banana' } }),
    ],
    [
      'engines.node in package.json:6 asks for Node ">=99", which no known version satisfies',
      nodeApp({ engines: { node: '>=99' } }),
    ],
    ['.nvmrc asks for Node "banana", which is no version', nodeApp({}, { '.nvmrc': 'banana' })],
    [
      '.tool-versions:1 asks for Python "banana", which is no version',
      { '.tool-versions': 'python banana', 'main.py': '' },
    ],
    ['.go-version asks for Go "banana", which is no version', { '.go-version': 'banana', 'main.go': 'package main' }],
    [
      '[build] version asks for Node "99", which no known version satisfies',
      nodeApp({}, { 'berth.toml': '[build]\nversion = "99"\n' }),
    ],
  ])('%s', (message, files) => {
    expect(refusal(files)).toMatchObject({ kind: 'INVALID_INPUT', message });
  });
});

describe('settings that make no sense', () => {
  test.each<[string, Files, string, string]>([
    [
      'an unknown key',
      { 'berth.toml': '[build]\nstrat = "x"\n', 'main.py': '' },
      'berth.toml:2: [build] has no key "strat"',
      'did you mean start? valid keys: start, ',
    ],
    [
      'a number for a version',
      nodeApp({}, { 'berth.toml': '[build]\nversion = 22\n' }),
      'version in berth.toml:2 has a value of the wrong kind',
      'give a string in quotes, such as "22"',
    ],
    [
      'a folder of a site that is not there',
      { Staticfile: 'root: nope' },
      'the root of Staticfile names "nope", which is no folder of the source',
      'correct it, commit that folder',
    ],
  ])('%s', (_title, files, message, hint) => {
    const error = refusal(files);
    expect({ kind: error.kind, message: error.message }).toEqual({ kind: 'INVALID_INPUT', message });
    expect(error.hint).toStartWith(hint);
  });

  test('a private registry whose token the project does not have', () => {
    const npmrc = '@acme:registry=https://npm.acme.example\n//npm.acme.example/:_authToken=${NPM_TOKEN}\n';
    const error = refusal(nodeApp({ dependencies: { '@acme/ui': '1' } }, { '.npmrc': npmrc }));
    expect(error.message).toStartWith('.npmrc:2 needs the variable NPM_TOKEN');
    expect(error.hint).toContain('NPM_TOKEN=');
  });
});
