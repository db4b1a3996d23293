import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explainFailure, usefulTail } from '#src/engines/builder/step-failure/index.ts';

const OUTPUTS = join(import.meta.dir, 'outputs');

/** What a tool printed when it failed: nearly all of it recorded, with the addresses of registries replaced. */
const outputOf = (name: string): string[] =>
  readFileSync(join(OUTPUTS, `${name}.txt`), 'utf8')
    .trimEnd()
    .split('\n');

const explain = (name: string, exitCode = '1'): ReturnType<typeof explainFailure> =>
  explainFailure({ exitCode, tail: outputOf(name), memoryBytes: 2 * 1024 ** 3 });

const PLACES = {
  'cargo-compile': 'src/main.rs:3: cannot find value `y` in this scope',
  'django-settings': "shop/settings.py:12: KeyError: 'SECRET_KEY'",
  dotnet: "Program.cs:3: CS0103: The name 'foo' does not exist in the current context",
  esbuild: 'src/index.ts:1: Could not resolve "./B"',
  'gcc-syntax': "main.cpp:6: 'foo' was not declared in this scope",
  'go-compile': 'main.go:6: undefined: nope',
  'go-mod-broken': 'go.mod:4: unknown directive: requir',
  'gradle-compile': 'src/main/java/App.java:3: cannot find symbol',
  'kotlin-compile': "src/main/kotlin/App.kt:3: Unresolved reference 'foo'.",
  'mvn-compile': 'src/main/java/App.java:2: incompatible types: java.lang.String cannot be converted to int',
  'next-type': "app/page.tsx:4: Type error: Type 'string' is not assignable to type 'number'.",
  php: 'src/index.php:7: syntax error, unexpected token "}"',
  'py-import': "b.py:1: ModuleNotFoundError: No module named 'nope_x'",
  'py-syntax': 'a.py:1: SyntaxError: invalid syntax',
  tsc: "src/index.ts:1: TS2322: Type 'string' is not assignable to type 'number'.",
  'vite-syntax': 'src/index.ts:1: Unexpected ";"',
};

const LOCKS = {
  'berry-drift': ['yarn.lock', 'yarn install'],
  'bun-drift': ['bun.lock', 'bun install'],
  'cargo-locked': ['Cargo.lock', 'cargo check'],
  'go-missing-sum': ['go.sum', 'go mod tidy'],
  'npm-drift': ['package-lock.json', 'npm install'],
  'pnpm-drift': ['pnpm-lock.yaml', 'pnpm install'],
  'uv-drift': ['uv.lock', 'uv lock'],
  'yarn-drift': ['yarn.lock', 'yarn install'],
};

const NOT_FOUND = {
  'berry-404': '@berth-nope-x/ui@npm:1',
  'bun-404': '@berth-nope-x/ui',
  'cargo-404': 'berth-nope-x-y',
  'mvn-404': 'nope.x:nope:jar:1',
  'npm-404': '@berth-nope-x/ui@^1',
  'pip-404': 'berth-nope-x-y==1',
  'pnpm-404': '@berth-nope-x/ui',
  'uv-404': 'berth-nope-x-y',
  'yarn-404': '@berth-nope-x/ui',
};

const REFUSED = ['berry-401', 'bun-401', 'gradle-401', 'npm-401', 'pnpm-401', 'uv-401'];
const CREDENTIALS = { 'gem-private': 'gems.example.com', 'go-private': 'https://github.com' };

const UNREACHED = {
  'bun-dns': 'the name of a server could not be resolved (DNS)',
  'cargo-git-dns': 'the name nope.invalid could not be resolved (DNS)',
  'go-dns': 'the name nope.invalid could not be resolved (DNS)',
  'npm-reset': 'a server could not be reached (ECONNRESET)',
  'pip-dns': 'the name of a server could not be resolved (DNS)',
  'pnpm-dns': 'the name nope.invalid could not be resolved (DNS)',
  'uv-dns': 'the name of a server could not be resolved (DNS)',
  'yarn-dns': 'the name nope.invalid could not be resolved (DNS)',
};

/** Cause, and what the hint must name. */
const OTHERS: Record<string, [why: string, hint: string]> = {
  apt: ['Debian has no package libfoo-dev', 'correct the name in apt'],
  'cargo-openssl': ['the build needs OpenSSL, which its image lacks', 'add libssl-dev and pkg-config to build_apt'],
  'cargo-version': ['no version of a package is what was asked for: itoa = "^99"', 'correct its version'],
  'npm-version': ['no version of a package is what was asked for: is-odd@^99', 'correct its version'],
  'pip-version': ['no version of a package is what was asked for: flask==99', 'correct its version'],
  'yarn-version': ['no version of a package is what was asked for: is-odd', 'correct its version'],
  'cargo-rustc': [
    'another version of the language is needed: rustc 1.85.1 is not supported by the following packages',
    'set version',
  ],
  'cargo-sqlx': ['sqlx checks its queries against a database, and a build has none', 'cargo sqlx prepare'],
  gcc: ['the C library with crow.h is not in the build image', 'build_apt'],
  'go-version-local': ['another version of the language is needed: requires go >= 1.99', 'set version'],
  'go-version-none': ['another version of the language is needed: download go1.99.0 failed', 'set version'],
  'npm-127': ['the program nopetool is not in the build image', 'nopetool'],
  'npm-eresolve': ['dependencies contradict each other (react@19.0.0 is there)', 'legacy-peer-deps'],
  'pip-psycopg2': ['the build needs pg_config, which its image lacks', 'libpq-dev'],
  'pip-tls': ['the certificate of a server is not trusted (self-signed certificate)', 'PIP_CERT'],
  'pnpm-script': ['package.json has no script build', 'add the script build'],
  'prisma-database': [
    'it asked for a service on its own machine (port 5432), where nothing runs during a build',
    'release command',
  ],
  vite: ['./B is imported, but not there', 'upper and lower case'],
};

