import { describe, expect, test } from 'bun:test';
import { renderCaddyConfig } from '#engines/builder/static/caddy';
import { parseHeaders } from '#engines/builder/static/headers';
import { parseRedirects, pathExpression } from '#engines/builder/static/redirects';
import { dockerfileOf, fileOf, planOf, refusal } from './support.ts';

interface Config {
  apps: {
    http: { servers: { site: { routes: { handle: Record<string, unknown>[]; match?: Record<string, unknown>[] }[] } } };
  };
}

const routesOf = (
  options: Partial<Parameters<typeof renderCaddyConfig>[0]>,
): Config['apps']['http']['servers']['site']['routes'] =>
  (JSON.parse(renderCaddyConfig({ fallback: null, ...options })) as Config).apps.http.servers.site.routes;

describe('_redirects', () => {
  test.each([
    ['a plain one', '/a /b', { from: '/a', to: '/b', status: 301, force: false }],
    ['with a status', '/a /b 302', { from: '/a', to: '/b', status: 302, force: false }],
    ['forced', '/a /b 301!', { from: '/a', to: '/b', status: 301, force: true }],
    ['a rewrite', '/* /index.html 200', { from: '/*', to: '/index.html', status: 200, force: false }],
    [
      'to another site',
      '/a https://example.com/x',
      { from: '/a', to: 'https://example.com/x', status: 301, force: false },
    ],
    ['with a comment behind it', '/a /b # old', { from: '/a', to: '/b', status: 301, force: false }],
  ])('%s', (_title, text, rule) => {
    expect(parseRedirects(text)).toEqual({ rules: [rule], warnings: [] });
  });

  test.each([
    ['no target', '/a', 'it names no target'],
    ['a source that is no path', 'https://x/a /b', 'its source must be a path of this site'],
    ['an odd status', '/a /b 999', 'the status 999 is not supported'],
    ['a country', '/a /b 302 Country=de', 'conditions (country, language, query) are not supported'],
    ['a target that is no address', '/a javascript:alert(1)', 'its target must be a path or an http address'],
    ['a proxy', '/a https://internal/ 200', 'a status of 200 to another host would make the site a proxy'],
    ['a * in the middle', '/a/*/b /c', 'a * may stand at the end only'],
    ['a name used twice', '/:a/:a /b', 'a placeholder is used twice'],
  ])('%s is left out with a warning', (_title, text, why) => {
    expect(parseRedirects(`# first\n${text}`)).toEqual({ rules: [], warnings: [`_redirects:2 is left out: ${why}`] });
  });

  test.each([
    ['/a', ['/a', '/a/'], ['/ab', '/x/a']],
    ['/a/*', ['/a', '/a/', '/a/b/c'], ['/ab']],
    ['/:year/:slug', ['/2024/x'], ['/2024', '/a/b/c']],
    ['/a.b', ['/a.b'], ['/aXb']],
    ['/a(b', ['/a(b'], []],
    ['/*', ['/', '/a/b'], []],
  ])('%s matches what it says', (from, matching, others) => {
    const pattern = new RegExp(pathExpression(from).replaceAll('(?P<', '(?<'));
    expect([matching.every((path) => pattern.test(path)), others.some((path) => pattern.test(path))]).toEqual([
      true,
      false,
    ]);
  });
});

describe('_headers', () => {
  test('paths and their headers', () => {
    expect(parseHeaders('# ours\n/*\n  X-Frame-Options: DENY\n  Link: </a>; rel=x\n\n/b/*\n\tA: b: c\n')).toEqual({
      rules: [
        {
          path: '/*',
          headers: [
            ['X-Frame-Options', 'DENY'],
            ['Link', '</a>; rel=x'],
          ],
        },
        { path: '/b/*', headers: [['A', 'b: c']] },
      ],
      warnings: [],
    });
  });

  test.each([
    ['  no colon', 'it is no header'],
    ['  Bad Name: x', 'it is no header'],
    ['  Content-Length: 3', 'Content-Length is set by the server'],
    ['  X: a\u0000b', 'its value holds a control character'],
  ])('%j is left out with a warning', (line, why) => {
    expect(parseHeaders(`/*\n${line}\n`)).toEqual({ rules: [], warnings: [`_headers:2 is left out: ${why}`] });
  });
});

