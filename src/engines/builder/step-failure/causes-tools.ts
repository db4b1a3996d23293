import type { Cause } from './causes.ts';

const lockFile = (pattern: RegExp, file: string, command: string): Cause => ({
  patterns: [pattern],
  why: () => `${file} does not match its manifest`,
  hint: () => `run ${command}, commit ${file}, then redeploy`,
});

const LOCKS: Cause[] = [
  lockFile(
    /`?npm ci`? can only install packages when|npm (?:error|ERR!) code EUSAGE/,
    'package-lock.json',
    'npm install',
  ),
  lockFile(/ERR_PNPM_(?:OUTDATED_LOCKFILE|LOCKFILE_CONFIG_MISMATCH)/, 'pnpm-lock.yaml', 'pnpm install'),
  lockFile(/Your lockfile needs to be updated|YN0028/, 'yarn.lock', 'yarn install'),
  lockFile(/lockfile had changes, but lockfile is frozen/, 'bun.lock', 'bun install'),
  lockFile(/lockfile at `?uv\.lock`? needs to be updated|`?uv\.lock`? needs to be updated/, 'uv.lock', 'uv lock'),
  lockFile(/changed significantly since poetry\.lock/, 'poetry.lock', 'poetry lock'),
  lockFile(/Pipfile\.lock \([^)]*\) out of date/, 'Pipfile.lock', 'pipenv lock'),
  lockFile(
    /the lock file \S*Cargo\.lock needs to be updated|cannot update the lock file \S*Cargo\.lock/,
    'Cargo.lock',
    'cargo check',
  ),
  lockFile(
    /missing go\.sum entry|updates to go\.(?:mod|sum) needed|go: updating go\.(?:mod|sum): existing contents/,
    'go.sum',
    'go mod tidy',
  ),
  lockFile(/inconsistent vendoring/, 'vendor/modules.txt', 'go mod vendor'),
  lockFile(
    /lock file is not up to date with the latest changes in composer\.json/,
    'composer.lock',
    'composer update --lock',
  ),
  lockFile(/(?:gemfile|Gemfile|lockfile)[^\n]*(?:frozen|deployment mode)/, 'Gemfile.lock', 'bundle install'),
];

const PACKAGES: Record<string, string> = {
  openssl: 'libssl-dev and pkg-config',
  OpenSSL: 'libssl-dev and pkg-config',
  pg_config: 'libpq-dev',
  mysql_config: 'default-libmysqlclient-dev',
  protoc: 'protobuf-compiler',
  libclang: 'libclang-dev',
  cmake: 'cmake',
  gcc: 'build-essential',
  'g++': 'build-essential',
  cc: 'build-essential',
  make: 'build-essential',
  python: 'python3',
  git: 'git',
};

/** What berth would have to install, in the words of [build]. */
const aptHint = (name: string): string =>
  Object.hasOwn(PACKAGES, name)
    ? `add ${PACKAGES[name]} to build_apt in the [build] table of berth.toml`
    : `find its Debian package, and add it to build_apt in the [build] table of berth.toml`;

const VERSIONS = 'set version in the [build] table of berth.toml, or change what asks for it';

