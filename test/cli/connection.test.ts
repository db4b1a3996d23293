import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { VERSION } from '#kernel/version';
import { atEnd } from '#test/support/preload.ts';
import { createAuthority, selfSigned, type Identity } from '#test/support/certificates.ts';
import { ContractServer, json } from './support/api.ts';
import { Home, type Ran, type RunOptions } from './support/cli.ts';

const PROJECTS = { projects: [], next_cursor: null };
const ENTRIES = { SERVICE_TOKEN: 'brt_test' };

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.remove());

const ask = (endpoint: string, options: RunOptions = {}, more: string[] = []): Promise<Ran> =>
  home.run(['projects', 'ls', ...more], {
    ...options,
    env: { ...ENTRIES, SERVICE_ENDPOINT: endpoint, ...options.env },
  });

/** The error object on stderr; the exit code is 1, stdout is empty, and nothing looks like a stack trace. */
const refusalOf = (ran: Ran): { code: string; message: string; hint: string; retryable: boolean } => {
  expect(ran).toMatchObject({ code: 1, stdout: '' });
  expect(ran.stderr).not.toMatch(/^\s+at /m);
  return JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '');
};

const serveTls = (identity: Identity): string => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls: identity,
    fetch: () => Response.json(PROJECTS),
  });
  atEnd(() => server.stop(true));
  return `https://localhost:${server.port}`;
};

