import { describe, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { createOutgoing } from '#engines/outgoing/index';
import { systemClock, type Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import { atEnd } from '#test/support/preload.ts';
import { certificateFor } from './certificate.ts';

interface Setup {
  allow?: string;
  answers?: Record<string, string[]>;
  own?: string[];
  ca?: string;
  clock?: Clock;
}

const outgoing = ({ allow = '', answers = {}, own = [], ca, clock = systemClock }: Setup = {}) =>
  createOutgoing({
    clock,
    allow,
    networkPool: '10.208.0.0/12',
    ownAddresses: () => own,
    resolve: async (host) => answers[host] ?? [],
    ...(ca === undefined ? {} : { ca }),
  });

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  const thrown: unknown = await promise.then(
    () => 'nothing',
    (error: unknown) => error,
  );
  return thrown instanceof BerthError ? thrown.kind : String(thrown);
};

const REQUEST = { path: '/a/info/refs?service=git-upload-pack', maxBytes: 1000, deadlineMs: 5000 };

describe('what a host name leads to', () => {
  const resolve = (setup: Setup, url = 'https://git.example/a'): Promise<string[]> => {
    const out = outgoing(setup);
    return out.resolvePublic(out.checkUrl(url));
  };

  test('public addresses come with IPv4 first', async () => {
    expect(await resolve({ answers: { 'git.example': ['2606:4700::1', '1.1.1.1'] } })).toEqual([
      '1.1.1.1',
      '2606:4700::1',
    ]);
  });

  test.each([
    [['127.0.0.1']],
    [['1.1.1.1', '127.0.0.1']],
    [['1.1.1.1', '::1']],
    [['169.254.169.254']],
    [['::ffff:169.254.169.254']],
    [['64:ff9b::a9fe:a9fe']],
    [['fe80::1%eth0']],
    [['10.208.1.2']],
    [['fd00::1']],
    [['0.0.0.0']],
  ])('an answer with a bad address is refused whole: %p', async (answers) => {
    expect(await codeOf(resolve({ answers: { 'git.example': answers } }))).toBe('INVALID_INPUT');
  });

  test("the machine's own public address is refused", async () => {
    const answers = { 'git.example': ['8.8.4.4'], 'six.example': ['2a00::5'] };
    const own = ['8.8.4.4', '2a00:0:0::5'];
    expect(await codeOf(resolve({ answers, own }))).toBe('INVALID_INPUT');
    expect(await codeOf(resolve({ answers, own }, 'https://six.example/a'))).toBe('INVALID_INPUT');
  });

  test('an address of the pool of apps is refused, also when the pool is made of public addresses', async () => {
    const out = createOutgoing({
      clock: systemClock,
      allow: '',
      networkPool: '44.0.0.0/8',
      ownAddresses: () => [],
      resolve: async () => ['44.1.2.3'],
    });
    expect(await codeOf(out.resolvePublic(out.checkUrl('https://git.example/a')))).toBe('INVALID_INPUT');
  });

  test('a listed name opens private addresses, never metadata services', async () => {
    const allow = 'git.example';
    expect(await resolve({ allow, answers: { 'git.example': ['10.0.0.5'] } })).toEqual(['10.0.0.5']);
    expect(await codeOf(resolve({ allow, answers: { 'git.example': ['169.254.169.254'] } }))).toBe('INVALID_INPUT');
    expect(await codeOf(resolve({ allow, answers: { 'git.example': ['::ffff:169.254.169.254'] } }))).toBe(
      'INVALID_INPUT',
    );
  });

  test('an unknown name is NOT_FOUND, and nonsense of a resolver is no address', async () => {
    expect(await codeOf(resolve({}))).toBe('NOT_FOUND');
    expect(await codeOf(resolve({ answers: { 'git.example': ['nonsense'] } }))).toBe('NOT_FOUND');
  });

  test('a resolver that never answers is a TIMEOUT', async () => {
    const out = createOutgoing({
      clock: { ...systemClock, sleep: () => Promise.resolve() },
      allow: '',
      networkPool: '10.208.0.0/12',
      resolve: () => new Promise(() => undefined),
    });
    expect(await codeOf(out.resolvePublic(out.checkUrl('https://git.example/a')))).toBe('TIMEOUT');
  });

  test('a message never tells the address behind a name', async () => {
    const thrown: unknown = await resolve({ answers: { 'git.example': ['10.9.8.7'] } }).catch(
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(BerthError);
    expect(String(thrown)).not.toContain('10.9.8.7');
  });
});

const listen = async (onConnection: (socket: Socket) => void): Promise<number> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const serveHttp = (fetch: (request: Request) => Response, tls?: { cert: string; key: string }): number => {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch, ...(tls === undefined ? {} : { tls }) });
  atEnd(() => server.stop(true));
  return server.port ?? 0;
};