describe('the configuration of Caddy', () => {
  test('braces of the user are literal, those of a redirect refer to its match', () => {
    const route = routesOf({ redirects: '/a/:id/* /b/:id/:splat?x={env.SECRET}' }).find((one) =>
      one.handle.some((handler) => handler['handler'] === 'static_response'),
    );
    expect(route?.handle[0]).toEqual({
      handler: 'static_response',
      status_code: 301,
      headers: { Location: ['/b/{http.regexp.redirect0.id}/{http.regexp.redirect0.splat}?x=\\{env.SECRET\\}'] },
    });
  });

  test('a header cannot read the environment', () => {
    expect(renderCaddyConfig({ fallback: null, headers: '/*\n  X: {env.SECRET} {http.vars.x}\n' })).toContain(
      String.raw`"\\{env.SECRET\\} \\{http.vars.x\\}"`,
    );
  });

  test('what looks like a Caddyfile or JSON stays a string', () => {
    const evil = '/a /b"}]},{"handler":"file_server","root":"/"}';
    const config = renderCaddyConfig({
      fallback: null,
      redirects: evil,
      headers: '/*\n  X: "}]}, {"handler": "exec"}\n',
    });
    const roots = [...JSON.stringify(JSON.parse(config)).matchAll(/"root":"([^"\\]*)"/g)].map(([, root]) => root);
    expect(new Set(roots)).toEqual(new Set(['/srv']));
  });

  test('the fallback is for GET and HEAD of paths without an extension', () => {
    const route = routesOf({ fallback: 'index.html' }).at(-2);
    expect(route?.match).toEqual([
      {
        method: ['GET', 'HEAD'],
        path_regexp: { pattern: '^(.*/)?[^/.]*$' },
        file: { root: '/srv', try_files: ['/index.html'] },
      },
    ]);
  });

  test('without a fallback the last word is 404', () => {
    expect(routesOf({}).at(-1)).toEqual({ handle: [{ handler: 'error', status_code: 404 }] } as never);
  });

  test('names with a hash are immutable, words and dates are not', () => {
    const text = renderCaddyConfig({ fallback: null });
    const patterns = [
      ...new Set(
        [...text.matchAll(/"pattern": "((?:\^\/\(\?:assets|\[\.-\]\[0-9a-f)[^\n]*)"/g)].map(([, pattern]) => pattern),
      ),
    ].map((pattern) => new RegExp(JSON.parse(`"${pattern}"`) as string));
    const dates = /[.-][0-9]+\.\w+$/;
    const immutable = (path: string): boolean =>
      (patterns[0]?.test(path) ?? false) || ((patterns[1]?.test(path) ?? false) && !dates.test(path));
    expect(patterns).toHaveLength(2);
    expect(
      [
        '/assets/index-BhX3jK2a.js',
        '/static/js/main.3f4a5b6c.js',
        '/_astro/page.D1ab_-x2.css',
        '/main.3f4a5b6c.chunk.js',
        '/a-0123456789abcdef.woff2',
      ].filter((path) => !immutable(path)),
    ).toEqual([]);
    expect(
      [
        '/assets/jquery-validate.js',
        '/my-component.js',
        '/photo-20240101.png',
        '/index.html',
        '/assets/a.js',
        '/index-BhX3jK2a.html',
      ].filter(immutable),
    ).toEqual([]);
  });
});

test('the Dockerfile of a folder of files', () => {
  expect(dockerfileOf({ 'public/index.html': '', 'README.md': '' })).toBe(`FROM caddy:2 AS server
RUN install -d /out/etc /out/usr/local/bin && install -d -m 1777 /out/tmp && cp /usr/bin/caddy /out/usr/local/bin/ && cp /etc/mime.types /out/etc/

FROM scratch AS runtime
COPY --from=server /out/ /
COPY berth/caddy.json /etc/caddy/berth.json
COPY --chown=1000:1000 source/public/ /srv/
WORKDIR /srv
ENV HOST=0.0.0.0 HOSTNAME=0.0.0.0 PORT=8080 XDG_CONFIG_HOME=/tmp XDG_DATA_HOME=/tmp
USER 1000:1000
EXPOSE 8080
CMD ["caddy","run","--config","/etc/caddy/berth.json"]
`);
});