/** A listener that treats each connection by hand. */
const listen = async (onConnection: (socket: Socket) => void): Promise<string> => {
  const server: Server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()));
  atEnd(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const answering = (reply: string): Promise<string> => listen((socket) => socket.once('data', () => socket.end(reply)));

describe('a certificate', () => {
  let authority: Awaited<ReturnType<typeof createAuthority>>;
  beforeAll(async () => {
    authority = await createAuthority();
  });

  test('of a private authority is trusted through --ca, BERTH_CA or NODE_EXTRA_CA_CERTS, and login saves it', async () => {
    const url = serveTls(await authority.issue());
    home.write({ 'ca.pem': authority.cert });
    const refused = refusalOf(await ask(url));
    expect(refused.message).toBe(
      `the certificate of ${new URL(url).host} is not trusted: no authority known here has issued it`,
    );
    expect(refused.hint).toContain('--ca FILE');
    expect((await ask(url, {}, ['--ca', 'ca.pem'])).code).toBe(0);
    expect((await ask(url, { env: { BERTH_CA: home.path('ca.pem') } })).code).toBe(0);
    expect((await ask(url, { env: { NODE_EXTRA_CA_CERTS: home.path('ca.pem') } })).code).toBe(0);
    expect((await home.run(['login', url, '--token-stdin', '--ca', 'ca.pem'], { stdin: 'brt_x' })).code).toBe(0);
    expect((await home.run(['projects', 'ls'])).code).toBe(0);
  });

  test.each([
    ['that has expired', { to: new Date(Date.now() - 3_600_000) }, 'it has expired', 'renew it on the server'],
    ['of tomorrow', { from: new Date(Date.now() + 3_600_000) }, 'it is not valid yet', 'check the clock'],
    ['of another name', { names: ['other.example'] }, 'it is for another name than localhost', 'use the name'],
  ])('%s is refused with its reason', async (_what, options, why, next) => {
    const url = serveTls(await authority.issue(options));
    home.write({ 'ca.pem': authority.cert });
    const refused = refusalOf(await ask(url, {}, ['--ca', 'ca.pem']));
    expect(refused).toMatchObject({ code: 'UNREACHABLE', retryable: false });
    expect(refused.message).toEndWith(`is not trusted: ${why}`);
    expect(refused.hint).toContain(next);
  });

  test('that is self-signed can be trusted itself', async () => {
    const identity = await selfSigned();
    const url = serveTls(identity);
    home.write({ 'server.pem': identity.cert });
    expect(refusalOf(await ask(url)).message).toContain('it is self-signed');
    expect((await ask(url, {}, ['--ca', 'server.pem'])).code).toBe(0);
  });

  test('is trusted by doctor too', async () => {
    const url = serveTls(await authority.issue());
    home.write({ 'ca.pem': authority.cert });
    const healthOf = async (...flags: string[]): Promise<string> => {
      const { stdout } = await home.run(['doctor', '--no-server', '--endpoint', url, ...flags]);
      const { checks } = JSON.parse(stdout) as { checks: { id: string; detail: string }[] };
      return checks.find(({ id }) => id === 'health')?.detail ?? '';
    };
    expect(await healthOf()).toMatch(/certificate|verify/);
    expect(await healthOf('--ca', 'ca.pem')).not.toMatch(/certificate|verify/);
  });

  test('is not asked for where HTTP is spoken, and HTTP not where HTTPS is', async () => {
    const plain = new ContractServer();
    atEnd(() => plain.stop());
    const refused = refusalOf(await ask(plain.url.replace('http:', 'https:')));
    expect(refused.hint).toContain(`use ${plain.url}`);
    const secure = serveTls(await authority.issue());
    expect(refusalOf(await ask(secure.replace('https:', 'http:'))).hint).toContain(`use ${secure}`);
  });
});

describe('something else at the address', () => {
  const head = (status: string, more = ''): string => `HTTP/1.1 ${status}\r\n${more}connection: close\r\n`;

  test.each([
    [
      'a web page',
      `${head('200 OK', 'content-type: text/html\r\n')}\r\n<html>Welcome</html>`,
      'with a web page',
      'check the address',
    ],
    ["a proxy's 404", `${head('404 Not Found')}\r\n404 page not found`, 'answered 404 Not Found', 'check the address'],
    [
      'a page to sign in at',
      `${head('302 Found', 'location: https://login.example.com/?next=%2Fv1&token=secret\r\n')}\r\n`,
      'redirects to https://login.example.com/',
      'its proxy has to let the API through',
    ],
    [
      'a web server that wants HTTPS',
      `${head('400 Bad Request')}\r\n<h1>The plain HTTP request was sent to HTTPS port</h1>`,
      'answered 400 Bad Request',
      'the server wants HTTPS there',
    ],
    ['a mail server', '220 mail.example.com ESMTP\r\n', 'does not speak HTTP', 'check that the server runs'],
    [
      'an error in words of its own',
      `${head('418 Teapot')}\r\n{"error":"short and stout"}`,
      'answered 418 Teapot',
      'check the address',
    ],
  ])('%s gets a clear word', async (_what, reply, message, hint) => {
    const refused = refusalOf(await ask(`http://${await answering(reply)}`));
    expect(refused).toMatchObject({ code: 'UNREACHABLE', retryable: false });
    expect(refused.message).toContain(message);
    expect(refused.message).not.toContain('secret');
    expect(refused.hint).toContain(hint);
  });

  test('a redirect to HTTPS on the same name says to use that', async () => {
    const reply =
      'HTTP/1.1 308 Permanent Redirect\r\nlocation: https://127.0.0.1/v1/projects\r\nconnection: close\r\n\r\n';
    expect(refusalOf(await ask(`http://${await answering(reply)}`)).hint).toBe(
      'use HTTPS: berth login https://127.0.0.1',
    );
  });

  test('a connection that is reset in mid-reply is tried again, and then told', async () => {
    let connections = 0;
    const address = await listen((socket) => {
      connections += 1;
      socket.once('data', () => socket.resetAndDestroy());
    });
    const refused = refusalOf(await ask(`http://${address}`));
    expect(refused).toMatchObject({ code: 'UNREACHABLE', retryable: true });
    expect(refused.message).toBe(`cannot reach http://${address}: the connection broke off`);
    expect(connections).toBe(4);
  }, 20_000);
});

describe('a proxy', () => {
  /** One that takes every request to the same server, as it was asked for in CONNECT or by address. */
  const forwarding = async (seen: string[]): Promise<string> =>
    listen((socket) =>
      socket.once('data', (first: Buffer) => {
        const [line = ''] = first.toString().split('\r\n');
        seen.push(line);
        const [method, target = ''] = line.split(' ');
        const url = new URL(method === 'CONNECT' ? `http://${target}` : target);
        const up = connect(Number(url.port), '127.0.0.1', () => {
          if (method === 'CONNECT') socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
          else up.write(first.toString().replace(target, url.pathname + url.search));
          socket.pipe(up).pipe(socket);
        });
        up.on('error', () => socket.destroy());
      }),
    );

  test('is used for both schemes, and NO_PROXY goes around it', async () => {
    const authority = await createAuthority();
    home.write({ 'ca.pem': authority.cert });
    const secure = serveTls(await authority.issue());
    const plain = new ContractServer().on('GET /v1/projects', json(PROJECTS));
    atEnd(() => plain.stop());
    const seen: string[] = [];
    const proxy = `http://${await forwarding(seen)}`;
    const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, BERTH_CA: home.path('ca.pem') };
    expect((await ask(secure, { env })).code).toBe(0);
    expect(seen.splice(0)).toEqual([`CONNECT ${new URL(secure).host} HTTP/1.1`]);
    expect((await ask(plain.url, { env })).code).toBe(0);
    expect(seen.splice(0)).toEqual([`GET ${plain.url}/v1/projects HTTP/1.1`]);
    expect((await ask(secure, { env: { ...env, NO_PROXY: 'localhost' } })).code).toBe(0);
    expect(seen).toEqual([]);
  });

  const EMPTY = 'content-length: 0\r\nconnection: close\r\n\r\n';

  test('that wants a login says so, without showing the one that was given', async () => {
    const address = await answering(`HTTP/1.1 407 Proxy Authentication Required\r\n${EMPTY}`);
    const env = { HTTPS_PROXY: `http://me:hunter2@${address}`, HTTP_PROXY: `http://me:hunter2@${address}` };
    const secure = await ask('https://berth.example.com', { env });
    expect(secure.stderr).not.toContain('hunter2');
    expect(refusalOf(secure).message).toBe(
      `the proxy http://${address} (HTTPS_PROXY or HTTP_PROXY) answered 407 Proxy Authentication Required`,
    );
    expect(refusalOf(secure).hint).toContain('http://user:password@proxy:port');
    expect(refusalOf(await ask('http://berth.example.com', { env })).hint).toContain('the proxy wants a login');
  });

  test('that cannot reach the server, and one that is not there, are told from the server itself', async () => {
    const failing = await answering(`HTTP/1.1 502 Bad Gateway\r\n${EMPTY}`);
    const refused = refusalOf(await ask('https://berth.example.com', { env: { HTTPS_PROXY: `http://${failing}` } }));
    expect(refused.message).toContain('answered 502 Bad Gateway');
    expect(refused.hint).toContain('NO_PROXY');
    const gone = refusalOf(await ask('https://berth.example.com', { env: { HTTPS_PROXY: 'http://127.0.0.1:1' } }));
    expect(gone.message).toBe(
      'the proxy http://127.0.0.1:1 (HTTPS_PROXY or HTTP_PROXY) cannot be reached: nothing listens there',
    );
  }, 20_000);
});

