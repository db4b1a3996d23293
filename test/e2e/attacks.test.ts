import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Value } from '@sinclair/typebox/value';
import { ErrorBodySchema } from '#kernel/schema';
import { nodeApp } from '#test/support/apps.ts';
import { Berth, type Reply } from '#test/support/berth.ts';
import { fieldsOf, requestWith, type Operation } from '#test/support/every-field.ts';
import { rawHttp, statusOf } from '#test/support/raw-http.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;
/** Where a payload that is executed leaves its trace. */
const traces = mkdtempSync(join(tmpdir(), 'berth-traces-'));
const trace = join(traces, 'executed');

beforeAll(async () => {
  berth = await Berth.boot(['--rate-limit-per-minute', '0']);
  for (const project of ['shop', 'bank']) {
    await berth.project(project);
    const app = nodeApp(`(request, response) => response.end(${JSON.stringify(project)} + ' ' + request.url)`);
    expect(await berth.deploy(project, 'web', app)).toMatchObject({ status: 'succeeded' });
  }
}, 180_000);

afterAll(async () => {
  await berth.destroy();
  rmSync(traces, { recursive: true, force: true });
}, 60_000);

const PAYLOADS = [
  `; touch ${trace}`,
  `| touch ${trace}`,
  `&& touch ${trace} &`,
  `$(touch ${trace})`,
  `\`touch ${trace}\``,
  `"; touch ${trace}; "`,
  `'; touch ${trace}; '`,
  `a\ntouch ${trace}\n#`,
  `--upload-pack=touch ${trace}`,
  '-x',
  `ext::sh -c touch% ${trace}`,
  '{{env "HOME"}}',
  '{{ `x` }}',
  ') || Host(`bank.localhost`) || (',
  'a`) || PathPrefix(`/',
  'x"\nhttp:\n  routers: {}',
  '../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  "' OR 1=1 --",
  "'; DROP TABLE tokens; --",
  '\u0000',
  '\u202e\ufeff𝒳',
  '%00%0a%0d',
  '__proto__',
  'constructor',
];

describe('payloads of injection in every string field of every operation', () => {
  test('are refused or inert: nothing is executed, rendered or lost, and nothing is a 500', async () => {
    const { paths } = (await berth.api('/v1/openapi')).body as { paths: Record<string, Record<string, Operation>> };
    const before = state();
    let sent = 0;
    for (const field of fieldsOf(paths)) {
      for (const payload of PAYLOADS) {
        const reply = await send(requestWith(field, payload));
        sent += 1;
        if (reply.status >= 500)
          throw new Error(`${field.name} = ${JSON.stringify(payload)}: ${reply.status} ${JSON.stringify(reply.body)}`);
        if (reply.status >= 400) expect(Value.Check(ErrorBodySchema, reply.body)).toBe(true);
      }
    }
    expect(sent).toBeGreaterThan(1000);
    for (const status of ['queued', 'running'])
      await until(async () => (await berth.api(`/v1/operations?status=${status}`)).body.operations.length === 0);
    expect(existsSync(trace)).toBe(false);
    expect(readdirSync(traces)).toEqual([]);
    expect(state()).toEqual(before);
    for (const project of ['shop', 'bank']) expect(await berth.appText(project, 'web')).toBe(`${project} /`);
    expect(berth.serverLog).not.toContain('"level":"error"');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  }, 120_000);
});

/** The files that berth writes for the proxy, but for the addresses of replicas: a variable that is set restarts them. */
const state = (): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(berth.dataDir, 'proxy/dynamic')).map((name) => [
      name,
      readFileSync(join(berth.dataDir, 'proxy/dynamic', name), 'utf8').replaceAll(
        /http:\/\/10\.[\d.]+:/g,
        'http://10…:',
      ),
    ]),
  );

