import type { ContextFile } from '../../plan.ts';
import { APP_DIR } from '../../plan.ts';

/** Where the generated files go in the image. */
export const APACHE_SITE = '/etc/apache2/sites-enabled/berth.conf';
export const PHP_SETTINGS = '/usr/local/etc/php/conf.d/zz-berth.ini';
/** The app's own php.ini: read last, so that it wins. */
export const APP_SETTINGS = '/usr/local/etc/php/conf.d/zzz-app.ini';
export const SERVE = '/usr/local/bin/serve-php';

export interface ApacheSite {
  /** The folder that is served; empty for the app's own. */
  root: string;
  /** Addresses that are no file are answered by index.php. */
  answersAll: boolean;
  /** Folders below the served one that hold source and packages. */
  hidden: string[];
}

/** Files that hold source, settings or data, where the served folder is that of the app itself. */
const PRIVATE_FILES =
  'bak|cfg|conf|db|dist|inc|ini|key|lock|log|md|mk|neon|orig|pem|phar|phps|save|sh|sql|sqlite3?|swp|tpl|twig|ya?ml';
const PRIVATE_NAMES =
  'Dockerfile|Makefile|Procfile|artisan|auth\\.json|berth\\.toml|composer\\.(?:json|phar)|package(?:-lock)?\\.json|phpunit\\.xml(?:\\.dist)?|php\\.ini';

/** The site's configuration: the port and the number of workers come from the environment. */
const apacheConfig = ({ root, answersAll, hidden }: ApacheSite): string => {
  const folder = root === '' ? APP_DIR : `${APP_DIR}/${root}`;
  const own =
    root === ''
      ? [`RedirectMatch 404 "(?i)\\.(?:${PRIVATE_FILES})$|~$"`, `RedirectMatch 404 "(?i)^/(?:${PRIVATE_NAMES})$"`]
      : [];
  const folders = hidden.map((name) => name.replaceAll('.', '\\.')).join('|');
  const lines = [
    'Listen ${PORT}',
    'CustomLog ${APACHE_LOG_DIR}/access.log combined',
    'ServerName localhost',
    'ServerSignature Off',
    'ServerTokens Prod',
    'TraceEnable Off',
    '',
    '# Each idle connection would hold a process: the proxy in front keeps those of the visitors.',
    'KeepAlive Off',
    'MaxConnectionsPerChild 1000',
    'MaxRequestWorkers ${WEB_CONCURRENCY}',
    '',
    '# Who asked, and how, is what the proxy says.',
    'RemoteIPHeader X-Forwarded-For',
    'RemoteIPInternalProxy 10.0.0.0/8 127.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7',
    'SetEnvIf X-Forwarded-Proto "^https$" HTTPS=on',
    '',
    '# Nothing whose name starts with a dot is served, nor what is not part of the site.',
    'RedirectMatch 404 "/\\.(?!well-known(?:/|$))"',
    ...own,
    ...(hidden.length === 0 ? [] : [`RedirectMatch 404 "^/(?:${folders})(?:/|$)"`]),
    '',
    `DocumentRoot "${folder}"`,
    `<Directory "${folder}">`,
    '  Options -Indexes +FollowSymLinks',
    '  AllowOverride All',
    '  Require all granted',
    ...(answersAll ? ['  FallbackResource /index.php'] : []),
    '</Directory>',
  ];
  return `${lines.join('\n')}\n`;
};

/** PHP's settings for production; `fixed` when the app's files never change while it runs. */
const phpSettings = (fixed: boolean): string =>
  [
    'display_errors = Off',
    'error_reporting = E_ALL & ~E_DEPRECATED',
    'expose_php = Off',
    'log_errors = On',
    'opcache.max_accelerated_files = 20000',
    ...(fixed ? ['opcache.validate_timestamps = 0'] : []),
    'post_max_size = 64M',
    'realpath_cache_size = 4M',
    'upload_max_filesize = 64M',
    '; Frameworks look for the variables of the environment in $_ENV.',
    'variables_order = EGPCS',
    '',
  ].join('\n');

/** Starts Apache; `before` are commands of the framework, which see the variables of the running app. */
const serveScript = (before: string[]): string =>
  [
    '#!/bin/sh',
    ...before,
    '# One worker for each 32 MiB that the container may use.',
    'if [ -z "${WEB_CONCURRENCY:-}" ]; then',
    '  limit="$(cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null | head -n 1)"',
    '  case "$limit" in',
    "    '' | *[!0-9]* | ????????????*) WEB_CONCURRENCY=150 ;;",
    '    *) WEB_CONCURRENCY=$((limit / 33554432)) ;;',
    '  esac',
    '  [ "$WEB_CONCURRENCY" -ge 2 ] || WEB_CONCURRENCY=2',
    '  [ "$WEB_CONCURRENCY" -le 150 ] || WEB_CONCURRENCY=150',
    'fi',
    'export WEB_CONCURRENCY',
    'exec apache2-foreground',
    '',
  ].join('\n');

export const settingsFile = (fixed: boolean): ContextFile => ({ path: 'berth/php.ini', content: phpSettings(fixed) });

export const serverFiles = (site: ApacheSite, fixed: boolean, before: string[]): ContextFile[] => [
  { path: 'berth/apache.conf', content: apacheConfig(site) },
  settingsFile(fixed),
  { path: 'berth/serve-php', content: serveScript(before) },
];
