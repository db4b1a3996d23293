import { type HeaderRule, parseHeaders } from './headers.ts';
import { type Redirect, parseRedirects, pathExpression } from './redirects.ts';
import { SITE_DIR } from './paths.ts';

export interface SiteOptions {
  /** The page for unknown paths without an extension (`index.html` for single-page apps), or null for 404. */
  fallback: string | null;
  /** The text of a `_redirects` file. */
  redirects?: string | undefined;
  /** The text of a `_headers` file. */
  headers?: string | undefined;
}

type Json = Record<string, unknown>;

const PATH = '{http.request.uri.path}';

/**
 * Caddy's configuration as JSON, not as a Caddyfile: what comes from the user's files is then only ever a string value,
 * in which the sole special characters (braces) are escaped.
 */
export const renderCaddyConfig = (options: SiteOptions): string => {
  const redirects = parseRedirects(options.redirects ?? '').rules;
  const headers = parseHeaders(options.headers ?? '').rules;
  const routes = [
    { handle: [{ handler: 'encode', encodings: { gzip: {}, zstd: {} }, prefer: ['zstd', 'gzip'] }] },
    ...headers.map(headerRoute),
    hiddenRoute,
    ...redirects.flatMap((rule, index) => (rule.force ? [redirectRoute(rule, index)] : [])),
    ...fileRoutes(),
    ...redirects.flatMap((rule, index) => (rule.force ? [] : [redirectRoute(rule, index)])),
    ...(options.fallback === null ? [] : [fallbackRoute(options.fallback)]),
    { handle: [notFound] },
  ];
  const site = {
    listen: [':{env.PORT}'],
    automatic_https: { disable: true },
    protocols: ['h1', 'h2c'],
    routes,
    errors: { routes: errorRoutes },
  };
  const config = {
    admin: { disabled: true, config: { persist: false } },
    logging: { logs: { default: { level: 'WARN' } } },
    apps: { http: { grace_period: '10s', servers: { site } } },
  };
  return `${JSON.stringify(config, null, 1)}\n`;
};

/** Caddy expands `{…}` in strings: a user's braces must stay what they are. */
const literal = (text: string): string => text.replaceAll(/[{}]/g, '\\$&');

const notFound = { handler: 'error', status_code: 404 };

/** Dot files (but for .well-known) and files that configure berth are not part of the site. */
const hiddenRoute: Json = {
  match: [
    { path_regexp: { pattern: String.raw`/\.` }, not: [{ path: ['/.well-known/*'] }] },
    { path: ['/_headers', '/_redirects', '/berth.toml', '/Procfile', '/Staticfile'] },
  ],
  handle: [notFound],
  terminal: true,
};

const headerRoute = ({ path, headers }: HeaderRule): Json => {
  const set: Record<string, string[]> = {};
  for (const [name, value] of headers) set[name] = [...(set[name] ?? []), literal(value)];
  return {
    match: [{ path_regexp: { pattern: pathExpression(path) } }],
    // Deferred, so that the site's own rules beat the defaults set below.
    handle: [{ handler: 'headers', response: { deferred: true, set } }],
  };
};

const redirectRoute = (rule: Redirect, index: number): Json => {
  const name = `redirect${index}`;
  const target = literal(rule.to).replaceAll(/:([A-Za-z_]\w*)/g, (whole, key: string) =>
    captures(rule.from).has(key) ? `{http.regexp.${name}.${key}}` : whole,
  );
  const match = [{ path_regexp: { name, pattern: pathExpression(rule.from) } }];
  if (rule.status === 200) return { match, handle: serve(target), terminal: true };
  if (rule.status === 404 || rule.status === 410) {
    return { match, handle: [{ handler: 'error', status_code: rule.status }], terminal: true };
  }
  const headers = { Location: [target] };
  return { match, handle: [{ handler: 'static_response', status_code: rule.status, headers }], terminal: true };
};