const send = async (request: {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}): Promise<Reply> => {
  const { method, path, headers, body } = request;
  // A stream that is accepted stays open; its head is all that matters.
  const response = await fetch(`${berth.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${berth.token}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel();
    return { status: response.status, headers: response.headers, body: undefined };
  }
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parse(text) };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

describe('malformed requests', () => {
  const auth = (): string => `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${berth.token}\r\n`;
  const json = (body: string, more = ''): string =>
    `POST /v1/projects HTTP/1.1\r\n${auth()}${more}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const CASES: [string, () => string | Uint8Array][] = [
    ['no HTTP at all', () => 'hello there\r\n\r\n'],
    ['TLS', () => Uint8Array.from([22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3, 0, 0, 0])],
    ['no Host', () => `GET /v1/projects HTTP/1.1\r\nAuthorization: Bearer ${berth.token}\r\n\r\n`],
    ['a NUL in the path', () => `GET /v1/projects/\0 HTTP/1.1\r\n${auth()}\r\n`],
    ['invalid UTF-8 in the path', () => `GET /v1/projects/%ff%fe HTTP/1.1\r\n${auth()}\r\n`],
    ['a cut-off escape in the path', () => `GET /v1/projects/%e HTTP/1.1\r\n${auth()}\r\n`],
    ['invalid UTF-8 in the query', () => `GET /v1/projects?limit=%ff HTTP/1.1\r\n${auth()}\r\n`],
    ['__proto__ in the query', () => `GET /v1/projects?__proto__[x]=1&__proto__=2 HTTP/1.1\r\n${auth()}\r\n`],
    ['a NUL in a header', () => `GET /v1/projects HTTP/1.1\r\n${auth()}X-A: a\0b\r\n\r\n`],
    ['a header of 1 MB', () => `GET /v1/projects HTTP/1.1\r\n${auth()}X-A: ${'a'.repeat(1_000_000)}\r\n\r\n`],
    ['10,000 headers', () => `GET /v1/projects HTTP/1.1\r\n${auth()}${'X-A: b\r\n'.repeat(10_000)}\r\n`],
    ['a URL of 1 MB', () => `GET /v1/projects?cursor=${'a'.repeat(1_000_000)} HTTP/1.1\r\n${auth()}\r\n`],
    ['cut-off JSON', () => json('{"name":')],
    ['__proto__ in the body', () => json('{"__proto__":{"polluted":1},"name":"p"}')],
    ['10,000 levels of JSON', () => json(`${'{"name":'.repeat(10_000)}1${'}'.repeat(10_000)}`)],
    ['10 MB of JSON', () => json(JSON.stringify({ name: 'x'.repeat(10_000_000) }))],
    ['a NUL in the body', () => json('{"name":"a\\u0000b"}')],
    ['raw bytes in the body', () => json('{"name":"\xff\xfe"}')],
    ['two lengths', () => json('{"name":"two"}', 'Content-Length: 3\r\n')],
    ['a length and chunks', () => json('{"name":"smuggled"}', 'Transfer-Encoding: chunked\r\n')],
    ['a negative length', () => `POST /v1/projects HTTP/1.1\r\n${auth()}Content-Length: -5\r\n\r\n`],
    ['broken chunks', () => `POST /v1/projects HTTP/1.1\r\n${auth()}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello`],
    ['an unknown method', () => `BREW /v1/projects HTTP/1.1\r\n${auth()}\r\n`],
    ['CONNECT', () => `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${auth()}\r\n`],
    ['TRACE', () => `TRACE /v1/projects HTTP/1.1\r\n${auth()}\r\n`],
  ];

  test.each(CASES)('with %s get a 4xx or are cut off, never a 500', async (_what, request) => {
    const status = statusOf(await rawHttp('127.0.0.1', berth.ports.api, request()));
    // 505: what is no request line has no version either.
    if (status !== 0 && status !== 505) expect(status).toBeWithin(400, 500);
    expect((await berth.api('/v1/projects')).body.projects.map(({ name }: { name: string }) => name)).not.toContain(
      'smuggled',
    );
  });

  test('left the server as it was, without a fault in its log', async () => {
    expect((await berth.api('/v1/health')).body.status).toBe('ok');
    expect(berth.serverLog).not.toContain('"level":"error"');
  });
});

describe('through the proxy', () => {
  const ask = (target: string, host: string, headers = ''): Promise<string> =>
    rawHttp(
      '127.0.0.1',
      berth.ports.http,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${headers}\r\n`,
    );
  const PATHS = [
    '/../',
    '/..%2f',
    '/%2e%2e/',
    '/a/../../',
    '//bank',
    '/\\..\\',
    '/%2f%2fweb--bank.localhost/',
    '/;/../',
    '/./',
    '/v1/projects',
    '/api/rawdata',
    '/metrics',
  ];

  test.each(PATHS)('the path %s reaches the app of its host and no other', async (path) => {
    const answer = await ask(path, 'web--shop.localhost');
    expect(answer).not.toContain('bank /');
    expect(answer).not.toContain('"code"');
    if (statusOf(answer) === 200) expect(answer).toContain('shop /');
    else expect(statusOf(answer)).toBeWithin(300, 500);
  });

  test('nobody but the owner of a host name is reached by it', async () => {
    for (const host of [
      'web--shop.localhost.evil.example',
      'evil.example',
      'web--bank.localhost@web--shop.localhost',
      'web--shop',
      '127.0.0.1',
      'WEB--NONE.localhost',
    ])
      expect(statusOf(await ask('/', host))).toBeWithin(400, 500);
  });

  test('X-Forwarded-For and friends of a client are replaced before an app sees them', async () => {
    const app = nodeApp('(request, response) => response.end(JSON.stringify(request.headers))');
    expect(await berth.deploy('shop', 'headers', app)).toMatchObject({ status: 'succeeded' });
    const forged =
      'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Host: evil\r\nX-Forwarded-Proto: https\r\nX-Real-Ip: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n';
    const answer = await ask('/', 'headers--shop.localhost', forged);
    expect(answer).toContain('"x-forwarded-for":"127.0.0.1"');
    expect(answer).toContain('"x-forwarded-host":"headers--shop.localhost"');
    expect(answer).toContain('"x-forwarded-proto":"http"');
    expect(answer).toContain('"x-real-ip":"127.0.0.1"');
    expect(answer).not.toContain('x-berth-proxy');
  }, 60_000);
});
