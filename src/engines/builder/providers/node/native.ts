import semver from 'semver';
import type { Dir } from '../../source-tree.ts';
import type { Manifest } from './manifest.ts';

/** Packages that may be compiled when they are installed: they need the full image with compilers and headers. */
const COMPILED = new Set(
  (
    'argon2 bcrypt better-sqlite3 bigint-buffer bufferutil canvas cpu-features deasync farmhash ffi-napi gl heapdump ' +
    'hiredis isolated-vm kerberos leveldown libxmljs libxmljs2 microtime mmmagic node-expat node-pty node-sass ' +
    'nodegit odbc oracledb pg-native raw-socket re2 ref-napi serialport sodium-native sqlite3 tree-sitter usb ' +
    'utf-8-validate zeromq zlib-sync'
  ).split(' '),
);

/** The versions since which a package brings its compiled code for every Linux that is built on here. */
const COMPILED_BEFORE: Record<string, string> = { argon2: '0.41.0', bcrypt: '6.0.0' };

/** The versions since which a package needs nothing of Debian's any more. */
const SYSTEM_BEFORE: Record<string, string> = { '@prisma/client': '7.0.0', prisma: '7.0.0' };

/** Debian packages that a dependency needs. */
const SYSTEM: Record<string, { build?: string[]; run?: string[]; env?: Record<string, string> }> = {
  '@prisma/client': { build: ['openssl'], run: ['openssl'] },
  prisma: { build: ['openssl'], run: ['openssl'] },
  canvas: {
    build: ['libcairo2-dev', 'libgif-dev', 'libjpeg-dev', 'libpango1.0-dev', 'librsvg2-dev'],
    run: ['libcairo2', 'libgif7', 'libjpeg62-turbo', 'libpango-1.0-0', 'libpangocairo-1.0-0', 'librsvg2-2'],
  },
  'pg-native': { build: ['libpq-dev'], run: ['libpq5'] },
  puppeteer: {
    run: ['chromium'],
    env: { PUPPETEER_EXECUTABLE_PATH: '/usr/bin/chromium', PUPPETEER_SKIP_DOWNLOAD: 'true' },
  },
  'fluent-ffmpeg': { run: ['ffmpeg'] },
  gm: { run: ['graphicsmagick'] },
};

export interface SystemNeeds {
  compiled: string[];
  build: string[];
  run: string[];
  env: Record<string, string>;
}

/** What the dependencies need beyond Node itself. */
export const systemNeeds = (app: Dir, manifest: Manifest, locked: ReadonlySet<string>): SystemNeeds => {
  const names = new Set([...Object.keys(manifest.all), ...locked]);
  const compiled = [...names].filter((name) => COMPILED.has(name) && !isSince(manifest, name, COMPILED_BEFORE));
  if (app.has('binding.gyp')) compiled.push('binding.gyp');
  const needs = Object.entries(SYSTEM).filter(([name]) => names.has(name) && !isSince(manifest, name, SYSTEM_BEFORE));
  return {
    compiled: compiled.sort(),
    build: [...new Set(needs.flatMap(([, need]) => need.build ?? []))].sort(),
    run: [...new Set(needs.flatMap(([, need]) => need.run ?? []))].sort(),
    env: Object.assign({}, ...needs.map(([, need]) => need.env ?? {})) as Record<string, string>,
  };
};

/** Whether package.json itself asks for at least the version that a table names. */
const isSince = (manifest: Manifest, name: string, table: Record<string, string>): boolean => {
  const since = table[name];
  const range = semver.validRange(manifest.all[name] ?? '');
  return (
    since !== undefined && range !== null && range !== '*' && semver.gte(semver.minVersion(range) ?? '0.0.0', since)
  );
};
