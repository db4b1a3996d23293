import { type Fields, fieldsAt, textAt, textsOf } from '../support/fields.ts';
import type { CargoLock } from './lock.ts';

/** Debian packages that a crate is built with; `unless` is the crate that brings the library's source itself. */
interface Library {
  build: string[];
  run?: string[];
  unless?: string;
  /** With the source: what it takes to build that. */
  vendored?: string[];
}

const CLANG = ['clang', 'libclang-dev'];

const LIBRARIES: Record<string, Library> = {
  'openssl-sys': { build: ['libssl-dev', 'pkg-config'], unless: 'openssl-src', vendored: ['make', 'perl'] },
  'pq-sys': { build: ['libpq-dev', 'pkg-config'], unless: 'pq-src', vendored: ['libssl-dev'] },
  'libpq-sys': { build: ['libpq-dev', 'pkg-config'] },
  'mysqlclient-sys': {
    build: ['default-libmysqlclient-dev', 'pkg-config'],
    unless: 'mysqlclient-src',
    vendored: ['cmake', 'g++', 'libssl-dev', 'make'],
  },
  'sasl2-sys': { build: ['libsasl2-dev', 'pkg-config'], run: ['libsasl2-modules'] },
  'rdkafka-sys': { build: ['cmake', 'g++', 'make', 'pkg-config'] },
  'librocksdb-sys': { build: [...CLANG, 'g++', 'make'] },
  'libduckdb-sys': { build: ['g++'] },
  'tikv-jemalloc-sys': { build: ['make'] },
  'jemalloc-sys': { build: ['make'] },
  'aws-lc-fips-sys': { build: ['cmake', 'g++', 'golang-go', 'make', 'perl'] },
  'prost-build': { build: ['protobuf-compiler'], unless: 'protobuf-src', vendored: ['cmake', 'g++', 'make'] },
  'cxx-build': { build: ['g++'] },
  'link-cplusplus': { build: ['g++'] },
  'esaxx-rs': { build: ['g++'] },
  'alsa-sys': { build: ['libasound2-dev', 'pkg-config'] },
  'fontconfig-sys': { build: ['libfontconfig-dev', 'pkg-config'] },
  'yeslogic-fontconfig-sys': { build: ['libfontconfig-dev', 'pkg-config'] },
  'geos-sys': { build: ['libgeos-dev', 'pkg-config'] },
  'gdal-sys': { build: ['libgdal-dev', 'pkg-config'] },
  'leptonica-sys': { build: ['libleptonica-dev', 'pkg-config', ...CLANG] },
  'tesseract-sys': { build: ['libtesseract-dev', 'pkg-config', ...CLANG], run: ['tesseract-ocr'] },
  'libdbus-sys': { build: ['libdbus-1-dev', 'pkg-config'] },
  'libgssapi-sys': { build: ['libkrb5-dev', 'pkg-config', ...CLANG] },
  'libheif-sys': { build: ['libheif-dev', 'pkg-config'] },
  'libseccomp-sys': { build: ['libseccomp-dev'] },
  'libsystemd-sys': { build: ['libsystemd-dev', 'pkg-config'] },
  'libudev-sys': { build: ['libudev-dev', 'pkg-config'] },
  'odbc-sys': { build: ['unixodbc-dev'] },
  'pam-sys': { build: ['libpam0g-dev', ...CLANG] },
  'zmq-sys': { build: ['libzmq3-dev', 'pkg-config'], unless: 'zeromq-src', vendored: ['g++'] },
  libxml: { build: ['libxml2-dev', 'pkg-config', ...CLANG] },
  magick_rust: { build: ['libmagickwand-dev', 'pkg-config', ...CLANG] },
};

/** Crates called `…-sys` that bring their C sources, or mean another system. */
const NO_LIBRARY =
  /^(android|aws-lc|blake3|bzip2|clang|cocoa|core-|coreaudio|curl|errno|freetype|fsevent|hermit|inotify|io-?kit|jni|js|kqueue|libgit2|libmimalloc|libnghttp2|libsodium|libssh2|libz|linux-raw|lua|lz4|lzma|mach|metal|mimalloc|mlua|ndk|objc|onig|redox|ring|schannel|secp256k1|security-framework|system-configuration|tree-sitter|wasi|web|winapi|windows|zlib|zstd)/;

export interface SystemNeeds {
  build: string[];
  run: string[];
  /** Crates that link a library nobody knows here: the full image has the headers of many. */
  unknown: string[];
  /** Crates that are the reason. */
  crates: string[];
  /** Whether the program may be linked with shared libraries. */
  shared: boolean;
}

/** What the crates of Cargo.lock, and the settings of cargo, need besides a C compiler. */
export const systemNeeds = (lock: CargoLock, config: Fields): SystemNeeds => {
  const known = Object.keys(LIBRARIES).filter((name) => lock.has(name));
  const linked = known.flatMap((name) => buildPackages(LIBRARIES[name], lock));
  const sqlite = lock.has('libsqlite3-sys') && !lock.dependents('cc').includes('libsqlite3-sys');
  const tools = [
    ...(needs(lock, 'bindgen') ? CLANG : []),
    ...(needs(lock, 'cmake') ? ['cmake', 'g++', 'make'] : []),
    ...(sqlite ? ['libsqlite3-dev', 'pkg-config'] : []),
    ...linkers(config),
  ];
  const unknown = lock
    .names()
    .filter((name) => /[-_]sys$/.test(name) && !Object.hasOwn(LIBRARIES, name) && !NO_LIBRARY.test(name))
    .filter((name) => name !== 'libsqlite3-sys');
  const crates = [
    ...known.filter((name) => buildPackages(LIBRARIES[name], lock).length > 0),
    ...(sqlite ? ['libsqlite3-sys'] : []),
  ];
  return {
    build: [...new Set([...linked, ...tools])].sort(),
    run: known.flatMap((name) => LIBRARIES[name]?.run ?? []).sort(),
    unknown,
    crates,
    shared: crates.length > 0 || unknown.length > 0 || !lock.present,
  };
};

const buildPackages = (library: Library | undefined, lock: CargoLock): string[] =>
  library === undefined
    ? []
    : library.unless !== undefined && lock.has(library.unless)
      ? (library.vendored ?? [])
      : library.build;

/** Crates that list a build tool without using it on Linux. */
const needs = (lock: CargoLock, tool: string): boolean =>
  lock.dependents(tool).some((name) => !/^aws-lc-sys$|^libz-sys$|^libz-ng-sys$|^zstd-sys$|^clang-sys$/.test(name));

/** Linkers that .cargo/config.toml asks for. */
const linkers = (config: Fields): string[] => {
  const targets = Object.values(fieldsAt(config, 'target')).map((target) => fieldsAt(target));
  const words = [fieldsAt(config, 'build'), ...targets].flatMap((table) => [
    textAt(table, 'linker') ?? '',
    textAt(table, 'rustflags') ?? '',
    ...textsOf(table['rustflags']),
  ]);
  const text = words.join(' ');
  return [
    ...(/\bclang\b/.test(text) ? ['clang'] : []),
    ...(/\blld\b/.test(text) ? ['lld'] : []),
    ...(/\bmold\b/.test(text) ? ['mold'] : []),
    ...(textAt(config, 'build', 'target')?.endsWith('-musl') === true ? ['musl-tools'] : []),
  ];
};