/** What tools say when the source does not suit them; compilers' errors are places, see places.ts. */
export const TOOL_CAUSES: Cause[] = [
  ...LOCKS,
  {
    patterns: [/npm (?:error|ERR!) code ERESOLVE[^]*?(?:Found: (\S+)|$)/],
    why: ([, found]) => `dependencies contradict each other${found === undefined ? '' : ` (${found} is there)`}`,
    hint: () => 'change their versions until npm install succeeds, or write legacy-peer-deps=true into .npmrc',
  },
  {
    patterns: [
      /Missing script: "([^"]+)"/,
      /ERR_PNPM_NO_SCRIPT\S*\s+Missing script: (\S+)/,
      /error Command "([^"]+)" not found/,
      /error: Script not found "([^"]+)"/,
    ],
    why: (match) => `package.json has no script ${found(match)}`,
    hint: (match) => `add the script ${found(match)}, or set build in the [build] table of berth.toml`,
  },
  {
    patterns: [/E: Unable to locate package (\S+)/, /E: Package '([^']+)' has no installation candidate/],
    why: (match) => `Debian has no package ${found(match)}`,
    hint: () => 'correct the name in apt, build_apt or run_apt in the [build] table of berth.toml',
  },
  {
    patterns: [/set `DATABASE_URL` to use query macros online/],
    why: () => 'sqlx checks its queries against a database, and a build has none',
    hint: () => 'run cargo sqlx prepare, commit the folder .sqlx, then redeploy',
  },
  {
    patterns: [
      /requires rustc (\S+) or newer/,
      /rustc (\S+) is not supported by the following packages/,
      /requires go >= (\S+)/,
      /Unsupported engine[^\n]*/,
      /EBADENGINE/,
      /The engine "(\w+)" is incompatible/,
      /requires a different Python: ([^\n]+)/,
      /invalid target release: (\S+)/,
      /release version (\S+) not supported/,
      /toolchain not available/,
      /download (go\d[\d.]*): golang\.org\/toolchain/,
      /lock file version [`']?(\d+)[`']? requires/,
    ],
    why: (match) =>
      `another version of the language is needed: ${match[0]
        .replace(/: golang\.org.*/, ' failed')
        .trim()
        .slice(0, 160)}`,
    hint: () => VERSIONS,
  },
  {
    patterns: [
      /Package '?([\w.+-]+)'?(?:, required by 'virtual:world',)?(?: was)? not found/,
      /pkg-config (?:command )?could not be found/,
      /(pg_config) executable not found/,
      /(mysql_config) not found/,
      /Could not find (?:directory of )?(OpenSSL|openssl)/,
      /linker `(\w+)` not found/,
      /Could not find `(protoc)`/,
      /Unable to find (libclang)/,
      /command '(gcc|cc|g\+\+)' failed: No such file/,
      /is `(cmake|make)` not installed/,
      /unknown compiler\(s\): \[\['(\w+)/,
    ],
    why: (match) => `the build needs ${found(match) === '' ? 'pkg-config' : found(match)}, which its image lacks`,
    hint: (match) => aptHint(found(match)),
  },
  {
    patterns: [/fatal error: ([\w./+-]+\.h(?:pp)?): No such file/, /cannot find -l([\w.+-]+)/],
    why: (match) => `the C library with ${found(match)} is not in the build image`,
    hint: () => aptHint(''),
  },
  {
    patterns: [
      /(?:sh|bash)(?:: line)?(?:: \d+)?: ([\w./@+-]+): (?:command )?not found/,
      /exec: "([^"]+)": executable file not found/,
      /ERR! spawn (\S+) ENOENT/,
      /error: command not found: (\S+)/,
    ],
    why: (match) => `the program ${found(match)} is not in the build image`,
    hint: (match) =>
      Object.hasOwn(PACKAGES, found(match))
        ? aptHint(found(match))
        : `add the package that brings ${found(match)} to the dependencies, or its Debian package to build_apt in the [build] table of berth.toml`,
  },
  {
    patterns: [/(?:sh|bash)(?:: line)?(?:: \d+)?: ([\w./@+-]+): Permission denied/],
    why: (match) => `${found(match)} is not executable`,
    hint: (match) => `run chmod +x ${found(match)} and commit that, or start it with its interpreter`,
  },
];

/** An import that leads nowhere: bundlers name it without its place. */
export const IMPORT_CAUSE: Cause = {
  patterns: [/(?:Cannot find module|Can't resolve|Could not resolve) ["'](\.[^"']+)["']/],
  why: (match) => `${found(match)} is imported, but not there`,
  hint: () => 'check its spelling (upper and lower case differ on Linux), and that it is committed and not ignored',
};

const found = (match: RegExpExecArray): string => match.slice(1).find((name) => name !== undefined) ?? '';