const captures = (from: string): Set<string> => {
  const names = from
    .split('/')
    .filter((segment) => /^:[A-Za-z_]\w*$/.test(segment))
    .map((segment) => segment.slice(1));
  return new Set(from.endsWith('*') ? [...names, 'splat'] : names);
};

/** Pretty URLs: `/about` is about.html, `/docs/` is docs/index.html, and `/docs` leads to `/docs/`. */
const fileRoutes = (): Json[] => [
  route({ path_regexp: { pattern: '/$' }, file: exists(`${PATH}index.html`) }, serve('{http.matchers.file.relative}')),
  route(
    { not: [{ path_regexp: { pattern: '/$' } }], file: exists(PATH, `${PATH}.html`) },
    serve('{http.matchers.file.relative}'),
  ),
  route({ not: [{ path_regexp: { pattern: '/$' } }], file: exists(`${PATH}/index.html`) }, [fileServer()]),
];

const route = (match: Json, handle: Json[]): Json => ({ match: [match], handle, terminal: true });

const exists = (...paths: string[]): Json => ({ root: SITE_DIR, try_files: paths });

/** A missing asset is 404, never a page: only paths without an extension belong to the app. */
const fallbackRoute = (page: string): Json =>
  route(
    { method: ['GET', 'HEAD'], path_regexp: { pattern: String.raw`^(.*/)?[^/.]*$` }, file: exists(`/${page}`) },
    serve(`/${page}`),
  );

const fileServer = (more: Json = {}): Json => ({
  handler: 'file_server',
  root: SITE_DIR,
  precompressed: { br: {}, gzip: {}, zstd: {} },
  ...more,
});

const serve = (uri: string): Json[] => [
  { handler: 'rewrite', uri },
  { handler: 'subroute', routes: cacheRoutes },
  fileServer(),
];

const ASSET = String.raw`\.(?:avif|css|eot|gif|ico|jpe?g|js|json|map|mjs|mp4|png|svg|ttf|wasm|webm|webp|woff2?)$`;

/** Eight characters of a bundler's hash: at least one is a capital or a digit, so that words don't pass for one. */
const MIXED_HASH = Array.from({ length: 8 }, (_, index) => `[\\w-]{${index}}[A-Z0-9][\\w-]{${7 - index}}`).join('|');

const hashed = [
  { path: ['/_next/static/*', '/_app/immutable/*'] },
  { path_regexp: { pattern: `^/(?:assets|_astro|_nuxt|build/assets)/.*[.-](?:${MIXED_HASH})${ASSET}` } },
  {
    path_regexp: { pattern: `[.-][0-9a-f]{8,64}(?:\\.chunk)?${ASSET}` },
    // A date is no hash.
    not: [{ path_regexp: { pattern: String.raw`[.-][0-9]+\.\w+$` } }],
  },
];

const cacheControl = (value: string): Json[] => [
  { handler: 'headers', response: { set: { 'Cache-Control': [value] } } },
];

const cacheRoutes: Json[] = [
  { match: hashed, handle: cacheControl('public, max-age=31536000, immutable'), group: 'cache' },
  // Everything else is asked for again each time, and answered with 304 while it is unchanged.
  { handle: cacheControl('no-cache'), group: 'cache' },
];

const errorRoutes: Json[] = [
  route({ expression: '{http.error.status_code} == 404', file: exists('/404.html') }, [
    { handler: 'headers', response: { set: { 'Cache-Control': ['no-cache'] } } },
    { handler: 'rewrite', uri: '/404.html' },
    fileServer({ status_code: '404' }),
  ]),
  {
    handle: [
      {
        handler: 'static_response',
        status_code: '{http.error.status_code}',
        headers: { 'Cache-Control': ['no-cache'], 'Content-Type': ['text/plain; charset=utf-8'] },
        body: '{http.error.status_code} {http.error.status_text}\n',
      },
    ],
  },
];
