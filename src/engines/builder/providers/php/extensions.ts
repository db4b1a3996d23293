import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { placeOf } from '../support/fields.ts';
import { type Composer, isPackage } from './composer.ts';

/** Compiled into the official images. */
const BUILT_IN = new Set(
  (
    'core ctype curl date dom fileinfo filter hash iconv json libxml mbstring mysqlnd openssl pcre pdo pdo_sqlite phar ' +
    'posix random readline reflection session simplexml sodium spl sqlite3 standard tokenizer xml xmlreader xmlwriter zlib'
  ).split(' '),
);

interface Extension {
  /** Headers that it is compiled with; the libraries for run time are read off the result. */
  apt?: string[];
  configure?: string;
  /** Not part of PHP's own source. */
  pecl?: true;
}

const EXTENSIONS: Record<string, Extension> = {
  amqp: { pecl: true, apt: ['librabbitmq-dev'] },
  apcu: { pecl: true },
  bcmath: {},
  bz2: { apt: ['libbz2-dev'] },
  calendar: {},
  ds: { pecl: true },
  enchant: { apt: ['libenchant-2-dev'] },
  event: { pecl: true, apt: ['libevent-dev', 'libssl-dev'] },
  exif: {},
  ffi: { apt: ['libffi-dev'] },
  ftp: { apt: ['libssl-dev'] },
  gd: {
    apt: ['libfreetype-dev', 'libjpeg-dev', 'libpng-dev', 'libwebp-dev'],
    configure: '--with-freetype --with-jpeg --with-webp',
  },
  gettext: {},
  gmp: { apt: ['libgmp-dev'] },
  gnupg: { pecl: true, apt: ['libgpgme-dev'] },
  grpc: { pecl: true, apt: ['zlib1g-dev'] },
  igbinary: { pecl: true },
  imagick: { pecl: true, apt: ['libmagickwand-dev'] },
  intl: { apt: ['libicu-dev'] },
  ldap: { apt: ['libldap-dev'] },
  mailparse: { pecl: true },
  maxminddb: { pecl: true, apt: ['libmaxminddb-dev'] },
  memcached: { pecl: true, apt: ['libmemcached-dev', 'libssl-dev', 'zlib1g-dev'] },
  mongodb: { pecl: true, apt: ['libssl-dev'] },
  msgpack: { pecl: true },
  mysqli: {},
  opentelemetry: { pecl: true },
  pcntl: {},
  pcov: { pecl: true },
  pdo_mysql: {},
  pdo_pgsql: { apt: ['libpq-dev'] },
  pgsql: { apt: ['libpq-dev'] },
  protobuf: { pecl: true },
  rdkafka: { pecl: true, apt: ['librdkafka-dev'] },
  redis: { pecl: true },
  shmop: {},
  soap: { apt: ['libxml2-dev'] },
  sockets: {},
  ssh2: { pecl: true, apt: ['libssh2-1-dev'] },
  swoole: { pecl: true },
  sysvmsg: {},
  sysvsem: {},
  sysvshm: {},
  tidy: { apt: ['libtidy-dev'] },
  uuid: { pecl: true, apt: ['uuid-dev'] },
  xdebug: { pecl: true },
  xsl: { apt: ['libxslt1-dev'] },
  yaml: { pecl: true, apt: ['libyaml-dev'] },
  zip: { apt: ['libzip-dev'] },
};

/** Need libraries that neither Debian nor PHP may give out, or none that still exist. */
const IMPOSSIBLE = new Set(['ibm_db2', 'imap', 'oci8', 'pdo_oci', 'pdo_sqlsrv', 'sqlsrv']);

export interface Extensions {
  names: string[];
  apt: string[];
  /** Commands that compile and enable them. */
  commands: string[];
  /** Whether libraries must be there at run time that the image does not have. */
  libraries: boolean;
  /** Who asks for each, for the log. */
  reasons: Map<string, string>;
}

/** Extensions that the app must have: from composer.json, the locked packages, and what else is known about it. */
export const planExtensions = (app: Dir, composer: Composer | undefined, usual: Map<string, string>): Extensions => {
  const reasons = new Map([...fromLock(composer), ...usual, ...fromManifest(app, composer)]);
  const names = [...reasons.keys()].filter((name) => !BUILT_IN.has(name) && name !== 'opcache').sort();
  for (const name of names) check(name, reasons.get(name) ?? '');
  const own = names.filter((name) => EXTENSIONS[name]?.pecl !== true && EXTENSIONS[name] !== undefined);
  const pecl = names.filter((name) => !own.includes(name));
  const apt = [...new Set(names.flatMap((name) => EXTENSIONS[name]?.apt ?? []))].sort();
  const configured = own.filter((name) => EXTENSIONS[name]?.configure !== undefined);
  return {
    names,
    apt,
    reasons,
    libraries: apt.length > 0 || names.some((name) => EXTENSIONS[name] === undefined),
    commands: [
      ...configured.map((name) => `docker-php-ext-configure ${name} ${EXTENSIONS[name]?.configure ?? ''}`),
      ...(own.length > 0 ? [`docker-php-ext-install -j"$(nproc)" ${own.join(' ')}`] : []),
      ...(pecl.length > 0 ? [`MAKEFLAGS="-j$(nproc)" pecl install ${pecl.join(' ')}`] : []),
      ...(pecl.length > 0 ? [`docker-php-ext-enable ${pecl.join(' ')}`] : []),
    ],
  };
};

const check = (name: string, reason: string): void => {
  if (/^[a-z][a-z0-9_]{0,40}$/.test(name) && !IMPOSSIBLE.has(name)) return;
  throw invalidInput(
    `${reason} asks for the PHP extension ${JSON.stringify(name.slice(0, 60))}, which cannot be installed here`,
    'remove it from the requirements, or add a Dockerfile that installs it',
  );
};

const fromManifest = (app: Dir, composer: Composer | undefined): [string, string][] =>
  extensionsOf(composer?.requires ?? {}).map(([name, written]) => [
    name,
    placeOf(app, 'composer.json', new RegExp(`"${written.replaceAll(/\W/g, '.')}"\\s*:`)),
  ]);

/** What a polyfill stands in for need not be there. */
const fromLock = (composer: Composer | undefined): [string, string][] => {
  const locked = composer?.locked ?? [];
  const provided = new Set(locked.flatMap(({ provides }) => extensionsOf(named(provides)).map(([name]) => name)));
  return locked.flatMap(({ name, requires }) =>
    extensionsOf(requires)
      .filter(([extension]) => !provided.has(extension))
      .map(([extension]): [string, string] => [extension, name]),
  );
};

const named = (names: string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, '*']));

/** `ext-PDO` and `ext-zend-opcache` as the names that PHP's own source has. */
const extensionsOf = (requires: Record<string, string>): [name: string, written: string][] =>
  Object.keys(requires)
    .filter((key) => /^ext-/i.test(key) && !isPackage(key))
    .map((key) => [
      key
        .slice('ext-'.length)
        .toLowerCase()
        .replace(/^zend-/, '')
        .replaceAll('-', '_'),
      key,
    ]);