describe('a request to the outside', () => {
  test('goes to the address that was checked, with the name in the Host header, past every proxy variable', async () => {
    const port = serveHttp(
      (request) => new Response(`${request.headers.get('host')} ${new URL(request.url).pathname}`),
    );
    const asked: string[] = [];
    for (const name of ['http_proxy', 'HTTP_PROXY', 'ALL_PROXY']) {
      const before = process.env[name];
      process.env[name] = 'http://127.0.0.1:1';
      atEnd(() => {
        if (before === undefined) delete process.env[name];
        else process.env[name] = before;
      });
    }
    const out = createOutgoing({
      clock: systemClock,
      allow: `git.example:${port}`,
      networkPool: '10.208.0.0/12',
      // The second answer would be another one: rebinding.
      resolve: async (host) => (asked.push(host) === 1 ? ['127.0.0.1'] : ['169.254.169.254']),
    });
    const reply = await out.get(out.checkUrl(`http://git.example:${port}/a`), REQUEST);
    expect(reply).toMatchObject({
      status: 200,
      location: null,
      pinned: { host: 'git.example', port, address: '127.0.0.1' },
    });
    expect(Buffer.from(reply.body).toString()).toBe(`git.example:${port} /a/info/refs`);
    expect(asked).toEqual(['git.example']);
  });

  test('follows no redirect', async () => {
    let seen = 0;
    const port = serveHttp(() => {
      seen += 1;
      return new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/latest' } });
    });
    const out = outgoing({ allow: `git.example:${port}`, answers: { 'git.example': ['127.0.0.1'] } });
    const reply = await out.get(out.checkUrl(`http://git.example:${port}/a`), REQUEST);
    expect(reply).toMatchObject({ status: 302, location: 'http://169.254.169.254/latest' });
    expect(seen).toBe(1);
  });

  test('reads no more than it was told to', async () => {
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
    const port = serveHttp(() => new Response(endless));
    const out = outgoing({ allow: `git.example:${port}`, answers: { 'git.example': ['127.0.0.1'] } });
    const reply = await out.get(out.checkUrl(`http://git.example:${port}/a`), REQUEST);
    expect(reply.body.length).toBe(1000);
  });

  test('takes the next address when nobody is at the first', async () => {
    const port = serveHttp(() => new Response('here'));
    const out = outgoing({
      allow: `git.example:${port}`,
      answers: { 'git.example': ['127.0.0.2', '127.0.0.1'] },
    });
    const reply = await out.get(out.checkUrl(`http://git.example:${port}/a`), REQUEST);
    expect(reply.pinned.address).toBe('127.0.0.1');
  });

  test('to a server that takes the connection and says nothing is a TIMEOUT', async () => {
    const port = await listen(() => undefined);
    const out = outgoing({ allow: `git.example:${port}`, answers: { 'git.example': ['127.0.0.1'] } });
    const get = out.get(out.checkUrl(`http://git.example:${port}/a`), { ...REQUEST, deadlineMs: 50 });
    expect(await codeOf(get)).toBe('TIMEOUT');
  });

  test('to nobody, and to something that speaks no HTTP, is a failure that can be retried', async () => {
    const port = await listen((socket) => socket.end('SSH-2.0-x\r\n\r\n'));
    const out = outgoing({ allow: '127.0.0.1' });
    expect(await codeOf(out.get(out.checkUrl(`http://127.0.0.1:${port}/a`), REQUEST))).toBe('INTERNAL_ERROR');
    expect(await codeOf(out.get(out.checkUrl('http://127.0.0.1:1/a'), REQUEST))).toBe('INTERNAL_ERROR');
  });

  test('ends with the reason of the caller who gives up', async () => {
    const port = await listen(() => undefined);
    const out = outgoing({ allow: '127.0.0.1' });
    const gaveUp = AbortSignal.timeout(30);
    const get = out.get(out.checkUrl(`http://127.0.0.1:${port}/a`), { ...REQUEST, signal: gaveUp });
    expect(await codeOf(get)).toContain('TimeoutError');
  });

  test('over TLS checks the certificate for the name, not for the address', async () => {
    const certificate = await certificateFor('git.example');
    const port = serveHttp(() => new Response('sealed'), certificate);
    const setup = {
      allow: `git.example:${port}, other.example:${port}`,
      answers: { 'git.example': ['127.0.0.1'], 'other.example': ['127.0.0.1'] },
    };
    const trusting = outgoing({ ...setup, ca: certificate.cert });
    const get = (out: typeof trusting, host: string) => out.get(out.checkUrl(`https://${host}:${port}/a`), REQUEST);
    expect((await get(trusting, 'git.example')).status).toBe(200);
    expect(await codeOf(get(trusting, 'other.example'))).toBe('INTERNAL_ERROR');
    expect(await codeOf(get(outgoing(setup), 'git.example'))).toBe('INTERNAL_ERROR');
  });
});
