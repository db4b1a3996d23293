import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { route } from '#test/contracts/proxy.ts';
import { SECRET, startTraefik, type Traefik } from './support.ts';
import { startUpstream, type TestUpstream } from './upstreams.ts';

interface Seen {
  app: string;
  path: string;
  headers: Record<string, string>;
}

let traefik: Traefik;
const apps: TestUpstream[] = [];

const recorder = (app: string): TestUpstream => {
  const upstream = startUpstream((request) => {
    const { pathname, search } = new URL(request.url);
    return Response.json({ app, path: pathname + search, headers: Object.fromEntries(request.headers) });
  });
  apps.push(upstream);
  return upstream;
};

/** Sends bytes as they are, which no HTTP client would; the answer up to the end of the connection. */
const raw = (lines: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(traefik.ports.http, '127.0.0.1', () => {
      socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`);
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(chunks).toString()));
    socket.on('error', reject);
  });

const seen = async (lines: string[]): Promise<Seen> => {
  const answer = await raw(lines);
  const body = /\{.*\}/s.exec(answer)?.[0];
  if (body === undefined) throw new Error(`no app answered: ${answer.slice(0, 200)}`);
  return JSON.parse(body) as Seen;
};

beforeAll(async () => {
  traefik = await startTraefik();
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [recorder('web')] }));
  await traefik.proxy.apply(
    route({ service: 'other', hosts: ['other--shop.localhost'], upstreams: [recorder('other')] }),
  );
  const api = recorder('api');
  await traefik.proxy.applyControlPlane({ hosts: ['berth.localhost'], address: `127.0.0.1:${api.port}` });
}, 60_000);
afterAll(async () => {
  await traefik.dispose();
  await Promise.all(apps.map((app) => app.kill()));
}, 60_000);

describe('proxy trust: headers', () => {
  const forged = [
    'X-Forwarded-For: 6.6.6.6',
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Proto: https',
    'X-Real-Ip: 6.6.6.6',
    'X-Berth-Proxy: guessed',
  ];

  test('what a client claims about its origin is replaced, for apps and the API', async () => {
    for (const host of ['web--shop.localhost', 'berth.localhost']) {
      const { headers } = await seen(['GET / HTTP/1.1', `Host: ${host}`, ...forged]);
      expect(headers['x-forwarded-for']).toBe('127.0.0.1');
      expect(headers['x-real-ip']).toBe('127.0.0.1');
      expect(headers['x-forwarded-host']).toBe(host);
      expect(headers['x-forwarded-proto']).toBe('http');
    }
  });

  test('the API gets the secret, whatever the client sends under that name', async () => {
    const { headers } = await seen(['GET / HTTP/1.1', 'Host: berth.localhost', ...forged]);
    expect(headers['x-berth-proxy']).toBe(SECRET);
  });

  test('a client cannot have the secret or its origin removed by naming them in Connection', async () => {
    const connection = 'Connection: X-Berth-Proxy, X-Forwarded-For, X-Real-Ip';
    const { headers } = await seen(['GET / HTTP/1.1', 'Host: berth.localhost', connection]);
    expect(headers['x-berth-proxy']).toBe(SECRET);
    expect(headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  test('apps never get the secret', async () => {
    const { headers } = await seen(['GET / HTTP/1.1', 'Host: web--shop.localhost']);
    expect(JSON.stringify(headers)).not.toContain(SECRET);
  });
});

describe('proxy trust: paths and hosts', () => {
  const HOST = 'Host: web--shop.localhost';

  test.each([
    ['/../other', '/other'],
    ['/a/../../other', '/other'],
    ['/%2e%2e/other', '/other'],
    ['/a/%2E%2E/%2e%2e/b', '/b'],
    ['/..%2fother', '/..%2Fother'],
    ['/a%2fb', '/a%2Fb'],
    ['/a%5Cb%3Bc%25d%3Fe%23f', '/a%5Cb%3Bc%25d%3Fe%23f'],
    ['/a;b?c=1;2', '/a;b?c=1%3B2'],
  ])('%s stays with the app, which sees %s', async (path, expected) => {
    expect(await seen([`GET ${path} HTTP/1.1`, HOST])).toMatchObject({ app: 'web', path: expected });
  });

  test('an encoded NUL is refused', async () => {
    expect(await raw(['GET /a%00b HTTP/1.1', HOST])).toStartWith('HTTP/1.1 400');
  });

  test.each([
    [['GET / HTTP/1.1', HOST, 'Host: other--shop.localhost']],
    [['GET / HTTP/1.1', 'Host: web--shop.localhost, other--shop.localhost']],
    [['GET / HTTP/1.1']],
    [['GET / HTTP/1.1', 'Host: web--shop.localhost/../other--shop.localhost']],
  ])('%j reaches no app', async (lines) => {
    expect(await raw(lines)).toMatch(/^HTTP\/1\.1 4\d\d/);
  });

  test('a host name counts in any case, with any port', async () => {
    expect(await seen(['GET / HTTP/1.1', 'Host: WEB--shop.localhost:1234'])).toMatchObject({ app: 'web' });
  });

  test('the admin API is on loopback only, and no public host reaches it', async () => {
    const listen = await Bun.file('/proc/net/tcp').text();
    const port = traefik.ports.api.toString(16).toUpperCase().padStart(4, '0');
    expect(listen).toContain(`0100007F:${port}`);
    expect(await Bun.file('/proc/net/tcp6').text()).not.toContain(`:${port} 0000`);
    for (const host of ['127.0.0.1', 'localhost', `127.0.0.1:${traefik.ports.api}`]) {
      expect(await raw(['GET /api/rawdata HTTP/1.1', `Host: ${host}`])).toStartWith('HTTP/1.1 404');
    }
  });

  test('metrics are per service, and hold nothing that a request can choose', async () => {
    await raw(['GET /secret-path HTTP/1.1', 'Host: berth.localhost', 'X-Chosen: chosen-value']);
    const text = await (await fetch(`http://127.0.0.1:${traefik.ports.api}/metrics`)).text();
    expect(text).toContain(
      'traefik_service_requests_total{code="200",method="GET",protocol="http",service="shop.web@file"}',
    );
    expect(text).not.toMatch(/secret-path|chosen-value|traefik_router_requests_total/);
  });
});
