import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type StreamEvent } from '../../clients/typescript/src/index.ts';
import { createWorld } from '#test/app/world.ts';
import { atEnd } from '#test/support/preload.ts';

const PACKAGE = join(import.meta.dir, '../../clients/typescript');

type Handler = (request: IncomingMessage & { body: string }, response: ServerResponse) => void;

/** A server that answers the nth request by the nth handler, and the rest by the last one. */
const serve = async (...handlers: Handler[]) => {
  const seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body });
    handlers[Math.min(seen.length, handlers.length) - 1]?.(Object.assign(request, { body }), response);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
};

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const BUSY = { code: 'CONFLICT', message: 'busy', hint: 'wait', retryable: true };

describe('against the API', () => {
  test('paths are filled in, and replies are typed', async () => {
    const world = createWorld();
    const berth = createClient({ endpoint: world.listen().url, token: world.admin });
    const made = await berth.post('/v1/projects', { body: { name: 'shop' } });
    expect(made).toMatchObject({ ok: true, status: 201, data: { name: 'shop', created: true } });
    const read = await berth.get('/v1/projects/{project}', { path: { project: 'shop' } });
    if (!read.ok) throw new Error(read.error.message);
    expect(read.data.services).toEqual([]);
    const list = await berth.get('/v1/projects', { query: { limit: 1 } });
    expect(list.ok && list.data.projects.map(({ name }) => name)).toEqual(['shop']);
  });

  test('errors are values, as the API says them', async () => {
    const world = createWorld();
    const { url } = world.listen();
    const berth = createClient({ endpoint: `${url}/`, token: world.admin });
    const missing = await berth.get('/v1/projects/{project}', { path: { project: 'nothing' } });
    expect(missing).toMatchObject({ ok: false, status: 404, error: { code: 'NOT_FOUND', retryable: false } });
    const stranger = createClient({ endpoint: url });
    expect(await stranger.get('/v1/projects')).toMatchObject({
      ok: false,
      status: 401,
      error: { code: 'UNAUTHENTICATED' },
    });
  });

  test('other replies than JSON are handed out as they are', async () => {
    const world = createWorld();
    const berth = createClient({ endpoint: world.listen().url, token: world.admin });
    const reply = await berth.get('/skill.md', { query: { v: '1' } });
    if (!reply.ok) throw new Error(reply.error.message);
    expect(await reply.data.text()).toContain('# ');
  });
});

test('compiled, it runs in Node, and asks for nothing that browsers lack', async () => {
  const world = createWorld();
  const outdir = mkdtempSync(join(tmpdir(), 'berth-client-'));
  atEnd(() => rmSync(outdir, { recursive: true }));
  const tsc = Bun.spawn(['bun', 'x', '--no-install', 'tsc', '-p', PACKAGE, '--outDir', outdir], { stdout: 'pipe' });
  expect([await new Response(tsc.stdout).text(), await tsc.exited]).toEqual(['', 0]);
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}');
  for (const name of readdirSync(outdir).filter((each) => each.endsWith('.js')))
    expect(readFileSync(join(outdir, name), 'utf8')).not.toMatch(
      /from ['"](?!\.\/)|\b(?:process|Buffer|Bun|require)\b[.(]/,
    );
  const script = `import { createClient } from './index.js';
    const reply = await createClient({ endpoint: '${world.listen().url}', token: '${world.admin}' }).get('/v1/projects');
    console.log(JSON.stringify(reply));`;
  writeFileSync(join(outdir, 'try.js'), script);
  const node = Bun.spawn(['node', 'try.js'], { cwd: outdir, stdout: 'pipe' });
  expect(JSON.parse(await new Response(node.stdout).text())).toMatchObject({ ok: true, data: { projects: [] } });
}, 30_000);