test('warnings about _redirects reach the plan', () => {
  expect(planOf({ 'index.html': '', _redirects: '/a\n' }).warnings).toEqual([
    '_redirects:1 is left out: it names no target',
  ]);
});

describe('a Staticfile', () => {
  test.each([
    ['root: ./site/\n', 'site'],
    ['# ours\nroot: "dist" # built\n', 'dist'],
    ['root: .\n', ''],
    ['', ''],
  ])('%j names the folder', (text, root) => {
    const files = { Staticfile: text, 'index.html': '', 'site/index.html': '', 'dist/index.html': '' };
    expect(planOf(files).staticRoot).toBe(root);
  });

  test('pushstate gives unknown paths the first page, unless berth.toml says otherwise', () => {
    const files = { Staticfile: 'pushstate: enabled\n', 'index.html': '' };
    const pages = (more = {}): boolean =>
      fileOf(planOf({ ...files, ...more }), 'berth/caddy.json').includes('"/index.html"');
    expect([pages(), pages({ 'berth.toml': '[build]\nspa = false\n' })]).toEqual([true, false]);
  });

  test('what it asks for and does not get is warned of', () => {
    expect(
      planOf({ Staticfile: 'root: site\ndirectory: visible\nnonsense\n', 'site/index.html': '' }).warnings,
    ).toEqual([
      'Staticfile:2 is left out: directory is not supported (known: root, pushstate)',
      'Staticfile:3 is left out: it is no "key: value" (known: root, pushstate)',
    ]);
  });
});

describe('overrides', () => {
  test('a build command runs on Debian, and its folder is served', () => {
    const text = dockerfileOf({
      'index.html': '',
      'berth.toml': '[build]\nbuild = "make site"\noutput = "out"\nbuild_apt = ["make"]\n',
    });
    expect(text).toContain('install -y -qq --no-install-recommends make\nWORKDIR /app\nCOPY source/ ./\nRUN');
    expect(text).toContain('. /run/berth/env && set +a && make site\n');
    expect(text).toContain('COPY --from=build --chown=1000:1000 /app/out/ /srv/\n');
  });

  test.each([
    ['berth.toml', { 'berth.toml': '[build]\nstart = "busybox httpd -f"\n' }],
    ['a Procfile', { Procfile: 'web: busybox httpd -f\n' }],
  ])('a start command in %s serves the files instead', (_title, files) => {
    const plan = planOf({ 'index.html': '', ...files });
    expect({ provider: plan.provider, start: plan.start }).toEqual({
      provider: 'shell',
      start: ['busybox', 'httpd', '-f'],
    });
  });
});

describe('start.sh', () => {
  test.each([
    ['#!/bin/sh\n', ['/bin/sh', 'start.sh']],
    ['echo hi\n', ['/bin/sh', 'start.sh']],
    ['#!/usr/bin/env bash\n', ['/bin/bash', 'start.sh']],
    ['#!/bin/bash -eu\n', ['/bin/bash', '-eu', 'start.sh']],
    ['#!/usr/bin/env -S python3 -u\n', ['python3', '-u', 'start.sh']],
  ])('%j', (text, start) => {
    expect(planOf({ 'start.sh': text }).start).toEqual(start);
  });

  test('a stop signal reaches what the script has started', () => {
    expect(dockerfileOf({ 'start.sh': '' })).toContain('TINI_KILL_PROCESS_GROUP=1');
  });
});

test('a release command of a site is refused: its image could not run it', () => {
  const error = refusal({ 'index.html': '', Procfile: 'release: ./migrate.sh\n' });
  expect({ kind: error.kind, message: error.message }).toEqual({
    kind: 'INVALID_INPUT',
    message:
      'this is a site: its image holds files and their server alone, in which the release command "./migrate.sh" cannot run',
  });
});