describe('versions that differ', () => {
  const body = {
    code: 'NOT_FOUND',
    message: 'no such path: /v1/projects',
    hint: 'see GET /v1/openapi',
    retryable: false,
  };
  const answered = async (version: string | undefined, status = 404, more = {}): Promise<Ran> => {
    const headers = version === undefined ? {} : { 'x-berth-version': version };
    const server = new ContractServer().on(
      'GET /v1/projects',
      Response.json({ ...body, ...more }, { status, headers }),
    );
    atEnd(() => server.stop());
    return ask(server.url);
  };

  test('explain an operation that one side does not know', async () => {
    expect(refusalOf(await answered('0.0.1')).hint).toBe(
      `see GET /v1/openapi; the server is 0.0.1 and this client is ${VERSION}, which is newer: upgrade the server`,
    );
    expect(refusalOf(await answered('99.0.0')).hint).toEndWith(
      `the server is 99.0.0, which is newer: upgrade the client (berth upgrade)`,
    );
    const field = await answered('99.0.0', 400, { code: 'INVALID_INPUT', message: 'query.tint is required' });
    expect(refusalOf(field).hint).toContain('upgrade the client');
  });

  test('say nothing where they have nothing to do with it', async () => {
    expect(refusalOf(await answered(VERSION)).hint).toBe(body.hint);
    expect(refusalOf(await answered(undefined)).hint).toBe(body.hint);
    expect(refusalOf(await answered('99.0.0', 404, { message: 'no project named "shop"' })).hint).toBe(body.hint);
  });

  test('leave codes and fields of a newer server understood', async () => {
    const newer = await answered('99.0.0', 423, { code: 'PROJECT_FROZEN', message: 'it is frozen', thaw_at: 'soon' });
    expect(refusalOf(newer)).toEqual({ ...body, code: 'PROJECT_FROZEN', message: 'it is frozen' });
    const server = new ContractServer().on('GET /v1/projects', json({ ...PROJECTS, mood: 'new' }));
    atEnd(() => server.stop());
    expect((await ask(server.url)).code).toBe(0);
  });
});