describe('what goes wrong', () => {
  test('what may be retried is, as one and the same request', async () => {
    const { url, seen } = await serve(json(503, BUSY, { 'retry-after': '0' }), json(200, { name: 'shop' }));
    const result = await createClient({ endpoint: url, token: 't' }).post('/v1/projects', { body: { name: 'shop' } });
    expect(result.ok).toBe(true);
    expect(seen.map(({ body }) => body)).toEqual(['{"name":"shop"}', '{"name":"shop"}']);
    expect(seen[0]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(seen[1]?.headers['idempotency-key']).toBe(seen[0]?.headers['idempotency-key'] ?? '');
    expect(seen[0]?.headers.authorization).toBe('Bearer t');
  });

  test('what may not be is sent once, and all things have an end', async () => {
    const final = await serve(json(409, { ...BUSY, retryable: false }));
    expect(await createClient({ endpoint: final.url }).post('/v1/projects', { body: { name: 'a' } })).toMatchObject({
      ok: false,
    });
    expect(final.seen.length).toBe(1);
    const always = await serve(json(503, BUSY, { 'retry-after': '0' }));
    await createClient({ endpoint: always.url, attempts: 3 }).get('/v1/projects');
    expect(always.seen.length).toBe(3);
  });

  test('a server that is not there, and one that is not berth', async () => {
    const gone = await createClient({ endpoint: 'http://127.0.0.1:9', attempts: 1 }).get('/v1/projects');
    expect(gone).toMatchObject({ ok: false, error: { code: 'UNREACHABLE', retryable: true } });
    const other = await serve((_request, response) => void response.writeHead(404).end('<html>'));
    expect(await createClient({ endpoint: other.url }).get('/v1/projects')).toMatchObject({
      ok: false,
      status: 404,
      error: { code: 'UNREACHABLE', retryable: false, message: `${other.url} answered 404, but not as berth does` },
    });
  });

  test('a signal stops it', async () => {
    const { url } = await serve(() => undefined);
    const signal = AbortSignal.timeout(50);
    expect(await createClient({ endpoint: url }).get('/v1/projects', { signal })).toMatchObject({
      ok: false,
      error: { code: 'INTERRUPTED' },
    });
  });
});

describe('a deploy', () => {
  const accepted = json(202, { operation_id: 'op_1', stream_url: '/v1/operations/op_1/stream', service_url: null });
  const events =
    (...blocks: string[]): Handler =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(blocks.join(''), () => setTimeout(() => response.destroy(), 20));
    };
  const log = (id: number): string => `id: ${id}\nevent: log\ndata: {"seq":${id},"line":"line ${id}"}\n\n`;

  test('is followed over a broken connection, and nothing is told twice', async () => {
    const done = 'id: 4\nevent: done\ndata: {"status":"succeeded","result":{"release":"rel_1"}}\n\n';
    const { url, seen } = await serve(
      accepted,
      events(log(1), ': still here\n\n', log(2), 'id: 3\nev'),
      events(log(3), done),
    );
    const told: StreamEvent[] = [];
    const result = await createClient({ endpoint: url }).deploy({
      project: 'shop',
      service: 'web',
      archive: new Uint8Array([31, 139]),
      commit: 'abcdef0',
      idempotencyKey: 'job-7',
      onEvent: (event) => void told.push(event),
    });
    expect(result).toEqual({
      ok: true,
      status: 200,
      data: { operation_id: 'op_1', status: 'succeeded', result: { release: 'rel_1' } },
    });
    expect(told.map(({ data }) => data['line'])).toEqual(['line 1', 'line 2', 'line 3']);
    expect(seen[0]?.url).toBe('/v1/projects/shop/services/web/deploys?commit=abcdef0');
    expect(seen[0]?.headers['content-type']).toBe('application/gzip');
    expect(seen[0]?.headers['idempotency-key']).toBe('job-7');
    expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined, '2']);
  });

  test('that failed is an error with the log of the app', async () => {
    const error = {
      code: 'HEALTH_CHECK_FAILED',
      message: 'never listened',
      hint: 'bind',
      retryable: false,
      log_tail: 'boom',
    };
    const { url } = await serve(
      accepted,
      events(`id: 1\nevent: done\ndata: ${JSON.stringify({ status: 'failed', error })}\n\n`),
    );
    const archive = (): ReadableStream<Uint8Array> => new Blob(['x']).stream();
    expect(await createClient({ endpoint: url }).deploy({ project: 'shop', service: 'web', archive })).toMatchObject({
      ok: false,
      error,
    });
  });
});
