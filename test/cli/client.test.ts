import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createApi, type Api } from '#cli/client/api';
import { readEvents } from '#cli/client/sse';
import { CliFailure } from '#cli/failure';
import { ContractServer, json, refusal } from './support/api.ts';

let server: ContractServer;
let waits: number[];
let abort: AbortController;
beforeEach(() => {
  server = new ContractServer();
  waits = [];
  abort = new AbortController();
});
afterEach(() => server.stop());

const client = (endpoint = server.url): Api =>
  createApi({
    endpoint,
    token: 'brt_test',
    userAgent: 'test',
    signal: abort.signal,
    dryRun: false,
    onRetry: () => undefined,
    sleep: async (ms) => {
      waits.push(ms);
    },
  });

const failureOf = async (work: Promise<unknown>): Promise<CliFailure> => {
  const thrown: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof CliFailure) return thrown;
  throw new Error(`no CliFailure but: ${String(thrown)}`);
};

const BUSY = () => refusal(429, { code: 'QUOTA_EXCEEDED', retryable: true }, { 'retry-after': '2' });

test('what is retryable is tried again, after the time that the server asks for', async () => {
  server.on('GET /v1/projects', BUSY(), BUSY(), json({ projects: [], next_cursor: null }));
  expect(await client().listProjects({})).toEqual({ projects: [], next_cursor: null });
  expect(waits).toEqual([2000, 2000]);
});

test('without such a time the pauses grow, and after four attempts it gives up', async () => {
  server.on('GET /v1/projects', refusal(503, { code: 'INTERNAL_ERROR', retryable: true }));
  expect((await failureOf(client().listProjects({}))).status).toBe(503);
  expect(server.seen).toHaveLength(4);
  expect(waits).toHaveLength(3);
  expect(waits[0]).toBeLessThan(waits[1] ?? 0);
  expect(waits[1]).toBeLessThan(waits[2] ?? 0);
});

test('a wait of hours is a failure at once', async () => {
  server.on('GET /v1/projects', refusal(429, { code: 'QUOTA_EXCEEDED', retryable: true }, { 'retry-after': '7200' }));
  expect((await failureOf(client().listProjects({}))).body.code).toBe('QUOTA_EXCEEDED');
  expect(server.seen).toHaveLength(1);
});

test.each(['CONFLICT', 'INVALID_INPUT', 'NOT_FOUND'] as const)('%s is not tried again', async (code) => {
  server.on('GET /v1/projects', refusal(400, { code }));
  expect((await failureOf(client().listProjects({}))).body.code).toBe(code);
  expect(server.seen).toHaveLength(1);
});

test('each change has a key of its own, and its retries share it', async () => {
  server.on(
    'POST /v1/projects',
    refusal(503, { code: 'INTERNAL_ERROR', retryable: true }),
    json({ name: 'shop', created: true }, 201),
  );
  await client().createProject('shop');
  await client().createProject('shop');
  const [first, again, other] = server.seen.map(({ headers }) => headers.get('idempotency-key'));
  expect(first).toBe(again ?? '');
  expect(other).not.toBe(first ?? '');
});

test('a proxy that cannot reach the server is told as such, and tried again', async () => {
  server.on('GET /v1/projects', new Response('<h1>Bad Gateway</h1>', { status: 502 }));
  const failure = await failureOf(client().listProjects({}));
  expect(failure.body).toMatchObject({ code: 'UNREACHABLE', retryable: true });
  expect(failure.body.hint).toContain('a proxy in between');
  expect(server.seen).toHaveLength(4);
});

test.each([
  ['a page', () => new Response('<html>', { status: 200 }), 'did not answer as berth does'],
  [
    'a foreign error',
    () => new Response('{"error":"nope"}', { status: 404 }),
    'answered 404 Not Found, but not as berth does',
  ],
  [
    'a redirect',
    () => new Response(null, { status: 301, headers: { location: 'https://elsewhere.example/' } }),
    'redirects to https://elsewhere.example/',
  ],
])('%s from a wrong address gets a clear word', async (_, answer, message) => {
  server.on('GET /v1/projects', answer);
  const failure = await failureOf(client().listProjects({}));
  expect(failure.body.code).toBe('UNREACHABLE');
  expect(failure.body.message).toContain(message);
  expect(failure.body.hint).toContain('berth login');
  expect(server.seen).toHaveLength(1);
});

test('a port where nothing listens says so', async () => {
  const gone = server.url;
  await server.stop();
  const failure = await failureOf(client(gone).listProjects({}));
  expect(failure.body).toMatchObject({ code: 'UNREACHABLE', message: `cannot reach ${gone}: nothing listens there` });
  expect(waits).toHaveLength(3);
});

test('a name that does not exist says so', async () => {
  const failure = await failureOf(client('http://no-such-host.invalid').listProjects({}));
  expect(failure.body.message).toBe('the name no-such-host.invalid is not known');
});

test('HTTPS where only HTTP is spoken says so', async () => {
  const failure = await failureOf(client(server.url.replace('http:', 'https:')).listProjects({}));
  expect(failure.body.message).toMatch(/TLS|cannot reach/);
});

test('an upload whose source fails reports that, not a broken connection', async () => {
  server.on('POST /v1/projects/shop/services/web/deploys', json({}, 202));
  const cause = new CliFailure({
    code: 'LOCAL_ERROR',
    message: 'log changed while it was packed',
    hint: '',
    retryable: false,
  });
  const open = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(100_000)),
      pull: () => {
        throw cause;
      },
    });
  const failure = await failureOf(
    client().deploy('shop', 'web', { stream: { contentType: 'application/gzip', open } }),
  );
  expect(failure.body.message).toBe('log changed while it was packed');
});

const chunked = (...chunks: string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });

const collect = async (stream: ReadableStream<Uint8Array>) => {
  const events = [];
  for await (const event of readEvents(stream, () => undefined)) events.push(event);
  return events;
};

test('events are read by the standard, wherever the pieces are cut', async () => {
  const text =
    ': hello\n\nid: 1\nevent: log\ndata: {"a":\ndata: 1}\n\nid: 2\r\ndata:x\r\n\r\nretry: 5\nevent: done\n\ndata: last\n\nid: 3\ndata: unfinished';
  const wanted = [
    { id: '1', event: 'log', data: '{"a":\n1}' },
    { id: '2', event: 'message', data: 'x' },
    { id: '2', event: 'message', data: 'last' },
  ];
  expect(await collect(chunked(text))).toEqual(wanted);
  expect(await collect(chunked(...Array.from(text)))).toEqual(wanted);
});

test('a character of several bytes survives a cut', async () => {
  const bytes = new TextEncoder().encode('data: ü€😀\n\n');
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  expect(await collect(stream)).toEqual([{ id: '', event: 'message', data: 'ü€😀' }]);
});