const MEMORY = ['cargo-killed', 'heap'];

test('every recorded output is looked at', () => {
  const tables = [PLACES, LOCKS, NOT_FOUND, CREDENTIALS, UNREACHED, OTHERS].flatMap((table) => Object.keys(table));
  const names = readdirSync(OUTPUTS).map((name) => name.replace(/\.txt$/, ''));
  expect([...tables, ...REFUSED, ...MEMORY].sort()).toEqual(names.sort());
});

test.each(Object.entries(PLACES))('a compiler is quoted with file and line: %s', (name, why) => {
  expect(explain(name)).toMatchObject({ why, retryable: false });
});

test('what is imported, but not there, is looked for by its spelling', () => {
  expect(explain('esbuild')?.hint).toStartWith('check its spelling');
  expect(explain('go-compile')?.hint).toBe('correct main.go:6, then redeploy');
});

test.each(Object.entries(LOCKS))(
  'a lock file that drifted is named with the command that mends it: %s',
  (name, [file, command]) => {
    expect(explain(name)).toEqual({
      why: `${file} does not match its manifest`,
      hint: `run ${command}, commit ${file}, then redeploy`,
      retryable: false,
    });
  },
);

test.each(Object.entries(NOT_FOUND))('a package that is not there is named: %s', (name, missing) => {
  expect(explain(name)).toMatchObject({
    why: `the package ${missing} was not found in its registry`,
    retryable: false,
  });
});

test.each(REFUSED)('a registry that refuses access leads to credentials: %s', (name) => {
  const { why, hint } = explain(name) ?? {};
  expect(why).toMatch(/^a package registry refused access: .*(?:401|Invalid authentication)/);
  expect(hint).toStartWith('is it private? Set its token as a variable of the project');
});

test.each(Object.entries(CREDENTIALS))('a repository that asks for credentials is named: %s', (name, host) => {
  expect(explain(name)?.why).toBe(`a repository at ${host} asks for credentials`);
});

test.each(Object.entries(UNREACHED))('a network failure may be retried: %s', (name, why) => {
  expect(explain(name)).toMatchObject({ why, retryable: true });
});

test.each(Object.entries(OTHERS))('%s', (name, [why, hint]) => {
  expect(explain(name)).toMatchObject({ why, retryable: false });
  expect(explain(name)?.hint).toContain(hint);
});

describe('memory', () => {
  const ran = { why: 'the build ran out of memory: all builds together may use 2048 MB' };

  test('exit code 137 says so, with the limit and how to raise it', () => {
    const found = explainFailure({ exitCode: '137', tail: ['Killed'], memoryBytes: 2 * 1024 ** 3 });
    expect(found).toMatchObject(ran);
    expect(found?.hint).toContain('berth server --build-memory-mb');
  });

  test('without a limit there is none to tell', () => {
    expect(explainFailure({ exitCode: '137', tail: [], memoryBytes: undefined })?.why).toBe(
      'the build ran out of memory',
    );
  });

  test('a compiler that was killed is told by what its parent says', () => {
    expect(explain('cargo-killed', '101')).toMatchObject(ran);
  });

  test("the limit of a language's own heap is another thing", () => {
    const found = explain('heap', '134');
    expect(found?.why).toBe("the build ran out of memory at the limit of Node's own heap");
    expect(found?.hint).toStartWith('set NODE_OPTIONS=--max-old-space-size=4096');
  });
});

describe('the tail of a log', () => {
  test('is without the manual that npm ci prints', () => {
    expect(usefulTail(outputOf('npm-drift'))).toEqual([
      'npm error code EUSAGE',
      'npm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.',
      "npm error Invalid: lock file's is-odd@3.0.1 does not satisfy is-odd@3.0.0",
    ]);
  });

  test("is without Maven's advice", () => {
    expect(usefulTail(outputOf('mvn-404')).at(-1)).toStartWith('[ERROR] Failed to execute goal on project a');
  });

  test('is everything when everything is noise', () => {
    expect(usefulTail(['npm notice x'])).toEqual(['npm notice x']);
  });

  test('of odd output takes no time', () => {
    const tail = Array.from({ length: 200 }, (_none, index) => `${'401 a:'.repeat(2500)}${index}`);
    const begun = performance.now();
    explainFailure({ exitCode: '1', tail, memoryBytes: undefined });
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});

test('output that says nothing is explained by nothing', () => {
  expect(explainFailure({ exitCode: '1', tail: ['building…', 'oops'], memoryBytes: undefined })).toBeUndefined();
});
